//! The gate (section 5) for what creates a node: assert, correct, source, artifact.

use super::authority::{Order, rank};
use super::checks::{check_memory, check_named, check_type, current, need_open, premises, version};
use super::effects::take_effect;
use super::shape::{Line, Named};
use super::time::{self, Start};
use super::world::{Body, Fact, NOW, Node, What, World};
use super::{Refusal, Verdict};
use serde_json::Value;

/// A fact as a line proposes it, before the gate has looked at anything but its shape.
pub(super) struct Proposal {
    pub node: Node,
    pub source: Option<String>,
    pub derived_from: Vec<Vec<String>>,
    pub named: Named,
    pub expect_version: Option<i64>,
    pub read_at: Option<i64>,
}

/// Same id again: `Some(unchanged)`, a refusal, or `None` for a new id (R9).
pub(super) fn seen_before(
    w: &World,
    tenant: &str,
    id: Option<&str>,
    content: &Value,
) -> Result<Option<Verdict>, Refusal> {
    let Some(node) = id.and_then(|id| w.find(tenant, id)) else {
        return Ok(None);
    };
    if w.nodes[node].content != *content {
        return Err("id_taken");
    }
    if w.erased(node).is_some() { Err("revival") } else { Ok(Some(Verdict::Unchanged)) }
}

/// A new id where the line gives none.
pub(super) fn made_id(w: &World) -> String {
    format!("made-{}", w.nodes.len())
}

pub(super) fn tenant_of_scope(scope: &str) -> String {
    scope.split('/').next().unwrap_or_default().to_string()
}

pub(super) fn assert(w: &mut World, line: &Line<'_>) -> Result<Verdict, Refusal> {
    let (subject, predicate) = (line.need_name("subject")?, line.need_name("predicate")?);
    let value = line.value()?.ok_or("bad_line")?;
    let scope = line.scope()?;
    let from = line.start()?.unwrap_or(Start::Unknown(w.recorded));
    let until = line.end()?;
    let fact = Fact {
        subject,
        predicate,
        value,
        when: line.conditions()?,
        from,
        until,
        open_ended: until.is_none(),
        then: line.one_of("then", &["resume", "uncertain", "ask", "never"])?,
        review_by: line.instant("review_by")?,
        memory: memory(line)?,
        source: None,
    };
    let proposal = propose(w, line, scope, fact)?;
    let tenant = proposal.node.tenant.clone();
    if let Some(verdict) =
        seen_before(w, &tenant, line.name("id")?.as_deref(), &proposal.node.content)?
    {
        return Ok(verdict);
    }
    admit(w, proposal)
}

fn memory(line: &Line<'_>) -> Result<Option<String>, Refusal> {
    line.one_of("memory", &["working", "episodic", "semantic", "procedural"])
}

/// What assert and correct have in common.
fn propose(w: &World, line: &Line<'_>, scope: String, fact: Fact) -> Result<Proposal, Refusal> {
    line.text("note")?;
    line.text("outcome")?;
    time::check_period(fact.from, fact.until)?;
    let node = Node {
        tenant: tenant_of_scope(&scope),
        id: line.name("id")?.unwrap_or_else(|| made_id(w)),
        scope,
        kind: line.kind()?,
        proposed: false,
        recorded: w.recorded,
        named: Vec::new(),
        by_id: false,
        corrects: None,
        content: line.content()?,
        body: Body::Fact(Box::new(fact)),
    };
    Ok(Proposal {
        node,
        source: line.name("source")?,
        derived_from: line.justifications()?,
        named: line.named()?,
        expect_version: line.number("expect_version")?,
        read_at: line.number("read_at")?,
    })
}

/// R26: the correcting fact takes over from its target what the line does not give.
pub(super) fn correct(w: &mut World, line: &Line<'_>, tenant: &str) -> Result<Verdict, Refusal> {
    let content = line.content()?;
    if let Some(verdict) = seen_before(w, tenant, line.name("id")?.as_deref(), &content)? {
        return Ok(verdict);
    }
    let target = super::checks::living_target(w, tenant, &line.need_name("target")?)?;
    let old = w.fact(target).ok_or("slot_mismatch")?.clone();
    need_open(w, target)?;
    let acting = line.acting_kind()?;
    if w.too_weak(&acting, target, NOW) {
        return Err("weaker_kind");
    }
    let ends_here = line.has("valid_until") || line.has("valid_through");
    let until = if ends_here { line.end()? } else { w.until(target, NOW) };
    let from = if line.has("valid_from") {
        line.start()?.unwrap_or(Start::Unknown(w.recorded))
    } else {
        old.from
    };
    let fact = Fact {
        subject: line.name("subject")?.unwrap_or(old.subject),
        predicate: line.name("predicate")?.unwrap_or(old.predicate),
        value: line.value()?.unwrap_or(old.value),
        when: if line.has("when") { line.conditions()? } else { old.when },
        from,
        until,
        open_ended: if ends_here { until.is_none() } else { old.open_ended },
        then: line.one_of("then", &["resume", "uncertain", "ask", "never"])?.or(old.then),
        review_by: line.instant("review_by")?.or(w.review_set(target, NOW)),
        memory: memory(line)?.or(old.memory),
        source: None,
    };
    let scope = if line.has("scope") { line.scope()? } else { w.nodes[target].scope.clone() };
    if tenant_of_scope(&scope) != tenant {
        return Err("scope_mismatch");
    }
    let mut proposal = propose(w, line, scope, fact)?;
    if proposal.source.is_none() && proposal.derived_from.is_empty() {
        proposal.node.kind = Some(acting);
    }
    proposal.node.corrects = Some(target);
    let mut ids = vec![w.nodes[target].id.clone()];
    if let Named::Ids(more) = &proposal.named {
        ids.extend(more.clone());
    }
    proposal.named = Named::Ids(ids);
    admit(w, proposal)
}

/// The rest of the gate, in order; the first thing wrong is the reason.
fn admit(w: &mut World, p: Proposal) -> Result<Verdict, Refusal> {
    let Proposal { mut node, source, derived_from, named, expect_version, read_at } = p;
    let Body::Fact(mut fact) = node.body.clone() else {
        return Err("bad_line");
    };
    let order = w.order(&node.tenant, &fact.predicate, NOW);
    if source.is_none() && node.kind.is_none() && derived_from.is_empty() {
        return Err("no_source");
    }
    check_type(w, &node.tenant, &fact)?;
    let evidence = premises(w, &node.tenant, &node.id, source.as_deref(), &derived_from, read_at)?;
    if expect_version.is_some_and(|n| n != version(w, &node.tenant, &node.scope, &fact)) {
        return Err("version_conflict");
    }
    fact.source = source.as_deref().and_then(|id| w.find(&node.tenant, id));
    node.kind = Some(kind_as_admitted(w, node.kind.as_deref(), &fact, &evidence, &order));
    check_memory(&fact, node.kind.as_deref().unwrap_or_default(), &evidence)?;
    let kind = node.kind.clone().unwrap_or_default();
    node.by_id = matches!(named, Named::Ids(_));
    node.named = match named {
        Named::Nothing => Vec::new(),
        Named::Current => current(w, &node, &fact, rank(&order, &kind), &order),
        Named::Ids(ids) => {
            let find = |id: &String| super::checks::own_or_living(w, &node.tenant, &node.id, id);
            ids.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    node.body = Body::Fact(fact);
    let stronger = check_named(w, &node, &kind, &order)?;
    super::revival::check_suppressed(w, &node, &kind)?;
    let waits = super::revival::check(w, &node, &kind)?;
    node.proposed = stronger || waits;
    let held = node.proposed;
    let index = create(w, node, evidence);
    if !held {
        take_effect(w, index, index, true)?;
    }
    Ok(if held { Verdict::Held } else { Verdict::Admitted })
}

/// Appends the node and its justifications.
pub(super) fn create(w: &mut World, node: Node, evidence: Vec<Vec<usize>>) -> usize {
    let index = w.nodes.len();
    w.meet_tenant(&node.tenant);
    w.nodes.push(node);
    w.record(What::Created(index));
    for premises in evidence {
        w.record(What::Justified { node: index, premises });
    }
    index
}

/// R20: own kind, else the source's, else inferred; never stronger than the evidence.
fn kind_as_admitted(
    w: &World,
    own: Option<&str>,
    fact: &Fact,
    evidence: &[Vec<usize>],
    order: &Order,
) -> String {
    let of_source = fact.source.map(|s| w.kind(s, order, NOW));
    let kind = own.map(str::to_string).or(of_source).unwrap_or_else(|| "inferred".to_string());
    match w.evidence_kind(evidence, order, NOW) {
        Some(cap) if rank(order, &cap) > rank(order, &kind) => cap,
        _ => kind,
    }
}
