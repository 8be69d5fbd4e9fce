//! The worklist (R33): what is to be done about copies kept elsewhere whose support is in question.
//!
//! `drop`: nothing good is left under the artifact, however far up: every premise of every
//! justification was taken back or rests only on what was. `regenerate`: something good is left;
//! `without` names what was taken back. `check`: a premise changed and is not known wrong. An item
//! is open until a `done` recorded at or after the last of its causes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::lineage::mark::Lineage;
use crate::model::form::{Object, ids};
use crate::model::name::Id;
use crate::model::node::{Artifact, NodeNo};
use crate::model::scope::Scope;
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::Recorded;
use crate::timeline::marks::{AsOf, Mark};

/// What to do with a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    /// Throw it away.
    Drop,
    /// Make it anew without what was taken back.
    Regenerate,
    /// Look at it again.
    Check,
}

impl Do {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Regenerate => "regenerate",
            Self::Check => "check",
        }
    }
}

/// One open item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The artifact.
    pub artifact: Id,
    /// Where its copy is kept.
    pub place: String,
    /// What to do.
    pub what: Do,
    /// What was taken back, nearest above the artifact; what the caller may not see is left out.
    pub without: Vec<Id>,
    /// The first cause; `None` if the caller may not see it.
    pub cause: Option<Id>,
    /// When the last of the causes was recorded.
    pub since: Recorded,
}

impl Item {
    /// The JSON form (SPEC section 9).
    pub fn json(&self) -> Json {
        Object::default()
            .with("artifact", self.artifact.as_str())
            .with("place", self.place.as_str())
            .with("do", self.what.word())
            .with("without", ids(&self.without))
            .with("cause", self.cause.as_ref().map(Id::as_str))
            .with("since", self.since.to_string())
            .json()
    }
}

type Gone = Arc<BTreeMap<NodeNo, Recorded>>;

/// What is left under a node: whether anything good is, and what was taken back.
#[derive(Clone, Debug)]
struct Ground {
    good: bool,
    gone: Gone,
}

/// Works out items at one as-of point, remembering what it has seen on the way up.
pub struct Worklist<'a, R: Lookup + ?Sized> {
    rows: &'a R,
    lineage: &'a Lineage<'a, R>,
    at: AsOf,
    visible: &'a (dyn Fn(&Scope) -> bool + Sync),
    known: HashMap<NodeNo, Ground>,
}

impl<'a, R: Lookup + ?Sized> Worklist<'a, R> {
    /// Items at an as-of point, for a caller who may see these scopes.
    pub fn new(
        rows: &'a R,
        lineage: &'a Lineage<'a, R>,
        at: AsOf,
        visible: &'a (dyn Fn(&Scope) -> bool + Sync),
    ) -> Self {
        Self { rows, lineage, at, visible, known: HashMap::new() }
    }

    /// The open item of an artifact, if there is one. Cost: the marked nodes above it that were not
    /// seen before.
    ///
    /// # Errors
    /// When a node cannot be read.
    pub fn item(&mut self, artifact: &Artifact) -> Result<Option<Item>, StoreError> {
        let no = artifact.life.no;
        let (what, gone, by, since) = match self.lineage.judge(no, self.at)? {
            None => return Ok(None),
            Some(Mark::Changed { by, since }) => (Do::Check, Gone::default(), by, since),
            Some(Mark::Retracted { by, since }) => {
                let ground = self.under(no)?;
                let last = ground.gone.values().copied().fold(since, Recorded::max);
                (if ground.good { Do::Regenerate } else { Do::Drop }, ground.gone, by, last)
            }
        };
        let done = |at: Recorded| at >= since && at <= self.at.known_at;
        if artifact.done.iter().any(|stamp| done(stamp.recorded)) {
            return Ok(None);
        }
        let mut without = Vec::new();
        for no in gone.keys() {
            without.extend(self.seen(*no)?);
        }
        Ok(Some(Item {
            artifact: artifact.said.id.clone(),
            place: artifact.said.place.clone(),
            what,
            without,
            cause: self.seen(by)?,
            since,
        }))
    }

    fn seen(&self, no: NodeNo) -> Result<Option<Id>, StoreError> {
        let node = self.rows.node(no)?;
        let visible = node.scope().is_some_and(|scope| (self.visible)(scope));
        Ok(node.id().filter(|_| visible).cloned())
    }

    /// The ground of a node, looking at each node above once and without recursion.
    fn under(&mut self, no: NodeNo) -> Result<Ground, StoreError> {
        let mut stack = vec![no];
        while let Some(top) = stack.last().copied() {
            if self.known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let node = self.rows.node(top)?;
            if top != no
                && let Some(ground) = self.simple(&node, top)?
            {
                self.known.insert(top, ground);
                stack.pop();
                continue;
            }
            let premises = self.premises(&node);
            let missing: Vec<NodeNo> =
                premises.iter().filter(|p| !self.known.contains_key(p)).copied().collect();
            if missing.is_empty() {
                let ground = self.joined(&premises);
                self.known.insert(top, ground);
                stack.pop();
            } else {
                stack.extend(missing);
            }
        }
        let nothing = || Ground { good: false, gone: Gone::default() };
        Ok(self.known.get(&no).cloned().unwrap_or_else(nothing))
    }

    /// A node that needs no look further up: closed itself, or not marked as taken back.
    fn simple(&self, node: &NodeView, no: NodeNo) -> Result<Option<Ground>, StoreError> {
        let standing = node.life().map(|life| life.standing(self.at.known_at));
        let closed = standing.and_then(|standing| {
            let closed = standing.closed.map(|(_, stamp)| stamp.recorded);
            let disabled = standing.disabled.map(|stamp| stamp.recorded);
            [closed, disabled].into_iter().flatten().min()
        });
        if let Some(since) = closed {
            let gone = Arc::new(BTreeMap::from([(no, since)]));
            return Ok(Some(Ground { good: false, gone }));
        }
        match self.lineage.judge(no, self.at)? {
            Some(Mark::Retracted { .. }) => Ok(None),
            Some(Mark::Changed { .. }) | None => {
                Ok(Some(Ground { good: true, gone: Gone::default() }))
            }
        }
    }

    fn premises(&self, node: &NodeView) -> Vec<NodeNo> {
        let justified = node.life().into_iter().flat_map(|life| &life.justifications);
        let by_then = justified.filter(|j| j.stamp.recorded <= self.at.known_at);
        let mut premises: Vec<NodeNo> = by_then.flat_map(|j| &j.premises).copied().collect();
        premises.sort_unstable();
        premises.dedup();
        premises
    }

    fn joined(&self, premises: &[NodeNo]) -> Ground {
        let mut joined = Ground { good: false, gone: Gone::default() };
        for ground in premises.iter().filter_map(|premise| self.known.get(premise)) {
            joined.good |= ground.good;
            joined.gone = union(&joined.gone, &ground.gone);
        }
        joined
    }
}

/// Both sets; one of them itself where it holds the other, so that long chains share one.
fn union(one: &Gone, other: &Gone) -> Gone {
    let holds = |a: &Gone, b: &Gone| b.keys().all(|no| a.contains_key(no));
    if Arc::ptr_eq(one, other) || holds(one, other) {
        return Arc::clone(one);
    }
    if holds(other, one) {
        return Arc::clone(other);
    }
    let mut all = one.as_ref().clone();
    all.extend(other.iter().map(|(no, since)| (*no, *since)));
    Arc::new(all)
}
