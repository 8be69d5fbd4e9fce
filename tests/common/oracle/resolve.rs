//! Section 6: what answers a question at (v, k), and why everything else does not.

use super::Answer;
use super::authority::{Order, rank};
use super::world::{How, World, within};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One question, as read.
pub(super) struct Question {
    pub tenant: String,
    pub subject: String,
    pub predicate: String,
    pub scope: String,
    pub inherit: bool,
    pub v: i64,
    pub k: i64,
    pub context: BTreeMap<String, String>,
}

/// One thing that keeps a fact out (steps 2 to 7), worded as in the answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bar {
    NotKnown(String),
    Held,
    Disabled,
    OtherScope,
    NotMet(String),
    Unmentioned(String),
    Expired,
    NotYetValid,
    StartUnknown,
    Retracted(String),
    Changed(String),
    Unsourced,
}

impl Bar {
    pub(super) fn reason(&self) -> String {
        match self {
            Bar::NotKnown(why) | Bar::Retracted(why) | Bar::Changed(why) => why.clone(),
            Bar::Held => "held".into(),
            Bar::Disabled => "disabled".into(),
            Bar::OtherScope => "other_scope".into(),
            Bar::NotMet(dimension) => format!("condition_not_met:{dimension}"),
            Bar::Unmentioned(dimension) => format!("condition_unknown:{dimension}"),
            Bar::Expired => "expired".into(),
            Bar::NotYetValid => "not_yet_valid".into(),
            Bar::StartUnknown => "start_unknown".into(),
            Bar::Unsourced => "unsourced".into(),
        }
    }

    fn is_lead(&self) -> bool {
        !matches!(
            self,
            Bar::NotKnown(_) | Bar::Disabled | Bar::OtherScope | Bar::Expired | Bar::NotYetValid
        )
    }
}

/// `reason`, or `reason:id`; the id of what was erased is not shown.
fn with_id(w: &World, reason: &str, by: Option<usize>) -> String {
    match by {
        Some(node) if w.erased(node).is_none() => format!("{reason}:{}", w.nodes[node].id),
        _ => reason.to_string(),
    }
}

/// Everything that keeps a fact out, in the order of the steps.
pub(super) fn bars(w: &World, q: &Question, node: usize) -> Vec<Bar> {
    let mut all = Vec::new();
    if w.nodes[node].recorded > q.k {
        return vec![Bar::NotKnown("not_yet_recorded".into())];
    }
    match w.closing(node, q.k) {
        Some((How::Mistaken | How::Withdrawn, _)) => all.push(Bar::NotKnown("retracted".into())),
        Some((How::Rejected, _)) => all.push(Bar::NotKnown("rejected".into())),
        Some((How::Corrected(by), _)) => {
            all.push(Bar::NotKnown(with_id(w, "corrected_by", Some(by))));
        }
        None => {}
    }
    if w.held(node, q.k) {
        all.push(Bar::Held);
    }
    if w.disabled(node, q.k).is_some() {
        all.push(Bar::Disabled);
    }
    if !takes_part_by_scope(w, q, node) {
        all.push(Bar::OtherScope);
    }
    all.extend(condition(w, q, node));
    all.extend(period(w, q, node));
    all.extend(support(w, q, node));
    all
}

pub(super) fn takes_part_by_scope(w: &World, q: &Question, node: usize) -> bool {
    let scope = &w.nodes[node].scope;
    *scope == q.scope || (q.inherit && within(&q.scope, scope))
}

/// R12: one not met is said before one not mentioned.
pub(super) fn condition(w: &World, q: &Question, node: usize) -> Option<Bar> {
    let when = &w.fact(node)?.when;
    let failing = |(dimension, wanted): (&String, &Value)| {
        let given = q.context.get(dimension)?;
        (!meets(wanted, given)).then(|| Bar::NotMet(dimension.clone()))
    };
    let missing = when.keys().find(|d| !q.context.contains_key(*d));
    when.iter().find_map(failing).or(missing.map(|d| Bar::Unmentioned(d.clone())))
}

fn meets(wanted: &Value, given: &str) -> bool {
    let Some(range) = wanted.get("semver").and_then(Value::as_str) else {
        return wanted.as_str() == Some(given);
    };
    let dots = given.split(['-', '+']).next().unwrap_or_default().matches('.').count();
    let (number, rest) = given.split_at(given.find(['-', '+']).unwrap_or(given.len()));
    let full = format!("{number}{}{rest}", ".0".repeat(2_usize.saturating_sub(dots)));
    match (semver::VersionReq::parse(range), semver::Version::parse(&full)) {
        (Ok(range), Ok(version)) => range.matches(&version),
        _ => false,
    }
}

fn period(w: &World, q: &Question, node: usize) -> Option<Bar> {
    let fact = w.fact(node)?;
    if w.until(node, q.k).is_some_and(|until| q.v >= until) {
        return Some(Bar::Expired);
    }
    if q.v >= fact.from.counts_from() {
        return None;
    }
    let unknown = matches!(fact.from, super::time::Start::Unknown(_));
    Some(if unknown { Bar::StartUnknown } else { Bar::NotYetValid })
}

fn support(w: &World, q: &Question, node: usize) -> Option<Bar> {
    if let Some(mark) = w.mark(node, q.v, q.k) {
        return Some(if mark.retracted {
            Bar::Retracted(with_id(w, "premise_retracted", mark.by))
        } else {
            Bar::Changed(with_id(w, "premise_changed", mark.by))
        });
    }
    let kind = w.kind(node, &w.order_of(node, q.k), q.k);
    let weak = kind == "reported" || kind == "inferred";
    (weak && w.justifications(node, q.k).is_empty()).then_some(Bar::Unsourced)
}

/// Step 8: eligible, or kept out only by a change of a premise or by the end of a `never` fact.
fn rules(w: &World, q: &Question, node: usize, bars: &[Bar]) -> bool {
    bars.iter().all(|bar| match bar {
        Bar::Changed(_) => true,
        Bar::Expired => w.then(node, q.k) == "never",
        _ => false,
    })
}

/// The ruling fact that supersedes a node: fewest steps away, then recorded last.
fn ruled_by(
    w: &World,
    q: &Question,
    node: usize,
    all: &BTreeMap<usize, Vec<Bar>>,
) -> Option<usize> {
    let above = w.superseders(node, q.k, None);
    let ruling =
        above.iter().filter(|(n, _)| all.get(n).is_some_and(|bars| rules(w, q, **n, bars)));
    ruling.min_by_key(|(n, (steps, _))| (*steps, usize::MAX - **n)).map(|(n, _)| *n)
}

pub(super) fn answer(w: &World, q: &Question) -> Answer {
    let slot = w.slot(&q.tenant, &q.subject, &q.predicate);
    let living = slot.into_iter().filter(|&n| w.erased(n).is_none());
    let all: BTreeMap<usize, Vec<Bar>> = living.map(|n| (n, bars(w, q, n))).collect();
    let order = w.order(&q.tenant, &q.predicate, q.k);
    let mut out: BTreeMap<usize, String> = BTreeMap::new();
    let mut leads: BTreeMap<usize, String> = BTreeMap::new();
    let mut rest = Vec::new();
    for (&node, bars) in &all {
        if let Some(bar) = bars.first() {
            out.insert(node, bar.reason());
            if bar.is_lead() && takes_part_by_scope(w, q, node) {
                leads.insert(node, bar.reason());
            }
            let broader = !q.inherit && within(&q.scope, &w.nodes[node].scope);
            if broader && *bars == [Bar::OtherScope] {
                leads.insert(node, format!("broader_scope:{}", w.nodes[node].scope));
            }
        } else if let Some(by) = ruled_by(w, q, node, &all) {
            out.insert(node, with_id(w, "superseded_by", Some(by)));
        } else {
            rest.push(node);
        }
    }
    let many = w.many(&q.tenant, &q.predicate, q.k);
    if !many {
        narrow(w, q, &order, &mut rest, &mut out, &mut leads);
    }
    let mut doubts = super::doubts::all(w, q, &rest, &all);
    for (&node, bars) in &all {
        if let [Bar::Unmentioned(dimension)] = bars.as_slice()
            && ruled_by(w, q, node, &all).is_none()
            && would_win(w, q, &order, node, &rest)
        {
            doubts.insert(format!("condition_unknown:{dimension}"));
        }
    }
    let named = |list: BTreeMap<usize, String>| {
        list.into_iter().map(|(n, reason)| (w.nodes[n].id.clone(), reason)).collect()
    };
    let values = values_of(w, &rest);
    Answer {
        outcome: outcome(&values, many, &doubts).to_string(),
        facts: rest.iter().map(|&n| w.nodes[n].id.clone()).collect(),
        values,
        doubts,
        leads: named(leads),
        excluded: named(out),
    }
}

fn outcome(values: &[Value], many: bool, doubts: &BTreeSet<String>) -> &'static str {
    match values.len() {
        0 => "unknown",
        1 if !doubts.is_empty() => "uncertain",
        1 => "known",
        _ if !many => "contested",
        _ if !doubts.is_empty() => "uncertain",
        _ => "known",
    }
}

pub(super) fn values_of(w: &World, nodes: &[usize]) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for value in nodes.iter().filter_map(|&n| w.fact(n)).map(|f| &f.value) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values.sort_by_key(Value::to_string);
    values
}

fn depth(w: &World, node: usize) -> usize {
    w.nodes[node].scope.split('/').count()
}

/// Whether the conditions of `a` are a strict part of those of `b`.
fn broader(w: &World, a: usize, b: usize) -> bool {
    let dims = |n: usize| -> BTreeSet<&String> {
        w.fact(n).into_iter().flat_map(|f| f.when.keys()).collect()
    };
    let (a, b) = (dims(a), dims(b));
    a != b && a.is_subset(&b)
}

/// Step 9: authority, then nearest scope, then narrower conditions.
fn narrow(
    w: &World,
    q: &Question,
    order: &Order,
    rest: &mut Vec<usize>,
    out: &mut BTreeMap<usize, String>,
    leads: &mut BTreeMap<usize, String>,
) {
    let strength = |n: usize| rank(order, &w.kind(n, order, q.k));
    if let Some(&first) = rest.iter().min_by_key(|n| strength(**n)) {
        for node in rest.extract_if(.., |n| strength(*n) > strength(first)) {
            out.insert(node, with_id(w, "outranked_by", Some(first)));
            leads.insert(node, with_id(w, "outranked_by", Some(first)));
        }
    }
    let farther = |n: usize| usize::MAX - depth(w, n);
    if let Some(&first) = rest.iter().min_by_key(|n| farther(**n)) {
        for node in rest.extract_if(.., |n| farther(*n) > farther(first)) {
            out.insert(node, with_id(w, "narrower_rule", Some(first)));
        }
    }
    let before = rest.clone();
    for node in before.iter().copied() {
        if let Some(&by) = before.iter().find(|n| broader(w, node, **n)) {
            rest.retain(|n| *n != node);
            out.insert(node, with_id(w, "narrower_rule", Some(by)));
        }
    }
}

/// R12: whether a fact kept out only by a dimension not mentioned would have won over what remains.
fn would_win(w: &World, q: &Question, order: &Order, node: usize, rest: &[usize]) -> bool {
    let strength = |n: usize| rank(order, &w.kind(n, order, q.k));
    let value = w.fact(node).map(|f| &f.value);
    !rest.is_empty()
        && rest.iter().all(|&r| {
            w.fact(r).map(|f| &f.value) != value
                && strength(node) <= strength(r)
                && depth(w, node) >= depth(w, r)
                && !broader(w, node, r)
        })
}

/// The kind of a fact as known at k.
pub(super) fn kind_at(w: &World, node: usize, k: i64) -> String {
    w.kind(node, &w.order_of(node, k), k)
}
