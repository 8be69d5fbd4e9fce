//! Who outranks whom (R20): orders of kinds, and the kind of every node.

use super::world::{Body, World};
use serde_json::{Value, json};

/// Ranks, strongest first; kinds of one rank are a tie.
pub(super) type Order = Vec<Vec<String>>;

fn read_order(list: &Value) -> Order {
    let word = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let rank = |v: &Value| match v.as_array() {
        Some(tie) => tie.iter().map(word).collect(),
        None => vec![word(v)],
    };
    list.as_array().map_or(Vec::new(), |all| all.iter().map(rank).collect())
}

pub(super) fn default_order() -> Order {
    read_order(&json!([["stated", "observed"], "reported", "inferred"]))
}

/// Smaller is stronger; a kind the order does not name is weaker than all it names.
pub(super) fn rank(order: &Order, kind: &str) -> usize {
    order.iter().position(|tie| tie.iter().any(|k| k == kind)).unwrap_or(order.len())
}

impl World {
    pub(super) fn order(&self, tenant: &str, predicate: &str, k: i64) -> Order {
        self.declared(tenant, predicate, "authority", k).map_or_else(default_order, read_order)
    }

    /// The order by which a node is judged: that of its own predicate.
    pub(super) fn order_of(&self, node: usize, k: i64) -> Order {
        match self.fact(node) {
            Some(fact) => self.order(&self.nodes[node].tenant, &fact.predicate, k),
            None => default_order(),
        }
    }

    /// The kind of a node at k: `stated` once confirmed; artifacts are as strong as their evidence.
    pub(super) fn kind(&self, node: usize, order: &Order, k: i64) -> String {
        if self.confirmed(node, k).is_some() {
            return "stated".to_string();
        }
        match self.nodes[node].body {
            Body::Artifact => {
                let evidence: Vec<_> =
                    self.justifications(node, k).into_iter().map(|j| j.1.clone()).collect();
                self.evidence_kind(&evidence, order, k).unwrap_or_else(|| "inferred".to_string())
            }
            _ => self.nodes[node].kind.clone().unwrap_or_default(),
        }
    }

    /// The strongest justification's weakest premise.
    pub(super) fn evidence_kind(
        &self,
        evidence: &[Vec<usize>],
        order: &Order,
        k: i64,
    ) -> Option<String> {
        let mut best: Option<String> = None;
        for premises in evidence {
            let mut weakest: Option<String> = None;
            for &premise in premises {
                let kind = self.kind(premise, order, k);
                if weakest.as_ref().is_none_or(|w| rank(order, &kind) > rank(order, w)) {
                    weakest = Some(kind);
                }
            }
            let Some(weakest) = weakest else { continue };
            if best.as_ref().is_none_or(|b| rank(order, &weakest) < rank(order, b)) {
                best = Some(weakest);
            }
        }
        best
    }

    /// Whether an operation of this kind is too weak for the target.
    pub(super) fn too_weak(&self, acting: &str, target: usize, k: i64) -> bool {
        let order = self.order_of(target, k);
        rank(&order, acting) > rank(&order, &self.kind(target, &order, k))
    }
}
