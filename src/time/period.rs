//! Periods (R2): half-open `[from, until)`, never empty, on either axis.

use serde::{Deserialize, Serialize};

use crate::time::error::TimeError;
use crate::time::instant::{Instant, Valid};

/// Where a fact starts to hold (R4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// It always held: `-inf`.
    Always,
    /// From this instant on, inclusive.
    At(Valid),
    /// Nobody knows: it counts from its recorded instant. Never read as infinite.
    Unknown,
}

/// A half-open period `[from, until)`; `None` is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period<A> {
    from: Option<Instant<A>>,
    until: Option<Instant<A>>,
}

impl<A> Period<A> {
    /// A period from `from` (inclusive, `None` = since ever) to `until` (exclusive, `None` = open).
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// let day = |d| Valid::from_micros(d * 86_400_000_000).unwrap();
    /// let period = Period::new(Some(day(3)), Some(day(6)))?;
    /// assert!(period.contains(day(3)) && !period.contains(day(6)));
    /// assert!(Period::new(Some(day(3)), Some(day(3))).is_err());
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError::EmptyPeriod`] and [`TimeError::InvertedPeriod`], naming both ends.
    pub fn new(from: Option<Instant<A>>, until: Option<Instant<A>>) -> Result<Self, TimeError> {
        if let (Some(a), Some(b)) = (from, until)
            && a >= b
        {
            let (from, until) = (a.to_string(), b.to_string());
            return Err(if a == b {
                TimeError::EmptyPeriod { from, until }
            } else {
                TimeError::InvertedPeriod { from, until }
            });
        }
        Ok(Self { from, until })
    }

    /// Its first instant; `None` = since ever.
    pub fn from(&self) -> Option<Instant<A>> {
        self.from
    }

    /// Its end, exclusive; `None` = open.
    pub fn until(&self) -> Option<Instant<A>> {
        self.until
    }

    /// Whether an instant lies in it.
    pub fn contains(&self, at: Instant<A>) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }

    /// Whether the two share an instant.
    pub fn overlaps(&self, other: &Self) -> bool {
        let before = |until: Option<Instant<A>>, from: Option<Instant<A>>| {
            until.zip(from).is_some_and(|(until, from)| until <= from)
        };
        !before(self.until, other.from) && !before(other.until, self.from)
    }

    /// Whether the other starts exactly where this one ends: adjacent, never both holding.
    pub fn meets(&self, other: &Self) -> bool {
        self.until.is_some() && self.until == other.from
    }

    /// What the two share.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let from = self.from.max(other.from);
        let until = match (self.until, other.until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        };
        Self::new(from, until).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_half_open_and_adjacent_ones_never_both_hold() {
        let at = |micros| Valid::from_micros(micros).unwrap();
        let period = |a, b| Period::new(Some(at(a)), Some(at(b))).unwrap();
        let (first, second) = (period(3, 6), period(6, 9));
        assert!(first.contains(at(3)) && first.contains(at(5)) && !first.contains(at(6)));
        assert!(first.meets(&second) && !first.overlaps(&second) && first.intersect(&second).is_none());
        assert_eq!(period(3, 7).intersect(&second), Some(period(6, 7)));
        let always = Period::new(None, None).unwrap();
        assert!(always.overlaps(&first) && always.contains(Valid::MIN));
        assert_eq!(Period::new(Some(at(6)), Some(at(6))).unwrap_err().code(), "empty_period");
        assert_eq!(Period::new(Some(at(7)), Some(at(6))).unwrap_err().code(), "inverted_period");
    }
}
