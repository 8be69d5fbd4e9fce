//! Sessions: who reads and writes, bound when taken (R10a); and snapshots: what they see.

use std::sync::Arc;

use serde_json::Value as Json;
use uuid::Uuid;

use crate::admission::commit::{Outcome, Request};
use crate::admission::rights::Rights;
use crate::db::ask;
use crate::db::error::DbError;
use crate::db::store::Store;
use crate::exchange::question::Asked;
use crate::model::name::{Id, Predicate, Subject, Tenant};
use crate::model::operation::{Action, Operation};
use crate::model::refusal::{Reason, Refusal};
use crate::query::answer::{self, Answer};
use crate::query::view::{Ask, View};
use crate::store::rows::Lookup;
use crate::store::state::State;
use crate::time::Recorded;

/// How a transaction is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Its id, if the caller has one: a second write of it changes nothing (R9a).
    pub tx_id: Option<Uuid>,
    /// Judge only; write nothing.
    pub dry_run: bool,
    /// Leave out the receipts: a retraction that reaches many nodes then returns as soon as it is
    /// durable, without walking down to them. It is in force either way.
    pub without_receipts: bool,
}

/// What a write came to.
pub type Written = Outcome;

/// A tenant and a principal with what it may do.
#[derive(Clone)]
pub struct Session {
    store: Store,
    rights: Rights,
}

impl Session {
    pub(super) fn new(store: Store, rights: Rights) -> Self {
        Self { store, rights }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    pub(super) fn rights(&self) -> &Rights {
        &self.rights
    }

    /// A new id (UUIDv7).
    pub fn make_id() -> Id {
        made_id()
    }

    /// Writes operations as one transaction: all or none. The verdicts are values; look at
    /// [`Outcome::refused`].
    ///
    /// # Errors
    /// When the store cannot be read or the disk fails; nothing is written then.
    pub fn write(
        &self,
        operations: &[Operation],
        options: WriteOptions,
    ) -> Result<Written, DbError> {
        let request = Request {
            tx_id: options.tx_id.unwrap_or_else(Uuid::now_v7),
            given: options.tx_id.is_some(),
            when: self.store.when(),
            operations,
            dry_run: options.dry_run,
            receipts: !options.without_receipts,
        };
        self.store.transact(&self.rights, &request)
    }

    /// Does one thing.
    ///
    /// # Errors
    /// As [`Session::write`].
    pub fn act(&self, action: Action) -> Result<Written, DbError> {
        self.write(&[Operation::new(action)], WriteOptions::default())
    }

    /// What the session sees now, and goes on seeing while others write (erasure excepted).
    pub fn snapshot(&self) -> Snapshot {
        self.store.snapshot(self.rights.clone())
    }

    /// What holds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn get(
        &self,
        subject: &Subject,
        predicate: &Predicate,
        ask: &Ask,
    ) -> Result<Answer, DbError> {
        self.snapshot().get(subject, predicate, ask)
    }
}

/// A new id (UUIDv7).
pub(super) fn made_id() -> Id {
    let text = Uuid::now_v7().to_string();
    Id::new(&text).unwrap_or_else(|_| unreachable!("a UUID is a name"))
}

/// What one session sees at one moment.
pub struct Snapshot {
    state: Arc<State>,
    rights: Rights,
    pin: Recorded,
    now: Recorded,
}

impl Snapshot {
    pub(super) fn new(state: Arc<State>, rights: Rights, pin: Recorded, now: Recorded) -> Self {
        Self { state, rights, pin, now }
    }

    /// The last instant it knows.
    pub fn pin(&self) -> Recorded {
        self.pin
    }

    /// The view of a tenant.
    pub fn view(&self, tenant: Tenant) -> View<'_> {
        View::new(self.state.as_ref(), &self.rights, tenant, self.pin, self.now)
    }

    /// The tenant of a question that names none: the session's, or the only one there is.
    ///
    /// # Errors
    /// [`DbError::Refused`] with `no_tenant` when there are several, `no_scope` when there is none.
    pub fn tenant(&self, named: Option<Tenant>) -> Result<Tenant, DbError> {
        if let Some(tenant) = named.or_else(|| self.rights.tenant().cloned()) {
            return Ok(tenant);
        }
        let mut tenants = self.state.tenants(self.pin)?;
        match tenants.len() {
            1 => Ok(tenants.remove(0)),
            0 => Err(Refusal::new(Reason::NoTenant, "the store is empty").into()),
            _ => Err(Refusal::new(
                Reason::NoTenant,
                "the store holds several tenants; say which with --tenant (or `tenant`)",
            )
            .into()),
        }
    }

    /// What holds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn get(
        &self,
        subject: &Subject,
        predicate: &Predicate,
        ask: &Ask,
    ) -> Result<Answer, DbError> {
        let view = self.view(ask.scope.tenant()?);
        Ok(answer::get(&view, subject, predicate, ask)?)
    }

    /// Answers any question, in the JSON form of section 9.
    ///
    /// # Errors
    /// [`DbError::Refused`] when it cannot be understood, [`DbError::Store`] when the store cannot
    /// be read.
    pub fn answer(&self, asked: &Asked) -> Result<Json, DbError> {
        ask::answer(self, asked)
    }
}
