//! All that a node rests on, however far up.

use std::collections::HashSet;

use crate::model::node::NodeNo;
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};

/// The nodes above a node, without itself, each once, nearest first. Cost: the edges above it.
///
/// # Errors
/// When a node cannot be read.
pub fn above<R: Lookup + ?Sized>(rows: &R, no: NodeNo) -> Result<Vec<NodeView>, StoreError> {
    let mut seen = HashSet::from([no]);
    let mut open = std::collections::VecDeque::from([rows.node(no)?]);
    let mut above = Vec::new();
    while let Some(node) = open.pop_front() {
        for premise in
            node.life().into_iter().flat_map(|life| &life.justifications).flat_map(|j| &j.premises)
        {
            if seen.insert(*premise) {
                let premise = rows.node(*premise)?;
                above.push(premise.clone());
                open.push_back(premise);
            }
        }
    }
    Ok(above)
}
