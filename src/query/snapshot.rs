//! `snapshot`: the whole live graph at (v, k): every fact that answers; and the same as a graph of
//! entities to walk in.

use std::collections::{HashMap, VecDeque};

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use serde_json::Value as Json;

use crate::model::name::{Id, Predicate};
use crate::model::scope::Scope;
use crate::model::value::Value;
use crate::query::agenda::answered;
use crate::query::answer::{FactView, fact_view};
use crate::query::slots::Reach;
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::timeline::resolve::Outcome;

/// A fact that answers, and what the answer it belongs to comes to.
#[derive(Clone, Debug)]
pub struct Live {
    /// The fact.
    pub fact: FactView,
    /// The scope answered for.
    pub scope: Scope,
    /// What the answer comes to.
    pub outcome: Outcome,
}

impl Live {
    /// The JSON form: F, with `outcome` where the answer is not simply known.
    pub fn json(&self) -> Json {
        let mut json = self.fact.json();
        if let (true, Some(object)) = (self.outcome != Outcome::Known, json.as_object_mut()) {
            object.insert("outcome".to_owned(), self.outcome.word().into());
        }
        json
    }
}

/// Every fact that answers at (v, k), in order of subject, predicate, scope and coming. Cost: all
/// facts of the tenant, over the cores.
///
/// # Errors
/// When the store cannot be read.
pub fn snapshot(view: &View<'_>, reach: &Reach, ask: &Ask) -> Result<Vec<Live>, StoreError> {
    let at = view.pinned(view.at(ask));
    answered(view, reach, ask, |slot, ask, resolution| {
        let mut live = Vec::with_capacity(resolution.used.len());
        for fact in resolution.used.iter().filter_map(|place| slot.fact(*place)) {
            let (scope, outcome) = (ask.scope.clone(), resolution.outcome);
            let shown = fact_view(view, slot, fact, at)?;
            live.extend(shown.map(|fact| Live { fact, scope, outcome }));
        }
        Ok(live)
    })
}

/// A fact between two entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// What it says of the first about the second.
    pub predicate: Predicate,
    /// The fact.
    pub fact: Id,
    /// The scope answered for.
    pub scope: Scope,
    /// What the answer comes to.
    pub outcome: Outcome,
}

/// Entities and the facts between them at one (v, k).
#[derive(Clone, Debug, Default)]
pub struct Entities {
    /// Subjects and entity values, by name; an edge is a fact whose value is an entity.
    pub graph: DiGraph<String, Relation>,
    places: HashMap<String, NodeIndex>,
}

/// The graph of entities at (v, k). Cost: as [`snapshot`].
///
/// # Errors
/// When the store cannot be read.
pub fn entities(view: &View<'_>, reach: &Reach, ask: &Ask) -> Result<Entities, StoreError> {
    let mut entities = Entities::default();
    for live in snapshot(view, reach, ask)? {
        let said = &live.fact.fact.said;
        let from = entities.place(said.subject.as_str());
        if let Value::Entity(name) = &said.value {
            let to = entities.place(name.as_str());
            let (predicate, fact) = (said.predicate.clone(), said.id.clone());
            let (scope, outcome) = (live.scope, live.outcome);
            entities.graph.add_edge(from, to, Relation { predicate, fact, scope, outcome });
        }
    }
    Ok(entities)
}

impl Entities {
    fn place(&mut self, name: &str) -> NodeIndex {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.graph.add_node(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }

    /// The node of an entity.
    pub fn find(&self, name: &str) -> Option<NodeIndex> {
        self.places.get(name).copied()
    }

    /// The entities within some hops of one, in either direction, nearest first, without itself;
    /// each with its distance. Cost: the edges of what is reached.
    pub fn neighbours(&self, name: &str, hops: u32) -> Vec<(&str, u32)> {
        let Some(start) = self.find(name) else { return Vec::new() };
        let (_, order) = self.flood(start, hops);
        let named = |(node, depth): &(NodeIndex, u32)| {
            Some((self.graph.node_weight(*node)?.as_str(), *depth))
        };
        order.iter().skip(1).filter_map(named).collect()
    }

    /// The entities on a shortest way between two, both included, along facts in either direction;
    /// `None` if there is none. Cost: the edges of what is nearer than the other end.
    pub fn path(&self, from: &str, to: &str) -> Option<Vec<&str>> {
        let (start, end) = (self.find(from)?, self.find(to)?);
        let (came, _) = self.flood(start, u32::MAX);
        let mut path = vec![end];
        let mut at = end;
        while at != start {
            at = *came.get(&at)?;
            path.push(at);
        }
        path.iter().rev().map(|node| self.graph.node_weight(*node).map(String::as_str)).collect()
    }

    fn flood(
        &self,
        start: NodeIndex,
        hops: u32,
    ) -> (HashMap<NodeIndex, NodeIndex>, Vec<(NodeIndex, u32)>) {
        let mut came = HashMap::from([(start, start)]);
        let mut open = VecDeque::from([(start, 0)]);
        let mut order = Vec::new();
        while let Some((node, depth)) = open.pop_front() {
            order.push((node, depth));
            if depth == hops {
                continue;
            }
            let out = self.graph.edges_directed(node, petgraph::Direction::Outgoing);
            let into = self.graph.edges_directed(node, petgraph::Direction::Incoming);
            let mut next: Vec<NodeIndex> =
                out.map(|edge| edge.target()).chain(into.map(|edge| edge.source())).collect();
            next.sort_unstable();
            for further in next {
                if let std::collections::hash_map::Entry::Vacant(entry) = came.entry(further) {
                    entry.insert(node);
                    open.push_back((further, depth + 1));
                }
            }
        }
        (came, order)
    }
}
