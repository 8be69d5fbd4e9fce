//! Spans: review intervals such as `90d` or `1d12h`.
//!
//! Invariants: a span is positive, fits an `i64` of microseconds, and prints exactly the text it
//! was read from. So the text has one way to be written: largest unit first, each unit once, no
//! zeros in front. A day is 24 hours here; months and years, which have no fixed length, are not
//! spans.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::time::error::{TimeError, quoted};

/// Letters and microseconds of the units, in the order in which they are written.
const UNITS: [(char, i64); 5] = [
    ('w', 604_800_000_000),
    ('d', 86_400_000_000),
    ('h', 3_600_000_000),
    ('m', 60_000_000),
    ('s', 1_000_000),
];

const FORM: &str = "write it like 90d, 12h, 30m, 45s, 2w or 1d12h \
    (largest unit first, each once, no zeros in front)";

/// A positive length of time, as it was written.
///
/// Equal means written alike: `24h` and `1d` differ (compare [`Span::micros`] for lengths).
/// Through serde it is its text. Source: R13 (`review_every`).
///
/// ```
/// use asof::time::Span;
/// let span = Span::parse("1d12h")?;
/// assert_eq!(span.micros(), 36 * 3_600_000_000);
/// assert_eq!(span.to_string(), "1d12h");
/// # Ok::<(), asof::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span {
    /// How many of each of [`UNITS`].
    counts: [u32; UNITS.len()],
    micros: i64,
}

impl Span {
    /// Reads a span: whole numbers, each with `w`, `d`, `h`, `m` or `s` behind it. Linear in the
    /// text.
    ///
    /// ```
    /// use asof::time::Span;
    /// assert_eq!(Span::parse("2w")?.micros(), Span::parse("14d")?.micros());
    /// assert_eq!(Span::parse("0d").unwrap_err().code(), "bad_time");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError::BadSpan`] (`bad_time`): another form, a number that is zero or starts with
    /// one, a unit twice or out of order, or a sum past `i64` microseconds (292,000 years).
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let bad = |why| TimeError::BadSpan { text: quoted(text), why };
        let mut counts = [0; UNITS.len()];
        let mut micros: i64 = 0;
        let mut rest = text;
        for (count, (letter, unit)) in counts.iter_mut().zip(UNITS) {
            let Some((number, behind)) = rest.split_once(letter) else {
                continue;
            };
            if !number.bytes().all(|byte| byte.is_ascii_digit()) || number.starts_with('0') {
                return Err(bad(FORM));
            }
            *count = match number.parse() {
                Ok(parsed) => parsed,
                Err(_) if number.is_empty() => return Err(bad(FORM)),
                Err(_) => return Err(bad("it is too long")),
            };
            micros = i64::from(*count)
                .checked_mul(unit)
                .and_then(|part| micros.checked_add(part))
                .ok_or_else(|| bad("it is too long"))?;
            rest = behind;
        }
        if text.is_empty() || !rest.is_empty() {
            return Err(bad(FORM));
        }
        Ok(Self { counts, micros })
    }

    /// Its length in microseconds, at least 1,000,000. Constant time.
    ///
    /// ```
    /// use asof::time::Span;
    /// assert_eq!(Span::parse("45s")?.micros(), 45_000_000);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub const fn micros(self) -> i64 {
        self.micros
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (count, (letter, _)) in self.counts.iter().zip(UNITS) {
            if *count > 0 {
                write!(text, "{count}{letter}")?;
            }
        }
        f.pad(&text)
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl TryFrom<String> for Span {
    type Error = TimeError;

    fn try_from(text: String) -> Result<Self, TimeError> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_unit_has_its_length_and_prints_as_it_was_written() {
        let hour = 3_600_000_000;
        for (text, micros) in [
            ("45s", 45_000_000),
            ("30m", hour / 2),
            ("12h", 12 * hour),
            ("90d", 90 * 24 * hour),
            ("2w", 14 * 24 * hour),
            ("36h", 36 * hour),
            ("1d12h", 36 * hour),
            ("1w1d1h1m1s", (8 * 24 + 1) * hour + 61_000_000),
        ] {
            let span = Span::parse(text).unwrap();
            assert_eq!((span.micros(), span.to_string().as_str()), (micros, text));
        }
    }

    #[test]
    fn what_is_not_a_span_is_refused_as_bad_time_and_named() {
        for text in [
            "",
            "d",
            "0d",
            "09d",
            "9",
            "9x",
            "-1d",
            "+1d",
            "1.5d",
            "1d ",
            " 1d",
            "1 d",
            "1é",
            "1d1d",
            "12h1d",
            "1D",
            "1y",
            "P1D",
            "1d0h",
            "1d12",
            "日",
            "99999999999d",
            "4294967295w",
        ] {
            let error = Span::parse(text).unwrap_err();
            assert_eq!(error.code(), "bad_time", "{text:?}");
            assert!(error.to_string().starts_with(&format!("{text:?} is not a span")), "{error}");
        }
    }

    #[test]
    fn the_longest_span_is_bounded_by_its_microseconds() {
        let weeks = i64::MAX / 604_800_000_000;
        assert!(Span::parse(&format!("{weeks}w")).is_ok());
        let error = Span::parse(&format!("{}w", weeks + 1)).unwrap_err();
        assert!(error.to_string().ends_with("it is too long"), "{error}");
    }

    proptest! {
        #[test]
        fn a_span_prints_the_text_it_was_read_from(text in "([1-9][0-9]{0,5}[wdhms]){0,3}") {
            if let Ok(span) = Span::parse(&text) {
                prop_assert_eq!(span.to_string(), text);
                prop_assert!(span.micros() > 0);
            }
        }

        #[test]
        fn any_text_is_refused_or_prints_back_and_never_panics(text in "\\PC{0,12}") {
            if let Ok(span) = Span::parse(&text) {
                prop_assert_eq!(span.to_string(), text);
            }
        }
    }
}
