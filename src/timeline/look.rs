//! One look at a fact: everything the resolver asks of it at (v, k), asked once. Later steps only
//! compare looks.

use crate::model::condition::Applies;
use crate::model::declared::Rules;
use crate::model::kind::Kind;
use crate::model::node::{Closing, Fact, Standing};
use crate::model::operation::Then;
use crate::time::{Start, Valid};
use crate::timeline::marks::{AsOf, Mark, Marks};
use crate::timeline::resolve::{Question, Removed};

/// Where v lies in a fact's valid period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    Before,
    BeforeRecorded,
    Inside,
    Over,
}

/// How a fact's scope relates to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Takes,
    Ancestor,
    Other,
}

/// What one look at a fact found; all later steps compare looks.
pub(super) struct Look<'a> {
    pub(super) place: u32,
    pub(super) fact: &'a Fact,
    pub(super) standing: Standing,
    pub(super) kind: Kind,
    pub(super) position: Position,
    pub(super) mark: Option<Mark>,
    pub(super) then: Then,
    pub(super) applies: Applies,
    pub(super) part: Part,
    pub(super) unsourced: bool,
}

impl Look<'_> {
    /// Steps 2 and 3.
    pub(super) fn in_use(&self) -> bool {
        self.standing.is_open()
    }

    /// Steps 4 and 5.
    pub(super) fn takes_part(&self) -> bool {
        self.part == Part::Takes && self.applies == Applies::Yes
    }

    /// Step 4.
    pub(super) fn scope_takes_part(&self) -> bool {
        self.part == Part::Takes
    }

    /// Steps 2 to 7 in order; `None` = eligible.
    pub(super) fn removed(&self) -> Option<Removed> {
        match self.standing.closed {
            Some((Closing::Retracted(why), _)) => return Some(Removed::Retracted(why)),
            Some((Closing::Corrected(by), _)) => return Some(Removed::CorrectedBy(by)),
            Some((Closing::Rejected, _)) => return Some(Removed::Rejected),
            None => {}
        }
        if self.standing.held {
            return Some(Removed::Held);
        }
        if self.standing.disabled.is_some() {
            return Some(Removed::Disabled);
        }
        if self.part != Part::Takes {
            return Some(Removed::OtherScope);
        }
        match &self.applies {
            Applies::NotMet(dimension) => return Some(Removed::ConditionNotMet(dimension.clone())),
            Applies::Unknown(dimension) => {
                return Some(Removed::ConditionUnknown(dimension.clone()));
            }
            Applies::Yes => {}
        }
        self.outside()
    }

    /// Steps 6 and 7; `None` = in its period and supported.
    pub(super) fn outside(&self) -> Option<Removed> {
        match self.position {
            Position::Before => return Some(Removed::NotYetValid),
            Position::BeforeRecorded => return Some(Removed::StartUnknown),
            Position::Over => return Some(Removed::Expired),
            Position::Inside => {}
        }
        match self.mark {
            Some(Mark::Retracted { by, .. }) => Some(Removed::PremiseRetracted(by)),
            Some(Mark::Changed { by, .. }) => Some(Removed::PremiseChanged(by)),
            None if self.unsourced => Some(Removed::Unsourced),
            None => None,
        }
    }

    /// Kept out at most by a `premise_changed` mark, wherever v lies in or after the period.
    pub(super) fn stands(&self) -> bool {
        self.in_use()
            && self.takes_part()
            && !self.unsourced
            && !matches!(self.mark, Some(Mark::Retracted { .. }))
    }

    /// Whether it rules at v (step 8).
    pub(super) fn rules(&self) -> bool {
        self.stands()
            && (self.position == Position::Inside
                || (self.position == Position::Over && self.then == Then::Never))
    }
}

/// Asks one fact everything once. `None` = not recorded by k.
///
/// # Errors
/// What the marks say.
pub(super) fn look<'a, M: Marks>(
    place: u32,
    fact: &'a Fact,
    question: &Question<'_>,
    rules: &Rules,
    marks: &M,
) -> Result<Option<Look<'a>>, M::Error> {
    let AsOf { valid_at, known_at } = question.at;
    if fact.life.stamp.recorded > known_at {
        return Ok(None);
    }
    let standing = fact.life.standing(known_at);
    let scope = &fact.said.scope;
    let part = if scope == question.scope || (question.inherit && scope.covers(question.scope)) {
        Part::Takes
    } else if scope.is_ancestor_of(question.scope) {
        Part::Ancestor
    } else {
        Part::Other
    };
    let kind = fact.kind_at(&standing);
    let mut look = Look {
        place,
        fact,
        standing,
        kind,
        position: position(fact, fact.until(&standing), valid_at),
        mark: None,
        then: then(fact, rules),
        applies: fact.said.when.applies(question.context),
        part,
        unsourced: matches!(kind, Kind::Reported | Kind::Inferred)
            && !fact.life.justifications.iter().any(|j| j.stamp.recorded <= known_at),
    };
    let reached = matches!(look.position, Position::Inside | Position::Over);
    if look.in_use()
        && part != Part::Other
        && reached
        && !matches!(look.applies, Applies::NotMet(_))
    {
        look.mark = marks.mark(fact, question.at)?;
    }
    Ok(Some(look))
}

/// Where v lies in `[counted start, until)` (R4).
pub(super) fn position(fact: &Fact, until: Option<Valid>, valid_at: Valid) -> Position {
    if until.is_some_and(|until| valid_at >= until) {
        Position::Over
    } else if fact.counted_from().is_some_and(|from| valid_at < from) {
        if fact.said.valid_from == Start::Unknown {
            Position::BeforeRecorded
        } else {
            Position::Before
        }
    } else {
        Position::Inside
    }
}

/// What comes after a fact: its own word, else its predicate's, else by whether it was written
/// without an end (R25).
pub fn then(fact: &Fact, rules: &Rules) -> Then {
    let unsaid = if fact.written_open { Then::Never } else { Then::Uncertain };
    fact.said.then.or(rules.then).unwrap_or(unsaid)
}
