//! Periods: half-open, never empty, on either axis.
//!
//! Invariant: `from < until`, so a period holds at least one instant and adjacent periods never
//! both hold (R2). "Always" is kept as the first instant there is and "open" as no end; an
//! unknown start (R4) is no period at all but a [`Start`], so it cannot be read as an infinite
//! one. There is no setter: other ends make another period.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::axis::{Axis, ValidAxis};
use crate::time::error::TimeError;
use crate::time::instant::{Instant, Recorded, Valid};

/// Where something said starts to hold.
///
/// It prints as it is written: `-inf`, an RFC 3339 instant, or `unknown`. Source: R4.
///
/// ```
/// use asof::time::Start;
/// assert_eq!(Start::default(), Start::Unknown);
/// assert_eq!(Start::Always.to_string(), "-inf");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// It always held: `-inf`.
    Always,
    /// It holds from this instant on, inclusive.
    At(Valid),
    /// Nobody knows: it counts from its recorded instant, and before that it is a lead.
    #[default]
    Unknown,
}

impl Start {
    /// The first instant from which it counts (inclusive), for a fact recorded at `recorded`;
    /// `None` = always. Constant time.
    ///
    /// Source: R4.
    ///
    /// ```
    /// use asof::time::{Recorded, Start};
    /// let recorded = Recorded::from_micros(5)?;
    /// assert_eq!(Start::Unknown.counts_from(recorded), Some(recorded.as_valid()));
    /// assert_eq!(Start::Always.counts_from(recorded), None);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn counts_from(self, recorded: Recorded) -> Option<Valid> {
        match self {
            Self::Always => None,
            Self::At(from) => Some(from),
            Self::Unknown => Some(recorded.as_valid()),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.pad("-inf"),
            Self::At(from) => from.fmt(f),
            Self::Unknown => f.pad("unknown"),
        }
    }
}

/// A half-open period `[from, until)` of one axis, by default the valid one; never empty.
///
/// It prints as `[2026-10-01T00:00:00Z, 2026-11-01T00:00:00Z)`, with `-inf` and `inf` for ends
/// that are not there. Source: R2; SQL:2011 `PERIOD`.
///
/// ```
/// use asof::time::{Period, Valid};
/// let (three, six) = (Valid::from_micros(3)?, Valid::from_micros(6)?);
/// let period = Period::new(Some(three), Some(six))?;
/// assert!(period.contains(three) && !period.contains(six));
/// # Ok::<(), asof::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period<A = ValidAxis> {
    /// Inclusive; the first instant there is means always.
    from: Instant<A>,
    /// Exclusive; `None` = open.
    until: Option<Instant<A>>,
}

impl<A: Axis> Period<A> {
    /// Makes a period from `from` (inclusive; `None` = always, as is [`Instant::MIN`]) to `until`
    /// (exclusive; `None` = open). Constant time.
    ///
    /// Source: R2.
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// let (three, six) = (Valid::from_micros(3)?, Valid::from_micros(6)?);
    /// assert_eq!(Period::new(Some(six), Some(six)).unwrap_err().code(), "empty_period");
    /// assert_eq!(Period::new(Some(six), Some(three)).unwrap_err().code(), "inverted_period");
    /// assert!(Period::new(None, Some(three)).is_ok());
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// Both name both ends:
    /// - [`TimeError::EmptyPeriod`] when `from` equals `until`.
    /// - [`TimeError::InvertedPeriod`] when `from` lies after `until`.
    pub fn new(from: Option<Instant<A>>, until: Option<Instant<A>>) -> Result<Self, TimeError> {
        let period = Self { from: from.unwrap_or(Instant::MIN), until };
        let ends = || (period.shown_from(), period.shown_until());
        match period.until.map(|until| period.from.cmp(&until)) {
            None | Some(Ordering::Less) => Ok(period),
            Some(Ordering::Equal) => {
                let (from, until) = ends();
                Err(TimeError::EmptyPeriod { from, until })
            }
            Some(Ordering::Greater) => {
                let (from, until) = ends();
                Err(TimeError::InvertedPeriod { from, until })
            }
        }
    }

    /// Its start, inclusive; `None` = always. Constant time.
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// assert_eq!(Period::new(Some(Valid::MIN), None)?.from(), None);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn from(&self) -> Option<Instant<A>> {
        (self.from > Instant::MIN).then_some(self.from)
    }

    /// Its end, exclusive; `None` = open. Constant time.
    ///
    /// ```
    /// use asof::time::{Period, Recorded};
    /// let period = Period::new(Some(Recorded::from_micros(3)?), None)?;
    /// assert_eq!(period.until(), None);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn until(&self) -> Option<Instant<A>> {
        self.until
    }

    /// Its first instant, [`Instant::MIN`] for one that always held. Constant time.
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// assert_eq!(Period::new(None, None)?.first(), Valid::MIN);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn first(&self) -> Instant<A> {
        self.from
    }

    /// Whether `at` lies in it: `from <= at < until`. Constant time.
    ///
    /// Source: R2; SQL:2011 `CONTAINS`.
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// let period = Period::new(None, Some(Valid::from_micros(6)?))?;
    /// assert!(period.contains(Valid::from_micros(5)?));
    /// assert!(!period.contains(Valid::from_micros(6)?));
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn contains(&self, at: Instant<A>) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }

    /// Whether the two share an instant. Constant time.
    ///
    /// Wider than Allen's relation "overlaps" ([`Allen::Overlaps`]): equal and enclosed periods
    /// overlap too. Source: SQL:2011 `OVERLAPS`.
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// let at = |micros| Valid::from_micros(micros).ok();
    /// let (a, b) = (Period::new(at(3), at(6))?, Period::new(at(5), at(9))?);
    /// let c = Period::new(at(6), None)?;
    /// assert!(a.overlaps(&b) && !a.overlaps(&c));
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// [`Allen::Overlaps`]: crate::time::Allen::Overlaps
    pub fn overlaps(&self, other: &Self) -> bool {
        self.until.is_none_or(|until| other.from < until)
            && other.until.is_none_or(|until| self.from < until)
    }

    /// What the two share, `None` if nothing. Constant time.
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// let at = |micros| Valid::from_micros(micros).ok();
    /// let (a, b) = (Period::new(at(3), at(6))?, Period::new(at(5), None)?);
    /// assert_eq!(a.intersect(&b), Some(Period::new(at(5), at(6))?));
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        self.overlaps(other).then(|| Self {
            from: self.from.max(other.from),
            until: match (self.until, other.until) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (one, none) => one.or(none),
            },
        })
    }

    /// Whether `other` starts exactly where this one ends: they adjoin and never both hold.
    /// Constant time.
    ///
    /// Source: R2; SQL:2011 `IMMEDIATELY PRECEDES`; Allen 1983, "meets".
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// let at = |micros| Valid::from_micros(micros).ok();
    /// let (a, b) = (Period::new(at(3), at(6))?, Period::new(at(6), None)?);
    /// assert!(a.meets(&b) && !b.meets(&a));
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn meets(&self, other: &Self) -> bool {
        self.until == Some(other.from)
    }

    fn shown_from(&self) -> String {
        self.from().map_or_else(|| "-inf".to_owned(), |from| from.to_string())
    }

    fn shown_until(&self) -> String {
        self.until.map_or_else(|| "inf".to_owned(), |until| until.to_string())
    }
}

impl<A: Axis> fmt::Display for Period<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("[{}, {})", self.shown_from(), self.shown_until()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Valid {
        Valid::from_micros(micros).unwrap()
    }

    /// All periods of a small clock: ends at ticks 0..=4, or none.
    fn small_periods() -> Vec<Period> {
        let ends: Vec<Option<Valid>> =
            std::iter::once(None).chain((0..=4).map(|t| Some(at(t)))).collect();
        let mut periods = Vec::new();
        for from in &ends {
            periods.extend(ends.iter().filter_map(|until| Period::new(*from, *until).ok()));
        }
        periods
    }

    /// The ticks of the small clock, with one on either side.
    fn held(period: &Period) -> Vec<i64> {
        (-1..=5).filter(|tick| period.contains(at(*tick))).collect()
    }

    #[test]
    fn a_period_holds_its_start_and_not_its_end() {
        let period = Period::new(Some(at(3)), Some(at(6))).unwrap();
        assert!(period.contains(at(3)) && period.contains(at(5)));
        assert!(!period.contains(at(2)) && !period.contains(at(6)));
        assert_eq!((period.from(), period.until()), (Some(at(3)), Some(at(6))));
    }

    #[test]
    fn empty_and_inverted_periods_are_refused_naming_both_ends() {
        let empty = Period::new(Some(at(6)), Some(at(6))).unwrap_err();
        assert_eq!(empty.code(), "empty_period");
        assert!(
            empty
                .to_string()
                .contains("[1970-01-01T00:00:00.000006Z, 1970-01-01T00:00:00.000006Z)")
        );
        let inverted = Period::new(Some(at(6)), Some(at(3))).unwrap_err();
        assert_eq!(inverted.code(), "inverted_period");
        assert!(
            inverted
                .to_string()
                .contains("[1970-01-01T00:00:00.000006Z, 1970-01-01T00:00:00.000003Z)")
        );
    }

    #[test]
    fn a_period_that_ends_where_time_begins_is_empty() {
        let error = Period::new(None, Some(Valid::MIN)).unwrap_err();
        assert_eq!(error.code(), "empty_period");
        assert!(error.to_string().contains("[-inf, "), "{error}");
    }

    #[test]
    fn the_first_instant_as_a_start_means_always() {
        assert_eq!(Period::new(Some(Valid::MIN), None), Period::new(None, None));
        let always: Period = Period::new(None, None).unwrap();
        assert_eq!((always.from(), always.first()), (None, Valid::MIN));
        assert!(always.contains(Valid::MIN) && always.contains(Valid::MAX));
        assert_eq!(always.to_string(), "[-inf, inf)");
    }

    #[test]
    fn adjacent_periods_meet_and_never_both_hold() {
        let (a, b) = (
            Period::new(Some(at(1)), Some(at(2))).unwrap(),
            Period::new(Some(at(2)), None).unwrap(),
        );
        assert!(a.meets(&b) && !b.meets(&a) && !a.overlaps(&b) && a.intersect(&b).is_none());
        assert!((0..=3).all(|tick| !(a.contains(at(tick)) && b.contains(at(tick)))));
    }

    #[test]
    fn in_every_small_world_overlap_and_intersection_are_what_both_hold() {
        let periods = small_periods();
        assert_eq!(periods.len(), 21, "10 with two ends, 5 + 5 with one, 1 with none");
        for a in &periods {
            for b in &periods {
                let both: Vec<i64> = held(a).into_iter().filter(|t| b.contains(at(*t))).collect();
                assert_eq!(a.overlaps(b), !both.is_empty(), "{a} {b}");
                assert_eq!(a.intersect(b).map(|shared| held(&shared)).unwrap_or_default(), both);
                assert_eq!(a.intersect(b), b.intersect(a));
                let adjoin = a.until().is_some() && a.until() == b.from();
                assert_eq!(a.meets(b), adjoin, "{a} {b}");
            }
        }
    }

    #[test]
    fn recorded_periods_follow_the_same_rules() {
        let at = |micros| Recorded::from_micros(micros).unwrap();
        let period = Period::new(Some(at(3)), Some(at(6))).unwrap();
        assert!(period.contains(at(3)) && !period.contains(at(6)));
        assert_eq!(Period::new(Some(at(3)), Some(at(3))).unwrap_err().code(), "empty_period");
    }

    #[test]
    fn an_unknown_start_counts_from_its_recorded_instant_and_is_never_infinite() {
        let recorded = Recorded::from_micros(9).unwrap();
        assert_eq!(Start::Unknown.counts_from(recorded), Some(at(9)));
        assert_eq!(Start::At(at(4)).counts_from(recorded), Some(at(4)));
        assert_eq!(Start::Always.counts_from(recorded), None);
        let shown =
            [Start::Always, Start::At(at(0)), Start::Unknown].map(|start| start.to_string());
        assert_eq!(shown, ["-inf", "1970-01-01T00:00:00Z", "unknown"]);
    }
}
