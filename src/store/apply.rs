//! Applying: what an admitted event does to the rows. The gate applies to its draft what it has
//! let through; opening a store applies the tail of the log. Both come here, so a rebuilt store
//! equals one that never closed. Nothing here judges; the gate has.

use std::sync::Arc;

use crate::model::event::{Decision, Event, Stamp, Transaction};
use crate::model::kind::Kind;
use crate::model::name::{Id, Tenant};
use crate::model::node::{
    Artifact, Change, Closing, Fact, Justification, Life, NodeNo, Source, Succession, What,
};
use crate::model::operation::{
    Action, ArtifactText, Changes, Declaration, Premises, SourceText, Statement, Supersedes,
    Suppression, Takeback,
};
use crate::model::scope::Scope;
use crate::model::value::Value;
use crate::store::draft::Draft;
use crate::store::error::StoreError;
use crate::store::key;
use crate::store::row::{Row, SuppressionRow};
use crate::store::rows::{Lookup, NodeView, Rows};
use crate::timeline::correction::{corrected, counts_from, written_open};
use crate::timeline::slot::{Current, Reach, Slot, SlotKey};

/// Applies a whole transaction, as the log holds it.
///
/// # Errors
/// [`StoreError::Missing`] when it speaks of what the rows do not have: the log and the rows are
/// not of one store.
pub fn apply_transaction(
    draft: &mut Draft<'_>,
    transaction: &Transaction,
) -> Result<(), StoreError> {
    let mut stamp = Stamp { seq: transaction.seq, place: 0, recorded: transaction.recorded };
    for event in &transaction.events {
        apply_event(draft, event, stamp)?;
        stamp.place += 1;
    }
    seal(draft, transaction.tx_id, stamp);
    Ok(())
}

/// Notes the end of a transaction: its id, its instant, its number.
pub fn seal(draft: &mut Draft<'_>, tx_id: uuid::Uuid, stamp: Stamp) {
    draft.put(key::transaction(tx_id), Row::Number(stamp.seq));
    draft.put(key::recorded(stamp.recorded), Row::Number(stamp.seq));
    draft.reach(stamp);
}

/// Applies one event. Cost: linear in the facts of the slot it is about, for those that supersede.
///
/// # Errors
/// [`StoreError::Missing`], as for a transaction.
pub fn apply_event(draft: &mut Draft<'_>, event: &Event, stamp: Stamp) -> Result<(), StoreError> {
    let Some(tenant) = &event.tenant else {
        return match &event.action {
            Action::Predicate(declaration) => declare(draft, "", declaration, stamp),
            _ => Err(StoreError::Missing("the tenant of an event".to_owned())),
        };
    };
    draft.touch_tenant(tenant, stamp)?;
    let target = |draft: &Draft<'_>, id: &Id| target(draft, tenant, id);
    match &event.action {
        Action::Predicate(declaration) => declare(draft, tenant.as_str(), declaration, stamp),
        Action::Source(said) => add_source(draft, tenant, said, &event.decision, stamp),
        Action::Assert(said) => {
            let link = linked(&said.supersedes);
            add_statement(draft, tenant, said, None, &event.decision, stamp, &link)
        }
        Action::Artifact(said) => add_artifact(draft, tenant, said, &event.decision, stamp),
        Action::Support(id, premises) => {
            support(draft, tenant, target(draft, id)?, premises, stamp)
        }
        Action::Affirm(id, review_by) => {
            happen(draft, target(draft, id)?, stamp, What::Affirmed(*review_by))
        }
        Action::End(id, until) => happen(draft, target(draft, id)?, stamp, What::Ended(*until)),
        Action::Correct(id, changes) => {
            correct(draft, tenant, target(draft, id)?, changes, &event.decision, stamp)
        }
        Action::Retract(id, why) => happen(draft, target(draft, id)?, stamp, What::Retracted(*why)),
        Action::RetractClaim(subject, predicate, value, scope, why) => {
            let name = SlotKey {
                tenant: tenant.clone(),
                subject: subject.clone(),
                predicate: predicate.clone(),
            };
            retract_claim(draft, &name, value, scope, *why, stamp)
        }
        Action::Reinstate(id) => reinstate(draft, target(draft, id)?, stamp),
        Action::Disable(id) => happen(draft, target(draft, id)?, stamp, What::Disabled),
        Action::Enable(id) => happen(draft, target(draft, id)?, stamp, What::Enabled),
        Action::Confirm(id) => confirm(draft, tenant, target(draft, id)?, stamp),
        Action::Reject(id) => happen(draft, target(draft, id)?, stamp, What::Rejected),
        Action::Resolve(conflict, keep, _) => {
            resolve(draft, tenant, conflict, keep, &event.decision, stamp)
        }
        Action::Suppress(said) => suppress(draft, tenant, said, stamp),
        Action::Unsuppress(id) => unsuppress(draft, tenant, id, stamp),
        Action::Done(id, _) => done(draft, target(draft, id)?, stamp),
        Action::Erase(_) => {
            Err(StoreError::Missing("an erasure floor that applies `erase`".to_owned()))
        }
    }
}

fn target(draft: &Draft<'_>, tenant: &Tenant, id: &Id) -> Result<NodeNo, StoreError> {
    draft
        .find_id(tenant, id)?
        .ok_or_else(|| StoreError::Missing(format!("id {id} of tenant {tenant}")))
}

fn happen(draft: &mut Draft<'_>, no: NodeNo, stamp: Stamp, what: What) -> Result<(), StoreError> {
    draft.change_life(no, |life| life.changes.push(Change { stamp, what }))
}

fn declare(
    draft: &mut Draft<'_>,
    tenant: &str,
    said: &Declaration,
    stamp: Stamp,
) -> Result<(), StoreError> {
    let key = key::declared(tenant, said.name.as_str());
    let mut declared = match draft.row(&key)? {
        Some(Row::Declared(declared)) => declared.as_ref().clone(),
        Some(_) | None => crate::model::declared::Declarations::default(),
    };
    declared.0.push((stamp, said.clone()));
    draft.put(key, Row::Declared(Arc::new(declared)));
    Ok(())
}

/// The justifications of a new node: each alternative with the source last, or the source alone.
fn justified(
    draft: &Draft<'_>,
    tenant: &Tenant,
    source: Option<NodeNo>,
    derived_from: &Premises,
    stamp: Stamp,
) -> Result<Vec<Justification>, StoreError> {
    let alone = Vec::new();
    let alternatives = if derived_from.is_empty() && source.is_some() {
        std::slice::from_ref(&alone)
    } else {
        derived_from
    };
    let mut justifications = Vec::with_capacity(alternatives.len());
    for alternative in alternatives {
        let mut premises = Vec::with_capacity(alternative.len() + 1);
        for id in alternative {
            premises.push(target(draft, tenant, id)?);
        }
        premises.extend(source.filter(|source| !premises.contains(source)));
        justifications.push(Justification { stamp, premises });
    }
    Ok(justifications)
}

fn add_source(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    said: &SourceText,
    decision: &Decision,
    stamp: Stamp,
) -> Result<(), StoreError> {
    draft.touch_scope(tenant, &said.scope, stamp)?;
    let life = Life::new(draft.next_node(), stamp, decision.held, decision.against.clone());
    draft.register(tenant, &said.id, &life);
    let no = life.no;
    draft.put_source(Source {
        said: said.clone(),
        tenant: tenant.clone(),
        succeeded: Vec::new(),
        life,
    });
    if !decision.held {
        succeed(draft, tenant, &said.supersedes, no, stamp)?;
    }
    Ok(())
}

fn add_artifact(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    said: &ArtifactText,
    decision: &Decision,
    stamp: Stamp,
) -> Result<(), StoreError> {
    draft.touch_scope(tenant, &said.scope, stamp)?;
    let justifications = justified(draft, tenant, None, &said.derived_from, stamp)?;
    let mut life = Life::new(draft.next_node(), stamp, decision.held, decision.against.clone());
    life.justifications = justifications;
    draft.register(tenant, &said.id, &life);
    let no = life.no;
    draft.put_artifact(Artifact {
        said: said.clone(),
        tenant: tenant.clone(),
        succeeded: Vec::new(),
        done: Vec::new(),
        life,
    });
    succeed(draft, tenant, &said.supersedes, no, stamp)
}

/// Sources and artifacts that take the place of others say so on those.
fn succeed(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    old: &[Id],
    by: NodeNo,
    stamp: Stamp,
) -> Result<(), StoreError> {
    for id in old {
        match draft.node(target(draft, tenant, id)?)? {
            NodeView::Source(source) => {
                let mut source = Arc::unwrap_or_clone(source);
                source.succeeded.push(Succession { stamp, by });
                draft.put_source(source);
            }
            NodeView::Artifact(artifact) => {
                let mut artifact = Arc::unwrap_or_clone(artifact);
                artifact.succeeded.push(Succession { stamp, by });
                draft.put_artifact(artifact);
            }
            NodeView::Fact(..) => {
                return Err(StoreError::Missing(format!("a source or artifact {id}")));
            }
        }
    }
    Ok(())
}

/// What a new fact supersedes: named places, or what is current.
enum Linked<'a> {
    Nothing,
    Current,
    Named(&'a [Id]),
}

fn linked(supersedes: &Supersedes) -> Linked<'_> {
    match supersedes {
        Supersedes::Nothing => Linked::Nothing,
        Supersedes::Current => Linked::Current,
        Supersedes::Ids(ids) => Linked::Named(ids),
    }
}

fn add_statement(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    said: &Statement,
    correction: Option<(&Fact, &Changes)>,
    decision: &Decision,
    stamp: Stamp,
    supersedes: &Linked<'_>,
) -> Result<(), StoreError> {
    draft.touch_scope(tenant, &said.scope, stamp)?;
    let source = match &said.source {
        Some(id) => Some(target(draft, tenant, id)?),
        None => None,
    };
    let mut life = Life::new(draft.next_node(), stamp, decision.held, decision.against.clone());
    life.justifications = justified(draft, tenant, source, &said.derived_from, stamp)?;
    let corrects = correction.map(|(old, _)| old);
    let mut fact = Fact {
        said: said.clone(),
        kind: decision.kind.unwrap_or(Kind::Inferred),
        reasserted: decision.reasserted,
        corrects: corrects.map(|old| old.life.no),
        counts_from: counts_from(
            stamp.recorded,
            corrects,
            correction.and_then(|(_, given)| given.valid_from),
        ),
        written_open: written_open(
            said.valid_until,
            corrects,
            correction.and_then(|(_, given)| given.valid_until),
        ),
        source,
        links: Vec::new(),
        life,
    };
    let name = SlotKey {
        tenant: tenant.clone(),
        subject: said.subject.clone(),
        predicate: said.predicate.clone(),
    };
    let slot = draft.slot_for(&name)?;
    let named = match supersedes {
        Linked::Nothing => Vec::new(),
        Linked::Current => slot.current(&Current {
            scope: &said.scope,
            when: &said.when,
            from: fact.counted_from(),
            until: said.valid_until,
            kinds: decision.reach,
            stamp,
        }),
        Linked::Named(ids) => places(draft, tenant, &slot, ids)?,
    };
    if !named.is_empty() {
        let kinds = if decision.held { crate::model::kind::KindSet::ALL } else { decision.reach };
        let reach =
            Reach { by: None, scope: &said.scope, kinds, stamp, waits: decision.held, spare: None };
        fact.links.push(slot.link(named, &reach));
    }
    let no = slot.no;
    drop(slot);
    draft.add_fact(tenant, no, fact)
}

/// The places of ids in a slot, ascending.
fn places(
    draft: &Draft<'_>,
    tenant: &Tenant,
    slot: &Slot,
    ids: &[Id],
) -> Result<Vec<u32>, StoreError> {
    let mut places = Vec::with_capacity(ids.len());
    for id in ids {
        match draft.node(target(draft, tenant, id)?)? {
            NodeView::Fact(of, place) if of.no == slot.no => places.push(place),
            NodeView::Fact(..) | NodeView::Source(_) | NodeView::Artifact(_) => {
                return Err(StoreError::Missing(format!("fact {id} in its slot")));
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

fn support(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    no: NodeNo,
    premises: &Premises,
    stamp: Stamp,
) -> Result<(), StoreError> {
    let added = justified(draft, tenant, None, premises, stamp)?;
    for premise in added.iter().flat_map(|j| &j.premises) {
        draft.put(key::dependent(*premise, no), Row::Edge);
    }
    draft.change_life(no, |life| life.justifications.extend(added))
}

fn fact_at(draft: &Draft<'_>, no: NodeNo) -> Result<(Arc<Slot>, u32), StoreError> {
    match draft.node(no)? {
        NodeView::Fact(slot, place) => Ok((slot, place)),
        NodeView::Source(_) | NodeView::Artifact(_) => {
            Err(StoreError::Missing(format!("fact {}", no.0)))
        }
    }
}

fn correct(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    old: NodeNo,
    changes: &Changes,
    decision: &Decision,
    stamp: Stamp,
) -> Result<(), StoreError> {
    let (slot, place) = fact_at(draft, old)?;
    let missing = || StoreError::Missing(format!("fact {}", old.0));
    let target = slot.fact(place).ok_or_else(missing)?.clone();
    let id = changes
        .id
        .clone()
        .ok_or_else(|| StoreError::Missing("the id of a correction".to_owned()))?;
    let said = corrected(&target, &target.life.standing_before(stamp), id, changes);
    drop(slot);
    let named = std::slice::from_ref(&target.said.id);
    add_statement(
        draft,
        tenant,
        &said,
        Some((&target, changes)),
        decision,
        stamp,
        &Linked::Named(named),
    )?;
    let by = NodeNo(draft.counters().nodes);
    if decision.held { Ok(()) } else { close_corrected(draft, by, stamp) }
}

/// Closes what a correction corrects: its target and every copy of the claim in the target's own
/// scope that stood before the correction, disabled and held ones too (R26, R23a).
fn close_corrected(draft: &mut Draft<'_>, by: NodeNo, stamp: Stamp) -> Result<(), StoreError> {
    let (slot, place) = fact_at(draft, by)?;
    let missing = || StoreError::Missing(format!("fact {}", by.0));
    let new = slot.fact(place).ok_or_else(missing)?;
    let old =
        slot.facts().find(|(_, fact)| Some(fact.life.no) == new.corrects).ok_or_else(missing)?.1;
    let closed: Vec<u32> = slot
        .facts()
        .filter(|(_, fact)| {
            fact.life.no == old.life.no
                || (fact.said.scope == old.said.scope && fact.same_claim(old))
        })
        .filter(|(_, fact)| {
            fact.life.stamp < new.life.stamp && fact.life.standing_before(stamp).closed.is_none()
        })
        .map(|(at, _)| at)
        .collect();
    let slot_no = slot.no;
    drop(slot);
    close_all(draft, slot_no, &closed, stamp, &What::Corrected(by))
}

fn close_all(
    draft: &mut Draft<'_>,
    slot: crate::model::node::SlotNo,
    places: &[u32],
    stamp: Stamp,
    what: &What,
) -> Result<(), StoreError> {
    draft.change_slot(slot, |slot| {
        for place in places {
            if let Some(fact) = slot.fact_mut(*place) {
                fact.life.changes.push(Change { stamp, what: what.clone() });
            }
        }
    })
}

fn retract_claim(
    draft: &mut Draft<'_>,
    name: &SlotKey,
    value: &Value,
    scope: &Scope,
    why: Takeback,
    stamp: Stamp,
) -> Result<(), StoreError> {
    let slot = draft.slot_for(name)?;
    let closed: Vec<u32> = slot
        .facts()
        .filter(|(_, fact)| {
            fact.said.scope == *scope && fact.said.value == *value && fact.said.when.is_empty()
        })
        .filter(|(_, fact)| fact.life.standing_before(stamp).closed.is_none())
        .map(|(place, _)| place)
        .collect();
    let no = slot.no;
    drop(slot);
    close_all(draft, no, &closed, stamp, &What::Retracted(why))
}

fn reinstate(draft: &mut Draft<'_>, no: NodeNo, stamp: Stamp) -> Result<(), StoreError> {
    let node = draft.node(no)?;
    let closing = node.life().and_then(|life| life.standing_before(stamp).closed);
    let (NodeView::Fact(slot, _), Some((Closing::Corrected(by), _))) = (&node, closing) else {
        return happen(draft, no, stamp, What::Reinstated);
    };
    let reopened: Vec<u32> = slot
        .facts()
        .filter(|(_, fact)| match fact.life.standing_before(stamp).closed {
            Some((Closing::Corrected(other), _)) => other == by,
            Some((Closing::Retracted(_) | Closing::Rejected, _)) | None => false,
        })
        .map(|(place, _)| place)
        .collect();
    let slot_no = slot.no;
    drop(node);
    close_all(draft, slot_no, &reopened, stamp, &What::Reinstated)?;
    let (slot, place) = fact_at(draft, by)?;
    let open = slot.fact(place).is_some_and(|fact| fact.life.standing_before(stamp).is_open());
    drop(slot);
    if open { happen(draft, by, stamp, What::Retracted(Takeback::Mistaken)) } else { Ok(()) }
}

fn confirm(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    no: NodeNo,
    stamp: Stamp,
) -> Result<(), StoreError> {
    happen(draft, no, stamp, What::Confirmed)?;
    match draft.node(no)? {
        NodeView::Source(source) => succeed(draft, tenant, &source.said.supersedes, no, stamp),
        NodeView::Artifact(artifact) => {
            succeed(draft, tenant, &artifact.said.supersedes, no, stamp)
        }
        NodeView::Fact(slot, place) => {
            let corrects = slot.fact(place).is_some_and(|fact| fact.corrects.is_some());
            drop(slot);
            if corrects { close_corrected(draft, no, stamp) } else { Ok(()) }
        }
    }
}

fn resolve(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    conflict: &[Id],
    keep: &Id,
    decision: &Decision,
    stamp: Stamp,
) -> Result<(), StoreError> {
    let (slot, kept) = fact_at(draft, target(draft, tenant, keep)?)?;
    let missing = || StoreError::Missing(format!("fact {keep}"));
    let fact = slot.fact(kept).ok_or_else(missing)?;
    let mut named = places(draft, tenant, &slot, conflict)?;
    named.retain(|place| slot.fact(*place).is_some_and(|other| !other.same_claim(fact)));
    let reach = Reach {
        by: Some(kept),
        scope: &fact.said.scope,
        kinds: decision.reach,
        stamp,
        waits: false,
        spare: Some(kept),
    };
    let link = slot.link(named, &reach);
    let no = slot.no;
    drop(slot);
    draft.change_slot(no, |slot| {
        if let Some(fact) = slot.fact_mut(kept) {
            fact.links.push(link);
        }
    })
}

/// A suppression under an id that was lifted before is laid down anew.
fn suppress(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    said: &Suppression,
    stamp: Stamp,
) -> Result<(), StoreError> {
    let mut rows = draft.suppressions(tenant)?.as_ref().clone();
    rows.retain(|row| row.said.id != said.id);
    rows.push(SuppressionRow { said: said.clone(), stamp, lifted: None });
    draft.put(key::suppressions(tenant), Row::Suppressions(Arc::new(rows)));
    Ok(())
}

fn unsuppress(
    draft: &mut Draft<'_>,
    tenant: &Tenant,
    id: &Id,
    stamp: Stamp,
) -> Result<(), StoreError> {
    let mut rows = draft.suppressions(tenant)?.as_ref().clone();
    for row in rows.iter_mut().filter(|row| row.said.id == *id) {
        row.lifted = Some(stamp);
    }
    draft.put(key::suppressions(tenant), Row::Suppressions(Arc::new(rows)));
    Ok(())
}

fn done(draft: &mut Draft<'_>, no: NodeNo, stamp: Stamp) -> Result<(), StoreError> {
    let NodeView::Artifact(artifact) = draft.node(no)? else {
        return Err(StoreError::Missing(format!("artifact {}", no.0)));
    };
    let mut artifact = Arc::unwrap_or_clone(artifact);
    artifact.done.push(stamp);
    draft.put_artifact(artifact);
    Ok(())
}
