//! The supersession chain of a slot at (v, k), as a graph to draw: every fact recorded by k that
//! the session sees, what supersedes what, and what is in conflict.

use petgraph::graph::{DiGraph, NodeIndex};

use crate::model::name::{Predicate, Subject};
use crate::query::answer::{Coded, FactView, coded, fact_view};
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::timeline::resolve::Outcome;

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
