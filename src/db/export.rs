//! Export and digest: the log's events as journal lines, and a hash of them.

use std::io::Write;

use crate::admission::rights::Right;
use crate::db::error::DbError;
use crate::db::session::Session;
use crate::db::store::Store;
use crate::exchange::write;
use crate::model::event::{Event, Transaction};
use crate::model::scope::Scope;
use crate::store::codec;
use crate::store::rows::{Lookup, Rows};

impl Store {
    /// The transactions that readers may see, oldest first.
    fn transactions(
        &self,
        mut each: impl FnMut(&Transaction) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let until = self.inner.state.published().seq;
        let records =
            self.writer().log().read_from(1).map_err(crate::store::error::StoreError::from)?;
        for record in records {
            let (seq, bytes) = record.map_err(crate::store::error::StoreError::from)?;
            if seq > until {
                break;
            }
            each(&codec::from_bytes(seq, &bytes)?)?;
        }
        Ok(())
    }

    /// A hash of the logical content, independent of engine, layout and batching (R42): of every
    /// event with its recorded instant and what the gate decided, in order. Transaction ids are
    /// not part of it. Cost: the whole log.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn digest(&self) -> Result<String, DbError> {
        let mut hash = blake3::Hasher::new();
        self.transactions(|transaction| {
            for event in &transaction.events {
                let line = write::event(event)
                    .with("recorded_at", transaction.recorded.to_string())
                    .with("held", event.decision.held)
                    .with("reasserted", event.decision.reasserted)
                    .some("in_force", event.decision.kind.map(crate::model::kind::Kind::word))
                    .some(
                        "of",
                        event.tenant.as_ref().map(super::super::model::name::Tenant::as_str),
                    );
                hash.update(line.json().to_string().as_bytes());
                hash.update(b"\n");
            }
            Ok(())
        })?;
        Ok(hash.finalize().to_hex().to_string())
    }
}

impl Session {
    /// Writes the journal of everything the session may read, or of one scope and what is below
    /// it: replayed into an empty store it makes the same content. Returns the number of lines.
    ///
    /// # Errors
    /// When the log cannot be read or the text cannot be written.
    pub fn export(&self, to: &mut dyn Write, scope: Option<&Scope>) -> Result<u64, DbError> {
        let mut lines = 0;
        self.store().transactions(|transaction| {
            let mut seen = transaction.clone();
            let mut events = Vec::with_capacity(seen.events.len());
            for event in std::mem::take(&mut seen.events) {
                if self.exports(&event, scope)? {
                    events.push(event);
                }
            }
            seen.events = events;
            for line in write::transaction(&seen) {
                writeln!(to, "{line}").map_err(|source| DbError::File {
                    what: "write",
                    path: "the export".to_owned(),
                    source,
                })?;
                lines += 1;
            }
            Ok(())
        })?;
        Ok(lines)
    }

    fn exports(&self, event: &Event, scope: Option<&Scope>) -> Result<bool, DbError> {
        let rights = self.rights();
        let state = &self.store().inner.state;
        let Some(tenant) = &event.tenant else {
            return Ok(rights.tenant().is_none_or(|_| state.counters().tenants == 1));
        };
        if rights.tenant().is_some_and(|home| home != tenant) {
            return Ok(false);
        }
        let of = match event.action.scope() {
            Some(scope) => Some(scope.clone()),
            None => match crate::admission::gate::subject_of(&event.action) {
                Some(id) => match state.find_id(tenant, id)? {
                    Some(no) => state.node(no)?.scope().cloned(),
                    None => None,
                },
                None => None,
            },
        };
        Ok(match of {
            Some(of) => {
                rights.allows(Right::Read, &of) && scope.is_none_or(|scope| scope.covers(&of))
            }
            None => scope.is_none_or(|scope| scope.tenant_str() == tenant.as_str()),
        })
    }
}
