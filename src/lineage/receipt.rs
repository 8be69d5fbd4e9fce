//! Receipts (R33): what taking something back came to. Judged on the rows as the operation leaves
//! them, at the instants before and after it, so a rehearsal gives the same receipt and nothing
//! needs to be written.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::lineage::mark::Lineage;
use crate::lineage::reach::touched_by;
use crate::lineage::touch::Touched;
use crate::lineage::worklist::{Item, Worklist};
use crate::model::form::{Object, ids};
use crate::model::limits::RECEIPT_NODES_MAX;
use crate::model::name::Id;
use crate::model::node::NodeNo;
use crate::model::scope::Scope;
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::Recorded;
use crate::timeline::marks::{AsOf, Mark};

/// The code of a mark.
pub fn word(mark: Mark) -> &'static str {
    match mark {
        Mark::Retracted { .. } => "premise_retracted",
        Mark::Changed { .. } => "premise_changed",
    }
}

/// One node whose mark is now another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedNode {
    /// Its id.
    pub id: Id,
    /// `fact`, `source` or `artifact`.
    pub kind: &'static str,
    /// Edges from the cause.
    pub depth: u32,
    /// Its mark from now on; `None` = the mark was lifted.
    pub mark: Option<Mark>,
    /// The shortest way from the cause, both ends included; ids the caller may not see are left
    /// out.
    pub path: Vec<Id>,
}

/// What an operation reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What began it.
    pub cause: Id,
    /// The nodes whose mark differs from before, nearest first; at most
    /// [`RECEIPT_NODES_MAX`].
    pub reached: Vec<ReachedNode>,
    /// How many there are.
    pub reached_total: usize,
    /// How many of each type.
    pub counts: BTreeMap<&'static str, usize>,
    /// What is to be done about copies kept elsewhere, nearest first; at most
    /// [`RECEIPT_NODES_MAX`].
    pub worklist: Vec<Item>,
    /// How many items there are.
    pub worklist_total: usize,
    /// Whether nothing was written.
    pub dry_run: bool,
}

impl Receipt {
    /// The JSON form (SPEC section 9).
    pub fn json(&self) -> Json {
        let reached = |node: &ReachedNode| {
            Object::default()
                .with("id", node.id.as_str())
                .with("type", node.kind)
                .with("depth", node.depth)
                .with("mark", node.mark.map(word))
                .with("path", ids(&node.path))
                .json()
        };
        let counts = self.counts.iter().fold(Object::default(), |o, (kind, n)| o.with(kind, *n));
        let past = |total: usize, shown: usize| (total > shown).then_some(total);
        Object::default()
            .with("cause", self.cause.as_str())
            .with("reached", self.reached.iter().map(reached).collect::<Vec<_>>())
            .some("reached_total", past(self.reached_total, self.reached.len()))
            .with("counts", counts.json())
            .with("worklist", self.worklist.iter().map(Item::json).collect::<Vec<_>>())
            .some("worklist_total", past(self.worklist_total, self.worklist.len()))
            .with("dry_run", self.dry_run)
            .json()
    }
}

/// Who asks, and about which step of recorded time.
pub struct Asker<'a> {
    /// Which scopes may be seen; what stands elsewhere is not in the receipt.
    pub visible: &'a (dyn Fn(&Scope) -> bool + Sync),
    /// The last instant before the transaction.
    pub before: Recorded,
    /// The instant of the transaction.
    pub after: Recorded,
    /// Whether it is a rehearsal.
    pub dry_run: bool,
}

/// The receipt of a change. The marks are those of the present (`after` as valid time), or of the
/// first instant at which the change matters if that is still to come. Cost: the nodes below what
/// was changed, and the premises of each.
///
/// # Errors
/// When the rows cannot be read.
pub fn receipt<R: Lookup + ?Sized>(
    rows: &R,
    touched: &Touched,
    asker: &Asker<'_>,
) -> Result<Receipt, StoreError> {
    let lineage = Lineage::new(rows);
    let now = asker.after.as_valid();
    let valid_at = touched.from.map_or(now, |from| now.max(from));
    let before = AsOf { valid_at, known_at: asker.before };
    let after = AsOf { valid_at, known_at: asker.after };
    let reached = touched_by(rows, &touched.nodes, asker.after)?;
    let mut worklist = Worklist::new(rows, &lineage, after, asker.visible);
    let mut receipt = Receipt {
        cause: touched.cause.clone(),
        reached: Vec::new(),
        reached_total: 0,
        counts: BTreeMap::new(),
        worklist: Vec::new(),
        worklist_total: 0,
        dry_run: asker.dry_run,
    };
    for step in reached.steps().iter().filter(|step| step.depth > 0) {
        let mark = lineage.judge(step.no, after)?;
        if mark == lineage.judge(step.no, before)? && !caused(mark, &touched.nodes) {
            continue;
        }
        let node = rows.node(step.no)?;
        let Some(id) = seen(&node, asker.visible) else { continue };
        receipt.reached_total += 1;
        *receipt.counts.entry(node.type_word()).or_default() += 1;
        if receipt.reached.len() < RECEIPT_NODES_MAX {
            let path = ids_of(rows, &reached.path(step), asker.visible)?;
            let (kind, depth) = (node.type_word(), step.depth);
            receipt.reached.push(ReachedNode { id, kind, depth, mark, path });
        }
        if let NodeView::Artifact(artifact) = &node
            && let Some(item) = worklist.item(artifact)?
        {
            receipt.worklist_total += 1;
            if receipt.worklist.len() < RECEIPT_NODES_MAX {
                receipt.worklist.push(item);
            }
        }
    }
    Ok(receipt)
}

fn caused(mark: Option<Mark>, by: &[NodeNo]) -> bool {
    match mark {
        Some(Mark::Retracted { by: cause, .. } | Mark::Changed { by: cause, .. }) => {
            by.contains(&cause)
        }
        None => false,
    }
}

fn seen(node: &NodeView, visible: &dyn Fn(&Scope) -> bool) -> Option<Id> {
    node.id().filter(|_| node.scope().is_some_and(visible)).cloned()
}

fn ids_of<R: Lookup + ?Sized>(
    rows: &R,
    path: &[NodeNo],
    visible: &dyn Fn(&Scope) -> bool,
) -> Result<Vec<Id>, StoreError> {
    let mut ids = Vec::with_capacity(path.len());
    for no in path {
        ids.extend(seen(&rows.node(*no)?, visible));
    }
    Ok(ids)
}
