//! What can be wrong with a time: one variant for each thing a caller can do about it.
//!
//! Messages are in lower case, name the text (shortened past 80 characters) and say the next
//! step. Codes are stable; messages are not. This file knows no other file of the floor.

use thiserror::Error;

/// How many characters of a refused text a message repeats.
const QUOTED_CHARS_MAX: usize = 80;

/// A fault of a time, a zone, a span or a period.
///
/// Instants stand in it as RFC 3339 text, which [`Valid::parse_rfc3339`] reads back.
/// Source: R1–R4, R18.
///
/// ```
/// use asof::time::parse_instant;
/// let error = parse_instant("2026-10-05T10:00", None).unwrap_err();
/// assert_eq!(error.code(), "no_offset");
/// ```
///
/// [`Valid::parse_rfc3339`]: crate::time::Instant::parse_rfc3339
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TimeError {
    /// The text is in no form that is read, or names no day or time of day there is.
    #[error("{text:?} is not a time: {why}")]
    BadTime {
        /// What was given, shortened.
        text: String,
        /// What is wrong with it, or what to write instead.
        why: &'static str,
    },
    /// The instant lies outside what can be printed.
    #[error(
        "{what} is outside the years that can be told (-262143 to +262142); an open end is left \
         out, an open start is \"-inf\""
    )]
    OutOfRange {
        /// What was asked for: the text, or the sum that left the range.
        what: String,
    },
    /// The name is not that of a zone.
    #[error("{name:?} is not a time zone: {}", zone_advice(near))]
    BadZone {
        /// What was given, shortened.
        name: String,
        /// Names of zones like it, nearest first; empty if there is none.
        near: Vec<&'static str>,
    },
    /// The text is not a span of time.
    #[error("{text:?} is not a span of time: {why}")]
    BadSpan {
        /// What was given, shortened.
        text: String,
        /// What is wrong with it, or what to write instead.
        why: &'static str,
    },
    /// A local time or a bare date, and no zone to read it in.
    #[error(
        "{text:?} has no offset, so it names no instant: add one, such as Z or +02:00, or give a \
         zone with `tz` or --tz"
    )]
    NoOffset {
        /// What was given.
        text: String,
    },
    /// A local time or a bare date where only an instant with its own offset is read.
    #[error(
        "{text:?} has no offset, so it names no instant: write it like 2026-10-05T10:00:00Z or \
         2026-10-05T10:00:00+02:00"
    )]
    OffsetNeeded {
        /// What was given.
        text: String,
    },
    /// A local time, or a whole day, that the clocks of the zone skip.
    #[error(
        "{text:?} does not exist in {zone}, the clocks skip it: write {}",
        candidates.join(" or ")
    )]
    SkippedLocalTime {
        /// What was given.
        text: String,
        /// The zone it was read in.
        zone: &'static str,
        /// Its two readings, earlier first: with the offset after the gap, and with the one
        /// before it.
        candidates: Vec<String>,
    },
    /// A local time that the clocks of the zone show twice.
    #[error("{text:?} happens twice in {zone}: write {}", candidates.join(" or "))]
    AmbiguousLocalTime {
        /// What was given.
        text: String,
        /// The zone it was read in.
        zone: &'static str,
        /// Both instants, earlier first.
        candidates: Vec<String>,
    },
    /// A period that ends where it starts.
    #[error(
        "the period [{from}, {until}) is empty: its end is not part of it, so give a later one \
         (or `valid_through` for a last day)"
    )]
    EmptyPeriod {
        /// Its start, inclusive.
        from: String,
        /// Its end, exclusive.
        until: String,
    },
    /// A period that ends before it starts.
    #[error("the period [{from}, {until}) ends before it starts: swap its ends or correct one")]
    InvertedPeriod {
        /// Its start, inclusive.
        from: String,
        /// Its end, exclusive.
        until: String,
    },
}

impl TimeError {
    /// The stable code of this fault. Constant time.
    ///
    /// Source: R18.
    ///
    /// ```
    /// use asof::time::{Period, Valid};
    /// let at = Valid::from_micros(0)?;
    /// let empty = Period::new(Some(at), Some(at)).unwrap_err();
    /// assert_eq!(empty.code(), "empty_period");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadTime { .. }
            | Self::OutOfRange { .. }
            | Self::BadZone { .. }
            | Self::BadSpan { .. } => "bad_time",
            Self::NoOffset { .. } | Self::OffsetNeeded { .. } => "no_offset",
            Self::SkippedLocalTime { .. } => "skipped_local_time",
            Self::AmbiguousLocalTime { .. } => "ambiguous_local_time",
            Self::EmptyPeriod { .. } => "empty_period",
            Self::InvertedPeriod { .. } => "inverted_period",
        }
    }

    /// What to write instead of a skipped or repeated local time, as RFC 3339 with an offset,
    /// earlier first; empty for other faults. Constant time.
    ///
    /// Source: R3.
    ///
    /// ```
    /// use asof::time::{Zone, parse_instant};
    /// let berlin = Zone::parse("Europe/Berlin")?;
    /// let error = parse_instant("2026-10-25T02:30", Some(&berlin)).unwrap_err();
    /// assert_eq!(error.candidates(), ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"]);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn candidates(&self) -> &[String] {
        match self {
            Self::SkippedLocalTime { candidates, .. }
            | Self::AmbiguousLocalTime { candidates, .. } => candidates,
            Self::BadTime { .. }
            | Self::OutOfRange { .. }
            | Self::BadZone { .. }
            | Self::BadSpan { .. }
            | Self::NoOffset { .. }
            | Self::OffsetNeeded { .. }
            | Self::EmptyPeriod { .. }
            | Self::InvertedPeriod { .. } => &[],
        }
    }

    pub(super) fn bad_time(text: &str, why: &'static str) -> Self {
        Self::BadTime { text: quoted(text), why }
    }

    pub(super) fn out_of_range(text: &str) -> Self {
        Self::OutOfRange { what: format!("{:?}", quoted(text)) }
    }
}

/// A text as a message repeats it: its first characters.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

fn zone_advice(near: &[&str]) -> String {
    if near.is_empty() {
        "write a name like Europe/Berlin or UTC (a fixed offset such as +02:00 belongs to the time)"
            .to_owned()
    } else {
        format!("did you mean {}?", near.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_repeats_no_more_than_80_characters_of_any_script() {
        let message = TimeError::bad_time(&"早".repeat(5_000), "…").to_string();
        assert!(message.chars().count() < 120, "{message}");
        assert_eq!(quoted("next friday"), "next friday");
        assert_eq!(quoted(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(quoted(&"x".repeat(81)), format!("{}…", "x".repeat(80)));
    }

    #[test]
    fn a_zone_without_near_match_is_answered_with_how_zones_are_named() {
        let error = TimeError::BadZone { name: "+02:00".to_owned(), near: Vec::new() };
        assert!(error.to_string().contains("Europe/Berlin"), "{error}");
        assert_eq!(error.code(), "bad_time");
        assert!(error.candidates().is_empty());
    }
}
