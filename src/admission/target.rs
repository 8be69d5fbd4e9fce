//! Operations on a target: affirm, end, retract, disable, enable, reinstate (R20, R23a).

use crate::admission::gate::{Checked, Gate, Stop, Target, refuse};
use crate::admission::rights::Right;
use crate::model::event::Decision;
use crate::model::kind::Kind;
use crate::model::name::{Id, Predicate, Subject, Tenant};
use crate::model::refusal::Reason;
use crate::model::scope::Scope;
use crate::model::value::Value;
use crate::store::rows::{Lookup, NodeView};
use crate::time::{Start, Valid};

impl Gate<'_, '_> {
    /// R20: who acts is not of a weaker kind than the target.
    pub(super) fn strong_enough(&self, target: &Target, acting: Kind) -> Checked<()> {
        if !target.order.weaker(acting, target.kind) {
            return Ok(());
        }
        refuse(
            Reason::WeakerKind,
            format!(
                "{} is {}; a word that is only {} cannot act on it; let a person decide (\"kind\":\"stated\")",
                target.id,
                target.kind.word(),
                acting.word()
            ),
        )
    }

    fn done_as(acting: Kind) -> Decision {
        Decision { kind: Some(acting), ..Decision::default() }
    }

    pub(super) fn affirm(&mut self, tenant: &Tenant, id: &Id, acting: Kind) -> Checked<Decision> {
        let target = self.find_open(tenant, id)?;
        self.may(Right::Write, &target.scope)?;
        self.strong_enough(&target, acting)?;
        Ok(Self::done_as(acting))
    }

    pub(super) fn end(
        &mut self,
        tenant: &Tenant,
        id: &Id,
        until: Option<Valid>,
        acting: Kind,
    ) -> Checked<Decision> {
        let target = self.find_open(tenant, id)?;
        self.may(Right::Retract, &target.scope)?;
        self.strong_enough(&target, acting)?;
        let (from, written) = match &target.node {
            NodeView::Fact(_, _) => {
                let said =
                    target.node.fact().map(|fact| (fact.said.valid_from, fact.said.valid_until));
                said.unwrap_or((Start::Unknown, None))
            }
            NodeView::Source(_) => (Start::Unknown, None),
            NodeView::Artifact(artifact) => (artifact.said.valid_from, artifact.said.valid_until),
        };
        self.period(from, until)?;
        if target.standing.ended.unwrap_or(written) == until {
            return Err(Stop::Unchanged);
        }
        Ok(Self::done_as(acting))
    }

    pub(super) fn retract(&mut self, tenant: &Tenant, id: &Id, acting: Kind) -> Checked<Decision> {
        let target = self.find_open(tenant, id)?;
        self.may(Right::Retract, &target.scope)?;
        self.strong_enough(&target, acting)?;
        Ok(Self::done_as(acting))
    }

    pub(super) fn retract_claim(
        &mut self,
        tenant: &Tenant,
        (subject, predicate, value, scope): (&Subject, &Predicate, &Value, &Scope),
        acting: Kind,
    ) -> Checked<Decision> {
        self.may(Right::Retract, scope)?;
        let slot = self.draft.slot_named(tenant, subject, predicate)?;
        let order = self.draft.declared(tenant, predicate)?.rules(self.stamp.recorded).authority;
        let mut known = false;
        let mut open = false;
        for (_, fact) in slot.iter().flat_map(|slot| slot.facts()) {
            if fact.said.scope != *scope || fact.said.value != *value || !fact.said.when.is_empty()
            {
                continue;
            }
            known = true;
            let standing = fact.life.standing(self.stamp.recorded);
            if standing.closed.is_some() {
                continue;
            }
            open = true;
            if order.weaker(acting, fact.kind_at(&standing)) {
                return refuse(
                    Reason::WeakerKind,
                    format!(
                        "the copy {} is of a stronger kind than {}",
                        fact.said.id,
                        acting.word()
                    ),
                );
            }
        }
        if open {
            return Ok(Self::done_as(acting));
        }
        if known {
            return Err(Stop::Unchanged);
        }
        refuse(
            Reason::UnknownTarget,
            format!(
                "nobody says that {subject} / {predicate} is {value} in {scope}; `asof history` shows what is said"
            ),
        )
    }

    pub(super) fn reinstate(
        &mut self,
        tenant: &Tenant,
        id: &Id,
        acting: Kind,
    ) -> Checked<Decision> {
        let target = self.find(tenant, id)?;
        self.may(Right::Retract, &target.scope)?;
        self.strong_enough(&target, acting)?;
        if target.standing.closed.is_none() {
            return Err(Stop::Unchanged);
        }
        Ok(Self::done_as(acting))
    }

    /// Disables (`off`) or enables.
    pub(super) fn switch(
        &mut self,
        tenant: &Tenant,
        id: &Id,
        acting: Kind,
        off: bool,
    ) -> Checked<Decision> {
        let target = self.find(tenant, id)?;
        self.may(Right::Retract, &target.scope)?;
        self.strong_enough(&target, acting)?;
        if target.standing.disabled.is_some() == off {
            return Err(Stop::Unchanged);
        }
        Ok(Self::done_as(acting))
    }
}
