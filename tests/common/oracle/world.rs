//! Everything that was ever written, as plain lists, and the plain questions about it.
//!
//! A `World` is only ever appended to. Each question scans the acts recorded by `k` from the first one.

use super::time::Start;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Later than anything: "as of now".
pub(super) const NOW: i64 = i64::MAX;

/// A source, a fact or an artifact.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub tenant: String,
    pub id: String,
    pub scope: String,
    /// Kind as admitted; artifacts have none of their own.
    pub kind: Option<String>,
    /// Waits for `confirm` (or waited until one was recorded).
    pub proposed: bool,
    pub recorded: i64,
    /// What its line superseded by name.
    pub named: Vec<usize>,
    /// Whether those were named by id, not by `current`.
    pub by_id: bool,
    pub corrects: Option<usize>,
    pub content: Value,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Fact(Box<Fact>),
    Source { uri: Option<String>, text: Option<String>, stated_at: Option<i64> },
    Artifact,
}

#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub subject: String,
    pub predicate: String,
    pub value: Value,
    pub when: BTreeMap<String, Value>,
    pub from: Start,
    pub until: Option<i64>,
    /// Written without an end: decides the default of `then` (R25).
    pub open_ended: bool,
    pub then: Option<String>,
    pub review_by: Option<i64>,
    pub memory: Option<String>,
    pub source: Option<usize>,
}

/// Why a node was closed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum How {
    Mistaken,
    Withdrawn,
    Corrected(usize),
    Rejected,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Created(usize),
    Justified { node: usize, premises: Vec<usize> },
    Superseded { from: usize, to: usize },
    Ended { node: usize, until: Option<i64> },
    Closed { node: usize, how: How },
    Reopened(usize),
    Disabled(usize),
    Enabled(usize),
    Affirmed { node: usize, review_by: Option<i64> },
    Confirmed(usize),
    Erased(usize),
    Resolved(Vec<usize>),
    Declared { tenant: Option<String>, name: String, fields: Map<String, Value> },
    Suppressed { tenant: String, id: String, rule: Box<Rule>, content: Value },
    Unsuppressed { tenant: String, id: String },
    Done,
}

/// What is not to be taken in any more (R24).
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub scope: String,
    pub subject: Option<String>,
    pub predicate: Option<String>,
    pub kind: Option<String>,
    pub until: Option<i64>,
}

#[derive(Clone, Debug)]
pub(super) struct Act {
    pub recorded: i64,
    pub seq: i64,
    pub what: What,
}

#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub nodes: Vec<Node>,
    pub acts: Vec<Act>,
    pub tenants: Vec<String>,
    pub transactions: BTreeSet<String>,
    /// Instant and number of the transaction being applied, or of the last one.
    pub recorded: i64,
    pub seq: i64,
}

/// Whether `scope` is `other` or lies below it.
pub(super) fn within(scope: &str, other: &str) -> bool {
    scope == other || scope.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
}

impl World {
    pub(super) fn record(&mut self, what: What) {
        self.acts.push(Act { recorded: self.recorded, seq: self.seq, what });
    }

    pub(super) fn meet_tenant(&mut self, tenant: &str) {
        if !self.tenants.iter().any(|t| t == tenant) {
            self.tenants.push(tenant.to_string());
        }
    }

    pub(super) fn known(&self, k: i64) -> impl Iterator<Item = &Act> {
        self.acts.iter().filter(move |act| act.recorded <= k)
    }

    pub(super) fn find(&self, tenant: &str, id: &str) -> Option<usize> {
        self.nodes.iter().position(|n| n.tenant == tenant && n.id == id)
    }

    pub(super) fn fact(&self, node: usize) -> Option<&Fact> {
        match &self.nodes[node].body {
            Body::Fact(fact) => Some(fact),
            _ => None,
        }
    }

    /// All facts of a slot, in the order they were recorded.
    pub(super) fn slot(&self, tenant: &str, subject: &str, predicate: &str) -> Vec<usize> {
        let here = |&i: &usize| {
            self.nodes[i].tenant == tenant
                && self.fact(i).is_some_and(|f| f.subject == subject && f.predicate == predicate)
        };
        (0..self.nodes.len()).filter(here).collect()
    }

    /// Same slot, value and conditions.
    pub(super) fn same_claim(&self, a: usize, b: usize) -> bool {
        let (Some(x), Some(y)) = (self.fact(a), self.fact(b)) else {
            return false;
        };
        self.nodes[a].tenant == self.nodes[b].tenant
            && (&x.subject, &x.predicate, &x.value, &x.when)
                == (&y.subject, &y.predicate, &y.value, &y.when)
    }

    /// Copies of a claim among the nodes recorded before node number `before`.
    pub(super) fn copies(&self, node: usize, before: usize) -> Vec<usize> {
        (0..before.min(self.nodes.len())).filter(|&i| self.same_claim(i, node)).collect()
    }

    /// The closing in force at k, with its instant.
    pub(super) fn closing(&self, node: usize, k: i64) -> Option<(How, i64)> {
        let mut found = None;
        for act in self.known(k) {
            match &act.what {
                What::Closed { node: n, how } if *n == node => {
                    found = Some((how.clone(), act.recorded));
                }
                What::Reopened(n) if *n == node => found = None,
                _ => {}
            }
        }
        found
    }

    pub(super) fn disabled(&self, node: usize, k: i64) -> Option<i64> {
        let mut found = None;
        for act in self.known(k) {
            match act.what {
                What::Disabled(n) if n == node => found = Some(act.recorded),
                What::Enabled(n) if n == node => found = None,
                _ => {}
            }
        }
        found
    }

    /// Erasure holds at every k, so it is asked without one.
    pub(super) fn erased(&self, node: usize) -> Option<i64> {
        let hit = |act: &&Act| matches!(act.what, What::Erased(n) if n == node);
        self.acts.iter().find(hit).map(|act| act.recorded)
    }

    pub(super) fn confirmed(&self, node: usize, k: i64) -> Option<i64> {
        let hit = |act: &&Act| matches!(act.what, What::Confirmed(n) if n == node);
        self.known(k).filter(hit).last().map(|act| act.recorded)
    }

    pub(super) fn held(&self, node: usize, k: i64) -> bool {
        self.nodes[node].proposed && self.confirmed(node, k).is_none()
    }

    /// Neither retracted, corrected, rejected, disabled nor erased.
    pub(super) fn open(&self, node: usize, k: i64) -> bool {
        self.erased(node).is_none()
            && self.closing(node, k).is_none()
            && self.disabled(node, k).is_none()
    }

    /// End of the valid period as known at k.
    pub(super) fn until(&self, node: usize, k: i64) -> Option<i64> {
        let written = self.fact(node).and_then(|f| f.until);
        let hit = |act: &Act| match act.what {
            What::Ended { node: n, until } if n == node => Some(until),
            _ => None,
        };
        self.known(k).filter_map(hit).last().unwrap_or(written)
    }

    /// First instant at which a fact counts; sources and artifacts always do.
    pub(super) fn counts_from(&self, node: usize) -> i64 {
        self.fact(node).map_or(i64::MIN, |f| f.from.counts_from())
    }

    pub(super) fn affirms(&self, node: usize, k: i64) -> Vec<i64> {
        let hit = |act: &&Act| matches!(act.what, What::Affirmed { node: n, .. } if n == node);
        self.known(k).filter(hit).map(|act| act.recorded).collect()
    }

    /// The review date as last set by hand (R26).
    pub(super) fn review_set(&self, node: usize, k: i64) -> Option<i64> {
        let hit = |act: &Act| match act.what {
            What::Affirmed { node: n, review_by } if n == node => review_by,
            _ => None,
        };
        self.known(k).filter_map(hit).last().or(self.fact(node).and_then(|f| f.review_by))
    }

    /// Justifications recorded by k, each with its instant.
    pub(super) fn justifications(&self, node: usize, k: i64) -> Vec<(i64, &Vec<usize>)> {
        let hit = |act| match act {
            &Act { recorded, what: What::Justified { node: n, ref premises }, .. } if n == node => {
                Some((recorded, premises))
            }
            _ => None,
        };
        self.known(k).filter_map(hit).collect()
    }

    /// Supersession edges recorded by k: (from, to, recorded).
    pub(super) fn edges(&self, k: i64) -> Vec<(usize, usize, i64)> {
        let hit = |act: &Act| match act.what {
            What::Superseded { from, to } => Some((from, to, act.recorded)),
            _ => None,
        };
        self.known(k).filter_map(hit).collect()
    }

    /// Everything that supersedes a node, directly or along the chain, without stepping on `apart`:
    /// the fewest steps, and the instant from which it was so.
    pub(super) fn superseders(
        &self,
        node: usize,
        k: i64,
        apart: Option<usize>,
    ) -> BTreeMap<usize, (usize, i64)> {
        let edges = self.edges(k);
        let mut found: BTreeMap<usize, (usize, i64)> = BTreeMap::from([(node, (0, i64::MIN))]);
        loop {
            let before = found.clone();
            for &(from, to, recorded) in edges.iter().filter(|e| Some(e.0) != apart) {
                let Some(&(steps, since)) = found.get(&to) else {
                    continue;
                };
                let entry = found.entry(from).or_insert((usize::MAX, i64::MAX));
                entry.0 = entry.0.min(steps + 1);
                entry.1 = entry.1.min(since.max(recorded));
            }
            if found == before {
                found.remove(&node);
                return found;
            }
        }
    }

    /// One field of a predicate's declaration as known at k: the last one that gave it (R13).
    pub(super) fn declared(
        &self,
        tenant: &str,
        predicate: &str,
        field: &str,
        k: i64,
    ) -> Option<&Value> {
        let first = self.tenants.first().map(String::as_str);
        let hit = |act| match act {
            &Act { what: What::Declared { tenant: ref t, ref name, ref fields }, .. }
                if name == predicate && t.as_deref().or(first) == Some(tenant) =>
            {
                fields.get(field)
            }
            _ => None,
        };
        self.known(k).filter_map(hit).last()
    }

    pub(super) fn many(&self, tenant: &str, predicate: &str, k: i64) -> bool {
        self.declared(tenant, predicate, "cardinality", k).is_some_and(|c| c == "many")
    }

    /// What comes after a fact (R25).
    pub(super) fn then(&self, node: usize, k: i64) -> String {
        let Some(fact) = self.fact(node) else {
            return String::new();
        };
        let default = self
            .declared(&self.nodes[node].tenant, &fact.predicate, "then", k)
            .and_then(Value::as_str);
        let by_period = if fact.open_ended { "never" } else { "uncertain" };
        fact.then.as_deref().or(default).unwrap_or(by_period).to_string()
    }
}
