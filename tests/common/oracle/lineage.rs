//! Section 7: what rests on what, and the marks that follow from a premise that was closed or changed.

use super::world::{How, What, World};

/// Why a node is not supported at (v, k).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub retracted: bool,
    /// The first cause, or the direct premise; `None` if that was erased.
    pub by: Option<usize>,
    /// The instant the node lost its last justification (for a retracted mark).
    pub since: i64,
    /// The last event among the reasons.
    pub last: i64,
}

/// What is wrong with one justification.
struct Fault {
    retracted: bool,
    by: Option<usize>,
    since: i64,
    last: i64,
}

impl World {
    /// R29: the mark of a node at (v, k), or `None` if it is supported.
    pub(super) fn mark(&self, node: usize, v: i64, k: i64) -> Option<Mark> {
        let justifications = self.justifications(node, k);
        if justifications.is_empty() {
            return None;
        }
        let mut faults = Vec::new();
        for (recorded, premises) in justifications {
            faults.push(self.fault(node, recorded, premises, v, k)?);
        }
        let mildest = faults.iter().find(|f| !f.retracted).unwrap_or(&faults[0]);
        Some(Mark {
            retracted: mildest.retracted,
            by: mildest.by,
            since: faults.iter().map(|f| f.since).max().unwrap_or(i64::MIN),
            last: faults.iter().map(|f| f.last).max().unwrap_or(i64::MIN),
        })
    }

    /// Inside one justification a closed premise is shown before a changed one.
    fn fault(
        &self,
        node: usize,
        recorded: i64,
        premises: &[usize],
        v: i64,
        k: i64,
    ) -> Option<Fault> {
        let baseline = self.baseline(node, recorded, k);
        let mut closed: Option<(i64, Option<usize>)> = None;
        let mut changed: Option<usize> = None;
        let mut last = i64::MIN;
        for &premise in premises {
            if let Some((at, root)) = self.closed_premise(premise, k) {
                last = last.max(at);
                if closed.is_none_or(|(earliest, _)| at < earliest) {
                    closed = Some((at, root));
                }
            } else if let Some(at) = self.changed_premise(premise, node, baseline, v, k) {
                last = last.max(at);
                changed = changed.or(Some(premise));
            }
        }
        match (closed, changed) {
            (Some((at, root)), _) => {
                Some(Fault { retracted: true, by: root, since: at.max(recorded), last })
            }
            (None, Some(premise)) => {
                Some(Fault { retracted: false, by: Some(premise), since: last, last })
            }
            (None, None) => None,
        }
    }

    fn baseline(&self, node: usize, recorded: i64, k: i64) -> i64 {
        let affirmed = self.affirms(node, k).into_iter().max().unwrap_or(i64::MIN);
        let confirmed = self.confirmed(node, k).unwrap_or(i64::MIN);
        recorded.max(affirmed).max(confirmed)
    }

    /// When a premise was closed (itself, or through its own premises) and by what first cause.
    fn closed_premise(&self, premise: usize, k: i64) -> Option<(i64, Option<usize>)> {
        let mut causes = Vec::new();
        if let Some(at) = self.erased(premise) {
            causes.push((at, None));
        }
        if let Some((_, at)) = self.closing(premise, k) {
            causes.push((at, Some(premise)));
        }
        if let Some(at) = self.disabled(premise, k) {
            causes.push((at, Some(premise)));
        }
        // A retracted mark does not depend on v.
        if let Some(mark) = self.mark(premise, i64::MIN, k).filter(|m| m.retracted) {
            causes.push((mark.since, mark.by));
        }
        let earliest = causes.iter().map(|c| c.0).min()?;
        let hidden = self.erased(premise).is_some();
        let first = causes.into_iter().find(|c| c.0 == earliest)?;
        Some(if hidden && first.1 == Some(premise) { (first.0, None) } else { first })
    }

    /// When a premise last changed in a way that touches v, after the baseline and by k.
    fn changed_premise(
        &self,
        premise: usize,
        node: usize,
        baseline: i64,
        v: i64,
        k: i64,
    ) -> Option<i64> {
        let mut last: Option<i64> = None;
        let mut seen = |at: i64| last = Some(last.map_or(at, |l: i64| l.max(at)));
        let (then, now) = (self.until(premise, baseline), self.until(premise, k));
        let touches_from = then.unwrap_or(i64::MAX).min(now.unwrap_or(i64::MAX));
        if then != now && v >= touches_from {
            self.ends_after(premise, baseline, k).into_iter().for_each(&mut seen);
        }
        for (other, (_, since)) in self.superseders(premise, k, Some(node)) {
            let in_reach = super::world::within(&self.nodes[node].scope, &self.nodes[other].scope);
            if since > baseline && in_reach && self.open(other, k) && v >= self.counts_from(other) {
                seen(since);
            }
        }
        if let Some(mark) = self.mark(premise, v, k).filter(|m| !m.retracted && m.last > baseline) {
            seen(mark.last);
        }
        last
    }

    fn ends_after(&self, node: usize, after: i64, k: i64) -> Vec<i64> {
        let hit =
            |act: &&super::world::Act| matches!(act.what, What::Ended { node: n, .. } if n == node);
        self.known(k).filter(hit).map(|act| act.recorded).filter(|&at| at > after).collect()
    }

    /// Retracted as mistaken, corrected or rejected: as if it had never been (section 6, step 10).
    pub(super) fn never_was(&self, node: usize, k: i64) -> bool {
        matches!(
            self.closing(node, k),
            Some((How::Mistaken | How::Corrected(_) | How::Rejected, _))
        )
    }
}
