//! What an admitted node does to others: supersession (R22) and the closing of what it corrects (R26).

use super::Refusal;
use super::authority::{Order, rank};
use super::world::{How, NOW, What, World, within};

/// What an admitted (or just confirmed) node does to others: supersession of the claims it names, and
/// the closing of what it corrects. It reaches the copies recorded before node number `before`.
pub(super) fn take_effect(
    w: &mut World,
    index: usize,
    before: usize,
    minding_kind: bool,
) -> Result<(), Refusal> {
    let order = w.order_of(index, NOW);
    let limit = minding_kind.then(|| rank(&order, &w.kind(index, &order, NOW)));
    for to in reach(w, index, &w.nodes[index].named.clone(), before, limit, &order) {
        supersede(w, index, to)?;
    }
    let Some(target) = w.nodes[index].corrects else {
        return Ok(());
    };
    for copy in w.copies(target, before) {
        if w.nodes[copy].scope == w.nodes[target].scope && w.closing(copy, NOW).is_none() {
            w.record(What::Closed { node: copy, how: How::Corrected(index) });
        }
    }
    Ok(())
}

/// The named nodes and the copies of their claims that a writer supersedes (R22).
pub(super) fn reach(
    w: &World,
    writer: usize,
    named: &[usize],
    before: usize,
    limit: Option<usize>,
    order: &Order,
) -> Vec<usize> {
    let mut all: Vec<usize> = Vec::new();
    for &target in named {
        for copy in w.copies(target, before).into_iter().chain([target]) {
            let near = within(&w.nodes[writer].scope, &w.nodes[copy].scope);
            let weak = limit.is_none_or(|l| rank(order, &w.kind(copy, order, NOW)) >= l);
            if copy == target || (near && weak && copy != writer) {
                all.push(copy);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Records one edge, unless it is there already; a cycle is refused.
pub(super) fn supersede(w: &mut World, from: usize, to: usize) -> Result<(), Refusal> {
    if from == to || w.superseders(from, NOW, None).contains_key(&to) {
        return Err("cycle");
    }
    if !w.edges(NOW).iter().any(|e| (e.0, e.1) == (from, to)) {
        w.record(What::Superseded { from, to });
    }
    Ok(())
}
