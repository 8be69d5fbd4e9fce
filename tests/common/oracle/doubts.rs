//! Step 10: what is doubtful about each remaining fact, and which doubts count.

use super::resolve::{Bar, Question, condition, kind_at, takes_part_by_scope};
use super::time;
use super::world::{How, World};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A doubt about a value counts only if every remaining copy of it has at least one; then all are shown.
pub(super) fn all(
    w: &World,
    q: &Question,
    rest: &[usize],
    standing: &BTreeMap<usize, Vec<Bar>>,
) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for value in super::resolve::values_of(w, rest) {
        let says = |n: &&usize| w.fact(**n).is_some_and(|f| f.value == value);
        let of_copies: Vec<_> =
            rest.iter().filter(says).map(|&n| about(w, q, n, standing)).collect();
        if of_copies.iter().all(|doubts| !doubts.is_empty()) {
            shown.extend(of_copies.into_iter().flatten());
        }
    }
    shown
}

fn about(
    w: &World,
    q: &Question,
    node: usize,
    standing: &BTreeMap<usize, Vec<Bar>>,
) -> BTreeSet<String> {
    let mut doubts = BTreeSet::new();
    doubts.extend(override_ended(w, q, node, standing));
    doubts.extend(override_stopped(w, q, node));
    if review_by(w, q, node).is_some_and(|at| q.v >= at) {
        doubts.insert("review_overdue".to_string());
    }
    if kind_at(w, node, q.k) == "inferred" {
        doubts.insert("inferred_only".to_string());
    }
    doubts
}

/// The override that ended last, if nobody looked at the old fact since.
fn override_ended(
    w: &World,
    q: &Question,
    node: usize,
    standing: &BTreeMap<usize, Vec<Bar>>,
) -> Option<String> {
    let only_ended = |bars: &Vec<Bar>| {
        bars.contains(&Bar::Expired)
            && bars.iter().all(|b| matches!(b, Bar::Expired | Bar::Changed(_)))
    };
    let mut last: Option<(i64, usize)> = None;
    for other in w.superseders(node, q.k, None).into_keys() {
        let then = w.then(other, q.k);
        let leaves_doubt = then == "uncertain" || then == "ask";
        if leaves_doubt && standing.get(&other).is_some_and(only_ended) {
            last = last.max(w.until(other, q.k).map(|until| (until, other)));
        }
    }
    let (until, other) = last?;
    let looked_at = w.affirms(node, q.k).into_iter().any(|at| at >= until);
    (!looked_at).then(|| format!("override_ended:{}", w.nodes[other].id))
}

/// Of the overrides that were stopped and not cleared, the one stopped last.
fn override_stopped(w: &World, q: &Question, node: usize) -> Option<String> {
    let mut last: Option<(i64, usize)> = None;
    for other in w.superseders(node, q.k, None).into_keys() {
        if !takes_part_by_scope(w, q, other)
            || condition(w, q, other).is_some()
            || w.never_was(other, q.k)
        {
            continue;
        }
        let until = w.until(other, q.k);
        let ended = until.filter(|&until| until <= q.v);
        let in_question = match ended {
            Some(_) => w.then(other, q.k) != "resume",
            None => q.v >= w.counts_from(other),
        };
        let Some(stopped) = stopped_at(w, q, other).filter(|_| in_question) else {
            continue;
        };
        let clears = |at: i64| at > stopped || ended.is_some_and(|until| at >= until);
        if !w.affirms(node, q.k).into_iter().any(clears) {
            last = last.max(Some((stopped, other)));
        }
    }
    let (_, other) = last?;
    Some(match w.erased(other) {
        Some(_) => "override_stopped".to_string(),
        None => format!("override_stopped:{}", w.nodes[other].id),
    })
}

/// When a fact was last disabled, withdrawn, erased or marked as resting on something retracted.
fn stopped_at(w: &World, q: &Question, node: usize) -> Option<i64> {
    let withdrawn = match w.closing(node, q.k) {
        Some((How::Withdrawn, at)) => Some(at),
        _ => None,
    };
    let marked = w.mark(node, q.v, q.k).filter(|m| m.retracted).map(|m| m.since);
    w.disabled(node, q.k).max(withdrawn).max(marked).max(w.erased(node))
}

/// R23a: as last set, else the interval after the recorded instant or the last affirm.
fn review_by(w: &World, q: &Question, node: usize) -> Option<i64> {
    if let Some(at) = w.review_set(node, q.k) {
        return Some(at);
    }
    let fact = w.fact(node)?;
    let every = w
        .declared(&w.nodes[node].tenant, &fact.predicate, "review_every", q.k)
        .and_then(Value::as_str)?;
    let looked_at = w.affirms(node, q.k).into_iter().max().unwrap_or(w.nodes[node].recorded);
    Some(looked_at + time::interval(every).ok()?)
}
