//! Versions: the rectangles valid × recorded whose sum is the truth about a fact (R17). They are
//! derived from its changes, never stored.

use crate::model::node::{Closing, Fact, NodeNo, Standing, What};
use crate::model::operation::Takeback;
use crate::time::{Recorded, Valid};

/// What became of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In force.
    Open,
    /// An end was said or taken back; another version follows.
    Ended,
    /// Corrected by a fact.
    Corrected(NodeNo),
    /// Taken back.
    Retracted(Takeback),
    /// Declined.
    Rejected,
    /// Not to be used.
    Disabled,
    /// Waiting to be confirmed.
    Held,
}

impl State {
    /// The word used in answers (R23a).
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ended => "ended",
            Self::Corrected(_) => "corrected",
            Self::Retracted(_) => "retracted",
            Self::Rejected => "rejected",
            Self::Disabled => "disabled",
            Self::Held => "held",
        }
    }

    /// How a node stands, in one word.
    pub fn of(standing: &Standing) -> Self {
        match standing.closed {
            Some((Closing::Corrected(by), _)) => Self::Corrected(by),
            Some((Closing::Retracted(why), _)) => Self::Retracted(why),
            Some((Closing::Rejected, _)) => Self::Rejected,
            None if standing.held => Self::Held,
            None if standing.disabled.is_some() => Self::Disabled,
            None => Self::Open,
        }
    }
}

/// One rectangle of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Where its recorded period starts, inclusive.
    pub recorded_from: Recorded,
    /// Where it ends, exclusive; `None` = still in force.
    pub recorded_until: Option<Recorded>,
    /// Where its valid period ends, exclusive; `None` = open.
    pub valid_until: Option<Valid>,
    /// What became of it.
    pub state: State,
}

/// The versions of a fact as of `known_at`, oldest recorded first. A version opened and closed in
/// one transaction was never visible; it is listed with an empty recorded period, so that history
/// shows it. Linear in the changes.
pub fn versions(fact: &Fact, known_at: Recorded) -> Vec<Version> {
    let mut versions = Vec::new();
    if fact.life.stamp.recorded > known_at {
        return versions;
    }
    let mut standing = Standing { held: fact.life.held, ..Standing::default() };
    let mut from = Some(fact.life.stamp.recorded);
    for change in fact.life.changes.iter().take_while(|c| c.stamp.recorded <= known_at) {
        let before = standing;
        standing.take(change, fact.life.held);
        let at = change.stamp.recorded;
        let state = match &change.what {
            What::Affirmed(_) => continue,
            What::Ended(_) => State::Ended,
            What::Confirmed => State::Held,
            What::Enabled
            | What::Reinstated
            | What::Disabled
            | What::Retracted(_)
            | What::Corrected(_)
            | What::Rejected => State::of(&standing),
        };
        let shown = |s: &Standing| s.closed.is_none() && s.disabled.is_none();
        if shown(&before) {
            let state =
                if shown(&standing) && !matches!(change.what, What::Ended(_) | What::Confirmed) {
                    continue;
                } else {
                    state
                };
            if let Some(recorded_from) = from.take() {
                let valid_until = fact.until(&before);
                versions.push(Version {
                    recorded_from,
                    recorded_until: Some(at),
                    valid_until,
                    state,
                });
            }
        }
        if shown(&standing) && from.is_none() {
            from = Some(at);
        }
    }
    if let Some(recorded_from) = from {
        let state = State::of(&standing);
        versions.push(Version {
            recorded_from,
            recorded_until: None,
            valid_until: fact.until(&standing),
            state,
        });
    }
    versions
}
