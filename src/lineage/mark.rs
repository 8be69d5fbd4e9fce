//! Marks (R29): is a node's support in question at (v, k)? Computed from the log's events alone:
//! the log holds causes, not marks, so a retraction that reaches a hundred thousand nodes is one
//! entry, in force for every reader when it is (R30), and `known_at` rewinds it.
//!
//! Walks premises upwards without recursion; each node is judged once per as-of point. Cost: the
//! premises above the node, and for each fact among them the facts of its slot.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use crate::model::node::{Fact, Justification, Life, NodeNo, Standing, Succession};
use crate::model::scope::Scope;
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::{Recorded, Valid};
use crate::timeline::marks::{AsOf, Mark, Marks};
use crate::timeline::slot::Slot;

/// Judges nodes over some rows, remembering what it has judged.
pub struct Lineage<'a, R: Lookup + ?Sized> {
    rows: &'a R,
    judged: Mutex<HashMap<(NodeNo, AsOf), Option<Mark>>>,
}

impl<'a, R: Lookup + ?Sized> Lineage<'a, R> {
    /// Judges over these rows.
    pub fn new(rows: &'a R) -> Self {
        Self { rows, judged: Mutex::new(HashMap::new()) }
    }

    fn known(&self, no: NodeNo, at: AsOf) -> Option<Option<Mark>> {
        self.judged.lock().unwrap_or_else(PoisonError::into_inner).get(&(no, at)).copied()
    }

    /// The mark of a node at an as-of point.
    ///
    /// # Errors
    /// When a node it rests on cannot be read.
    pub fn judge(&self, no: NodeNo, at: AsOf) -> Result<Option<Mark>, StoreError> {
        if let Some(known) = self.known(no, at) {
            return Ok(known);
        }
        let mut stack = vec![no];
        let mut under_way = HashSet::new();
        while let Some(top) = stack.last().copied() {
            if self.known(top, at).is_some() {
                stack.pop();
                continue;
            }
            let node = self.rows.node(top)?;
            let premises = self.premises_to_judge(&node, at)?;
            let mut missing: Vec<NodeNo> = premises
                .into_iter()
                .filter(|p| self.known(*p, at).is_none() && !under_way.contains(p))
                .collect();
            if under_way.insert(top) && !missing.is_empty() {
                stack.append(&mut missing);
                continue;
            }
            let mark = self.weigh(&node, at)?;
            self.judged.lock().unwrap_or_else(PoisonError::into_inner).insert((top, at), mark);
            stack.pop();
        }
        Ok(self.known(no, at).flatten())
    }

    /// Premises that rest on something themselves; roots need no judging.
    fn premises_to_judge(&self, node: &NodeView, at: AsOf) -> Result<Vec<NodeNo>, StoreError> {
        let mut premises = Vec::new();
        for justification in node.life().into_iter().flat_map(|life| recorded_by(life, at.known_at))
        {
            for premise in &justification.premises {
                if self.known(*premise, at).is_none()
                    && self
                        .rows
                        .node(*premise)?
                        .life()
                        .is_some_and(|life| !life.justifications.is_empty())
                {
                    premises.push(*premise);
                }
            }
        }
        Ok(premises)
    }

    /// Weighs all justifications of a node: none, or one that is all good, and it is supported.
    fn weigh(&self, node: &NodeView, at: AsOf) -> Result<Option<Mark>, StoreError> {
        let (Some(life), Some(scope)) = (node.life(), node.scope()) else {
            return Ok(None);
        };
        let standing = life.standing(at.known_at);
        let mut marks = Vec::new();
        for justification in recorded_by(life, at.known_at) {
            let looked = [standing.affirmed, standing.confirmed]
                .into_iter()
                .flatten()
                .map(|stamp| stamp.recorded);
            let baseline = looked.fold(justification.stamp.recorded, Recorded::max);
            match self.weigh_one(justification, &Rested { no: life.no, scope, baseline }, at)? {
                None => return Ok(None),
                Some(mark) => marks.push(mark),
            }
        }
        Ok(mildest(&marks))
    }

    /// Weighs one justification: retracted before changed, the earliest cause first.
    fn weigh_one(
        &self,
        justification: &Justification,
        rested: &Rested<'_>,
        at: AsOf,
    ) -> Result<Option<Mark>, StoreError> {
        let mut retracted: Option<Mark> = None;
        let mut changed: Option<Mark> = None;
        for no in &justification.premises {
            let premise = self.rows.node(*no)?;
            let Some(life) = premise.life() else { continue };
            let standing = life.standing(at.known_at);
            let closed = closed_since(&standing).map(|since| Mark::Retracted { by: *no, since });
            if let Some(closed) = closed {
                retracted = Some(earlier(retracted, closed));
            }
            match self.known(*no, at).flatten() {
                Some(mark @ Mark::Retracted { .. }) => retracted = Some(earlier(retracted, mark)),
                Some(Mark::Changed { .. }) | None if closed.is_some() => {}
                above => {
                    let above = match above {
                        Some(Mark::Changed { since, .. }) if since > rested.baseline => Some(since),
                        Some(Mark::Changed { .. } | Mark::Retracted { .. }) | None => None,
                    };
                    let own = self.changed(&premise, &standing, rested, at)?;
                    if let Some(since) = above.max(own) {
                        let first = match changed {
                            Some(Mark::Changed { by, since: before }) => {
                                Mark::Changed { by, since: before.max(since) }
                            }
                            Some(Mark::Retracted { .. }) | None => Mark::Changed { by: *no, since },
                        };
                        changed = Some(first);
                    }
                }
            }
        }
        Ok(retracted.or(changed))
    }

    /// The last change of a premise itself, recorded after the baseline and by k, that touches v.
    fn changed(
        &self,
        premise: &NodeView,
        standing: &Standing,
        rested: &Rested<'_>,
        at: AsOf,
    ) -> Result<Option<Recorded>, StoreError> {
        let Some(life) = premise.life() else { return Ok(None) };
        let ended = end_changed(premise, life, standing, rested.baseline, at);
        let superseded = match premise {
            NodeView::Fact(slot, place) => superseded_since(slot, *place, rested, at),
            NodeView::Source(source) => self.succeeded(&source.succeeded, rested, at)?,
            NodeView::Artifact(artifact) => self.succeeded(&artifact.succeeded, rested, at)?,
        };
        Ok(ended.max(superseded))
    }

    /// The last instant after the baseline at which a later source or artifact, directly or along a
    /// chain, came to take the place of this one.
    fn succeeded(
        &self,
        successions: &[Succession],
        rested: &Rested<'_>,
        at: AsOf,
    ) -> Result<Option<Recorded>, StoreError> {
        let mut last = None;
        let mut complete: HashMap<NodeNo, Recorded> = HashMap::new();
        let mut open: Vec<(Succession, Recorded)> =
            successions.iter().map(|s| (s.clone(), Recorded::MIN)).collect();
        while let Some((succession, before)) = open.pop() {
            let since = succession.stamp.recorded.max(before);
            let known = complete.get(&succession.by).is_some_and(|known| *known <= since);
            if since > at.known_at || succession.by == rested.no || known {
                continue;
            }
            complete.insert(succession.by, since);
            let by = self.rows.node(succession.by)?;
            let further = match &by {
                NodeView::Source(source) => source.succeeded.as_slice(),
                NodeView::Artifact(artifact) => artifact.succeeded.as_slice(),
                NodeView::Fact(..) => &[],
            };
            open.extend(further.iter().map(|s| (s.clone(), since)));
        }
        for (by, since) in complete {
            let by = self.rows.node(by)?;
            let stands = by.life().is_some_and(|life| life.standing(at.known_at).is_open());
            if since > rested.baseline
                && stands
                && by.scope().is_some_and(|scope| scope.covers(rested.scope))
            {
                last = last.max(Some(since));
            }
        }
        Ok(last)
    }
}

impl<R: Lookup + ?Sized> Marks for Lineage<'_, R> {
    type Error = StoreError;

    fn mark(&self, fact: &Fact, at: AsOf) -> Result<Option<Mark>, StoreError> {
        if fact.life.justifications.is_empty() {
            return Ok(None);
        }
        self.judge(fact.life.no, at)
    }
}

/// The node whose support is weighed.
struct Rested<'a> {
    no: NodeNo,
    scope: &'a Scope,
    baseline: Recorded,
}

fn recorded_by(life: &Life, known_at: Recorded) -> impl Iterator<Item = &Justification> {
    life.justifications.iter().filter(move |j| j.stamp.recorded <= known_at)
}

/// Since when a node is closed or disabled, if it is.
fn closed_since(standing: &Standing) -> Option<Recorded> {
    let closed = standing.closed.map(|(_, stamp)| stamp.recorded);
    let disabled = standing.disabled.map(|stamp| stamp.recorded);
    [closed, disabled].into_iter().flatten().min()
}

fn until(node: &NodeView, standing: &Standing) -> Option<Valid> {
    let written = match node {
        NodeView::Fact(slot, place) => slot.fact(*place).and_then(|fact| fact.said.valid_until),
        NodeView::Artifact(artifact) => artifact.said.valid_until,
        NodeView::Source(_) => None,
    };
    standing.ended.unwrap_or(written)
}

/// Its end at k differs from its end at the baseline, and v is at or after the earlier of the two.
fn end_changed(
    premise: &NodeView,
    life: &Life,
    standing: &Standing,
    baseline: Recorded,
    at: AsOf,
) -> Option<Recorded> {
    let then = until(premise, &life.standing(baseline));
    let now = until(premise, standing);
    let earlier = match (then, now) {
        (Some(a), Some(b)) => a.min(b),
        (Some(a), None) | (None, Some(a)) => a,
        (None, None) => return None,
    };
    if then == now || at.valid_at < earlier {
        return None;
    }
    let ends = life.changes.iter().filter(|c| matches!(c.what, crate::model::node::What::Ended(_)));
    ends.map(|c| c.stamp.recorded).filter(|r| *r <= at.known_at).max()
}

/// The last instant after the baseline at which a fact came to supersede the one at a place,
/// directly or along a chain that does not run over the resting node: a fact that is open at k,
/// starts by v, and whose scope is the resting node's own or an ancestor. A chain counts from when
/// its last link was recorded.
fn superseded_since(slot: &Slot, place: u32, rested: &Rested<'_>, at: AsOf) -> Option<Recorded> {
    let linking: Vec<(u32, &Fact, Standing)> = slot
        .facts()
        .filter(|(_, fact)| !fact.links.is_empty() && fact.life.no != rested.no)
        .filter(|(_, fact)| fact.life.stamp.recorded <= at.known_at)
        .map(|(place, fact)| (place, fact, fact.life.standing(at.known_at)))
        .collect();
    let mut complete: BTreeMap<u32, Recorded> = BTreeMap::from([(place, Recorded::MIN)]);
    let mut grows = !linking.is_empty();
    while grows {
        grows = false;
        for (from, fact, standing) in &linking {
            let Some(since) = chain_since(fact, standing, &complete, at.known_at) else { continue };
            if *from != place && complete.get(from).is_none_or(|before| since < *before) {
                complete.insert(*from, since);
                grows = true;
            }
        }
    }
    linking
        .iter()
        .filter(|(from, fact, standing)| {
            *from != place
                && standing.is_open()
                && fact.said.scope.covers(rested.scope)
                && fact.counted_from().is_none_or(|from| at.valid_at >= from)
        })
        .filter_map(|(from, _, _)| complete.get(from).copied())
        .filter(|since| *since > rested.baseline)
        .max()
}

/// The earliest instant at which a fact's links, with the chains below them, reach the place.
fn chain_since(
    fact: &Fact,
    standing: &Standing,
    complete: &BTreeMap<u32, Recorded>,
    known_at: Recorded,
) -> Option<Recorded> {
    let links = fact.links.iter().filter(|link| link.counts(known_at, standing));
    links
        .filter_map(|link| Some((link, link.since(standing)?.recorded)))
        .flat_map(|(link, since)| link.reach.iter().map(move |range| (range, since)))
        .flat_map(|((from, until), since)| {
            complete.range(from..until).map(move |(_, below)| since.max(*below))
        })
        .min()
}

fn since(mark: Mark) -> Recorded {
    let (Mark::Retracted { since, .. } | Mark::Changed { since, .. }) = mark;
    since
}

fn earlier(one: Option<Mark>, other: Mark) -> Mark {
    match one {
        Some(one) if since(one) <= since(other) => one,
        Some(_) | None => other,
    }
}

/// A node shows its mildest justification's mark, since the last of them failed.
fn mildest(marks: &[Mark]) -> Option<Mark> {
    let last = marks.iter().map(|mark| since(*mark)).max()?;
    let changed = marks.iter().find(|mark| matches!(mark, Mark::Changed { .. }));
    changed.or(marks.first()).map(|mark| match *mark {
        Mark::Changed { by, .. } => Mark::Changed { by, since: last },
        Mark::Retracted { by, .. } => Mark::Retracted { by, since: last },
    })
}
