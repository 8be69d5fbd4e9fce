//! The operations on a target: end, affirm, support, retract, disable, confirm, erase and their like.

use super::checks::{check_named, living_target, need_open, premises, usable_premise};
use super::effects::take_effect;
use super::gate::tenant_of_scope;
use super::shape::Line;
use super::time;
use super::world::{Body, How, NOW, What, World, within};
use super::{Refusal, Verdict, revival};
use serde_json::Value;
use std::collections::BTreeSet;

fn strong_enough(w: &World, line: &Line<'_>, target: usize) -> Result<(), Refusal> {
    if w.too_weak(&line.acting_kind()?, target, NOW) { Err("weaker_kind") } else { Ok(()) }
}

fn target(w: &World, line: &Line<'_>, tenant: &str) -> Result<usize, Refusal> {
    living_target(w, tenant, &line.need_name("target")?)
}

pub(super) fn support(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    line.acting_kind()?;
    let node = target(w, line, tenant)?;
    let derived_from = line.justifications()?;
    if derived_from.is_empty() || matches!(w.nodes[node].body, Body::Source { .. }) {
        return Err("bad_line");
    }
    for premise in derived_from.iter().flatten() {
        let premise = living_target(w, tenant, premise)?;
        if premise == node || rests_on(w, premise, node) {
            return Err("cycle");
        }
    }
    for premises in premises(w, tenant, "", None, &derived_from, None)? {
        w.record(What::Justified { node, premises });
    }
    Ok(Verdict::Admitted)
}

/// Whether `node` was made, at any distance, from `from`.
fn rests_on(w: &World, node: usize, from: usize) -> bool {
    let premises = w.justifications(node, NOW).into_iter().flat_map(|j| j.1.clone());
    premises.into_iter().any(|p| p == from || rests_on(w, p, from))
}

pub(super) fn affirm(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let review_by = line.instant("review_by")?;
    let node = target(w, line, tenant)?;
    need_open(w, node)?;
    strong_enough(w, line, node)?;
    w.record(What::Affirmed { node, review_by });
    Ok(Verdict::Admitted)
}

pub(super) fn end(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    if !line.has("valid_until") {
        return Err("bad_line");
    }
    let until = line.end()?;
    let node = target(w, line, tenant)?;
    need_open(w, node)?;
    strong_enough(w, line, node)?;
    if let Some(fact) = w.fact(node) {
        time::check_period(fact.from, until)?;
    }
    if until == w.until(node, NOW) {
        return Ok(Verdict::Unchanged);
    }
    w.record(What::Ended { node, until });
    Ok(Verdict::Admitted)
}

fn reason(line: &Line<'_>) -> Result<How, Refusal> {
    match line.one_of("reason", &["mistaken", "withdrawn"])?.as_deref() {
        Some("mistaken") => Ok(How::Mistaken),
        Some(_) => Ok(How::Withdrawn),
        None => Err("bad_line"),
    }
}

pub(super) fn retract(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let how = reason(line)?;
    let node = target(w, line, tenant)?;
    need_open(w, node)?;
    strong_enough(w, line, node)?;
    w.record(What::Closed { node, how });
    Ok(Verdict::Admitted)
}

/// Closes every copy of an unconditional claim in one scope, disabled and held ones too (R23a).
pub(super) fn retract_claim(w: &mut World, line: &Line<'_>) -> Result<Verdict, Refusal> {
    let how = reason(line)?;
    let scope = line.scope()?;
    let value = line.value()?.ok_or("bad_line")?;
    let (subject, predicate) = (line.need_name("subject")?, line.need_name("predicate")?);
    let named = |&i: &usize| {
        w.nodes[i].scope == scope
            && w.fact(i).is_some_and(|f| f.value == value && f.when.is_empty())
            && w.erased(i).is_none()
    };
    let copies: Vec<usize> =
        w.slot(&tenant_of_scope(&scope), &subject, &predicate).into_iter().filter(named).collect();
    if copies.is_empty() {
        return Err("unknown_target");
    }
    let to_close: Vec<usize> =
        copies.into_iter().filter(|&i| w.closing(i, NOW).is_none()).collect();
    for &node in &to_close {
        strong_enough(w, line, node)?;
    }
    if to_close.is_empty() {
        return Ok(Verdict::Unchanged);
    }
    for node in to_close {
        w.record(What::Closed { node, how: how.clone() });
    }
    Ok(Verdict::Admitted)
}

/// Undoes a retraction, correction or rejection; a correction is undone whole (R23a).
pub(super) fn reinstate(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let node = target(w, line, tenant)?;
    strong_enough(w, line, node)?;
    let Some((how, _)) = w.closing(node, NOW) else {
        return Ok(Verdict::Unchanged);
    };
    let How::Corrected(correction) = how else {
        w.record(What::Reopened(node));
        return Ok(Verdict::Admitted);
    };
    for other in 0..w.nodes.len() {
        let by_this =
            matches!(w.closing(other, NOW), Some((How::Corrected(c), _)) if c == correction);
        if by_this {
            w.record(What::Reopened(other));
        }
    }
    if w.open(correction, NOW) {
        w.record(What::Closed { node: correction, how: How::Mistaken });
    }
    Ok(Verdict::Admitted)
}

pub(super) fn disable(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let node = target(w, line, tenant)?;
    strong_enough(w, line, node)?;
    if w.disabled(node, NOW).is_some() {
        return Ok(Verdict::Unchanged);
    }
    w.record(What::Disabled(node));
    Ok(Verdict::Admitted)
}

pub(super) fn enable(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let node = target(w, line, tenant)?;
    strong_enough(w, line, node)?;
    if w.disabled(node, NOW).is_none() {
        return Ok(Verdict::Unchanged);
    }
    w.record(What::Enabled(node));
    Ok(Verdict::Admitted)
}

fn waiting(w: &World, line: &Line<'_>, tenant: &str) -> Result<usize, Refusal> {
    let node = target(w, line, tenant)?;
    if !w.held(node, NOW) || w.closing(node, NOW).is_some() {
        return Err("not_held");
    }
    strong_enough(w, line, node)?;
    Ok(node)
}

/// Passes the gate again as of now, authority excepted, and takes effect from now on (R23a).
pub(super) fn confirm(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let index = waiting(w, line, tenant)?;
    let order = w.order_of(index, NOW);
    let acting = line.acting_kind()?;
    if super::authority::rank(&order, &acting) > super::authority::rank(&order, "stated") {
        return Err("weaker_kind");
    }
    let node = w.nodes[index].clone();
    let evidence: BTreeSet<usize> =
        w.justifications(index, NOW).into_iter().flat_map(|j| j.1.clone()).collect();
    for premise in evidence {
        usable_premise(w, premise)?;
    }
    check_named(w, &node, "stated", &order)?;
    revival::check_suppressed(w, &node, "stated")?;
    revival::check(w, &node, "stated")?;
    w.record(What::Confirmed(index));
    take_effect(w, index, index, false)?;
    Ok(Verdict::Admitted)
}

pub(super) fn reject(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let node = waiting(w, line, tenant)?;
    w.record(What::Closed { node, how: How::Rejected });
    Ok(Verdict::Admitted)
}

pub(super) fn done(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let node = living_target(w, tenant, &line.need_name("artifact")?)?;
    if !matches!(w.nodes[node].body, Body::Artifact) {
        return Err("unknown_target");
    }
    w.record(What::Done);
    Ok(Verdict::Admitted)
}

/// The shield (R35): the named nodes and all that rests only on what is erased (R36).
pub(super) fn erase(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    line.acting_kind()?;
    let mut gone: BTreeSet<usize> = if line.has("target") {
        BTreeSet::from([target(w, line, tenant)?])
    } else {
        let scope = line.scope()?;
        let subject = line.name("subject")?;
        let named = |&i: &usize| {
            let about = subject.as_ref().is_none_or(|s| w.fact(i).is_some_and(|f| f.subject == *s));
            within(&w.nodes[i].scope, &scope) && about && w.erased(i).is_none()
        };
        (0..w.nodes.len()).filter(named).collect()
    };
    if gone.is_empty() {
        return Err("unknown_target");
    }
    while let Some(next) =
        (0..w.nodes.len()).find(|&i| !gone.contains(&i) && rests_only_on(w, i, &gone))
    {
        gone.insert(next);
    }
    for node in gone {
        w.record(What::Erased(node));
    }
    Ok(Verdict::Admitted)
}

fn rests_only_on(w: &World, node: usize, gone: &BTreeSet<usize>) -> bool {
    let erased = |p: &usize| gone.contains(p) || w.erased(*p).is_some();
    let all = w.justifications(node, NOW);
    w.erased(node).is_none() && !all.is_empty() && all.iter().all(|j| j.1.iter().all(erased))
}

/// The tenant a line acts in (R10a).
pub(super) fn tenant_of(w: &World, line: &Line<'_>) -> Result<String, Refusal> {
    if line.raw("scope").is_some_and(Value::is_string) {
        return Ok(tenant_of_scope(&line.scope()?));
    }
    match (line.name("tenant")?, w.tenants.as_slice()) {
        (Some(tenant), _) => Ok(tenant),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err("unknown_target"),
        (None, _) => Err("no_tenant"),
    }
}
