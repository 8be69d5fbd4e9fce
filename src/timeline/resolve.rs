//! The resolver: what answers for one slot at (`valid_at`, `known_at`). There is no other (R28).
//!
//! ```text
//!            a fact of the slot
//!  2 recorded and open by k? ─ 3 held, disabled? ─ 4 scope ─ 5 conditions ─ 6 contains v? ─ 7 support
//!            │ passes all: eligible                          (period over, `then` never: may rule)
//!  8 supersession: what a ruling fact supersedes, however far along, falls
//!  9 authority, then nearest scope, then narrower conditions   (single-valued slots)
//! 10 outcome: known · uncertain (with doubts) · contested · unknown
//! ```
//!
//! A pure function of (facts, question, rules, marks): no clock, no I/O, no lock. It asks each
//! fact the same questions once ([`crate::timeline::look`]), then only compares. [`crate::timeline::doubt`] holds
//! step 10. Step 1, permission and erasure, is `visible`: what the caller may not see is no
//! candidate. Cost: linear in the facts of the slot and their links.

use std::collections::VecDeque;

use crate::model::condition::{Applies, Context};
use crate::model::declared::Rules;
use crate::model::node::NodeNo;
use crate::model::operation::{Cardinality, Takeback};
use crate::model::scope::Scope;
use crate::timeline::doubt::{self, Doubt};
use crate::timeline::look::{Look, Part, look};
use crate::timeline::marks::{AsOf, Marks};
use crate::timeline::slot::Slot;

/// What is asked of a slot.
pub struct Question<'a> {
    /// The scope asked about.
    pub scope: &'a Scope,
    /// Whether facts of ancestor scopes take part (R11).
    pub inherit: bool,
    /// The circumstances (R12).
    pub context: &'a Context,
    /// The as-of point.
    pub at: AsOf,
    /// Which scopes the caller may read.
    pub visible: &'a (dyn Fn(&Scope) -> bool + Sync),
}

/// Why a candidate does not answer, by the step of section 6 that removed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removed {
    /// Recorded after k (2).
    NotYetRecorded,
    /// Taken back by k (2).
    Retracted(Takeback),
    /// Corrected by k (2).
    CorrectedBy(NodeNo),
    /// Declined by k (2).
    Rejected,
    /// Waiting to be confirmed (3).
    Held,
    /// Not to be used (3).
    Disabled,
    /// Of a scope that does not take part (4).
    OtherScope,
    /// A condition is not met (5).
    ConditionNotMet(String),
    /// A condition is not known to be met (5).
    ConditionUnknown(String),
    /// Its period starts after v (6).
    NotYetValid,
    /// Its start is unknown and v lies before it was recorded (6, R4).
    StartUnknown,
    /// Its period ended by v (6).
    Expired,
    /// What it rests on was taken back (7).
    PremiseRetracted(NodeNo),
    /// What it rests on changed (7).
    PremiseChanged(NodeNo),
    /// Reported or inferred, resting on nothing (7).
    Unsourced,
    /// A ruling fact takes its place (8).
    SupersededBy(NodeNo),
    /// A fact of a stronger kind answers (9).
    OutrankedBy(NodeNo),
    /// A fact of a nearer scope or narrower conditions answers (9).
    NarrowerRule(NodeNo),
}

/// What the slot comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One distinct value (any number for `many`), no doubt.
    Known,
    /// The same with doubts.
    Uncertain,
    /// Two or more values in a single-valued slot.
    Contested,
    /// Nothing.
    Unknown,
}

impl Outcome {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Uncertain => "uncertain",
            Self::Contested => "contested",
            Self::Unknown => "unknown",
        }
    }
}

/// The answer for one slot: who answers, who does not and why.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// What it comes to.
    pub outcome: Outcome,
    /// Places of the facts that answer, oldest first.
    pub used: Vec<u32>,
    /// Doubts about them.
    pub doubts: Vec<Doubt>,
    /// Places of the facts removed, with the reason, oldest first.
    pub removed: Vec<(u32, Removed)>,
    /// Places of ancestor-scope facts that would be eligible there (exact questions only).
    pub broader: Vec<u32>,
}

/// Resolves one slot (section 6, steps 1 to 10).
///
/// # Errors
/// What the marks say; the resolver itself cannot fail.
pub fn resolve<M: Marks>(
    slot: &Slot,
    question: &Question<'_>,
    rules: &Rules,
    marks: &M,
) -> Result<Resolution, M::Error> {
    let mut looks = Vec::new();
    let mut removed = Vec::new();
    for (place, fact) in slot.facts() {
        if !(question.visible)(&fact.said.scope) {
            continue;
        }
        match look(place, fact, question, rules, marks)? {
            Some(look) => looks.push(look),
            None => removed.push((place, Removed::NotYetRecorded)),
        }
    }
    let mut remaining: Vec<&Look<'_>> = Vec::new();
    let mut broader = Vec::new();
    for look in &looks {
        match look.removed() {
            Some(reason) => {
                if look.part == Part::Ancestor
                    && look.applies == Applies::Yes
                    && look.in_use()
                    && look.outside().is_none()
                {
                    broader.push(look.place);
                }
                removed.push((look.place, reason));
            }
            None => remaining.push(look),
        }
    }
    let over = overridden(slot, &looks, question);
    remaining.retain(|look| match over.by(look.place) {
        Some(by) => {
            removed.push((look.place, Removed::SupersededBy(by)));
            false
        }
        None => true,
    });
    if rules.cardinality == Cardinality::One {
        narrow(&mut remaining, &mut removed, rules);
    }
    removed.sort_unstable_by_key(|(place, _)| *place);
    let doubts = doubt::doubts(&doubt::Scene {
        slot,
        looks: &looks,
        remaining: &remaining,
        over: &over,
        question,
        rules,
    });
    let outcome = outcome(&remaining, &doubts, rules.cardinality);
    Ok(Resolution {
        outcome,
        used: remaining.iter().map(|l| l.place).collect(),
        doubts,
        removed,
        broader,
    })
}

/// Who is superseded by a ruling fact, and by which: the fewest steps away, then recorded last.
pub(super) struct Overridden(Vec<Option<NodeNo>>);

impl Overridden {
    pub(super) fn by(&self, place: u32) -> Option<NodeNo> {
        self.0.get(usize::try_from(place).ok()?).copied().flatten()
    }
}

/// Step 8: floods from every ruling fact along links recorded by k, also through facts that do not
/// rule or are closed. Each fact's links are followed once.
fn overridden(slot: &Slot, looks: &[Look<'_>], question: &Question<'_>) -> Overridden {
    let mut over = Overridden(vec![None; slot.len() as usize]);
    let ruling: Vec<&Look<'_>> = looks.iter().rev().filter(|look| look.rules()).collect();
    if ruling.iter().all(|look| look.fact.links.is_empty()) {
        return over;
    }
    let mut followed = vec![false; slot.len() as usize];
    let mut queue: VecDeque<(u32, NodeNo)> =
        ruling.iter().map(|l| (l.place, l.fact.life.no)).collect();
    let mut open = Unreached::new(slot.len());
    while let Some((place, by)) = queue.pop_front() {
        let Some(fact) = slot.fact(place) else { continue };
        match followed.get_mut(place as usize) {
            Some(done) if !*done => *done = true,
            Some(_) | None => continue,
        }
        let standing = fact.life.standing(question.at.known_at);
        for link in fact.links.iter().filter(|link| link.counts(question.at.known_at, &standing)) {
            for (from, until) in &link.reach {
                while let Some(next) = open.take(*from, *until) {
                    if let Some(entry) = over.0.get_mut(next as usize) {
                        *entry = Some(by);
                    }
                    queue.push_back((next, by));
                }
            }
        }
    }
    over
}

/// Places not yet reached; taking one is near constant (path halving).
struct Unreached(Vec<u32>);

impl Unreached {
    fn new(count: u32) -> Self {
        Self((0..=count).collect())
    }

    /// The first unreached place in `[from, until)`, now reached.
    fn take(&mut self, from: u32, until: u32) -> Option<u32> {
        let mut at = from;
        loop {
            let next = *self.0.get(at as usize)?;
            if next == at {
                break;
            }
            let after = *self.0.get(next as usize)?;
            if let Some(entry) = self.0.get_mut(at as usize) {
                *entry = after;
            }
            at = after;
        }
        if at >= until {
            return None;
        }
        if let Some(entry) = self.0.get_mut(at as usize) {
            *entry = at + 1;
        }
        Some(at)
    }
}

/// Step 9: authority, then nearest scope, then narrower conditions.
fn narrow(remaining: &mut Vec<&Look<'_>>, removed: &mut Vec<(u32, Removed)>, rules: &Rules) {
    let rank = |look: &Look<'_>| rules.authority.rank(look.kind);
    if let Some(best) = remaining.iter().map(|l| rank(l)).min() {
        let by = remaining.iter().rev().find(|l| rank(l) == best).map(|l| l.fact.life.no);
        drop_from(remaining, removed, |look| {
            by.filter(|_| rank(look) > best).map(Removed::OutrankedBy)
        });
    }
    let depth = |look: &Look<'_>| look.fact.said.scope.depth();
    if let Some(nearest) = remaining.iter().map(|l| depth(l)).max() {
        let by = remaining.iter().rev().find(|l| depth(l) == nearest).map(|l| l.fact.life.no);
        drop_from(remaining, removed, |look| {
            by.filter(|_| depth(look) < nearest).map(Removed::NarrowerRule)
        });
    }
    let conditions: Vec<_> =
        remaining.iter().map(|l| (&l.fact.said.when, l.fact.life.no)).collect();
    if conditions.iter().any(|(when, _)| !when.is_empty()) {
        drop_from(remaining, removed, |look| {
            let narrower =
                conditions.iter().rev().find(|(when, _)| when.narrower_than(&look.fact.said.when));
            narrower.map(|(_, by)| Removed::NarrowerRule(*by))
        });
    }
}

fn drop_from<'l, 'f>(
    remaining: &mut Vec<&'l Look<'f>>,
    removed: &mut Vec<(u32, Removed)>,
    reason: impl Fn(&Look<'f>) -> Option<Removed>,
) {
    remaining.retain(|look| match reason(look) {
        Some(reason) => {
            removed.push((look.place, reason));
            false
        }
        None => true,
    });
}

fn outcome(remaining: &[&Look<'_>], doubts: &[Doubt], cardinality: Cardinality) -> Outcome {
    let Some(first) = remaining.first() else {
        return Outcome::Unknown;
    };
    let differ = remaining.iter().any(|look| look.fact.said.value != first.fact.said.value);
    if differ && cardinality == Cardinality::One {
        Outcome::Contested
    } else if doubts.is_empty() {
        Outcome::Known
    } else {
        Outcome::Uncertain
    }
}
