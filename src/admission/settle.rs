//! Settling: held proposals (confirm, reject) and conflicts (resolve).

use std::collections::HashMap;

use crate::admission::gate::{Checked, Gate, Target, not_stronger, refuse};
use crate::admission::rights::Right;
use crate::model::event::Decision;
use crate::model::kind::Kind;
use crate::model::limits::IDS_MAX;
use crate::model::name::{Id, Tenant};
use crate::model::node::Link;
use crate::model::refusal::Reason;
use crate::store::rows::{Lookup, NodeView};
use crate::timeline::slot::{Reach, Slot};

impl Gate<'_, '_> {
    fn find_held(&self, tenant: &Tenant, id: &Id) -> Checked<Target> {
        let target = self.find(tenant, id)?;
        if target.standing.held && target.standing.closed.is_none() {
            return Ok(target);
        }
        refuse(
            Reason::NotHeld,
            format!("{id} does not wait to be confirmed; `asof show` says how it stands"),
        )
    }

    /// Passes the gate again as of now, authority excepted: that is what is confirmed (R23a).
    pub(super) fn confirm(&mut self, tenant: &Tenant, id: &Id, acting: Kind) -> Checked<Decision> {
        let target = self.find_held(tenant, id)?;
        self.may(Right::Supersede, &target.scope)?;
        self.strong_enough(&target, acting)?;
        if target.order.weaker(acting, Kind::Stated) {
            return refuse(
                Reason::WeakerKind,
                format!("to confirm is to state; a word that is only {} cannot", acting.word()),
            );
        }
        match &target.node {
            NodeView::Fact(slot, place) => self.confirm_fact(tenant, slot, *place)?,
            NodeView::Source(source) => self.still_open(tenant, &source.said.supersedes)?,
            NodeView::Artifact(artifact) => self.still_open(tenant, &artifact.said.supersedes)?,
        }
        Ok(Decision { kind: Some(acting), ..Decision::default() })
    }

    fn still_open(&self, tenant: &Tenant, ids: &[Id]) -> Checked<()> {
        for id in ids {
            self.find_open(tenant, id)?;
        }
        Ok(())
    }

    fn confirm_fact(&self, tenant: &Tenant, slot: &Slot, place: u32) -> Checked<()> {
        let Some(fact) = slot.fact(place) else { return Ok(()) };
        self.still_open(tenant, fact.said.supersedes.ids())?;
        for premise in fact.life.justifications.iter().flat_map(|j| &j.premises) {
            let id = self.draft.id_of(*premise)?;
            self.find_open(tenant, &id)?;
        }
        self.not_suppressed(tenant, &fact.said, fact.kind)?;
        for link in &fact.links {
            self.no_cycle(slot, place, link)?;
        }
        Ok(())
    }

    pub(super) fn reject(&mut self, tenant: &Tenant, id: &Id, acting: Kind) -> Checked<Decision> {
        let target = self.find_held(tenant, id)?;
        self.may(Right::Supersede, &target.scope)?;
        self.strong_enough(&target, acting)?;
        Ok(Decision { kind: Some(acting), ..Decision::default() })
    }

    pub(super) fn resolve(
        &mut self,
        tenant: &Tenant,
        conflict: &[Id],
        keep: &Id,
        acting: Kind,
    ) -> Checked<Decision> {
        if conflict.len() > IDS_MAX {
            return refuse(
                Reason::LimitExceeded,
                format!("`conflict` names more than {IDS_MAX} ids"),
            );
        }
        let kept = self.find_open(tenant, keep)?;
        let NodeView::Fact(slot, place) = &kept.node else {
            return refuse(
                Reason::SlotMismatch,
                format!("{keep} is a {}, not a fact", kept.node.type_word()),
            );
        };
        self.may(Right::Supersede, &kept.scope)?;
        self.strong_enough(&kept, acting)?;
        let kept_fact = slot.fact(*place);
        let mut named = Vec::new();
        for id in conflict.iter().filter(|id| *id != keep) {
            let other = self.find(tenant, id)?;
            let at = match &other.node {
                NodeView::Fact(of, at) if of.no == slot.no => *at,
                NodeView::Fact(..) | NodeView::Source(_) | NodeView::Artifact(_) => {
                    return refuse(
                        Reason::SlotMismatch,
                        format!("{id} is not a fact of the slot of {keep}"),
                    );
                }
            };
            let copy = slot.fact(at).zip(kept_fact).is_some_and(|(a, b)| a.same_claim(b));
            self.find_open(tenant, id)?;
            self.strong_enough(&other, acting)?;
            if !copy && !other.scope.covers(&kept.scope) {
                return refuse(
                    Reason::ScopeMismatch,
                    format!(
                        "{id} is of scope {}, which is neither {} nor an ancestor of it",
                        other.scope, kept.scope
                    ),
                );
            }
            if !copy {
                named.push(at);
            }
        }
        named.sort_unstable();
        named.dedup();
        let reach = not_stronger(kept.order, acting);
        let link = slot.link(
            named,
            &Reach {
                by: Some(*place),
                scope: &kept.scope,
                kinds: reach,
                stamp: self.stamp,
                waits: false,
                spare: Some(*place),
            },
        );
        self.no_cycle(slot, *place, &link)?;
        Ok(Decision { kind: Some(acting), reach, ..Decision::default() })
    }

    /// R18: what a new link reaches must not supersede its own start, along links that count now,
    /// copies included. The message gives the path.
    fn no_cycle(&self, slot: &Slot, start: u32, link: &Link) -> Checked<()> {
        let now = self.stamp.recorded;
        let mut came: HashMap<u32, u32> = HashMap::new();
        let mut open: Vec<u32> = Vec::new();
        for place in link.reach.iter().flat_map(|(from, until)| *from..*until) {
            if came.insert(place, start).is_none() {
                open.push(place);
            }
        }
        while let Some(place) = open.pop() {
            if place == start {
                return refuse(
                    Reason::Cycle,
                    format!("supersession would run in a circle: {}", path(slot, &came, start)),
                );
            }
            let Some(fact) = slot.fact(place) else { continue };
            let standing = fact.life.standing(now);
            for next in fact
                .links
                .iter()
                .filter(|link| link.counts(now, &standing))
                .flat_map(|link| &link.reach)
                .flat_map(|(from, until)| *from..*until)
            {
                if let std::collections::hash_map::Entry::Vacant(entry) = came.entry(next) {
                    entry.insert(place);
                    open.push(next);
                }
            }
        }
        Ok(())
    }
}

fn path(slot: &Slot, came: &HashMap<u32, u32>, start: u32) -> String {
    let name =
        |place: u32| slot.fact(place).map_or_else(String::new, |fact| fact.said.id.to_string());
    let mut names = vec![name(start)];
    let mut at = start;
    while let Some(before) = came.get(&at) {
        names.push(name(*before));
        at = *before;
        if at == start {
            break;
        }
    }
    names.reverse();
    names.join(" → ")
}
