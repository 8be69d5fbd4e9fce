//! Step 10 of the resolver: doubts about what answers. A doubt about a value counts only if every
//! remaining copy of that value has one; then all are shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::condition::Applies;
use crate::model::declared::Rules;
use crate::model::kind::Kind;
use crate::model::node::{Closing, NodeNo};
use crate::model::operation::{Takeback, Then};
use crate::model::value::Value;
use crate::time::{Recorded, Valid};
use crate::timeline::look::{Look, Position};
use crate::timeline::marks::Mark;
use crate::timeline::resolve::{Overridden, Question};
use crate::timeline::slot::Slot;

/// Why an answer is not simply known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// What took its place has ended, and its author did not say that this one returns.
    OverrideEnded {
        /// The override that ended last.
        by: NodeNo,
        /// Whether its author asked to be asked.
        ask: bool,
    },
    /// What took its place was stopped; `None` = it has been erased.
    OverrideStopped(Option<NodeNo>),
    /// Its review date has passed.
    ReviewOverdue,
    /// It is an inference.
    InferredOnly,
    /// Another fact would have won if this dimension were known to be met.
    ConditionUnknown(String),
}

impl Doubt {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::OverrideEnded { .. } => "override_ended",
            Self::OverrideStopped(_) => "override_stopped",
            Self::ReviewOverdue => "review_overdue",
            Self::InferredOnly => "inferred_only",
            Self::ConditionUnknown(_) => "condition_unknown",
        }
    }
}

/// What step 10 looks at.
pub(super) struct Scene<'s, 'f> {
    pub(super) slot: &'s Slot,
    pub(super) looks: &'s [Look<'f>],
    pub(super) remaining: &'s [&'s Look<'f>],
    pub(super) over: &'s Overridden,
    pub(super) question: &'s Question<'s>,
    pub(super) rules: &'s Rules,
}

/// All doubts, in a fixed order.
pub(super) fn doubts(scene: &Scene<'_, '_>) -> Vec<Doubt> {
    let mut by_value: BTreeMap<&Value, Vec<Vec<Doubt>>> = BTreeMap::new();
    let linked = scene.looks.iter().any(|look| !look.fact.links.is_empty());
    for look in scene.remaining {
        by_value.entry(&look.fact.said.value).or_default().push(copy_doubts(scene, look, linked));
    }
    let mut all: BTreeSet<Doubt> = BTreeSet::new();
    for copies in by_value.values().filter(|copies| copies.iter().all(|doubts| !doubts.is_empty()))
    {
        all.extend(copies.iter().flatten().cloned());
    }
    if !scene.remaining.is_empty() {
        all.extend(scene.looks.iter().filter_map(|look| would_have_won(scene, look, &by_value)));
    }
    all.into_iter().collect()
}

fn copy_doubts(scene: &Scene<'_, '_>, look: &Look<'_>, linked: bool) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if linked {
        let overrides = superseders(scene, look.place);
        doubts.extend(override_ended(scene, look, &overrides));
        doubts.extend(override_stopped(scene, look, &overrides));
    }
    if review_by(look, scene.rules).is_some_and(|by| scene.question.at.valid_at >= by) {
        doubts.push(Doubt::ReviewOverdue);
    }
    if look.kind == Kind::Inferred {
        doubts.push(Doubt::InferredOnly);
    }
    doubts
}

/// The looks of all facts that supersede a place, directly or along a chain, by k. Repeats an
/// ascending pass until nothing is added: links reach earlier facts, except those of `resolve`.
fn superseders<'s, 'f>(scene: &Scene<'s, 'f>, place: u32) -> Vec<&'s Look<'f>> {
    let known_at = scene.question.at.known_at;
    let mut reached: BTreeSet<u32> = BTreeSet::from([place]);
    loop {
        let before = reached.len();
        for (at, fact) in scene.slot.facts().filter(|(_, fact)| !fact.links.is_empty()) {
            if reached.contains(&at) {
                continue;
            }
            let standing = fact.life.standing(known_at);
            let mut links = fact.links.iter().filter(|link| link.counts(known_at, &standing));
            if links.any(|link| {
                link.reach.iter().any(|(from, until)| reached.range(from..until).next().is_some())
            }) {
                reached.insert(at);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    reached.remove(&place);
    scene.looks.iter().filter(|look| reached.contains(&look.place)).collect()
}

fn affirmed(look: &Look<'_>) -> Option<Recorded> {
    look.standing.affirmed.map(|stamp| stamp.recorded)
}

fn override_ended(scene: &Scene<'_, '_>, old: &Look<'_>, overrides: &[&Look<'_>]) -> Option<Doubt> {
    let ended = |look: &&&Look<'_>| {
        look.stands()
            && look.position == Position::Over
            && matches!(look.then, Then::Uncertain | Then::Ask)
    };
    let last = overrides
        .iter()
        .filter(ended)
        .filter_map(|look| look.fact.until(&look.standing).map(|until| (until, look.place, *look)))
        .max_by_key(|(until, place, _)| (*until, *place));
    let (until, _, by) = last?;
    debug_assert!(until <= scene.question.at.valid_at, "an override that ended did so by v");
    if affirmed(old).is_some_and(|affirmed| affirmed.as_valid() >= until) {
        return None;
    }
    Some(Doubt::OverrideEnded { by: by.fact.life.no, ask: by.then == Then::Ask })
}

fn override_stopped(
    scene: &Scene<'_, '_>,
    old: &Look<'_>,
    overrides: &[&Look<'_>],
) -> Option<Doubt> {
    let valid_at = scene.question.at.valid_at;
    overrides
        .iter()
        .filter(|look| look.takes_part() && !look.standing.never_was())
        .filter(|look| match look.position {
            Position::Inside => true,
            Position::Over => look.then != Then::Resume,
            Position::Before | Position::BeforeRecorded => false,
        })
        .filter_map(|look| stopped(look).map(|since| (since, *look)))
        .filter(|(since, look)| {
            let end = look.fact.until(&look.standing).filter(|until| *until <= valid_at);
            !affirmed(old).is_some_and(|affirmed| {
                affirmed > *since || end.is_some_and(|end| affirmed.as_valid() >= end)
            })
        })
        .max_by_key(|(since, look)| (*since, look.place))
        .map(|(_, look)| Doubt::OverrideStopped(Some(look.fact.life.no)))
}

/// Since when a fact is disabled, withdrawn or rests on what was taken back.
fn stopped(look: &Look<'_>) -> Option<Recorded> {
    let disabled = look.standing.disabled.map(|stamp| stamp.recorded);
    let withdrawn = match look.standing.closed {
        Some((Closing::Retracted(Takeback::Withdrawn), stamp)) => Some(stamp.recorded),
        Some((
            Closing::Retracted(Takeback::Mistaken) | Closing::Corrected(_) | Closing::Rejected,
            _,
        ))
        | None => None,
    };
    let marked = match look.mark {
        Some(Mark::Retracted { since, .. }) => Some(since),
        Some(Mark::Changed { .. }) | None => None,
    };
    [disabled, withdrawn, marked].into_iter().flatten().min()
}

/// The review date as last set by k: by an affirm, by the statement, or by the predicate's
/// interval from the last affirm or the recorded instant (R23a).
fn review_by(look: &Look<'_>, rules: &Rules) -> Option<Valid> {
    review_date(look.standing.review_by, look.fact.said.review_by, rules, || {
        affirmed(look).unwrap_or(look.fact.life.stamp.recorded)
    })
}

/// The review date by what an affirm said, what the statement said, or the interval from `looked`.
pub fn review_date(
    affirm_said: Option<Valid>,
    statement_said: Option<Valid>,
    rules: &Rules,
    looked: impl FnOnce() -> Recorded,
) -> Option<Valid> {
    affirm_said
        .or(statement_said)
        .or_else(|| looked().as_valid().plus_micros(rules.review_every.as_ref()?.micros()).ok())
}

/// R12: a fact whose condition is not in the context, and which would have won if it were met.
fn would_have_won(
    scene: &Scene<'_, '_>,
    look: &Look<'_>,
    answered: &BTreeMap<&Value, Vec<Vec<Doubt>>>,
) -> Option<Doubt> {
    let Applies::Unknown(dimension) = &look.applies else {
        return None;
    };
    let possible = look.in_use()
        && look.scope_takes_part()
        && look.outside().is_none()
        && scene.over.by(look.place).is_none()
        && !answered.contains_key(&look.fact.said.value);
    let rank = |kind| scene.rules.authority.rank(kind);
    let scope = |look: &Look<'_>| look.fact.said.scope.depth();
    let wins = scene.remaining.iter().all(|other| {
        rank(look.kind) <= rank(other.kind)
            && scope(look) >= scope(other)
            && !other.fact.said.when.narrower_than(&look.fact.said.when)
    });
    (possible && wins).then(|| Doubt::ConditionUnknown(dimension.clone()))
}
