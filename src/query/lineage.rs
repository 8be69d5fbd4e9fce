//! Walks (R34): `impact` (all that rests on a node), `why` (all that it rests on) and `chain`
//! (supersession, both ways), as graphs at any (v, k). Cycles cannot exist (R18), so along
//! derived-from the order is topological.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use serde_json::Value as Json;

use crate::lineage::reach::{below, superseded};
use crate::lineage::receipt::word;
use crate::model::form::Object;
use crate::model::name::Id;
use crate::model::node::NodeNo;
use crate::query::chain::Edge;
use crate::query::node::{NodeAsk, find};
use crate::query::slots::Reach;
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::Recorded;
use crate::timeline::marks::{AsOf, Mark};
use crate::timeline::resolve::Outcome;
use crate::timeline::version::State;

/// Which way a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Down: all that rests on it.
    Impact,
    /// Up: all that it rests on.
    Why,
    /// Along supersession, both ways, with what it is in conflict with.
    Chain,
}

/// What a walk leaves out.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Show only these types (`fact`, `source`, `artifact`); empty = all.
    pub types: Vec<String>,
    /// Go no further than this many edges.
    pub depth: Option<u32>,
    /// Show only nodes of these scopes.
    pub reach: Reach,
}

impl Default for Filter {
    fn default() -> Self {
        Self { types: Vec::new(), depth: None, reach: Reach::All }
    }
}

/// A node of a walk.
#[derive(Clone, Debug)]
pub struct Walked {
    /// Its number.
    pub no: NodeNo,
    /// Its id.
    pub id: Id,
    /// The node, whole.
    pub node: NodeView,
    /// Edges on the shortest way from where the walk began.
    pub depth: u32,
    /// Its state at k.
    pub state: State,
    /// Its mark at (v, k).
    pub mark: Option<Mark>,
}

/// Walks from a node; `None` if the view sees no such id at k. The node where it began comes
/// first, then the nearest; equal depths in order of coming. What a filter hides is walked through.
/// Cost: the nodes reached and their premises.
///
/// # Errors
/// When the store cannot be read.
pub fn walk(
    view: &View<'_>,
    way: Way,
    id: &str,
    filter: &Filter,
    ask: &NodeAsk,
) -> Result<Option<DiGraph<Walked, Edge>>, StoreError> {
    let Some((start, node)) = find(view, id)? else { return Ok(None) };
    let Some(own) = node.scope().cloned() else { return Ok(None) };
    let own_ask = ask.ask(&own);
    let at = view.pinned(view.at(&own_ask));
    if node.life().is_none_or(|life| life.stamp.recorded > at.known_at) {
        return Ok(None);
    }
    let deepest = filter.depth.unwrap_or(u32::MAX);
    let conflicts =
        if way == Way::Chain { in_conflict(view, start, &node, &own_ask)? } else { Vec::new() };
    let mut steps: Vec<(NodeNo, u32)> = match way {
        Way::Impact => {
            let reached = below(view.rows(), &[start], at.known_at, deepest)?;
            reached.steps().iter().map(|step| (step.no, step.depth)).collect()
        }
        Way::Why => along(start, deepest, |no| Ok(premises(&view.rows().node(no)?, at.known_at)))?,
        Way::Chain => along(start, deepest, |no| {
            let mut next = superseded(view.rows(), no, at.known_at)?;
            next.extend(superseders(view, no, at.known_at)?);
            Ok(next)
        })?,
    };
    let there: HashSet<NodeNo> = steps.iter().map(|(no, _)| *no).collect();
    if deepest > 0 {
        let partners = conflicts.iter().flat_map(|(a, b)| [*a, *b]);
        let mut partners: Vec<NodeNo> = partners.filter(|no| !there.contains(no)).collect();
        partners.sort_unstable();
        partners.dedup();
        steps.extend(partners.into_iter().map(|no| (no, 1)));
    }
    steps.sort_by_key(|(no, depth)| (*depth, *no));
    let mut graph = DiGraph::new();
    let mut places = HashMap::new();
    for (no, depth) in steps {
        if let Some(walked) = shown(view, no, depth, filter, at)? {
            places.insert(no, graph.add_node(walked));
        }
    }
    join(view, &mut graph, &places, way, at.known_at)?;
    for (a, b) in conflicts {
        if let (Some(a), Some(b)) = (places.get(&a), places.get(&b)) {
            graph.update_edge(*a, *b, Edge::ConflictsWith);
        }
    }
    Ok(Some(graph))
}

/// A node as a walk shows it, unless the filter or the session hides it.
fn shown(
    view: &View<'_>,
    no: NodeNo,
    depth: u32,
    filter: &Filter,
    at: AsOf,
) -> Result<Option<Walked>, StoreError> {
    let node = view.rows().node(no)?;
    let (Some(life), Some(id), Some(scope)) = (node.life(), node.id(), node.scope()) else {
        return Ok(None);
    };
    let wanted = depth == 0
        || (filter.reach.takes(scope)
            && (filter.types.is_empty() || filter.types.iter().any(|t| t == node.type_word())));
    if !wanted || life.stamp.recorded > at.known_at || !view.sees(scope) {
        return Ok(None);
    }
    let state = State::of(&life.standing(at.known_at));
    let (id, mark) = (id.clone(), view.lineage().judge(no, at)?);
    Ok(Some(Walked { no, id, node, depth, state, mark }))
}

/// Breadth first along `next`, the start at depth 0.
fn along(
    start: NodeNo,
    deepest: u32,
    mut next: impl FnMut(NodeNo) -> Result<Vec<NodeNo>, StoreError>,
) -> Result<Vec<(NodeNo, u32)>, StoreError> {
    let mut seen = HashSet::from([start]);
    let mut open = VecDeque::from([(start, 0)]);
    let mut steps = Vec::new();
    while let Some((no, depth)) = open.pop_front() {
        steps.push((no, depth));
        if depth < deepest {
            for further in next(no)? {
                if seen.insert(further) {
                    open.push_back((further, depth + 1));
                }
            }
        }
    }
    Ok(steps)
}

/// What a node rests on as of k, each once, in order of coming.
fn premises(node: &NodeView, known_at: Recorded) -> Vec<NodeNo> {
    let justified = node.life().into_iter().flat_map(|life| &life.justifications);
    let by_then = justified.filter(|j| j.stamp.recorded <= known_at);
    let mut premises: Vec<NodeNo> = by_then.flat_map(|j| &j.premises).copied().collect();
    premises.sort_unstable();
    premises.dedup();
    premises
}

/// The nodes that take a node's place, by links that count at k.
fn superseders(view: &View<'_>, no: NodeNo, known_at: Recorded) -> Result<Vec<NodeNo>, StoreError> {
    let successions = match view.rows().node(no)? {
        NodeView::Fact(slot, place) => {
            let reaches = |fact: &crate::model::node::Fact| {
                let standing = fact.life.standing(known_at);
                let mut links = fact.links.iter();
                links.any(|link| link.counts(known_at, &standing) && link.reaches(place))
            };
            return Ok(slot
                .facts()
                .filter(|(_, fact)| !fact.links.is_empty() && reaches(fact))
                .map(|(_, fact)| fact.life.no)
                .collect());
        }
        NodeView::Source(source) => source.succeeded.clone(),
        NodeView::Artifact(artifact) => artifact.succeeded.clone(),
    };
    let by_then = successions.iter().filter(|s| s.stamp.recorded <= known_at);
    Ok(by_then.map(|succession| succession.by).collect())
}

/// Adds the edges among the nodes shown.
fn join(
    view: &View<'_>,
    graph: &mut DiGraph<Walked, Edge>,
    places: &HashMap<NodeNo, NodeIndex>,
    way: Way,
    known_at: Recorded,
) -> Result<(), StoreError> {
    let nodes: Vec<(NodeIndex, NodeView, NodeNo)> = graph
        .node_indices()
        .filter_map(|index| {
            let walked = graph.node_weight(index)?;
            Some((index, walked.node.clone(), walked.no))
        })
        .collect();
    for (index, node, no) in nodes {
        let (others, edge) = match way {
            Way::Impact | Way::Why => (premises(&node, known_at), Edge::DerivedFrom),
            Way::Chain => (superseded(view.rows(), no, known_at)?, Edge::Supersedes),
        };
        for other in others.iter().filter_map(|no| places.get(no)) {
            graph.add_edge(index, *other, edge);
        }
    }
    Ok(())
}

/// Pairs in conflict with a fact: answers of its slot that differ, in its own scope at (v, k); or
/// what it was held against.
fn in_conflict(
    view: &View<'_>,
    no: NodeNo,
    node: &NodeView,
    ask: &Ask,
) -> Result<Vec<(NodeNo, NodeNo)>, StoreError> {
    let mut pairs = Vec::new();
    for against in node.life().into_iter().flat_map(|life| &life.against) {
        pairs.extend(view.rows().find_id(view.tenant(), against)?.map(|other| (no, other)));
    }
    let NodeView::Fact(slot, _) = node else { return Ok(pairs) };
    let resolution = view.resolve(slot, ask, view.at(ask))?;
    if resolution.outcome == Outcome::Contested {
        let used: Vec<_> = resolution.used.iter().filter_map(|at| slot.fact(*at)).collect();
        let Some(own) = used.iter().find(|fact| fact.life.no == no) else { return Ok(pairs) };
        let others = used.iter().filter(|fact| fact.said.value != own.said.value);
        pairs.extend(others.map(|fact| (no.min(fact.life.no), no.max(fact.life.no))));
    }
    Ok(pairs)
}

/// The JSON form of a walk (SPEC section 9).
pub fn json(graph: &DiGraph<Walked, Edge>) -> Json {
    let node = |walked: &Walked| {
        Object::default()
            .with("id", walked.id.as_str())
            .with("type", walked.node.type_word())
            .with("depth", walked.depth)
            .with("state", walked.state.word())
            .some("mark", walked.mark.map(word))
            .json()
    };
    let mut edges: BTreeMap<(usize, usize), Vec<Json>> = BTreeMap::new();
    for edge in graph.edge_references() {
        let ids = (graph.node_weight(edge.source()), graph.node_weight(edge.target()));
        if let (Some(from), Some(to)) = ids {
            let json = Object::default()
                .with("from", from.id.as_str())
                .with("to", to.id.as_str())
                .with("kind", edge.weight().word())
                .json();
            edges.entry((edge.source().index(), edge.target().index())).or_default().push(json);
        }
    }
    let edges: Vec<Json> = edges.into_values().flatten().collect();
    Object::default()
        .with("nodes", graph.node_weights().map(node).collect::<Vec<_>>())
        .with("edges", edges)
        .json()
}
