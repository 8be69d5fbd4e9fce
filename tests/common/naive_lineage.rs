//! R29 written down as slowly as it reads: marks by recursion over what was recorded.

use std::collections::BTreeMap;

/// What happened to a node: closed or not, disabled or not, its end, looked at.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Closed,
    Reopened,
    Disabled,
    Enabled,
    Ended(Option<i64>),
    Affirmed,
    Supported(Vec<Vec<usize>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) came: i64,
    pub(crate) scope: &'static str,
    pub(crate) fact: bool,
    pub(crate) from: Option<i64>,
    pub(crate) until: Option<i64>,
    pub(crate) justified: Vec<Vec<usize>>,
    pub(crate) supersedes: Vec<usize>,
    pub(crate) happened: Vec<(i64, What)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) retracted: bool,
    since: i64,
}

#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
}

impl Graph {
    fn until_k(&self, n: usize, k: i64) -> impl Iterator<Item = &(i64, What)> {
        self.nodes[n].happened.iter().filter(move |(at, _)| *at <= k)
    }

    /// Since when it is closed or disabled at k.
    pub(crate) fn closed(&self, n: usize, k: i64) -> Option<i64> {
        let (mut closed, mut disabled) = (None, None);
        for (at, what) in self.until_k(n, k) {
            match what {
                What::Closed => closed = Some(*at),
                What::Reopened => closed = None,
                What::Disabled => disabled = Some(*at),
                What::Enabled => disabled = None,
                What::Ended(_) | What::Affirmed | What::Supported(_) => {}
            }
        }
        [closed, disabled].into_iter().flatten().min()
    }

    fn end(&self, n: usize, k: i64) -> Option<i64> {
        let said = self.until_k(n, k).filter_map(|(_, what)| match what {
            What::Ended(until) => Some(*until),
            _ => None,
        });
        said.last().unwrap_or(self.nodes[n].until)
    }

    fn baseline(&self, n: usize, justified: i64, k: i64) -> i64 {
        let looked = self.until_k(n, k).filter(|(_, what)| matches!(what, What::Affirmed));
        looked.map(|(at, _)| *at).fold(justified, i64::max)
    }

    /// All that supersedes a node, directly or along a chain that avoids `but`, each with when
    /// its chain was complete.
    fn superseders(&self, n: usize, but: usize, k: i64) -> BTreeMap<usize, i64> {
        let mut found = BTreeMap::new();
        for (s, node) in self.nodes.iter().enumerate() {
            if s != but && node.came <= k && node.supersedes.contains(&n) {
                found.insert(s, node.came);
                for (further, since) in self.superseders(s, but, k) {
                    let since = since.max(node.came);
                    let before = found.get(&further).copied().unwrap_or(i64::MAX);
                    found.insert(further, before.min(since));
                }
            }
        }
        found
    }

    fn changed(&self, p: usize, n: usize, baseline: i64, v: i64, k: i64) -> Option<i64> {
        let mut last = None;
        let (then, now) = (self.end(p, baseline), self.end(p, k));
        let earlier = [then, now].into_iter().flatten().min();
        if then != now && earlier.is_some_and(|earlier| v >= earlier) {
            let ends = self.until_k(p, k).filter(|(_, what)| matches!(what, What::Ended(_)));
            last = ends.map(|(at, _)| *at).max();
        }
        for (s, since) in self.superseders(p, n, k) {
            let node = &self.nodes[s];
            let covers = self.nodes[n].scope.starts_with(node.scope);
            let touches = !node.fact || node.from.is_none_or(|from| v >= from);
            if since > baseline && covers && touches && self.closed(s, k).is_none() {
                last = last.max(Some(since));
            }
        }
        last
    }

    /// R29, by recursion.
    pub(crate) fn mark(&self, n: usize, v: i64, k: i64) -> Option<Mark> {
        let node = &self.nodes[n];
        let mut justified: Vec<(i64, &Vec<usize>)> =
            node.justified.iter().map(|premises| (node.came, premises)).collect();
        for (at, what) in self.until_k(n, k) {
            if let What::Supported(more) = what {
                justified.extend(more.iter().map(|premises| (*at, premises)));
            }
        }
        let mut marks = Vec::new();
        for (at, premises) in justified {
            let baseline = self.baseline(n, at, k);
            let mut gone: Option<i64> = None;
            let mut changed: Option<i64> = None;
            for p in premises {
                let above = self.mark(*p, v, k);
                let closed = self.closed(*p, k);
                let marked = above.filter(|mark| mark.retracted).map(|mark| mark.since);
                if let Some(since) = [closed, marked].into_iter().flatten().min() {
                    gone = Some(gone.map_or(since, |before| before.min(since)));
                    continue;
                }
                let above = above.map(|mark| mark.since).filter(|since| *since > baseline);
                changed = changed.max(above).max(self.changed(*p, n, baseline, v, k));
            }
            match (gone, changed) {
                (Some(since), _) => marks.push(Mark { retracted: true, since }),
                (None, Some(since)) => marks.push(Mark { retracted: false, since }),
                (None, None) => return None,
            }
        }
        let retracted = marks.iter().all(|mark| mark.retracted);
        let since = marks.iter().map(|mark| mark.since).max()?;
        Some(Mark { retracted, since })
    }

    /// Distance from some nodes down derived-from.
    pub(crate) fn depth(&self, from: usize, to: usize, k: i64) -> Option<u64> {
        let mut level = vec![from];
        let mut seen = level.clone();
        for depth in 0.. {
            if level.contains(&to) {
                return Some(depth);
            }
            let rests = |n: &usize| {
                let more = self.until_k(*n, k).filter_map(|(_, what)| match what {
                    What::Supported(more) => Some(more),
                    _ => None,
                });
                let mut all = self.nodes[*n].justified.iter().chain(more.flatten());
                all.any(|premises| premises.iter().any(|p| level.contains(p)))
            };
            let next: Vec<usize> =
                (0..self.nodes.len()).filter(|n| !seen.contains(n) && rests(n)).collect();
            if next.is_empty() {
                return None;
            }
            seen.extend(&next);
            level = next;
        }
        None
    }
}
