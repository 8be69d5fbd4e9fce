//! The course of an answer: `timeline` along valid time, `beliefs` along recorded time. Each asks
//! the resolver at every instant at which its answer can change, and joins equal neighbours.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::lineage::above::above;
use crate::model::form::{Object, ids};
use crate::model::name::{Id, Predicate, Subject};
use crate::model::node::{Fact, What};
use crate::model::value::Value;
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::{Recorded, Valid};
use crate::timeline::doubt::Doubt;
use crate::timeline::marks::AsOf;
use crate::timeline::resolve::Outcome;
use crate::timeline::slot::{Slot, stamps};

/// A stretch of one axis with one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<T> {
    /// Where it starts, inclusive; `None` = since ever.
    pub from: Option<T>,
    /// Where it ends, exclusive; `None` = open.
    pub until: Option<T>,
    /// What the answer comes to.
    pub outcome: Outcome,
    /// The distinct values that answer, in order.
    pub values: Vec<Value>,
    /// The ids of the facts that answer.
    pub facts: Vec<Id>,
    doubts: Vec<Doubt>,
}

impl<T: ToString + Copy> Piece<T> {
    /// The JSON form; a `from` since ever is `-inf`.
    pub fn json(&self) -> Json {
        Object::default()
            .with("from", self.from.map_or_else(|| "-inf".to_owned(), |at| at.to_string()))
            .with("until", self.until.map_or(Json::Null, |at| Json::String(at.to_string())))
            .with("outcome", self.outcome.word())
            .with("values", self.values.iter().map(Value::to_json).collect::<Vec<_>>())
            .with("facts", ids(&self.facts))
            .json()
    }
}

fn piece<T>(
    view: &View<'_>,
    slot: &Slot,
    ask: &Ask,
    at: AsOf,
    from: Option<T>,
) -> Result<Piece<T>, StoreError> {
    let resolution = view.resolve(slot, ask, at)?;
    let facts: Vec<&Fact> = resolution.used.iter().filter_map(|place| slot.fact(*place)).collect();
    let values: BTreeSet<&Value> = facts.iter().map(|fact| &fact.said.value).collect();
    Ok(Piece {
        from,
        until: None,
        outcome: resolution.outcome,
        values: values.into_iter().cloned().collect(),
        facts: facts.iter().map(|fact| fact.said.id.clone()).collect(),
        doubts: resolution.doubts,
    })
}

/// Joins neighbours with equal answers and sets where each piece ends.
fn joined<T: Copy>(pieces: Vec<Piece<T>>) -> Vec<Piece<T>> {
    let mut all: Vec<Piece<T>> = Vec::new();
    for next in pieces {
        match all.last_mut() {
            Some(last)
                if last.outcome == next.outcome
                    && last.values == next.values
                    && last.facts == next.facts
                    && last.doubts == next.doubts => {}
            Some(last) => {
                last.until = next.from;
                all.push(next);
            }
            None => all.push(next),
        }
    }
    all
}

/// The answer along valid time, as known at one instant. Cost: the boundaries times the facts of
/// the slot.
///
/// # Errors
/// When the store cannot be read.
pub fn timeline(
    view: &View<'_>,
    subject: &Subject,
    predicate: &Predicate,
    ask: &Ask,
) -> Result<Vec<Piece<Valid>>, StoreError> {
    let known_at = view.at(ask).known_at;
    let Some(slot) = view.slot(subject, predicate)? else {
        return Ok(Vec::new());
    };
    let mut cuts = BTreeSet::new();
    let rules = view.rules(predicate, known_at)?;
    for (_, fact) in slot.facts() {
        cuts.extend(valid_cuts(fact));
        if let Some(every) = &rules.review_every {
            let looked = stamps(fact).map(|stamp| stamp.recorded.as_valid());
            cuts.extend(looked.filter_map(|at| at.plus_micros(every.micros()).ok()));
        }
        for node in above(view.rows(), fact.life.no)? {
            node_valid_cuts(&node, &mut cuts);
        }
    }
    let starts =
        std::iter::once(None).chain(cuts.into_iter().filter(|cut| *cut > Valid::MIN).map(Some));
    let pieces: Result<Vec<_>, StoreError> = starts
        .map(|from| {
            let at = AsOf { valid_at: from.unwrap_or(Valid::MIN), known_at };
            piece(view, &slot, ask, at, from)
        })
        .collect();
    Ok(joined(pieces?))
}

fn valid_cuts(fact: &Fact) -> impl Iterator<Item = Valid> {
    let said = [fact.counted_from(), fact.said.valid_until, fact.said.review_by];
    let later = fact.life.changes.iter().filter_map(|change| match &change.what {
        What::Ended(at) | What::Affirmed(at) => *at,
        What::Retracted(_)
        | What::Corrected(_)
        | What::Rejected
        | What::Reinstated
        | What::Disabled
        | What::Enabled
        | What::Confirmed => None,
    });
    said.into_iter().flatten().chain(later)
}

/// The boundaries at which a premise can touch v: its own ends and the starts of what supersedes it.
fn node_valid_cuts(node: &NodeView, cuts: &mut BTreeSet<Valid>) {
    match node {
        NodeView::Fact(slot, _) => {
            for (_, fact) in slot.facts() {
                cuts.extend(valid_cuts(fact));
            }
        }
        NodeView::Source(_) | NodeView::Artifact(_) => {
            let written = if let NodeView::Artifact(artifact) = node {
                artifact.said.valid_until
            } else {
                None
            };
            cuts.extend(written);
            let changes = node.life().into_iter().flat_map(|life| &life.changes);
            cuts.extend(
                changes.filter_map(
                    |change| if let What::Ended(at) = &change.what { *at } else { None },
                ),
            );
        }
    }
}

/// How the answer about one instant changed: along recorded time up to `known_at`. Cost: the
/// events about the slot and what it rests on, times the facts of the slot.
///
/// # Errors
/// When the store cannot be read.
pub fn beliefs(
    view: &View<'_>,
    subject: &Subject,
    predicate: &Predicate,
    ask: &Ask,
) -> Result<Vec<Piece<Recorded>>, StoreError> {
    let AsOf { valid_at, known_at } = view.pinned(view.at(ask));
    let Some(slot) = view.slot(subject, predicate)? else {
        return Ok(Vec::new());
    };
    let cuts = recorded_cuts(view, &slot)?;
    let starts =
        std::iter::once(None).chain(cuts.into_iter().filter(|cut| *cut <= known_at).map(Some));
    let pieces: Result<Vec<_>, StoreError> = starts
        .map(|from| {
            let at = AsOf { valid_at, known_at: from.unwrap_or(Recorded::MIN) };
            piece(view, &slot, ask, at, from)
        })
        .collect();
    Ok(joined(pieces?))
}

/// The recorded instants at which an answer of the slot can change, in order. Cost: the events
/// about the slot and what it rests on.
///
/// # Errors
/// When the store cannot be read.
pub fn recorded_cuts(view: &View<'_>, slot: &Slot) -> Result<BTreeSet<Recorded>, StoreError> {
    let mut cuts: BTreeSet<Recorded> = BTreeSet::new();
    for (_, fact) in slot.facts() {
        cuts.extend(stamps(fact).map(|stamp| stamp.recorded));
        for node in above(view.rows(), fact.life.no)? {
            node_recorded_cuts(view, &node, &mut cuts)?;
        }
    }
    let declared = view.rows().declared(view.tenant(), &slot.key.predicate)?;
    cuts.extend(declared.0.iter().map(|(stamp, _)| stamp.recorded));
    Ok(cuts)
}

fn node_recorded_cuts(
    view: &View<'_>,
    node: &NodeView,
    cuts: &mut BTreeSet<Recorded>,
) -> Result<(), StoreError> {
    match node {
        NodeView::Fact(slot, _) => {
            for (_, fact) in slot.facts() {
                cuts.extend(stamps(fact).map(|stamp| stamp.recorded));
            }
        }
        NodeView::Source(_) | NodeView::Artifact(_) => {
            if let Some(life) = node.life() {
                cuts.insert(life.stamp.recorded);
                cuts.extend(life.changes.iter().map(|change| change.stamp.recorded));
                cuts.extend(life.justifications.iter().map(|j| j.stamp.recorded));
            }
            let succeeded = match node {
                NodeView::Source(source) => source.succeeded.as_slice(),
                NodeView::Artifact(artifact) => artifact.succeeded.as_slice(),
                NodeView::Fact(..) => &[],
            };
            for succession in succeeded {
                cuts.insert(succession.stamp.recorded);
                let by = view.rows().node(succession.by)?;
                let changes = by.life().into_iter().flat_map(|life| &life.changes);
                cuts.extend(changes.map(|change| change.stamp.recorded));
            }
        }
    }
    Ok(())
}
