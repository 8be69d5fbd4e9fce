//! The supersession chain of a slot at (v, k), as a graph to draw: every fact recorded by k that
//! the session sees, what supersedes what, and what is in conflict.

use std::collections::HashMap;

use petgraph::graph::{DiGraph, NodeIndex};

use crate::model::name::{Predicate, Subject};
use crate::model::node::{Fact, NodeNo};
use crate::query::answer::{Coded, FactView, coded, fact_view};
use crate::query::slots::{Pattern, Reach, scopes_of, slots};
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::time::Recorded;
use crate::timeline::resolve::{Outcome, Resolution};
use crate::timeline::slot::Slot;

/// A fact in a drawing.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The fact at k.
    pub fact: FactView,
    /// Why it does not answer; `None` = it does.
    pub not: Option<Coded>,
}

/// How two nodes are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The first takes the place of the second.
    Supersedes,
    /// The first was made from the second.
    DerivedFrom,
    /// Both answer, with different values.
    ConflictsWith,
}

impl Edge {
    /// The word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Supersedes => "supersedes",
            Self::DerivedFrom => "derived_from",
            Self::ConflictsWith => "conflicts_with",
        }
    }
}

/// The chain of a slot. Nodes stand in order of recording. Cost: the facts of the slot and the
/// facts they name.
///
/// # Errors
/// When the store cannot be read.
pub fn chain(
    view: &View<'_>,
    subject: &Subject,
    predicate: &Predicate,
    ask: &Ask,
) -> Result<DiGraph<Drawn, Edge>, StoreError> {
    let mut graph = DiGraph::new();
    let Some(slot) = view.slot(subject, predicate)? else {
        return Ok(graph);
    };
    let as_of = view.at(ask);
    let at = view.pinned(as_of);
    let resolution = view.resolve(&slot, ask, as_of)?;
    let mut nodes: Vec<Option<NodeIndex>> = vec![None; slot.len() as usize];
    for (place, fact) in slot.facts().filter(|(_, fact)| view.sees(&fact.said.scope)) {
        let Some(shown) = fact_view(view, &slot, fact, at)? else { continue };
        let removed = resolution.removed.binary_search_by_key(&place, |(place, _)| *place).ok();
        let not = removed
            .and_then(|i| resolution.removed.get(i))
            .map(|(_, why)| coded(view, why))
            .transpose()?;
        let node = graph.add_node(Drawn { fact: shown, not });
        if let Some(entry) = nodes.get_mut(place as usize) {
            *entry = Some(node);
        }
    }
    let node = |place: u32| nodes.get(place as usize).copied().flatten();
    for (place, fact) in slot.facts() {
        let standing = fact.life.standing(at.known_at);
        let links = fact.links.iter().filter(|link| link.counts(at.known_at, &standing));
        for old in links.flat_map(|link| &link.named).flat_map(|(from, until)| *from..*until) {
            if let (Some(new), Some(old)) = (node(place), node(old)) {
                graph.update_edge(new, old, Edge::Supersedes);
            }
        }
    }
    if resolution.outcome == Outcome::Contested {
        for (i, a) in resolution.used.iter().enumerate() {
            for b in resolution.used.iter().skip(i + 1) {
                let differ = match (slot.fact(*a), slot.fact(*b)) {
                    (Some(a), Some(b)) => a.said.value != b.said.value,
                    (Some(_) | None, _) => false,
                };
                if let (true, Some(a), Some(b)) = (differ, node(*a), node(*b)) {
                    graph.add_edge(a, b, Edge::ConflictsWith);
                }
            }
        }
    }
    Ok(graph)
}

/// All facts of an entity in some scopes, each judged in its own scope, with what supersedes what,
/// what is in conflict and what was made from what among them. Nodes stand in order of predicate,
/// scope and recording. Cost: the facts of the subject's slots.
///
/// # Errors
/// When the store cannot be read.
pub fn entity(
    view: &View<'_>,
    subject: &Subject,
    reach: &Reach,
    ask: &Ask,
) -> Result<DiGraph<Drawn, Edge>, StoreError> {
    let mut graph = DiGraph::new();
    let mut places: HashMap<NodeNo, NodeIndex> = HashMap::new();
    let mut edges = Vec::new();
    let pattern = Pattern { subject: Some(subject.clone()), ..Pattern::default() };
    for slot in slots(view, &pattern)? {
        for scope in scopes_of(view, &slot).into_iter().filter(|scope| reach.takes(scope)) {
            let ask = Ask { scope, ..ask.clone() };
            let as_of = view.at(&ask);
            let at = view.pinned(as_of);
            let resolution = view.resolve(&slot, &ask, as_of)?;
            for (place, fact) in slot.facts().filter(|(_, fact)| fact.said.scope == ask.scope) {
                let Some(shown) = fact_view(view, &slot, fact, at)? else { continue };
                let removed = resolution.removed.iter().find(|(removed, _)| *removed == place);
                let not = removed.map(|(_, why)| coded(view, why)).transpose()?;
                places.insert(fact.life.no, graph.add_node(Drawn { fact: shown, not }));
                edges.extend(edges_of(&slot, fact, at.known_at));
            }
            if resolution.outcome == Outcome::Contested {
                edges.extend(contested(&slot, &resolution));
            }
        }
    }
    for (from, to, edge) in edges {
        if let (Some(from), Some(to)) = (places.get(&from), places.get(&to)) {
            graph.add_edge(*from, *to, edge);
        }
    }
    Ok(graph)
}

type Joined = (NodeNo, NodeNo, Edge);

/// What a fact supersedes by name, and what it was made from, as of k.
fn edges_of(slot: &Slot, fact: &Fact, known_at: Recorded) -> Vec<Joined> {
    let standing = fact.life.standing(known_at);
    let links = fact.links.iter().filter(|link| link.counts(known_at, &standing));
    let named = links.flat_map(|link| &link.named).flat_map(|(from, until)| *from..*until);
    let old = named.filter_map(|place| slot.fact(place)).map(|old| (old.life.no, Edge::Supersedes));
    let justified = fact.life.justifications.iter().filter(|j| j.stamp.recorded <= known_at);
    let made = justified.flat_map(|j| &j.premises).map(|no| (*no, Edge::DerivedFrom));
    old.chain(made).map(|(to, edge)| (fact.life.no, to, edge)).collect()
}

fn contested(slot: &Slot, resolution: &Resolution) -> Vec<Joined> {
    let used: Vec<&Fact> = resolution.used.iter().filter_map(|place| slot.fact(*place)).collect();
    let mut pairs = Vec::new();
    for (i, a) in used.iter().enumerate() {
        let others = used.iter().skip(i + 1).filter(|b| a.said.value != b.said.value);
        pairs.extend(others.map(|b| (a.life.no, b.life.no, Edge::ConflictsWith)));
    }
    pairs
}
