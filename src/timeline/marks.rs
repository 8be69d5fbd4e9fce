//! What the resolver asks the lineage floor: is this fact's support in question at (v, k)?

use crate::model::node::{Fact, NodeNo};
use crate::time::{Recorded, Valid};

/// The as-of point a question is asked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AsOf {
    /// About which instant.
    pub valid_at: Valid,
    /// With the knowledge of which instant; what was recorded at exactly it counts (R7).
    pub known_at: Recorded,
}

/// How a node's support is in question (R29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Every justification has a premise that was taken back; the first cause of the first.
    Retracted {
        /// The first cause.
        by: NodeNo,
        /// Since when.
        since: Recorded,
    },
    /// A premise changed after it was last looked at; not known wrong.
    Changed {
        /// The premise that changed.
        by: NodeNo,
        /// The last change that counts.
        since: Recorded,
    },
}

/// Knows the marks of nodes.
pub trait Marks {
    /// What can go wrong while looking.
    type Error;

    /// The mark of a fact at an as-of point.
    ///
    /// # Errors
    /// When the nodes it rests on cannot be read.
    fn mark(&self, fact: &Fact, at: AsOf) -> Result<Option<Mark>, Self::Error>;
}
