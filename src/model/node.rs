//! Nodes as the store keeps them: a fact, a source or an artifact as written, with everything that
//! happened to it since. Nothing in a node is ever edited; changes are added (R17).

use serde::{Deserialize, Serialize};

use crate::model::event::Stamp;
use crate::model::kind::Kind;
use crate::model::name::{Id, Tenant};
use crate::model::operation::{ArtifactText, SourceText, Statement, Takeback};
use crate::model::scope::Scope;
use crate::time::{Recorded, Start, Valid};

/// Number of a node: its place among all nodes of the store, from 1, in order of their coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeNo(pub u64);

/// Number of a slot, in order of their coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SlotNo(pub u64);

/// What happened to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// Its valid period ends here, exclusive; `None` = no longer ends.
    Ended(Option<Valid>),
    /// It was taken back.
    Retracted(Takeback),
    /// It was corrected by this fact.
    Corrected(NodeNo),
    /// The proposal was declined.
    Rejected,
    /// What closed it was undone.
    Reinstated,
    /// It is not to be used.
    Disabled,
    /// It may be used again.
    Enabled,
    /// The proposal was accepted.
    Confirmed,
    /// It was looked at and still holds; the next review, if said.
    Affirmed(Option<Valid>),
}

/// One change of a node, with its stamp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When.
    pub stamp: Stamp,
    /// What.
    pub what: What,
}

/// One justification: premises that must all be good (R29).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Justification {
    /// When it was recorded.
    pub stamp: Stamp,
    /// What it rests on, in the order given; a fact's own source stands last.
    pub premises: Vec<NodeNo>,
}

/// What every node has: its number, stamp and the course of its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// Its number.
    pub no: NodeNo,
    /// When it came.
    pub stamp: Stamp,
    /// Held when it came, and until confirmed.
    pub held: bool,
    /// What it is held against, by id.
    pub against: Vec<Id>,
    /// What happened since, oldest first.
    pub changes: Vec<Change>,
    /// What it rests on; none = a root.
    pub justifications: Vec<Justification>,
}

/// How a node was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Taken back.
    Retracted(Takeback),
    /// Corrected by this fact.
    Corrected(NodeNo),
    /// Declined.
    Rejected,
}

/// How a node stands as of a recorded instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Whether it waits to be confirmed.
    pub held: bool,
    /// How and when it was closed, if it is.
    pub closed: Option<(Closing, Stamp)>,
    /// Since when it is disabled, if it is.
    pub disabled: Option<Stamp>,
    /// When it was confirmed, if it was.
    pub confirmed: Option<Stamp>,
    /// The last end said: `Some(None)` = said to be open.
    pub ended: Option<Option<Valid>>,
    /// When it was last affirmed.
    pub affirmed: Option<Stamp>,
    /// The last review date said by an affirm.
    pub review_by: Option<Valid>,
}

impl Standing {
    /// Open in the sense of R23a: neither closed nor disabled nor held.
    pub fn is_open(&self) -> bool {
        self.closed.is_none() && self.disabled.is_none() && !self.held
    }

    /// Closed in a way that makes it as if it had never been: mistaken, corrected or rejected.
    pub fn never_was(&self) -> bool {
        match self.closed {
            Some((
                Closing::Retracted(Takeback::Mistaken) | Closing::Corrected(_) | Closing::Rejected,
                _,
            )) => true,
            Some((Closing::Retracted(Takeback::Withdrawn), _)) | None => false,
        }
    }
}

impl Life {
    /// A new life.
    pub fn new(no: NodeNo, stamp: Stamp, held: bool, against: Vec<Id>) -> Self {
        Self { no, stamp, held, against, changes: Vec::new(), justifications: Vec::new() }
    }

    /// How it stands at `known_at` (what was recorded at exactly `known_at` counts, R7). Linear in
    /// the changes.
    pub fn standing(&self, known_at: Recorded) -> Standing {
        let mut standing = Standing { held: self.held, ..Standing::default() };
        for change in self.changes.iter().take_while(|c| c.stamp.recorded <= known_at) {
            standing.take(change, self.held);
        }
        standing
    }

    /// How it stood just before a stamp, changes of the same transaction included if earlier.
    pub fn standing_before(&self, stamp: Stamp) -> Standing {
        let mut standing = Standing { held: self.held, ..Standing::default() };
        for change in self.changes.iter().take_while(|c| c.stamp < stamp) {
            standing.take(change, self.held);
        }
        standing
    }
}

impl Standing {
    /// Folds one more change in.
    pub fn take(&mut self, change: &Change, was_held: bool) {
        let stamp = change.stamp;
        match &change.what {
            What::Ended(until) => self.ended = Some(*until),
            What::Retracted(why) => self.closed = Some((Closing::Retracted(*why), stamp)),
            What::Corrected(by) => self.closed = Some((Closing::Corrected(*by), stamp)),
            What::Rejected => {
                self.closed = Some((Closing::Rejected, stamp));
                self.held = false;
            }
            What::Reinstated => {
                if matches!(self.closed, Some((Closing::Rejected, _))) {
                    self.held = was_held && self.confirmed.is_none();
                }
                self.closed = None;
            }
            What::Disabled => self.disabled = Some(stamp),
            What::Enabled => self.disabled = None,
            What::Confirmed => {
                self.held = false;
                self.confirmed = Some(stamp);
            }
            What::Affirmed(review_by) => {
                self.affirmed = Some(stamp);
                self.review_by = review_by.or(self.review_by);
            }
        }
    }
}

/// A fact as kept: the statement, its kind in force, its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What was written; for a correction, with what it carried over.
    pub said: Statement,
    /// The kind in force when written, after the cap of R20.
    pub kind: Kind,
    /// A claim that had been taken back, said again by a person (R23).
    pub reasserted: bool,
    /// The fact it corrects, if it was written by `correct`.
    pub corrects: Option<NodeNo>,
    /// Where its period counts from if its start is unknown (R4).
    pub counts_from: Valid,
    /// Whether it counts as written without an end (R25).
    pub written_open: bool,
    /// Number of its source.
    pub source: Option<NodeNo>,
    /// What it takes the place of.
    pub links: Vec<Link>,
    /// Its life.
    pub life: Life,
}

/// One supersession: the facts of the slot it reaches, by place in the slot, as sorted half-open
/// ranges. Never removed; what counts is whether the fact at its start rules (section 6, step 8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// When it was recorded.
    pub stamp: Stamp,
    /// Whether it waits for its fact to be confirmed.
    pub waits: bool,
    /// The facts it names.
    pub named: Vec<(u32, u32)>,
    /// The facts it reaches: those it names and the copies of their claims (R22).
    pub reach: Vec<(u32, u32)>,
}

impl Link {
    /// Whether it counts at `known_at`, for a fact of this standing.
    pub fn counts(&self, known_at: Recorded, standing: &Standing) -> bool {
        self.stamp.recorded <= known_at && (!self.waits || standing.confirmed.is_some())
    }

    /// Since when it counts, for a fact of this standing.
    pub fn since(&self, standing: &Standing) -> Option<Stamp> {
        if self.waits { standing.confirmed } else { Some(self.stamp) }
    }

    /// Whether it reaches a place. Logarithmic in its ranges.
    pub fn reaches(&self, place: u32) -> bool {
        in_ranges(&self.reach, place)
    }
}

/// Whether sorted half-open ranges hold a place.
pub fn in_ranges(ranges: &[(u32, u32)], place: u32) -> bool {
    let after = ranges.partition_point(|(from, _)| *from <= place);
    after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, until)| place < *until)
}

/// Ascending places as sorted half-open ranges.
pub fn to_ranges(places: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for place in places {
        match ranges.last_mut() {
            Some((_, until)) if *until == place => *until = place + 1,
            Some(_) | None => ranges.push((place, place + 1)),
        }
    }
    ranges
}

impl Fact {
    /// Where its valid period starts to count: its start, or the recorded instant when that is
    /// unknown (R4). `None` = always.
    pub fn counted_from(&self) -> Option<Valid> {
        match self.said.valid_from {
            Start::Always => None,
            Start::At(from) => Some(from),
            Start::Unknown => Some(self.counts_from),
        }
    }

    /// Where its valid period ends as of a standing, exclusive; `None` = open.
    pub fn until(&self, standing: &Standing) -> Option<Valid> {
        standing.ended.unwrap_or(self.said.valid_until)
    }

    /// The kind in force as of a standing: `confirm` makes it `stated` (R20).
    pub fn kind_at(&self, standing: &Standing) -> Kind {
        if standing.confirmed.is_some() { Kind::Stated } else { self.kind }
    }

    /// Whether two facts of one slot say the same: value and conditions.
    pub fn same_claim(&self, other: &Self) -> bool {
        self.said.value == other.said.value && self.said.when == other.said.when
    }
}

/// A later node of the same type that takes the place of this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Succession {
    /// Since when it counts.
    pub stamp: Stamp,
    /// The later node.
    pub by: NodeNo,
}

/// A source as kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// What was written.
    pub said: SourceText,
    /// Its tenant.
    pub tenant: Tenant,
    /// Sources that take its place.
    pub succeeded: Vec<Succession>,
    /// Its life.
    pub life: Life,
}

/// An artifact as kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// What was written.
    pub said: ArtifactText,
    /// Its tenant.
    pub tenant: Tenant,
    /// Artifacts that take its place.
    pub succeeded: Vec<Succession>,
    /// When a `done` said that the copy elsewhere was dealt with.
    pub done: Vec<Stamp>,
    /// Its life.
    pub life: Life,
}

/// What every kind of node can say of itself.
pub trait Node {
    /// Its id.
    fn id(&self) -> &Id;
    /// Where it counts.
    fn scope(&self) -> &Scope;
    /// Its life.
    fn life(&self) -> &Life;
}

macro_rules! node {
    ($($name:ident)*) => {$(
        impl Node for $name {
            fn id(&self) -> &Id {
                &self.said.id
            }
            fn scope(&self) -> &Scope {
                &self.said.scope
            }
            fn life(&self) -> &Life {
                &self.life
            }
        }
    )*};
}

node!(Fact Source Artifact);
