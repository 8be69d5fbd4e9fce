//! Walks along derived-from (R34). Cycles cannot exist (R18), so a walk always ends; none
//! recurses, so depth costs memory, not stack.

use std::collections::HashMap;

use crate::model::node::NodeNo;
use crate::store::error::StoreError;
use crate::store::rows::Lookup;

/// The way up from a node to another along premises, both ends included; `None` if there is none.
/// Cost: the edges above the node.
///
/// # Errors
/// When a node cannot be read.
pub fn path_up<R: Lookup + ?Sized>(
    rows: &R,
    from: NodeNo,
    to: NodeNo,
) -> Result<Option<Vec<NodeNo>>, StoreError> {
    let mut came: HashMap<NodeNo, NodeNo> = HashMap::new();
    let mut open = vec![from];
    while let Some(no) = open.pop() {
        if no == to {
            let mut path = vec![no];
            let mut at = no;
            while at != from {
                let Some(before) = came.get(&at) else { break };
                path.push(*before);
                at = *before;
            }
            path.reverse();
            return Ok(Some(path));
        }
        let node = rows.node(no)?;
        for premise in
            node.life().into_iter().flat_map(|life| &life.justifications).flat_map(|j| &j.premises)
        {
            if *premise != from && !came.contains_key(premise) {
                came.insert(*premise, no);
                open.push(*premise);
            }
        }
    }
    Ok(None)
}
