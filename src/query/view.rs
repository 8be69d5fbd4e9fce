//! A view: the rows as one session sees them at one pinned instant. Rows may hold what was
//! recorded later; a view never asks about it, so it is a snapshot while a writer writes.

use std::sync::Arc;

use crate::admission::rights::{Right, Rights};
use crate::lineage::mark::Lineage;
use crate::model::condition::Context;
use crate::model::declared::Rules;
use crate::model::name::{Predicate, Subject, Tenant};
use crate::model::scope::Scope;
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, Rows};
use crate::time::{Recorded, Valid};
use crate::timeline::marks::AsOf;
use crate::timeline::resolve::{Question, Resolution, resolve};
use crate::timeline::slot::Slot;

/// What is asked of a slot, in a scope, at an as-of point.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The scope asked about.
    pub scope: Scope,
    /// Whether ancestor scopes take part (R11).
    pub inherit: bool,
    /// The circumstances (R12).
    pub context: Context,
    /// About which instant; `None` = now (R7).
    pub valid_at: Option<Valid>,
    /// With the knowledge of which instant; `None` = now (R7).
    pub known_at: Option<Recorded>,
}

impl Ask {
    /// Asks exactly about a scope, now.
    pub fn of(scope: Scope) -> Self {
        Self { scope, inherit: false, context: Context::default(), valid_at: None, known_at: None }
    }
}

/// A pinned snapshot, seen by one session.
pub struct View<'a> {
    rows: &'a (dyn Rows + 'a),
    rights: &'a Rights,
    tenant: Tenant,
    pin: Recorded,
    now: Recorded,
    lineage: Lineage<'a, dyn Rows + 'a>,
}

impl<'a> View<'a> {
    /// A view of a tenant: everything recorded by `pin`, with `now` as the present.
    pub fn new(
        rows: &'a (dyn Rows + 'a),
        rights: &'a Rights,
        tenant: Tenant,
        pin: Recorded,
        now: Recorded,
    ) -> Self {
        Self { rows, rights, tenant, pin, now: now.max(pin), lineage: Lineage::new(rows) }
    }

    /// The rows below.
    pub fn rows(&self) -> &'a (dyn Rows + 'a) {
        self.rows
    }

    /// The tenant seen.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The last instant seen.
    pub fn pin(&self) -> Recorded {
        self.pin
    }

    /// The marks of nodes, as seen here.
    pub fn lineage(&self) -> &Lineage<'a, dyn Rows + 'a> {
        &self.lineage
    }

    /// The as-of point of a question, with its defaults filled in.
    pub fn at(&self, ask: &Ask) -> AsOf {
        self.point(ask.valid_at, ask.known_at)
    }

    /// An as-of point; what is not given is the present (R7).
    pub fn point(&self, valid_at: Option<Valid>, known_at: Option<Recorded>) -> AsOf {
        AsOf {
            valid_at: valid_at.unwrap_or_else(|| self.now.as_valid()),
            known_at: known_at.unwrap_or(self.now),
        }
    }

    /// The same point, knowing nothing past the pin.
    pub fn pinned(&self, at: AsOf) -> AsOf {
        AsOf { known_at: at.known_at.min(self.pin), ..at }
    }

    /// Whether the session may read a scope.
    pub fn sees(&self, scope: &Scope) -> bool {
        self.rights.allows(Right::Read, scope)
    }

    /// A slot by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn slot(
        &self,
        subject: &Subject,
        predicate: &Predicate,
    ) -> Result<Option<Arc<Slot>>, StoreError> {
        self.rows.slot_named(&self.tenant, subject, predicate)
    }

    /// The rules of a predicate at an instant.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn rules(&self, predicate: &Predicate, known_at: Recorded) -> Result<Rules, StoreError> {
        Ok(self.rows.declared(&self.tenant, predicate)?.rules(known_at.min(self.pin)))
    }

    /// Resolves a slot: the one way to an answer.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn resolve(&self, slot: &Slot, ask: &Ask, at: AsOf) -> Result<Resolution, StoreError> {
        let rules = self.rules(&slot.key.predicate, at.known_at)?;
        let visible = |scope: &Scope| self.sees(scope);
        let question = Question {
            scope: &ask.scope,
            inherit: ask.inherit,
            context: &ask.context,
            at: self.pinned(at),
            visible: &visible,
        };
        resolve(slot, &question, &rules, &self.lineage)
    }

    /// The scopes of the tenant that the session may read.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn scopes(&self) -> Result<Vec<Scope>, StoreError> {
        let all = self.rows.scopes(&self.tenant, self.pin)?;
        Ok(all.into_iter().filter(|scope| self.sees(scope)).collect())
    }
}
