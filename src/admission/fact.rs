//! Facts in: assert and correct (R18–R22, R26).

use std::sync::Arc;

use crate::admission::gate::{Checked, Gate, Stop, Target, not_stronger, refuse};
use crate::admission::rights::Right;
use crate::model::declared::Rules;
use crate::model::event::Decision;
use crate::model::kind::Kind;
use crate::model::limits::IDS_MAX;
use crate::model::name::{Id, Tenant};
use crate::model::node::Fact;
use crate::model::operation::{Changes, Memory, Operation, Statement, Supersedes};
use crate::model::refusal::Reason;
use crate::model::scope::glob;
use crate::store::rows::{Lookup, NodeView};
use crate::timeline::correction::corrected;
use crate::timeline::slot::{Current, Slot};

impl Gate<'_, '_> {
    pub(super) fn assert(
        &mut self,
        tenant: &Tenant,
        said: &Statement,
        operation: &Operation,
    ) -> Checked<Decision> {
        self.may(Right::Write, &said.scope)?;
        self.period(said.valid_from, said.valid_until)?;
        if let Some(node) = self.taken(tenant, &said.id)? {
            return match node.fact() {
                Some(old) if old.corrects.is_none() && old.said == *said => Err(Stop::Unchanged),
                Some(_) | None => self.id_taken(&said.id, &node),
            };
        }
        if said.supersedes != Supersedes::Nothing {
            self.may(Right::Supersede, &said.scope)?;
        }
        if said.kind.is_none() && said.source.is_none() && said.derived_from.is_empty() {
            return self.no_source();
        }
        let rules = self.rules_for(tenant, said)?;
        let (source, derived_from) = (said.source.as_ref(), &said.derived_from);
        let evidence = self.evidence(tenant, &said.id, source, derived_from, operation.read_at)?;
        let kind = self.effective_kind(said.kind, &evidence, rules.authority)?;
        self.general(tenant, said, kind, operation)?;
        let reach = not_stronger(rules.authority, kind);
        let mut decision = Decision { kind: Some(kind), reach, ..Decision::default() };
        let slot = self.draft.slot_named(tenant, &said.subject, &said.predicate)?;
        self.superseding(tenant, said, kind, slot.as_ref(), &rules, &mut decision)?;
        self.not_suppressed(tenant, said, kind)?;
        if let Some(slot) = &slot {
            self.no_return(slot, said, kind, &mut decision)?;
        }
        Ok(decision)
    }

    fn rules_for(&self, tenant: &Tenant, said: &Statement) -> Checked<Rules> {
        let rules = self.draft.declared(tenant, &said.predicate)?.rules(self.stamp.recorded);
        if let Some(wanted) = rules.value_type.as_deref()
            && wanted != said.value.type_word()
        {
            return refuse(
                Reason::BadValue,
                format!(
                    "{} is declared to take {wanted}, not {}",
                    said.predicate,
                    said.value.type_word()
                ),
            );
        }
        Ok(rules)
    }

    /// What holds for every new fact, whichever way it comes.
    fn general(
        &self,
        tenant: &Tenant,
        said: &Statement,
        kind: Kind,
        operation: &Operation,
    ) -> Checked<()> {
        if let Some(expected) = operation.expect_version {
            let slot = self.draft.slot_named(tenant, &said.subject, &said.predicate)?;
            let version = slot.map_or(0, |slot| slot.version(&said.scope, self.stamp.recorded));
            if version != expected {
                return refuse(
                    Reason::VersionConflict,
                    format!(
                        "the slot is at version {version}, not {expected}; read it again and decide anew"
                    ),
                );
            }
        }
        self.memory_rule(said, kind)
    }

    pub(super) fn not_suppressed(
        &self,
        tenant: &Tenant,
        said: &Statement,
        kind: Kind,
    ) -> Checked<()> {
        let covers =
            |pattern: &Option<String>, name: &str| pattern.as_ref().is_none_or(|p| glob(p, name));
        let now = self.stamp.recorded.as_valid();
        for row in self.draft.suppressions(tenant)?.iter() {
            let by = &row.said;
            if row.lifted.is_none()
                && by.until.is_none_or(|until| now < until)
                && by.kind.is_none_or(|of| of == kind)
                && by.scope.matches(&said.scope)
                && covers(&by.subject, said.subject.as_str())
                && covers(&by.predicate, said.predicate.as_str())
            {
                return refuse(
                    Reason::Suppressed,
                    format!(
                        "such facts are not taken in (suppression {}); `unsuppress` lifts it",
                        by.id
                    ),
                );
            }
        }
        Ok(())
    }

    /// R18, R20, R20a: what it names may be superseded by it; if that is of a stronger kind, it waits.
    fn superseding(
        &self,
        tenant: &Tenant,
        said: &Statement,
        kind: Kind,
        slot: Option<&Arc<Slot>>,
        rules: &Rules,
        decision: &mut Decision,
    ) -> Checked<()> {
        let ids = said.supersedes.ids();
        if ids.len() > IDS_MAX {
            return refuse(
                Reason::LimitExceeded,
                format!("`supersedes` names more than {IDS_MAX} ids"),
            );
        }
        for id in ids {
            let old = self.supersedable(tenant, said, id)?;
            self.working_stays_apart(said, old.node.fact())?;
            if rules.authority.weaker(kind, old.kind) {
                decision.held = true;
                decision.against.push(old.id);
            }
        }
        if let (Supersedes::Current, Some(slot)) = (&said.supersedes, slot) {
            let from = match said.valid_from {
                crate::time::Start::Always => None,
                crate::time::Start::At(from) => Some(from),
                crate::time::Start::Unknown => Some(self.stamp.recorded.as_valid()),
            };
            let current = Current {
                scope: &said.scope,
                when: &said.when,
                from,
                until: said.valid_until,
                kinds: decision.reach,
                stamp: self.stamp,
            };
            for place in slot.current(&current) {
                self.working_stays_apart(said, slot.fact(place))?;
            }
        }
        Ok(())
    }

    /// R20b: working memory never supersedes another kind of memory.
    fn working_stays_apart(&self, said: &Statement, old: Option<&Fact>) -> Checked<()> {
        match old {
            Some(old)
                if said.memory == Some(Memory::Working)
                    && old.said.memory.is_some_and(|memory| memory != Memory::Working) =>
            {
                refuse(
                    Reason::MemoryRule,
                    format!(
                        "working memory cannot supersede {}, which is another kind of memory",
                        old.said.id
                    ),
                )
            }
            Some(_) | None => Ok(()),
        }
    }

    fn supersedable(&self, tenant: &Tenant, said: &Statement, id: &Id) -> Checked<Target> {
        if *id == said.id {
            return refuse(Reason::Cycle, format!("{id} cannot supersede itself: {id} → {id}"));
        }
        let old = self.find(tenant, id)?;
        let NodeView::Fact(slot, _) = &old.node else {
            return refuse(
                Reason::SlotMismatch,
                format!("{id} is a {}, not a fact", old.node.type_word()),
            );
        };
        if slot.key.subject != said.subject || slot.key.predicate != said.predicate {
            return refuse(
                Reason::SlotMismatch,
                format!(
                    "{id} is about {} / {}, this one about {} / {}; only a fact of the same slot can be superseded",
                    slot.key.subject, slot.key.predicate, said.subject, said.predicate
                ),
            );
        }
        if !old.scope.covers(&said.scope) {
            return refuse(
                Reason::ScopeMismatch,
                format!(
                    "{id} is of scope {}, which is neither {} nor an ancestor of it; supersede it from its own scope",
                    old.scope, said.scope
                ),
            );
        }
        self.find_open(tenant, id)
    }

    pub(super) fn correct(
        &mut self,
        tenant: &Tenant,
        id: &Id,
        changes: &Changes,
        operation: &Operation,
    ) -> Checked<Decision> {
        let target = self.find(tenant, id)?;
        if let Some(new) = &changes.id
            && let Some(node) = self.taken(tenant, new)?
        {
            return match node.fact() {
                Some(old) if old.corrects == Some(target.no) && gives(changes, old) => {
                    Err(Stop::Unchanged)
                }
                Some(_) | None => self.id_taken(new, &node),
            };
        }
        let NodeView::Fact(slot, place) = &target.node else {
            return refuse(
                Reason::SlotMismatch,
                format!(
                    "{id} is a {}; bring another that supersedes it instead",
                    target.node.type_word()
                ),
            );
        };
        self.find_open(tenant, id)?;
        let acting = operation.kind.unwrap_or(Kind::Stated);
        self.strong_enough(&target, acting)?;
        self.may(Right::Retract, &target.scope)?;
        let (Some(old), Some(new)) = (slot.fact(*place), &changes.id) else {
            return refuse(Reason::BadLine, "a correction needs an id of its own");
        };
        let rules = self.draft.declared(tenant, &old.said.predicate)?.rules(self.stamp.recorded);
        let said = corrected(old, &target.standing, new.clone(), changes);
        self.may(Right::Write, &said.scope)?;
        if said.subject != old.said.subject || said.predicate != old.said.predicate {
            return refuse(
                Reason::SlotMismatch,
                "a correction stays in its slot; retract the fact and assert the other one",
            );
        }
        if !old.said.scope.covers(&said.scope) {
            return refuse(
                Reason::ScopeMismatch,
                format!(
                    "{id} is of scope {}, which is neither {} nor an ancestor of it",
                    old.said.scope, said.scope
                ),
            );
        }
        self.rules_for(tenant, &said)?;
        self.period(said.valid_from, said.valid_until)?;
        let evidence = self.evidence(
            tenant,
            new,
            said.source.as_ref(),
            &said.derived_from,
            operation.read_at,
        )?;
        let own = if evidence.justifications.is_empty() { Some(acting) } else { operation.kind };
        let kind = self.effective_kind(own, &evidence, rules.authority)?;
        self.general(tenant, &said, kind, operation)?;
        self.not_suppressed(tenant, &said, kind)?;
        let held = rules.authority.weaker(kind, target.kind);
        let against = if held { vec![target.id.clone()] } else { Vec::new() };
        let reach = not_stronger(rules.authority, kind);
        Ok(Decision { kind: Some(kind), reach, held, against, ..Decision::default() })
    }
}

/// Whether a correcting fact says what these changes give.
fn gives(changes: &Changes, fact: &Fact) -> bool {
    let said = &fact.said;
    changes.value.as_ref().is_none_or(|v| *v == said.value)
        && changes.when.as_ref().is_none_or(|w| *w == said.when)
        && changes.valid_from.is_none_or(|f| f == said.valid_from)
        && changes.valid_until.is_none_or(|u| u == said.valid_until)
        && changes.source == said.source
        && changes.memory.is_none_or(|m| Some(m) == said.memory)
        && changes.outcome == said.outcome
        && changes.then.is_none_or(|t| Some(t) == said.then)
        && changes.derived_from == said.derived_from
        && changes.review_by.is_none_or(|r| Some(r) == said.review_by)
        && changes.stated_at == said.stated_at
        && changes.note == said.note
}
