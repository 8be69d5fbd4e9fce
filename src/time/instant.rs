//! Instants: microseconds since 1970-01-01T00:00:00Z, on one of two axes.
//!
//! Why two types: a system that keeps both axes as plain numbers mixes them up sooner or later.
//! Here a valid and a recorded instant neither compare nor convert; the two crossings that R4 and
//! R7 ask for are named functions.
//!
//! Invariant: an instant lies inside what chrono can print, so it can be printed and read back
//! (R1). It must not be made from text without an offset: that is for `parse.rs`, with a zone.

use std::fmt;
use std::marker::PhantomData;

use chrono::{DateTime, Utc};

use crate::time::axis::{Axis, RecordedAxis, ValidAxis};
use crate::time::error::TimeError;
use crate::time::text::{Printed, Said, read, read_ordinary};

/// An instant of one axis, to the microsecond; eight bytes.
///
/// It prints as RFC 3339 in UTC with `Z` and no trailing zeros in the fraction. Through serde it
/// is that same text, and in binary formats (not human-readable) its microseconds as `i64`.
/// Source: R1; RFC 3339 section 5.6, with a signed year before 0 and after 9999 as chrono prints.
///
/// ```
/// use asof::time::{Recorded, Valid};
/// let noon = Valid::parse_rfc3339("2026-10-05T14:00:00+02:00")?;
/// assert_eq!(noon.to_string(), "2026-10-05T12:00:00Z");
/// # Ok::<(), asof::time::TimeError>(())
/// ```
///
/// The axes do not compare:
///
/// ```compile_fail,E0308
/// use asof::time::{Recorded, Valid};
/// let mixed = Valid::MIN < Recorded::MAX;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant<A> {
    micros: i64,
    axis: PhantomData<A>,
}

/// When something holds in the world.
///
/// ```
/// use asof::time::Valid;
/// assert!(Valid::MIN < Valid::MAX);
/// ```
pub type Valid = Instant<ValidAxis>;

/// When the store came to know something.
///
/// ```
/// use asof::time::Recorded;
/// assert!(Recorded::MIN < Recorded::MAX);
/// ```
pub type Recorded = Instant<RecordedAxis>;

const MICROS_MIN: i64 = DateTime::<Utc>::MIN_UTC.timestamp_micros();
const MICROS_MAX: i64 = DateTime::<Utc>::MAX_UTC.timestamp_micros();

impl<A: Axis> Instant<A> {
    /// The first instant that can be printed: `-262143-01-01T00:00:00Z`.
    pub const MIN: Self = Self::unchecked(MICROS_MIN);

    /// The last instant that can be printed: `+262142-12-31T23:59:59.999999Z`.
    pub const MAX: Self = Self::unchecked(MICROS_MAX);

    const fn unchecked(micros: i64) -> Self {
        Self { micros, axis: PhantomData }
    }

    /// Makes an instant from microseconds since 1970-01-01T00:00:00Z. Constant time.
    ///
    /// Source: R1.
    ///
    /// ```
    /// use asof::time::Valid;
    /// assert_eq!(Valid::from_micros(1_500_000)?.to_string(), "1970-01-01T00:00:01.5Z");
    /// assert_eq!(Valid::from_micros(i64::MAX).unwrap_err().code(), "bad_time");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError::OutOfRange`] outside [`Self::MIN`]..=[`Self::MAX`].
    pub fn from_micros(micros: i64) -> Result<Self, TimeError> {
        if (MICROS_MIN..=MICROS_MAX).contains(&micros) {
            Ok(Self::unchecked(micros))
        } else {
            Err(TimeError::OutOfRange { what: format!("{micros} µs since 1970") })
        }
    }

    /// Microseconds since 1970-01-01T00:00:00Z; negative before. Constant time.
    ///
    /// ```
    /// use asof::time::Valid;
    /// assert_eq!(Valid::parse_rfc3339("1970-01-01T00:00:01Z")?.micros(), 1_000_000);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub const fn micros(self) -> i64 {
        self.micros
    }

    /// The instant that many microseconds later, or earlier if negative. Constant time.
    ///
    /// ```
    /// use asof::time::{Span, Valid};
    /// let start = Valid::parse_rfc3339("2026-10-05T00:00:00Z")?;
    /// let review = start.plus_micros(Span::parse("90d")?.micros())?;
    /// assert_eq!(review.to_string(), "2027-01-03T00:00:00Z");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError::OutOfRange`] when the sum cannot be printed; it is never clamped.
    pub fn plus_micros(self, micros: i64) -> Result<Self, TimeError> {
        self.micros
            .checked_add(micros)
            .and_then(|sum| Self::from_micros(sum).ok())
            .ok_or_else(|| TimeError::OutOfRange { what: format!("{self} {micros:+} µs") })
    }

    /// The next instant there is: one microsecond later. Constant time.
    ///
    /// ```
    /// use asof::time::Valid;
    /// assert_eq!(Valid::from_micros(0)?.next()?.to_string(), "1970-01-01T00:00:00.000001Z");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError::OutOfRange`] at [`Self::MAX`].
    pub fn next(self) -> Result<Self, TimeError> {
        self.plus_micros(1)
    }

    /// Reads an instant from RFC 3339 text with an offset. Linear in the text, which has at most
    /// 64 bytes; the ordinary form `YYYY-MM-DDTHH:MM:SS[.ffffff]Z` takes a short cut.
    ///
    /// Also read: a signed year of up to six digits (what this type prints), a space for the `T`,
    /// and a time of day without seconds. A fraction may have more than six digits if the rest is
    /// zero.
    ///
    /// Source: R1; RFC 3339 section 5.6.
    ///
    /// ```
    /// use asof::time::Valid;
    /// let at = Valid::parse_rfc3339("2026-10-05T10:00:00.250+02:00")?;
    /// assert_eq!(at.to_string(), "2026-10-05T08:00:00.25Z");
    /// assert_eq!(Valid::parse_rfc3339("2026-10-05T10:00:00").unwrap_err().code(), "no_offset");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// - [`TimeError::OffsetNeeded`] (`no_offset`): a local time or a bare date.
    /// - [`TimeError::BadTime`]: no time, no such day or time of day, a leap second (`:60`), a
    ///   fraction finer than a microsecond.
    /// - [`TimeError::OutOfRange`]: outside [`Self::MIN`]..=[`Self::MAX`].
    pub fn parse_rfc3339(text: &str) -> Result<Self, TimeError> {
        if let Some(micros) = read_ordinary(text) {
            return Ok(Self::unchecked(micros));
        }
        match read(text)? {
            Said::Instant(micros) => {
                Self::from_micros(micros).map_err(|_| TimeError::out_of_range(text))
            }
            Said::Local(_) | Said::Day(_) => Err(TimeError::OffsetNeeded { text: text.to_owned() }),
        }
    }
}

impl Recorded {
    /// The same instant on the valid axis: where a fact of unknown start counts from, and what
    /// `valid_at` is when a question gives none. Constant time.
    ///
    /// Source: R4, R7.
    ///
    /// ```
    /// use asof::time::{Recorded, Valid};
    /// assert_eq!(Recorded::from_micros(7)?.as_valid(), Valid::from_micros(7)?);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub const fn as_valid(self) -> Valid {
        Valid::unchecked(self.micros)
    }
}

impl Valid {
    /// The same instant on the recorded axis: for `--at T`, which sets both. Constant time.
    ///
    /// Source: R7.
    ///
    /// ```
    /// use asof::time::{Recorded, Valid};
    /// assert_eq!(Valid::from_micros(7)?.as_recorded(), Recorded::from_micros(7)?);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub const fn as_recorded(self) -> Recorded {
        Recorded::unchecked(self.micros)
    }
}

impl<A> fmt::Display for Instant<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printed::utc(self.micros).ok_or(fmt::Error)?.fmt(f)
    }
}

impl<A> fmt::Debug for Instant<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_instant_prints_in_utc_with_z_and_no_trailing_zeros() {
        for (text, printed) in [
            ("2026-10-05T10:00:00Z", "2026-10-05T10:00:00Z"),
            ("2026-10-05T10:00:00.500Z", "2026-10-05T10:00:00.5Z"),
            ("2026-10-05T10:00:00.000000Z", "2026-10-05T10:00:00Z"),
            ("2026-10-05T10:00:00.000001Z", "2026-10-05T10:00:00.000001Z"),
            ("2026-10-05T10:00:00.120340Z", "2026-10-05T10:00:00.12034Z"),
            ("2026-10-05T00:30:00+02:00", "2026-10-04T22:30:00Z"),
            ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
            ("2024-02-29t23:59:59z", "2024-02-29T23:59:59Z"),
        ] {
            assert_eq!(Valid::parse_rfc3339(text).unwrap().to_string(), printed);
        }
    }

    #[test]
    fn the_first_and_last_instant_print_and_read_back() {
        for (edge, text) in [
            (Valid::MIN, "-262143-01-01T00:00:00Z"),
            (Valid::MAX, "+262142-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(edge.to_string(), text);
            assert_eq!(Valid::parse_rfc3339(text).unwrap(), edge);
        }
    }

    #[test]
    fn what_lies_outside_is_an_error_and_never_clamped() {
        for micros in [i64::MIN, Valid::MIN.micros() - 1, Valid::MAX.micros() + 1, i64::MAX] {
            assert_eq!(Valid::from_micros(micros).unwrap_err().code(), "bad_time");
        }
        assert!(Recorded::MAX.next().is_err() && Recorded::MAX.plus_micros(i64::MAX).is_err());
        assert!(Recorded::MIN.plus_micros(-1).is_err() && Recorded::MIN.next().is_ok());
        for text in [
            "-262143-01-01T00:00:00+00:01",
            "+262142-12-31T23:59:59-00:01",
            "+300000-01-01T00:00:00Z",
        ] {
            let error = Valid::parse_rfc3339(text).unwrap_err();
            assert_eq!(error.code(), "bad_time", "{text}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn text_without_offset_is_refused_and_no_zone_is_advised_where_none_is_read() {
        for text in ["2026-10-05", "2026-10-05T10:00:00", "2026-10-05 10:00"] {
            let error = Recorded::parse_rfc3339(text).unwrap_err();
            assert_eq!(error.code(), "no_offset");
            assert!(!error.to_string().contains("tz"), "{error}");
        }
        assert_eq!(Recorded::parse_rfc3339("2026-02-30").unwrap_err().code(), "bad_time");
    }

    #[test]
    fn the_axes_cross_only_by_name() {
        let recorded = Recorded::from_micros(42).unwrap();
        assert_eq!(recorded.as_valid().as_recorded(), recorded);
    }

    proptest! {
        #[test]
        fn instants_order_as_their_microseconds(
            a in MICROS_MIN..=MICROS_MAX,
            b in MICROS_MIN..=MICROS_MAX,
        ) {
            let (x, y) = (Valid::from_micros(a).unwrap(), Valid::from_micros(b).unwrap());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }

        #[test]
        fn every_instant_prints_and_reads_back(micros in MICROS_MIN..=MICROS_MAX) {
            let instant = Recorded::from_micros(micros).unwrap();
            prop_assert_eq!(Recorded::parse_rfc3339(&instant.to_string()).unwrap(), instant);
        }
    }
}
