//! How strong evidence is (R20): a fact is never stronger than its strongest justification's
//! weakest premise, by the authority order of its own predicate. Facts and sources count by their
//! kind, artifacts by theirs in turn.

use std::collections::{HashMap, HashSet};

use crate::model::kind::{Authority, Kind};
use crate::model::node::{Justification, NodeNo};
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::Recorded;

/// The strongest justification's weakest premise; `None` without any justification. Walks up
/// through artifacts without recursion.
///
/// # Errors
/// When a premise cannot be read.
pub fn strength<R: Lookup + ?Sized>(
    rows: &R,
    justifications: &[Vec<NodeNo>],
    order: Authority,
    known_at: Recorded,
) -> Result<Option<Kind>, StoreError> {
    let mut artifacts: HashMap<NodeNo, Kind> = HashMap::new();
    let mut stack: Vec<NodeNo> = justifications.iter().flatten().copied().collect();
    let mut seen = HashSet::new();
    while let Some(no) = stack.last().copied() {
        let NodeView::Artifact(artifact) = rows.node(no)? else {
            stack.pop();
            continue;
        };
        if artifacts.contains_key(&no) {
            stack.pop();
            continue;
        }
        let above = artifact.life.justifications.iter().flat_map(|j: &Justification| &j.premises);
        if seen.insert(no) {
            stack.extend(above.copied());
            continue;
        }
        let alternatives: Vec<Vec<NodeNo>> =
            artifact.life.justifications.iter().map(|j| j.premises.clone()).collect();
        let kind = strongest(rows, &alternatives, order, known_at, &artifacts)?;
        artifacts.insert(no, kind.unwrap_or(Kind::Inferred));
        stack.pop();
    }
    strongest(rows, justifications, order, known_at, &artifacts)
}

fn strongest<R: Lookup + ?Sized>(
    rows: &R,
    justifications: &[Vec<NodeNo>],
    order: Authority,
    known_at: Recorded,
    artifacts: &HashMap<NodeNo, Kind>,
) -> Result<Option<Kind>, StoreError> {
    let mut best: Option<Kind> = None;
    for premises in justifications {
        let mut weakest: Option<Kind> = None;
        for no in premises {
            let kind = match rows.node(*no)? {
                NodeView::Fact(slot, place) => {
                    let fact = slot.fact(place);
                    fact.map_or(Kind::Inferred, |fact| fact.kind_at(&fact.life.standing(known_at)))
                }
                NodeView::Source(source) => {
                    let confirmed = source.life.standing(known_at).confirmed.is_some();
                    if confirmed { Kind::Stated } else { source.said.kind }
                }
                NodeView::Artifact(_) => artifacts.get(no).copied().unwrap_or(Kind::Inferred),
            };
            weakest = Some(weakest.map_or(kind, |before| order.weakest(before, kind)));
        }
        if let Some(weakest) = weakest {
            let stronger = best.is_none_or(|best| order.weaker(best, weakest));
            best = if stronger { Some(weakest) } else { best };
        }
    }
    Ok(best)
}
