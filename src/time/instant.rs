//! Instants (R1): microseconds since 1970-01-01T00:00:00Z, within what chrono can print. The two
//! clocks are two types: a valid instant and a recorded one neither compare nor mix.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::error::TimeError;

/// The valid axis: when a fact holds in the world (SQL:2011 application time).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValidAxis {}

/// The recorded axis: when the store came to know it (SQL:2011 system time).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordedAxis {}

/// An instant of one axis, in microseconds since 1970-01-01T00:00:00Z.
pub struct Instant<A>(i64, PhantomData<fn() -> A>);

/// When a fact holds.
pub type Valid = Instant<ValidAxis>;
/// When the store came to know it.
pub type Recorded = Instant<RecordedAxis>;

impl<A> Clone for Instant<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Instant<A> {}
impl<A> PartialEq for Instant<A> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<A> Eq for Instant<A> {}
impl<A> PartialOrd for Instant<A> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<A> Ord for Instant<A> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<A> Hash for Instant<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

const MIN: i64 = DateTime::<Utc>::MIN_UTC.timestamp_micros() + 1;
const MAX: i64 = DateTime::<Utc>::MAX_UTC.timestamp_micros();

impl<A> Instant<A> {
    /// The first instant that can be printed.
    pub const MIN: Self = Self(MIN, PhantomData);
    /// The last instant that can be printed.
    pub const MAX: Self = Self(MAX, PhantomData);

    /// An instant from microseconds since 1970-01-01T00:00:00Z.
    ///
    /// ```
    /// use asof::time::Valid;
    /// assert_eq!(Valid::from_micros(0)?.to_string(), "1970-01-01T00:00:00Z");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError::OutOfRange`] when chrono cannot print it.
    pub fn from_micros(micros: i64) -> Result<Self, TimeError> {
        if (MIN..=MAX).contains(&micros) {
            Ok(Self(micros, PhantomData))
        } else {
            Err(TimeError::OutOfRange(format!("{micros} µs")))
        }
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This instant and a number of microseconds later (or earlier, if negative).
    ///
    /// # Errors
    /// [`TimeError::OutOfRange`] when that cannot be printed.
    pub fn plus_micros(self, micros: i64) -> Result<Self, TimeError> {
        match self.0.checked_add(micros) {
            Some(sum) => Self::from_micros(sum),
            None => Err(TimeError::OutOfRange(format!("{self} + {micros} µs"))),
        }
    }

    /// The next instant: one microsecond later.
    ///
    /// # Errors
    /// [`TimeError::OutOfRange`] at [`Instant::MAX`].
    pub fn next(self) -> Result<Self, TimeError> {
        self.plus_micros(1)
    }

    /// An instant from RFC 3339 text with an offset.
    ///
    /// # Errors
    /// [`TimeError`] with the code `bad_time` or `no_offset`.
    pub fn parse_rfc3339(text: &str) -> Result<Self, TimeError> {
        match plain_utc(text) {
            Some(micros) => Self::from_micros(micros),
            None => crate::time::parse::with_offset(text).and_then(Self::from_micros),
        }
    }
}

impl Recorded {
    /// The same instant on the valid axis: for a start that counts from when it was recorded (R4)
    /// and for a question about now (R7).
    pub const fn as_valid(self) -> Valid {
        Instant(self.0, PhantomData)
    }
}

impl Valid {
    /// The same instant on the recorded axis, for `--at`, which sets both (R7).
    pub const fn as_recorded(self) -> Recorded {
        Instant(self.0, PhantomData)
    }
}

/// `YYYY-MM-DDTHH:MM:SSZ` with an optional fraction of at most six digits, read by hand: imports
/// read millions. `None` = another form, or not a date; the slow way then says what.
fn plain_utc(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (head, tail) = bytes.split_at_checked(19)?;
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b'T', h0, h1, b':', n0, n1, b':', s0, s1] = head else {
        return None;
    };
    let digits = |list: &[u8]| {
        list.iter().try_fold(0i64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    };
    let (year, month, day) = (digits(&[y0, y1, y2, y3])?, digits(&[m0, m1])?, digits(&[d0, d1])?);
    let (hour, minute, second) = (digits(&[h0, h1])?, digits(&[n0, n1])?, digits(&[s0, s1])?);
    let fraction = match tail {
        b"Z" => 0,
        [b'.', digits_z @ ..] => {
            let (b'Z', list) = digits_z.split_last()? else { return None };
            if list.is_empty() || list.len() > 6 {
                return None;
            }
            digits(list)? * 10i64.pow(u32::try_from(6 - list.len()).ok()?)
        }
        _ => return None,
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let date = chrono::NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, u32::try_from(month).ok()?, u32::try_from(day).ok()?)?;
    let days = i64::from(date.to_epoch_days());
    Some((days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000 + fraction)
}

impl<A> fmt::Display for Instant<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(date) = DateTime::<Utc>::from_timestamp_micros(self.0) else {
            return write!(f, "{} µs", self.0);
        };
        let micros = self.0.rem_euclid(1_000_000);
        if micros == 0 {
            return f.write_str(&date.to_rfc3339_opts(SecondsFormat::Secs, true));
        }
        let whole = date.to_rfc3339_opts(SecondsFormat::Micros, true);
        let trimmed = whole.trim_end_matches('Z').trim_end_matches('0');
        write!(f, "{trimmed}Z")
    }
}

impl<A> fmt::Debug for Instant<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<A> Serialize for Instant<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de, A> Deserialize<'de> for Instant<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_micros(i64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_has_no_trailing_zeros_and_ends_at_the_edges_of_what_can_be_printed() {
        for text in ["2026-10-01T00:00:00Z", "2026-10-01T00:00:00.5Z", "2026-10-01T00:00:00.000001Z", "1969-12-31T23:59:59.999999Z"] {
            assert_eq!(Valid::parse_rfc3339(text).unwrap().to_string(), text);
        }
        for edge in [Valid::MIN, Valid::MAX] {
            assert_eq!(Valid::parse_rfc3339(&edge.to_string()).unwrap(), edge);
        }
        assert!(Valid::MAX.next().is_err() && Valid::from_micros(i64::MAX).is_err());
    }

    proptest! {
        #[test]
        fn every_instant_prints_and_reads_back(micros in MIN..=MAX) {
            let instant = Recorded::from_micros(micros).unwrap();
            prop_assert_eq!(Recorded::parse_rfc3339(&instant.to_string()).unwrap(), instant);
        }

        #[test]
        fn the_quick_way_equals_the_slow_way(micros in -62_135_596_800_000_000i64..253_402_300_799_999_999) {
            let text = Valid::from_micros(micros).unwrap().to_string();
            prop_assert_eq!(plain_utc(&text), crate::time::parse::with_offset(&text).ok());
        }
    }
}
