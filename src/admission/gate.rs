//! The gate's door: finds the tenant, checks the right, hands the operation to its rules, and
//! applies what passes. One operation in, one verdict out.

use crate::admission::rights::{Right, Rights};
use crate::model::event::{Decision, Event, Stamp};
use crate::model::kind::{Authority, Kind, KindSet};
use crate::model::name::{Id, Tenant};
use crate::model::node::{NodeNo, Standing};
use crate::model::operation::{Action, Declaration, Operation, Suppression};
use crate::model::refusal::{Reason, Refusal, Verdict};
use crate::model::scope::Scope;
use crate::model::value::Value;
use crate::store::apply::apply_event;
use crate::store::draft::Draft;
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};

/// What became of one operation.
#[derive(Clone, Debug)]
pub struct Admission {
    /// The verdict.
    pub verdict: Verdict,
    /// The id it is about: of what was brought, or of the target.
    pub id: Option<Id>,
    /// The event, if it was admitted or held.
    pub event: Option<Event>,
}

/// Why an operation does not go through: refused, unchanged, or the store failed.
pub(super) enum Stop {
    Refused(Refusal),
    Unchanged,
    Store(StoreError),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

pub(super) type Checked<T> = Result<T, Stop>;

pub(super) fn refuse<T>(reason: Reason, message: impl Into<String>) -> Checked<T> {
    Err(Stop::Refused(Refusal::new(reason, message)))
}

/// One operation before its rules.
pub struct Gate<'d, 'b> {
    pub(super) draft: &'d mut Draft<'b>,
    pub(super) rights: &'d Rights,
    pub(super) stamp: Stamp,
}

/// A target found, whole, as it stands before this operation.
pub(super) struct Target {
    pub(super) no: NodeNo,
    pub(super) id: Id,
    pub(super) node: NodeView,
    pub(super) standing: Standing,
    pub(super) scope: Scope,
    pub(super) kind: Kind,
    pub(super) order: Authority,
}

impl Gate<'_, '_> {
    /// Judges an operation and, if it passes, applies it to the draft.
    ///
    /// # Errors
    /// When the store cannot be read; the draft is then to be thrown away.
    pub fn admit(&mut self, operation: &Operation) -> Result<Admission, StoreError> {
        let id = subject_of(&operation.action).cloned();
        match self.judge(operation) {
            Ok(event) => {
                apply_event(self.draft, &event, self.stamp)?;
                let verdict = if event.decision.held { Verdict::Held } else { Verdict::Admitted };
                Ok(Admission { verdict, id, event: Some(event) })
            }
            Err(Stop::Unchanged) => Ok(Admission { verdict: Verdict::Unchanged, id, event: None }),
            Err(Stop::Refused(refusal)) => {
                Ok(Admission { verdict: Verdict::Refused(refusal), id, event: None })
            }
            Err(Stop::Store(error)) => Err(error),
        }
    }

    fn judge(&mut self, operation: &Operation) -> Checked<Event> {
        let tenant = self.tenant(operation)?;
        let Some(tenant) = tenant else {
            return match &operation.action {
                Action::Predicate(said) => {
                    self.declare(None, said).map(|d| event(None, operation, d))
                }
                _ => {
                    refuse(Reason::UnknownTarget, "the store is empty; nothing can be acted on yet")
                }
            };
        };
        let acting = operation.kind.unwrap_or(Kind::Stated);
        let decision = match &operation.action {
            Action::Predicate(said) => self.declare(Some(&tenant), said)?,
            Action::Source(said) => self.source(&tenant, said)?,
            Action::Assert(said) => self.assert(&tenant, said, operation)?,
            Action::Artifact(said) => self.artifact(&tenant, said, operation)?,
            Action::Support(id, premises) => self.support(&tenant, id, premises, operation)?,
            Action::Affirm(id, _) => self.affirm(&tenant, id, acting)?,
            Action::End(id, until) => self.end(&tenant, id, *until, acting)?,
            Action::Correct(id, changes) => self.correct(&tenant, id, changes, operation)?,
            Action::Retract(id, _) => self.retract(&tenant, id, acting)?,
            Action::RetractClaim(subject, predicate, value, scope, _) => {
                let claim = (subject, predicate, value, scope);
                self.retract_claim(&tenant, claim, acting)?
            }
            Action::Reinstate(id) => self.reinstate(&tenant, id, acting)?,
            Action::Disable(id) => self.switch(&tenant, id, acting, true)?,
            Action::Enable(id) => self.switch(&tenant, id, acting, false)?,
            Action::Erase(_) => {
                return refuse(
                    Reason::UnknownOperation,
                    "this version cannot erase yet; `disable` stops the use of a fact and keeps it",
                );
            }
            Action::Confirm(id) => self.confirm(&tenant, id, acting)?,
            Action::Reject(id) => self.reject(&tenant, id, acting)?,
            Action::Resolve(conflict, keep, _) => self.resolve(&tenant, conflict, keep, acting)?,
            Action::Suppress(said) => self.suppress(&tenant, said)?,
            Action::Unsuppress(id) => self.unsuppress(&tenant, id)?,
            Action::Done(id, _) => self.done(&tenant, id)?,
        };
        Ok(event(Some(tenant), operation, decision))
    }

    /// The tenant of an operation (R10a): of its scope, else as given, else the session's, else
    /// the only one there is. `None` in an empty store.
    fn tenant(&self, operation: &Operation) -> Checked<Option<Tenant>> {
        let named = match (&operation.action, operation.action.scope()) {
            (_, Some(scope)) => Some(scope.tenant()?),
            (Action::Suppress(said), None) => {
                said.scope.tenant_str().map(Tenant::new).transpose()?
            }
            (_, None) => None,
        };
        if let (Some(named), Some(given)) = (&named, &operation.tenant)
            && named != given
        {
            return refuse(
                Reason::BadLine,
                format!(
                    "`tenant` says {given} but the scope is of tenant {named}; leave `tenant` out"
                ),
            );
        }
        let tenant =
            named.or_else(|| operation.tenant.clone()).or_else(|| self.rights.tenant().cloned());
        if let (Some(tenant), Some(home)) = (&tenant, self.rights.tenant())
            && tenant != home
        {
            return refuse(Reason::NotPermitted, format!("this session is of tenant {home}"));
        }
        if tenant.is_some() {
            return Ok(tenant);
        }
        let mut tenants = self.draft.tenants(crate::time::Recorded::MAX)?;
        match tenants.len() {
            0 => Ok(None),
            1 => Ok(tenants.pop()),
            _ => refuse(
                Reason::NoTenant,
                "the store holds several tenants and nothing here says which; add `tenant` (on the command line --tenant)",
            ),
        }
    }

    pub(super) fn may(&self, right: Right, scope: &Scope) -> Checked<()> {
        if self.rights.allows(right, scope) {
            return Ok(());
        }
        refuse(Reason::NotPermitted, format!("this session has no right to {right:?} in {scope}"))
    }

    pub(super) fn tenant_scope(&self, tenant: &Tenant) -> Checked<Scope> {
        Ok(Scope::new(tenant.as_str())?)
    }

    /// Finds a target; what the session may not read does not exist (R10a).
    pub(super) fn find(&self, tenant: &Tenant, id: &Id) -> Checked<Target> {
        let unknown = || {
            Refusal::new(
                Reason::UnknownTarget,
                format!(
                    "there is no {id:?} in tenant {tenant}; ids are listed by `asof history` and `asof find`"
                ),
            )
        };
        let no = self.draft.find_id(tenant, id)?.ok_or_else(unknown)?;
        let node = self.draft.node(no)?;
        let scope = node.scope().ok_or_else(unknown)?.clone();
        if !self.rights.allows(Right::Read, &scope) {
            return Err(unknown().into());
        }
        let standing = node.life().ok_or_else(unknown)?.standing(self.stamp.recorded);
        let (kind, order) = self.kind_of(tenant, &node, &standing)?;
        Ok(Target { no, id: id.clone(), node, standing, scope, kind, order })
    }

    /// A target's kind, and the order its kind counts by: that of its predicate for a fact.
    fn kind_of(
        &self,
        tenant: &Tenant,
        node: &NodeView,
        standing: &Standing,
    ) -> Checked<(Kind, Authority)> {
        let default = Authority::default();
        match node {
            NodeView::Fact(slot, place) => {
                let order = self
                    .draft
                    .declared(tenant, &slot.key.predicate)?
                    .rules(self.stamp.recorded)
                    .authority;
                let kind = slot.fact(*place).map_or(Kind::Inferred, |fact| fact.kind_at(standing));
                Ok((kind, order))
            }
            NodeView::Source(source) => {
                let kind =
                    if standing.confirmed.is_some() { Kind::Stated } else { source.said.kind };
                Ok((kind, default))
            }
            NodeView::Artifact(artifact) => {
                let premises: Vec<Vec<NodeNo>> =
                    artifact.life.justifications.iter().map(|j| j.premises.clone()).collect();
                let rows: &Draft<'_> = self.draft;
                let kind = crate::lineage::strength::strength(
                    rows,
                    &premises,
                    default,
                    self.stamp.recorded,
                )?;
                Ok((kind.unwrap_or(Kind::Inferred), default))
            }
        }
    }

    /// A target that is open and not held (R23a).
    pub(super) fn find_open(&self, tenant: &Tenant, id: &Id) -> Checked<Target> {
        let target = self.find(tenant, id)?;
        let why = match (target.standing.closed, target.standing.held) {
            (Some(_), _) => "it is closed; `asof show` says by what, `reinstate` undoes it",
            (None, true) => "it waits to be confirmed; `confirm` or `reject` it first",
            (None, false) if target.standing.disabled.is_some() => {
                "it is disabled; `enable` it first"
            }
            (None, false) => return Ok(target),
        };
        refuse(Reason::NotOpen, format!("{id} is not open: {why}"))
    }

    fn declare(&mut self, tenant: Option<&Tenant>, said: &Declaration) -> Checked<Decision> {
        if let Some(tenant) = tenant {
            self.may(Right::Write, &self.tenant_scope(tenant)?)?;
        }
        if let Some(word) = &said.value_type
            && !Value::TYPE_WORDS.contains(&word.as_str())
        {
            let words = Value::TYPE_WORDS.join(", ");
            return refuse(Reason::BadValue, format!("`value_type` {word:?} is none of {words}"));
        }
        Ok(Decision::default())
    }

    fn suppress(&mut self, tenant: &Tenant, said: &Suppression) -> Checked<Decision> {
        self.may(Right::Write, &self.tenant_scope(tenant)?)?;
        let rows = self.draft.suppressions(tenant)?;
        match rows.iter().find(|row| row.said.id == said.id && row.lifted.is_none()) {
            Some(row) if row.said == *said => Err(Stop::Unchanged),
            Some(_) => refuse(
                Reason::IdTaken,
                format!("suppression {} exists; choose another id", said.id),
            ),
            None => Ok(Decision::default()),
        }
    }

    fn unsuppress(&mut self, tenant: &Tenant, id: &Id) -> Checked<Decision> {
        self.may(Right::Write, &self.tenant_scope(tenant)?)?;
        match self.draft.suppressions(tenant)?.iter().find(|row| row.said.id == *id) {
            Some(row) if row.lifted.is_some() => Err(Stop::Unchanged),
            Some(_) => Ok(Decision::default()),
            None => refuse(
                Reason::UnknownTarget,
                format!("there is no suppression {id} in tenant {tenant}"),
            ),
        }
    }

    fn done(&mut self, tenant: &Tenant, id: &Id) -> Checked<Decision> {
        let target = self.find(tenant, id)?;
        self.may(Right::Write, &target.scope)?;
        match target.node {
            NodeView::Artifact(_) => Ok(Decision::default()),
            NodeView::Fact(..) | NodeView::Source(_) => refuse(
                Reason::UnknownTarget,
                format!("{id} is no artifact; `done` is about copies kept elsewhere"),
            ),
        }
    }
}

/// Kinds that are not stronger than a kind, by an order.
pub(super) fn not_stronger(order: Authority, than: Kind) -> KindSet {
    KindSet::of(|kind| !order.weaker(than, kind))
}

fn event(tenant: Option<Tenant>, operation: &Operation, decision: Decision) -> Event {
    Event {
        tenant,
        action: operation.action.clone(),
        kind: operation.kind,
        actor: operation.actor.clone(),
        decision,
    }
}

/// The id an action is about.
pub fn subject_of(action: &Action) -> Option<&Id> {
    match action {
        Action::Source(said) => Some(&said.id),
        Action::Assert(said) => Some(&said.id),
        Action::Artifact(said) => Some(&said.id),
        Action::Suppress(said) => Some(&said.id),
        Action::Correct(target, changes) => changes.id.as_ref().or(Some(target)),
        Action::Support(id, _)
        | Action::Affirm(id, _)
        | Action::End(id, _)
        | Action::Retract(id, _)
        | Action::Reinstate(id)
        | Action::Disable(id)
        | Action::Enable(id)
        | Action::Confirm(id)
        | Action::Reject(id)
        | Action::Unsuppress(id)
        | Action::Done(id, _)
        | Action::Resolve(_, id, _) => Some(id),
        Action::Erase(crate::model::operation::EraseTarget::Id(id)) => Some(id),
        Action::Erase(_) | Action::Predicate(_) | Action::RetractClaim(..) => None,
    }
}
