//! Spans such as `90d` or `1d12h`, for review intervals.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::error::TimeError;

/// A positive length of time, in microseconds. Days have 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span(i64);

const UNITS: [(char, i64); 5] =
    [('w', 604_800_000_000), ('d', 86_400_000_000), ('h', 3_600_000_000), ('m', 60_000_000), ('s', 1_000_000)];

impl Span {
    /// A span from text: numbers with `w`, `d`, `h`, `m` or `s` behind each.
    ///
    /// ```
    /// use asof::time::Span;
    /// assert_eq!(Span::parse("90d")?.to_string(), "90d");
    /// assert_eq!(Span::parse("36h")?.to_string(), "1d12h");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// `bad_time` when it is not of that form, not positive or too long.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let bad = || TimeError::bad(text, "write a span like 90d, 12h or 1d12h");
        let mut total: i64 = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let at = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
            let (number, unit) = rest.split_at_checked(at).ok_or_else(bad)?;
            let letter = unit.chars().next().ok_or_else(bad)?;
            let (_, micros) = UNITS.into_iter().find(|(name, _)| *name == letter).ok_or_else(bad)?;
            let part = number.parse::<i64>().ok().and_then(|n| n.checked_mul(micros)).ok_or_else(bad)?;
            total = total.checked_add(part).ok_or_else(bad)?;
            rest = unit.get(1..).unwrap_or_default();
        }
        if total > 0 { Ok(Self(total)) } else { Err(bad()) }
    }

    /// Its microseconds.
    pub fn micros(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (letter, micros) in UNITS.into_iter().skip(1) {
            if rest >= micros {
                write!(f, "{}{letter}", rest / micros)?;
                rest %= micros;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_span_is_refused() {
        for bad in ["", "d", "0d", "9", "9x", "-1d", "99999999999999d", "1d ", "1é"] {
            assert_eq!(Span::parse(bad).unwrap_err().code(), "bad_time", "{bad:?}");
        }
        assert_eq!(Span::parse("2w").unwrap().to_string(), "14d");
    }
}
