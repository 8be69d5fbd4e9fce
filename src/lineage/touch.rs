//! Where a change begins: the nodes that an operation, once applied, has changed.

use crate::model::event::Stamp;
use crate::model::name::{Id, Tenant};
use crate::model::node::NodeNo;
use crate::model::operation::Action;
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::Valid;
use crate::timeline::slot::Slot;

/// What an operation changed.
#[derive(Clone, Debug)]
pub struct Touched {
    /// The id a receipt names: the target; for `retract_claim` the oldest copy taken back; for a
    /// later source or artifact its own.
    pub cause: Id,
    /// The nodes changed, and what came with the change.
    pub nodes: Vec<NodeNo>,
    /// Since which instant of valid time it matters; `None` = always.
    pub from: Option<Valid>,
}

/// What an applied operation of this stamp changed; `None` if it is none that gives a receipt
/// (R33). Cost: the facts of the target's slot.
///
/// # Errors
/// When the rows cannot be read.
pub fn touched<R: Lookup + ?Sized>(
    rows: &R,
    tenant: &Tenant,
    action: &Action,
    stamp: Stamp,
) -> Result<Option<Touched>, StoreError> {
    match action {
        Action::Retract(id, _)
        | Action::Disable(id)
        | Action::Enable(id)
        | Action::Reinstate(id)
        | Action::Correct(id, _) => of_target(rows, tenant, id, stamp, None),
        Action::End(id, until) => of_target(rows, tenant, id, stamp, Some(*until)),
        Action::RetractClaim(subject, predicate, ..) => {
            let Some(slot) = rows.slot_named(tenant, subject, predicate)? else { return Ok(None) };
            let nodes = changed(&slot, stamp);
            let first = slot.facts().find(|(_, fact)| nodes.first() == Some(&fact.life.no));
            let cause = first.map(|(_, fact)| fact.said.id.clone());
            Ok(cause.map(|cause| Touched { cause, nodes, from: None }))
        }
        Action::Source(said) if !said.supersedes.is_empty() => alone(rows, tenant, &said.id),
        Action::Artifact(said) if !said.supersedes.is_empty() => alone(rows, tenant, &said.id),
        Action::Source(_)
        | Action::Artifact(_)
        | Action::Predicate(_)
        | Action::Assert(_)
        | Action::Support(..)
        | Action::Affirm(..)
        | Action::Erase(_)
        | Action::Confirm(_)
        | Action::Reject(_)
        | Action::Resolve(..)
        | Action::Suppress(_)
        | Action::Unsuppress(_)
        | Action::Done(..) => Ok(None),
    }
}

fn alone<R: Lookup + ?Sized>(
    rows: &R,
    tenant: &Tenant,
    id: &Id,
) -> Result<Option<Touched>, StoreError> {
    let no = rows.find_id(tenant, id)?;
    Ok(no.map(|no| Touched { cause: id.clone(), nodes: vec![no], from: None }))
}

/// The target with everything in its slot that changed with it; `end` = the end now said.
fn of_target<R: Lookup + ?Sized>(
    rows: &R,
    tenant: &Tenant,
    id: &Id,
    stamp: Stamp,
    end: Option<Option<Valid>>,
) -> Result<Option<Touched>, StoreError> {
    let Some(no) = rows.find_id(tenant, id)? else { return Ok(None) };
    let node = rows.node(no)?;
    let written = match &node {
        NodeView::Fact(slot, place) => slot.fact(*place).and_then(|fact| fact.said.valid_until),
        NodeView::Artifact(artifact) => artifact.said.valid_until,
        NodeView::Source(_) => None,
    };
    let mut nodes = if let NodeView::Fact(slot, _) = &node { changed(slot, stamp) } else { vec![] };
    if !nodes.contains(&no) {
        nodes.insert(0, no);
    }
    let from = end.and_then(|now| {
        let before = node.life()?.standing_before(stamp).ended.unwrap_or(written);
        [before, now].into_iter().flatten().min()
    });
    Ok(Some(Touched { cause: id.clone(), nodes, from }))
}

/// The facts of a slot that came or changed with a stamp, oldest first.
fn changed(slot: &Slot, stamp: Stamp) -> Vec<NodeNo> {
    let with = |life: &crate::model::node::Life| {
        life.stamp == stamp || life.changes.iter().rev().any(|change| change.stamp == stamp)
    };
    slot.facts().filter(|(_, fact)| with(&fact.life)).map(|(_, fact)| fact.life.no).collect()
}
