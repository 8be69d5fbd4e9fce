//! What can be wrong with a time. Messages name the text and the next step.

use thiserror::Error;

/// Faults of times, zones and periods.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TimeError {
    /// Not a time in any form that is read.
    #[error("{text:?} is no time: {why}")]
    Bad {
        /// What was given.
        text: String,
        /// What is wrong and what to write.
        why: String,
    },
    /// A time that cannot be printed.
    #[error("{0} is outside the years that can be told (-262143 to +262142)")]
    OutOfRange(String),
    /// A local time or bare date without zone.
    #[error("{0:?} has no offset, so it names no instant; add one (2026-10-05T10:00:00Z, …+02:00) or give a zone with `tz` or --tz")]
    NoOffset(String),
    /// A local time that a clock change skips.
    #[error("{text} does not exist in {zone}: the clocks skip it; did you mean {}?", candidates.join(" or "))]
    Skipped {
        /// What was given.
        text: String,
        /// The zone.
        zone: String,
        /// The readings before and after the gap.
        candidates: Vec<String>,
    },
    /// A local time that a clock change repeats.
    #[error("{text} happens twice in {zone}: write {}", candidates.join(" or "))]
    Ambiguous {
        /// What was given.
        text: String,
        /// The zone.
        zone: String,
        /// Both instants.
        candidates: Vec<String>,
    },
    /// Not the name of a zone.
    #[error("{name:?} is no time zone{}", advice(near))]
    NoZone {
        /// What was given.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// A period that ends where it starts.
    #[error("the period [{from}, {until}) is empty: it ends where it starts (ends are exclusive)")]
    EmptyPeriod {
        /// Its start.
        from: String,
        /// Its end.
        until: String,
    },
    /// A period that ends before it starts.
    #[error("the period [{from}, {until}) ends before it starts; swap its ends")]
    InvertedPeriod {
        /// Its start.
        from: String,
        /// Its end.
        until: String,
    },
}

fn advice(near: &[String]) -> String {
    if near.is_empty() {
        "; zones are named like Europe/Berlin".to_owned()
    } else {
        format!("; did you mean {}?", near.join(", "))
    }
}

impl TimeError {
    /// The stable code of R18.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Bad { .. } | Self::OutOfRange(_) | Self::NoZone { .. } => "bad_time",
            Self::NoOffset(_) => "no_offset",
            Self::Skipped { .. } => "skipped_local_time",
            Self::Ambiguous { .. } => "ambiguous_local_time",
            Self::EmptyPeriod { .. } => "empty_period",
            Self::InvertedPeriod { .. } => "inverted_period",
        }
    }

    pub(super) fn bad(text: &str, why: impl Into<String>) -> Self {
        let text = text.chars().take(80).collect();
        Self::Bad { text, why: why.into() }
    }
}
