//! What a change of a node reaches: all that was made from it, at any depth, each with the shortest
//! way there; and what it supersedes, since a superseder that comes or goes also touches what rests
//! on the superseded (R29). Level by level, without recursion; one level's edges are read on all
//! cores.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;

use crate::model::node::NodeNo;
use crate::store::error::StoreError;
use crate::store::key;
use crate::store::rows::{Lookup, NodeView};
use crate::time::Recorded;

/// One node reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node.
    pub no: NodeNo,
    /// Edges on the shortest way from where the walk began.
    pub depth: u32,
    /// The step before it; `None` where the walk began.
    before: Option<usize>,
}

/// All that a walk reached, nearest first; equal depths in order of coming.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    steps: Vec<Step>,
    places: HashMap<NodeNo, usize>,
}

impl Reached {
    /// The steps, nearest first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether the walk came to a node.
    pub fn has(&self, no: NodeNo) -> bool {
        self.places.contains_key(&no)
    }

    /// The shortest way to a step, both ends included. Linear in its length.
    pub fn path(&self, step: &Step) -> Vec<NodeNo> {
        let mut path = vec![step.no];
        let mut before = step.before;
        while let Some(step) = before.and_then(|place| self.steps.get(place)) {
            path.push(step.no);
            before = step.before;
        }
        path.reverse();
        path
    }

    fn visit(&mut self, no: NodeNo, depth: u32, before: Option<usize>) -> Option<usize> {
        if self.has(no) {
            return None;
        }
        let place = self.steps.len();
        self.places.insert(no, place);
        self.steps.push(Step { no, depth, before });
        Some(place)
    }
}

/// All that was made from some nodes by `known_at`, with those nodes at depth 0, no further down
/// than `deepest`. Cost: the edges below them.
///
/// # Errors
/// When the rows cannot be read.
pub fn below<R: Lookup + ?Sized>(
    rows: &R,
    from: &[NodeNo],
    known_at: Recorded,
    deepest: u32,
) -> Result<Reached, StoreError> {
    let mut reached = Reached::default();
    for no in from {
        reached.visit(*no, 0, None);
    }
    let rests = |premise: NodeNo, no: NodeNo| -> Result<bool, StoreError> {
        let node = rows.node(no)?;
        let justified = node.life().into_iter().flat_map(|life| &life.justifications);
        let mut by_then = justified.filter(|j| j.stamp.recorded <= known_at);
        Ok(by_then.any(|j| j.premises.contains(&premise)))
    };
    descend(rows, reached, BTreeMap::new(), deepest, &rests)
}

/// All that a change of some nodes may touch at `known_at`: what was made from them, and what was
/// made from whatever they supersede, directly or along a chain. Cost: the facts of their slots and
/// the edges below.
///
/// # Errors
/// When the rows cannot be read.
pub fn touched_by<R: Lookup + ?Sized>(
    rows: &R,
    from: &[NodeNo],
    known_at: Recorded,
) -> Result<Reached, StoreError> {
    let mut reached = Reached::default();
    for no in from {
        reached.visit(*no, 0, None);
    }
    // What is superseded, level by level, each with the one before it.
    let mut later: BTreeMap<u32, Vec<(NodeNo, NodeNo)>> = BTreeMap::new();
    let mut seen: HashSet<NodeNo> = from.iter().copied().collect();
    let mut level: Vec<NodeNo> = from.to_vec();
    let mut depth = 0;
    while !level.is_empty() {
        depth += 1;
        let mut next = Vec::new();
        for no in level {
            for old in superseded(rows, no, known_at)? {
                if seen.insert(old) {
                    later.entry(depth).or_default().push((old, no));
                    next.push(old);
                }
            }
        }
        level = next;
    }
    descend(rows, reached, later, u32::MAX, &|_, _| Ok(true))
}

/// The nodes whose place a node takes, by links that count at `known_at`.
///
/// # Errors
/// When the rows cannot be read.
pub fn superseded<R: Lookup + ?Sized>(
    rows: &R,
    no: NodeNo,
    known_at: Recorded,
) -> Result<Vec<NodeNo>, StoreError> {
    let node = rows.node(no)?;
    let mut old = Vec::new();
    match &node {
        NodeView::Fact(slot, place) => {
            let Some(fact) = slot.fact(*place) else { return Ok(old) };
            let standing = fact.life.standing(known_at);
            let links = fact.links.iter().filter(|link| link.counts(known_at, &standing));
            let places = links.flat_map(|link| &link.reach).flat_map(|(from, until)| *from..*until);
            old.extend(places.filter_map(|place| slot.fact(place)).map(|fact| fact.life.no));
        }
        NodeView::Source(source) => {
            for id in &source.said.supersedes {
                old.extend(rows.find_id(&source.tenant, id)?);
            }
        }
        NodeView::Artifact(artifact) => {
            for id in &artifact.said.supersedes {
                old.extend(rows.find_id(&artifact.tenant, id)?);
            }
        }
    }
    old.sort_unstable();
    old.dedup();
    Ok(old)
}

/// Goes down from what is reached already; `later` joins at its own depth; `rests` says whether an
/// edge counts.
fn descend<R: Lookup + ?Sized>(
    rows: &R,
    mut reached: Reached,
    mut later: BTreeMap<u32, Vec<(NodeNo, NodeNo)>>,
    deepest: u32,
    rests: &dyn Fn(NodeNo, NodeNo) -> Result<bool, StoreError>,
) -> Result<Reached, StoreError> {
    let mut level: Vec<usize> = (0..reached.steps.len()).collect();
    let mut depth = 0;
    while (!level.is_empty() || !later.is_empty()) && depth < deepest {
        let nodes: HashMap<NodeNo, usize> = level
            .iter()
            .filter_map(|place| Some((reached.steps.get(*place)?.no, *place)))
            .collect();
        let mut made = made_from(rows, nodes.keys().copied().collect())?;
        made.sort_unstable_by_key(|(premise, no)| (nodes.get(premise).copied(), *no));
        depth += 1;
        let mut next = Vec::new();
        for (old, by) in later.remove(&depth).unwrap_or_default() {
            let before = reached.places.get(&by).copied();
            next.extend(reached.visit(old, depth, before));
        }
        for (premise, no) in made {
            if !reached.has(no) && rests(premise, no)? {
                next.extend(reached.visit(no, depth, nodes.get(&premise).copied()));
            }
        }
        level = next;
    }
    Ok(reached)
}

/// Nodes made together have near numbers; premises no further apart than this are read in one go.
const GAP: u64 = 64;

/// The edges down from some nodes: premise and dependent. Neighbouring premises are read in one
/// scan, since a scan costs far more than a row; the scans run on all cores.
fn made_from<R: Lookup + ?Sized>(
    rows: &R,
    mut from: Vec<NodeNo>,
) -> Result<Vec<(NodeNo, NodeNo)>, StoreError> {
    from.sort_unstable();
    let runs: Vec<&[NodeNo]> = from.chunk_by(|a, b| b.0 - a.0 <= GAP).collect();
    let scan = |run: &&[NodeNo]| -> Result<Vec<(NodeNo, NodeNo)>, StoreError> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(Vec::new()) };
        let until = key::after(&key::dependents(*last));
        let found = rows.between(&key::dependents(*first), &until, usize::MAX)?;
        let edge = |key: &[u8]| {
            let premise = NodeNo(key::last_number(key.get(..key.len().checked_sub(8)?)?)?);
            run.binary_search(&premise).ok()?;
            Some((premise, NodeNo(key::last_number(key)?)))
        };
        Ok(found.iter().filter_map(|(key, _)| edge(key)).collect())
    };
    let made: Result<Vec<_>, StoreError> = runs.par_iter().map(scan).collect();
    Ok(made?.into_iter().flatten().collect())
}
