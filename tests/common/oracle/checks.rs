//! What the gate looks at before it lets a node in: premises, versions, named targets (R18 to R20b).

use super::Refusal;
use super::authority::{Order, rank};
use super::shape;
use super::time;
use super::world::{Body, Fact, NOW, Node, What, World, within};
use serde_json::Value;

/// A node of this tenant that was not erased.
pub(super) fn living_target(w: &World, tenant: &str, id: &str) -> Result<usize, Refusal> {
    let node = w.find(tenant, id).ok_or("unknown_target")?;
    if w.erased(node).is_some() { Err("target_erased") } else { Ok(node) }
}

/// R23a: open and not held.
pub(super) fn need_open(w: &World, node: usize) -> Result<(), Refusal> {
    if w.open(node, NOW) && !w.held(node, NOW) { Ok(()) } else { Err("not_open") }
}

pub(super) fn check_type(w: &World, tenant: &str, fact: &Fact) -> Result<(), Refusal> {
    match w.declared(tenant, &fact.predicate, "value_type", NOW).and_then(Value::as_str) {
        Some(wanted) if wanted != shape::type_of(&fact.value) => Err("bad_value"),
        _ => Ok(()),
    }
}

/// R20b, but for what `working` may supersede.
pub(super) fn check_memory(
    fact: &Fact,
    kind: &str,
    evidence: &[Vec<usize>],
) -> Result<(), Refusal> {
    let grounded = !evidence.is_empty();
    let good = match fact.memory.as_deref() {
        Some("working") => fact.until.is_some(),
        Some("procedural") => !fact.when.is_empty() && grounded,
        Some(_) => grounded || kind == "stated" || kind == "observed",
        None => true,
    };
    if good { Ok(()) } else { Err("memory_rule") }
}

/// The justifications as node numbers; the source is a premise of each (section 7).
pub(super) fn premises(
    w: &World,
    tenant: &str,
    own_id: &str,
    source: Option<&str>,
    derived_from: &[Vec<String>],
    read_at: Option<i64>,
) -> Result<Vec<Vec<usize>>, Refusal> {
    let mut all = Vec::new();
    for list in derived_from {
        let mut premises = Vec::new();
        for id in list {
            if id == own_id && w.find(tenant, id).is_none() {
                return Err("cycle");
            }
            let premise = w.find(tenant, id).ok_or("unknown_target")?;
            if read_at.is_some_and(|n| changed_after(w, premise, n)) {
                return Err("stale_premise");
            }
            premises.push(usable_premise(w, premise)?);
        }
        all.push(premises);
    }
    if let Some(id) = source {
        let node = w.find(tenant, id).ok_or("unknown_target")?;
        if !matches!(w.nodes[node].body, Body::Source { .. }) {
            return Err("unknown_target");
        }
        usable_premise(w, node)?;
        if all.is_empty() {
            all.push(Vec::new());
        }
        all.iter_mut().filter(|p| !p.contains(&node)).for_each(|p| p.push(node));
    }
    Ok(all)
}

pub(super) fn usable_premise(w: &World, node: usize) -> Result<usize, Refusal> {
    if w.erased(node).is_some() {
        return Err("target_erased");
    }
    need_open(w, node)?;
    Ok(node)
}

/// R19: closed, superseded, ended or erased after transaction number `read_at`.
pub(super) fn changed_after(w: &World, premise: usize, read_at: i64) -> bool {
    let touches = |what: &What| match what {
        What::Closed { node, .. } | What::Ended { node, .. } => *node == premise,
        What::Disabled(node) | What::Erased(node) => *node == premise,
        What::Superseded { to, .. } => *to == premise,
        _ => false,
    };
    w.acts.iter().any(|act| act.seq > read_at && touches(&act.what))
}

/// R23a: number of the last event about a fact of the slot in that scope.
pub(super) fn version(w: &World, tenant: &str, scope: &str, fact: &Fact) -> i64 {
    let slot = w.slot(tenant, &fact.subject, &fact.predicate);
    let here = |n: usize| slot.contains(&n) && w.nodes[n].scope == scope;
    let about = |what: &What| match what {
        What::Created(n) | What::Reopened(n) | What::Disabled(n) | What::Enabled(n) => here(*n),
        What::Confirmed(n) | What::Erased(n) => here(*n),
        What::Justified { node, .. } | What::Ended { node, .. } | What::Closed { node, .. } => {
            here(*node)
        }
        What::Affirmed { node, .. } => here(*node),
        What::Superseded { from, .. } => here(*from),
        What::Resolved(nodes) => nodes.iter().any(|n| here(*n)),
        _ => false,
    };
    w.acts.iter().filter(|act| about(&act.what)).map(|act| act.seq).max().unwrap_or(0)
}

pub(super) fn own_or_living(
    w: &World,
    tenant: &str,
    own_id: &str,
    id: &str,
) -> Result<usize, Refusal> {
    if id == own_id && w.find(tenant, id).is_none() {
        return Err("cycle");
    }
    living_target(w, tenant, id)
}

/// R20a: every open fact of exactly this slot, scope and conditions that overlaps and is not stronger.
pub(super) fn current(
    w: &World,
    node: &Node,
    fact: &Fact,
    own_rank: usize,
    order: &Order,
) -> Vec<usize> {
    let period = (fact.from.counts_from(), fact.until);
    let names = |&i: &usize| {
        w.nodes[i].scope == node.scope
            && w.fact(i).is_some_and(|f| f.when == fact.when)
            && w.open(i, NOW)
            && !w.held(i, NOW)
            && time::overlap(period, (w.counts_from(i), w.until(i, NOW)))
            && rank(order, &w.kind(i, order, NOW)) >= own_rank
    };
    w.slot(&node.tenant, &fact.subject, &fact.predicate).into_iter().filter(names).collect()
}

/// R18 for what is superseded by name; the answer is whether a target is of a stronger kind (then held).
pub(super) fn check_named(
    w: &World,
    node: &Node,
    kind: &str,
    order: &Order,
) -> Result<bool, Refusal> {
    let mut stronger = false;
    for &target in &node.named {
        if w.erased(target).is_some() {
            return Err("target_erased");
        }
        let same_slot = match (&node.body, &w.nodes[target].body) {
            (Body::Fact(a), Body::Fact(b)) => {
                (&a.subject, &a.predicate) == (&b.subject, &b.predicate)
            }
            (Body::Source { .. }, Body::Source { .. }) | (Body::Artifact, Body::Artifact) => true,
            _ => false,
        };
        if !same_slot {
            return Err("slot_mismatch");
        }
        if !within(&node.scope, &w.nodes[target].scope) {
            return Err("scope_mismatch");
        }
        need_open(w, target)?;
        let working = |body: &Body| match body {
            Body::Fact(fact) => fact.memory.clone(),
            _ => None,
        };
        let (own, other) = (working(&node.body), working(&w.nodes[target].body));
        if own.as_deref() == Some("working") && other.is_some_and(|m| m != "working") {
            return Err("memory_rule");
        }
        stronger |= rank(order, &w.kind(target, order, NOW)) < rank(order, kind);
    }
    Ok(stronger)
}
