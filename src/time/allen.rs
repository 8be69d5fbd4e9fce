//! Allen's thirteen relations between two periods.
//!
//! Invariant: any two periods stand in exactly one of them. Source: J. F. Allen, "Maintaining
//! knowledge about temporal intervals", CACM 26(11), 1983; there as here the ends that are not
//! given lie before and after all instants, so two periods that always held start together.
//!
//! ```text
//! before    aa....   and after          meets     aaa...   and met by
//!           ....bb                                ...bbb
//!
//! overlaps  aaaa..   and overlapped by  starts    aaa...   and started by
//!           ..bbbb                                bbbbbb
//!
//! during    ..aa..   and contains       finishes  ...aaa   and finished by
//!           bbbbbb                                bbbbbb   (and equals)
//! ```

use std::cmp::Ordering::{self, Equal, Greater, Less};
use std::fmt;

use crate::time::axis::Axis;
use crate::time::period::Period;

/// How one period lies to another. Source: Allen 1983.
///
/// ```
/// use asof::time::{Allen, Period, Valid};
/// let at = |micros| Valid::from_micros(micros).ok();
/// let (a, b) = (Period::new(at(3), at(6))?, Period::new(at(6), at(9))?);
/// assert_eq!(a.relation(&b), Allen::Meets);
/// # Ok::<(), asof::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allen {
    /// It ends before the other starts, with a gap.
    Before,
    /// It ends where the other starts; no gap, nothing shared.
    Meets,
    /// It starts first and ends inside the other.
    Overlaps,
    /// They start together and it ends first.
    Starts,
    /// It lies inside the other and touches neither end.
    During,
    /// It starts inside the other and they end together.
    Finishes,
    /// They are the same.
    Equals,
    /// The other finishes it.
    FinishedBy,
    /// The other lies inside it.
    Contains,
    /// The other starts it.
    StartedBy,
    /// The other overlaps it.
    OverlappedBy,
    /// The other meets it.
    MetBy,
    /// The other lies before it.
    After,
}

impl Allen {
    /// All thirteen; each stands as far from the end as its converse from the start.
    ///
    /// ```
    /// use asof::time::Allen;
    /// assert_eq!(Allen::ALL.len(), 13);
    /// ```
    pub const ALL: [Self; 13] = [
        Self::Before,
        Self::Meets,
        Self::Overlaps,
        Self::Starts,
        Self::During,
        Self::Finishes,
        Self::Equals,
        Self::FinishedBy,
        Self::Contains,
        Self::StartedBy,
        Self::OverlappedBy,
        Self::MetBy,
        Self::After,
    ];

    /// The relation of the other period to this one. Constant time.
    ///
    /// ```
    /// use asof::time::Allen;
    /// assert_eq!(Allen::During.converse(), Allen::Contains);
    /// ```
    #[must_use]
    pub fn converse(self) -> Self {
        match self {
            Self::Before => Self::After,
            Self::Meets => Self::MetBy,
            Self::Overlaps => Self::OverlappedBy,
            Self::Starts => Self::StartedBy,
            Self::During => Self::Contains,
            Self::Finishes => Self::FinishedBy,
            Self::Equals => Self::Equals,
            Self::FinishedBy => Self::Finishes,
            Self::Contains => Self::During,
            Self::StartedBy => Self::Starts,
            Self::OverlappedBy => Self::Overlaps,
            Self::MetBy => Self::Meets,
            Self::After => Self::Before,
        }
    }

    /// Whether the two share an instant in this relation. Constant time.
    ///
    /// ```
    /// use asof::time::Allen;
    /// assert!(Allen::Equals.shares() && !Allen::Meets.shares());
    /// ```
    pub fn shares(self) -> bool {
        !matches!(self, Self::Before | Self::Meets | Self::MetBy | Self::After)
    }

    /// Its name in words. Constant time.
    ///
    /// ```
    /// use asof::time::Allen;
    /// assert_eq!(Allen::MetBy.name(), "met by");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Meets => "meets",
            Self::Overlaps => "overlaps",
            Self::Starts => "starts",
            Self::During => "during",
            Self::Finishes => "finishes",
            Self::Equals => "equals",
            Self::FinishedBy => "finished by",
            Self::Contains => "contains",
            Self::StartedBy => "started by",
            Self::OverlappedBy => "overlapped by",
            Self::MetBy => "met by",
            Self::After => "after",
        }
    }
}

impl fmt::Display for Allen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl<A: Axis> Period<A> {
    /// How this period lies to `other`: always exactly one of the thirteen. Constant time.
    ///
    /// Source: Allen 1983, on half-open periods.
    ///
    /// ```
    /// use asof::time::{Allen, Period, Valid};
    /// let at = |micros| Valid::from_micros(micros).ok();
    /// let (open, closed) = (Period::new(at(3), None)?, Period::new(at(3), at(6))?);
    /// assert_eq!(closed.relation(&open), Allen::Starts);
    /// assert_eq!(open.relation(&closed), Allen::StartedBy);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn relation(&self, other: &Self) -> Allen {
        match (end_to_start(self, other), end_to_start(other, self)) {
            (Less, _) => return Allen::Before,
            (Equal, _) => return Allen::Meets,
            (_, Less) => return Allen::After,
            (_, Equal) => return Allen::MetBy,
            (Greater, Greater) => {}
        }
        match (self.first().cmp(&other.first()), end_to_end(self, other)) {
            (Less, Less) => Allen::Overlaps,
            (Less, Equal) => Allen::FinishedBy,
            (Less, Greater) => Allen::Contains,
            (Equal, Less) => Allen::Starts,
            (Equal, Equal) => Allen::Equals,
            (Equal, Greater) => Allen::StartedBy,
            (Greater, Less) => Allen::During,
            (Greater, Equal) => Allen::Finishes,
            (Greater, Greater) => Allen::OverlappedBy,
        }
    }
}

/// The end of `a` against the start of `b`; an open end lies after every start.
fn end_to_start<A: Axis>(a: &Period<A>, b: &Period<A>) -> Ordering {
    a.until().map_or(Greater, |until| until.cmp(&b.first()))
}

/// The ends against each other, an open one last.
fn end_to_end<A: Axis>(a: &Period<A>, b: &Period<A>) -> Ordering {
    match (a.until(), b.until()) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Less,
        (None, Some(_)) => Greater,
        (None, None) => Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::instant::Valid;
    use std::collections::BTreeSet;

    /// The definition of each relation, on four plain numbers, as in the paper's table.
    fn defined(relation: Allen, (a, b): (i64, i64), (c, d): (i64, i64)) -> bool {
        match relation {
            Allen::Before => b < c,
            Allen::Meets => b == c,
            Allen::Overlaps => a < c && c < b && b < d,
            Allen::Starts => a == c && b < d,
            Allen::During => c < a && b < d,
            Allen::Finishes => c < a && b == d,
            Allen::Equals => a == c && b == d,
            Allen::FinishedBy => a < c && b == d,
            Allen::Contains => a < c && d < b,
            Allen::StartedBy => a == c && d < b,
            Allen::OverlappedBy => c < a && a < d && d < b,
            Allen::MetBy => d == a,
            Allen::After => d < a,
        }
    }

    /// A period of a small clock; -1 and 6 stand for ends that are not there.
    fn period((from, until): (i64, i64)) -> Period {
        let end = |tick: i64| (0..6).contains(&tick).then(|| Valid::from_micros(tick).unwrap());
        Period::new(end(from), end(until)).unwrap()
    }

    #[test]
    fn every_two_small_periods_stand_in_the_one_relation_that_its_definition_gives() {
        let ticks = -1..=6;
        let pairs: Vec<(i64, i64)> = ticks
            .clone()
            .flat_map(|a| ticks.clone().filter(move |b| a < *b).map(move |b| (a, b)))
            .collect();
        let mut seen = BTreeSet::new();
        for one in &pairs {
            for other in &pairs {
                let holding: Vec<Allen> = Allen::ALL
                    .into_iter()
                    .filter(|relation| defined(*relation, *one, *other))
                    .collect();
                let relation = period(*one).relation(&period(*other));
                assert_eq!(holding, [relation], "{one:?} {other:?}");
                assert_eq!(period(*other).relation(&period(*one)), relation.converse());
                assert_eq!(period(*one).overlaps(&period(*other)), relation.shares());
                assert_eq!(period(*one).meets(&period(*other)), relation == Allen::Meets);
                seen.insert(relation);
            }
        }
        assert_eq!(seen.len(), 13);
    }

    #[test]
    fn the_list_reads_the_same_backwards_by_converse() {
        let backwards: Vec<Allen> =
            Allen::ALL.iter().rev().map(|relation| relation.converse()).collect();
        assert_eq!(backwards, Allen::ALL);
        let names: BTreeSet<&str> = Allen::ALL.iter().map(|relation| relation.name()).collect();
        assert_eq!(names.len(), 13);
    }
}
