//! The gate for sources and artifacts, and the operations that name no target: predicate, suppress, resolve.

use super::authority::{default_order, rank};
use super::checks::{check_named, living_target, need_open, own_or_living, premises};
use super::effects::{reach, supersede, take_effect};
use super::gate::{create, made_id, seen_before, tenant_of_scope};
use super::shape::{Line, Named};
use super::time;
use super::world::{Body, NOW, Node, Rule, What, World, within};
use super::{Refusal, Verdict};
use serde_json::Map;

fn blank(w: &World, line: &Line<'_>, body: Body) -> Result<Node, Refusal> {
    let scope = line.scope()?;
    Ok(Node {
        tenant: tenant_of_scope(&scope),
        id: line.name("id")?.unwrap_or_else(|| made_id(w)),
        scope,
        kind: None,
        proposed: false,
        recorded: w.recorded,
        named: Vec::new(),
        by_id: true,
        corrects: None,
        content: line.content()?,
        body,
    })
}

fn named_nodes(w: &World, line: &Line<'_>, node: &Node) -> Result<Vec<usize>, Refusal> {
    match line.named()? {
        Named::Nothing => Ok(Vec::new()),
        Named::Current => Err("bad_value"),
        Named::Ids(ids) => {
            ids.iter().map(|id| own_or_living(w, &node.tenant, &node.id, id)).collect()
        }
    }
}

pub(super) fn source(w: &mut World, line: &Line<'_>) -> Result<Verdict, Refusal> {
    let body = Body::Source {
        uri: line.text("uri")?,
        text: line.text("text")?,
        stated_at: line.instant("stated_at")?,
    };
    line.text("author")?;
    let mut node = blank(w, line, body)?;
    let kind = line.kind()?.ok_or("bad_line")?;
    node.kind = Some(kind.clone());
    if let Some(verdict) = seen_before(w, &node.tenant, line.name("id")?.as_deref(), &node.content)?
    {
        return Ok(verdict);
    }
    node.named = named_nodes(w, line, &node)?;
    node.proposed = check_named(w, &node, &kind, &default_order())?;
    let held = node.proposed;
    let index = create(w, node, Vec::new());
    if held {
        return Ok(Verdict::Held);
    }
    take_effect(w, index, index, true)?;
    Ok(Verdict::Admitted)
}

pub(super) fn artifact(w: &mut World, line: &Line<'_>) -> Result<Verdict, Refusal> {
    let mut node = blank(w, line, Body::Artifact)?;
    line.need_name("kind")?;
    line.text("place")?.ok_or("bad_line")?;
    line.text("text")?;
    line.conditions()?;
    time::check_period(line.start()?.unwrap_or(time::Start::Always), line.end()?)?;
    if let Some(verdict) = seen_before(w, &node.tenant, line.name("id")?.as_deref(), &node.content)?
    {
        return Ok(verdict);
    }
    let derived_from = line.justifications()?;
    if derived_from.is_empty() {
        return Err("no_source");
    }
    let evidence =
        premises(w, &node.tenant, &node.id, None, &derived_from, line.number("read_at")?)?;
    node.named = named_nodes(w, line, &node)?;
    check_named(w, &node, "stated", &default_order())?;
    let index = create(w, node, evidence);
    take_effect(w, index, index, false)?;
    Ok(Verdict::Admitted)
}

/// A declaration; the fields it does not give stay as they were (R13).
pub(super) fn predicate(
    w: &mut World,
    line: &Line<'_>,
    tenant: Option<String>,
) -> Result<Verdict, Refusal> {
    let name = line.need_name("name")?;
    line.one_of("cardinality", &["one", "many"])?;
    line.one_of("then", &["resume", "uncertain", "ask", "never"])?;
    line.text("value_type")?;
    if let Some(text) = line.text("review_every")? {
        time::interval(&text)?;
    }
    let mut fields = Map::new();
    for field in ["cardinality", "value_type", "authority", "then", "review_every"] {
        if let Some(value) = line.raw(field) {
            fields.insert(field.to_string(), value.clone());
        }
    }
    if let Some(tenant) = &tenant {
        w.meet_tenant(tenant);
    }
    w.record(What::Declared { tenant, name, fields });
    Ok(Verdict::Admitted)
}

pub(super) fn suppress(w: &mut World, line: &Line<'_>) -> Result<Verdict, Refusal> {
    let scope = line.scope()?;
    let tenant = tenant_of_scope(&scope);
    if tenant.contains('*') {
        return Err("bad_name");
    }
    let id = line.name("id")?.unwrap_or_else(|| format!("made-{}", w.acts.len()));
    let content = line.content()?;
    // One that was lifted may be laid down anew, under the same id.
    let mut in_force = None;
    for act in &w.acts {
        match &act.what {
            What::Suppressed { tenant: t, id: i, content: c, .. } if *t == tenant && *i == id => {
                in_force = Some(c.clone());
            }
            What::Unsuppressed { tenant: t, id: i } if *t == tenant && *i == id => in_force = None,
            _ => {}
        }
    }
    match in_force {
        Some(c) if c == content => return Ok(Verdict::Unchanged),
        Some(_) => return Err("id_taken"),
        None => {}
    }
    let rule = Rule {
        scope,
        subject: line.text("subject")?,
        predicate: line.text("predicate")?,
        kind: line.kind()?,
        until: line.instant("until")?,
    };
    w.meet_tenant(&tenant);
    w.record(What::Suppressed { tenant, id, rule: Box::new(rule), content });
    Ok(Verdict::Admitted)
}

pub(super) fn unsuppress(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let id = line.need_name("id")?;
    let mut in_force = None;
    for act in &w.acts {
        match &act.what {
            What::Suppressed { tenant: t, id: i, .. } if t == tenant && *i == id => {
                in_force = Some(true);
            }
            What::Unsuppressed { tenant: t, id: i } if t == tenant && *i == id => {
                in_force = Some(false);
            }
            _ => {}
        }
    }
    if !in_force.ok_or("unknown_target")? {
        return Ok(Verdict::Unchanged);
    }
    w.record(What::Unsuppressed { tenant: tenant.to_string(), id });
    Ok(Verdict::Admitted)
}

/// The kept fact supersedes the claims of the others; copies of the kept claim are left alone (R22).
pub(super) fn resolve(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let acting = line.acting_kind()?;
    line.text("note")?;
    let ids = line.ids("conflict")?;
    if ids.is_empty() {
        return Err("bad_line");
    }
    let keep = living_target(w, tenant, &line.need_name("keep")?)?;
    let all = ids.iter().map(|id| living_target(w, tenant, id)).collect::<Result<Vec<_>, _>>()?;
    let kept = w.fact(keep).ok_or("slot_mismatch")?.clone();
    for &node in all.iter().chain([&keep]) {
        let fact = w.fact(node).ok_or("slot_mismatch")?;
        if (&fact.subject, &fact.predicate) != (&kept.subject, &kept.predicate) {
            return Err("slot_mismatch");
        }
        need_open(w, node)?;
        if w.too_weak(&acting, node, NOW) {
            return Err("weaker_kind");
        }
    }
    let others: Vec<usize> = all.into_iter().filter(|&n| !w.same_claim(n, keep)).collect();
    if others.iter().any(|&n| !within(&w.nodes[keep].scope, &w.nodes[n].scope)) {
        return Err("scope_mismatch");
    }
    let order = w.order_of(keep, NOW);
    let reached = reach(w, keep, &others, w.nodes.len(), Some(rank(&order, &acting)), &order);
    w.record(What::Resolved(others.into_iter().chain([keep]).collect()));
    for to in reached {
        supersede(w, keep, to)?;
    }
    Ok(Verdict::Admitted)
}
