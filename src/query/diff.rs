//! `diff`: the answers that differ between two as-of points, and what made them differ: between
//! two known instants the events recorded at the moments at which the answer changed; between two
//! valid instants the starts, ends and review dates that lie at those moments.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::lineage::above::above;
use crate::model::form::{Object, ids};
use crate::model::name::{Id, Predicate, Subject};
use crate::model::node::{Life, What};
use crate::model::scope::Scope;
use crate::model::value::Value;
use crate::query::agenda::answered;
use crate::query::course::{Piece, beliefs, timeline};
use crate::query::slots::Reach;
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::{Recorded, Valid};
use crate::timeline::resolve::{Outcome, Resolution};
use crate::timeline::slot::Slot;

/// The two points compared; the other axis stays as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// What was known at two instants.
    Known(Recorded, Recorded),
    /// What holds at two instants.
    Valid(Valid, Valid),
}

/// One answer in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// What it comes to.
    pub outcome: Outcome,
    /// The distinct values, in order.
    pub values: Vec<Value>,
    /// The facts that answer, oldest first.
    pub facts: Vec<Id>,
}

impl Short {
    fn of(slot: &Slot, resolution: &Resolution) -> Self {
        let used: Vec<_> = resolution.used.iter().filter_map(|place| slot.fact(*place)).collect();
        let values: BTreeSet<&Value> = used.iter().map(|fact| &fact.said.value).collect();
        Self {
            outcome: resolution.outcome,
            values: values.into_iter().cloned().collect(),
            facts: used.iter().map(|fact| fact.said.id.clone()).collect(),
        }
    }

    fn json(&self) -> Json {
        Object::default()
            .with("outcome", self.outcome.word())
            .with("values", self.values.iter().map(Value::to_json).collect::<Vec<_>>())
            .with("facts", ids(&self.facts))
            .json()
    }
}

/// Something that made an answer differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// When: a recorded instant between known ones, a valid instant between valid ones.
    pub at: Valid,
    /// An operation's name; or `starts`, `ends`, `review_due`.
    pub what: &'static str,
    /// The node it is about.
    pub id: Id,
}

impl Turn {
    fn json(&self) -> Json {
        Object::default()
            .with("at", self.at.to_string())
            .with("what", self.what)
            .with("id", self.id.as_str())
            .json()
    }
}

/// A slot that is answered differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What it is about.
    pub subject: Subject,
    /// Which property.
    pub predicate: Predicate,
    /// The scope answered for.
    pub scope: Scope,
    /// The answer at the first point.
    pub before: Short,
    /// The answer at the second.
    pub after: Short,
    /// What made them differ, in order of time.
    pub events: Vec<Turn>,
}

impl Difference {
    /// The JSON form.
    pub fn json(&self) -> Json {
        Object::default()
            .with("subject", self.subject.as_str())
            .with("predicate", self.predicate.as_str())
            .with("scope", self.scope.as_str())
            .with("before", self.before.json())
            .with("after", self.after.json())
            .with("events", self.events.iter().map(Turn::json).collect::<Vec<_>>())
            .json()
    }
}

/// The answers that differ, in order of subject, predicate and scope. Doubts alone make no
/// difference unless they change the outcome. Cost: as `find` without a pattern, twice; and the
/// course of each slot that differs.
///
/// # Errors
/// When the store cannot be read.
pub fn diff(
    view: &View<'_>,
    reach: &Reach,
    ask: &Ask,
    between: Between,
) -> Result<Vec<Difference>, StoreError> {
    let (first, second) = match between {
        Between::Known(a, b) => {
            (Ask { known_at: Some(a), ..ask.clone() }, Ask { known_at: Some(b), ..ask.clone() })
        }
        Between::Valid(a, b) => {
            (Ask { valid_at: Some(a), ..ask.clone() }, Ask { valid_at: Some(b), ..ask.clone() })
        }
    };
    answered(view, reach, &first, |slot, at_first, resolution| {
        let at_second = Ask { scope: at_first.scope.clone(), ..second.clone() };
        let before = Short::of(slot, resolution);
        let after = Short::of(slot, &view.resolve(slot, &at_second, view.at(&at_second))?);
        if before == after {
            return Ok(Vec::new());
        }
        let events = turns(view, slot, at_first, &at_second, between)?;
        let (subject, predicate) = (slot.key.subject.clone(), slot.key.predicate.clone());
        let scope = at_first.scope.clone();
        Ok(vec![Difference { subject, predicate, scope, before, after, events }])
    })
}

/// What lies at the moments between the two points at which the answer changed.
fn turns(
    view: &View<'_>,
    slot: &Slot,
    first: &Ask,
    second: &Ask,
    between: Between,
) -> Result<Vec<Turn>, StoreError> {
    let (subject, predicate) = (&slot.key.subject, &slot.key.predicate);
    let (from, until, moments) = match between {
        Between::Known(a, b) => {
            let later = if a < b { second } else { first };
            let pieces = beliefs(view, subject, predicate, later)?;
            (a.min(b).as_valid(), a.max(b).as_valid(), starts(&pieces, Recorded::as_valid))
        }
        Between::Valid(a, b) => {
            let pieces = timeline(view, subject, predicate, first)?;
            (a.min(b), a.max(b), starts(&pieces, |at| at))
        }
    };
    let moments: BTreeSet<Valid> =
        moments.into_iter().filter(|at| *at > from && *at <= until).collect();
    let mut turns = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for (place, fact) in slot.facts() {
        let own = view.rows().node(fact.life.no)?;
        debug_assert!(matches!(own, NodeView::Fact(_, at) if at == place), "a fact at its place");
        for node in std::iter::once(own).chain(above(view.rows(), fact.life.no)?) {
            let no = node.life().map(|life| life.no);
            if node.scope().is_some_and(|scope| view.sees(scope)) && seen.insert(no) {
                gather(view, &node, between, &moments, &mut turns)?;
            }
        }
    }
    Ok(turns.into_iter().collect())
}

fn starts<T: Copy>(pieces: &[Piece<T>], valid: impl Fn(T) -> Valid) -> Vec<Valid> {
    pieces.iter().filter_map(|piece| piece.from).map(valid).collect()
}

/// Adds what happened to a node, and to the facts of its slot, at the moments.
fn gather(
    view: &View<'_>,
    node: &NodeView,
    between: Between,
    moments: &BTreeSet<Valid>,
    turns: &mut BTreeSet<Turn>,
) -> Result<(), StoreError> {
    let mut add = |at: Valid, what: &'static str, id: &Id| {
        if moments.contains(&at) {
            turns.insert(Turn { at, what, id: id.clone() });
        }
    };
    let (Some(life), Some(id)) = (node.life(), node.id()) else { return Ok(()) };
    if let Between::Known(..) = between {
        recorded(node, life, |at, what| add(at.as_valid(), what, id));
        if let NodeView::Fact(slot, _) = node {
            for (_, fact) in slot.facts().filter(|(_, fact)| view.sees(&fact.said.scope)) {
                let node = view.rows().node(fact.life.no)?;
                recorded(&node, &fact.life, |at, what| add(at.as_valid(), what, &fact.said.id));
            }
        }
        return Ok(());
    }
    let standing = life.standing(view.pin());
    match node {
        NodeView::Fact(slot, _) => {
            for (_, fact) in slot.facts().filter(|(_, fact)| view.sees(&fact.said.scope)) {
                let standing = fact.life.standing(view.pin());
                let ends = [
                    (fact.counted_from(), "starts"),
                    (fact.until(&standing), "ends"),
                    (standing.review_by.or(fact.said.review_by), "review_due"),
                ];
                for (at, what) in ends {
                    if let Some(at) = at {
                        add(at, what, &fact.said.id);
                    }
                }
            }
        }
        NodeView::Artifact(artifact) => {
            let until = standing.ended.unwrap_or(artifact.said.valid_until);
            if let Some(at) = until {
                add(at, "ends", id);
            }
        }
        NodeView::Source(_) => {
            if let Some(at) = standing.ended.flatten() {
                add(at, "ends", id);
            }
        }
    }
    Ok(())
}

/// What was recorded about a node, by the names of the operations.
fn recorded(node: &NodeView, life: &Life, mut add: impl FnMut(Recorded, &'static str)) {
    let came = match node {
        NodeView::Fact(slot, place) => {
            let corrects = slot.fact(*place).is_some_and(|fact| fact.corrects.is_some());
            if corrects { "correct" } else { "assert" }
        }
        NodeView::Source(_) => "source",
        NodeView::Artifact(_) => "artifact",
    };
    add(life.stamp.recorded, came);
    for change in &life.changes {
        let what = match change.what {
            What::Ended(_) => "end",
            What::Retracted(_) => "retract",
            What::Corrected(_) => "correct",
            What::Rejected => "reject",
            What::Reinstated => "reinstate",
            What::Disabled => "disable",
            What::Enabled => "enable",
            What::Confirmed => "confirm",
            What::Affirmed(_) => "affirm",
        };
        add(change.stamp.recorded, what);
    }
    for justification in life.justifications.iter().filter(|j| j.stamp != life.stamp) {
        add(justification.stamp.recorded, "support");
    }
    if let NodeView::Fact(slot, place) = node {
        let links = slot.fact(*place).into_iter().flat_map(|fact| &fact.links);
        for link in links.filter(|link| link.stamp != life.stamp) {
            add(link.stamp.recorded, "resolve");
        }
    }
}
