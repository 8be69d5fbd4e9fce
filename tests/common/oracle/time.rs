//! Instants, dates and intervals as a journal writes them: text in, microseconds out.

use super::Refusal;
use chrono::{
    DateTime, Days, Duration, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeZone,
};
use chrono_tz::Tz;

/// Start of a valid period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Start {
    /// Written as `-inf`.
    Always,
    /// A known instant.
    At(i64),
    /// Not known; the instant is the one it counts from.
    Unknown(i64),
}

impl Start {
    /// First instant at which the fact counts.
    pub(super) fn counts_from(self) -> i64 {
        match self {
            Start::Always => i64::MIN,
            Start::At(t) | Start::Unknown(t) => t,
        }
    }
}

/// Reads an instant; a date is the first instant of that day in the zone (R3).
pub(super) fn instant(text: &str, zone: Option<&str>) -> Result<i64, Refusal> {
    if let Ok(t) = DateTime::parse_from_rfc3339(text) {
        return Ok(t.timestamp_micros());
    }
    if let Ok(local) = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f") {
        return local_instant(local, known_zone(zone)?);
    }
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return first_instant(day, known_zone(zone)?);
    }
    Err("bad_time")
}

/// Reads the inclusive last day and gives the first instant after it.
pub(super) fn after_day(text: &str, zone: Option<&str>) -> Result<i64, Refusal> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| "bad_time")?;
    let next = day.checked_add_days(Days::new(1)).ok_or("bad_time")?;
    first_instant(next, known_zone(zone)?)
}

fn known_zone(zone: Option<&str>) -> Result<Tz, Refusal> {
    zone.ok_or("no_offset")?.parse().map_err(|_| "bad_time")
}

fn local_instant(local: NaiveDateTime, zone: Tz) -> Result<i64, Refusal> {
    match zone.from_local_datetime(&local) {
        LocalResult::Single(t) => Ok(t.timestamp_micros()),
        LocalResult::Ambiguous(_, _) => Err("ambiguous_local_time"),
        LocalResult::None => Err("skipped_local_time"),
    }
}

fn first_instant(day: NaiveDate, zone: Tz) -> Result<i64, Refusal> {
    let midnight = day.and_time(NaiveTime::MIN);
    for minute in 0..24 * 60 {
        let local = midnight + Duration::minutes(minute);
        if let Some(t) = zone.from_local_datetime(&local).earliest() {
            return Ok(t.timestamp_micros());
        }
    }
    Err("bad_time")
}

/// Reads an interval such as `90d`, `2w`, `12h`, `30m`, `5s`.
pub(super) fn interval(text: &str) -> Result<i64, Refusal> {
    let unit = text.chars().last().ok_or("bad_value")?;
    let seconds: i64 = match unit {
        'w' => 7 * 86_400,
        'd' => 86_400,
        'h' => 3_600,
        'm' => 60,
        's' => 1,
        _ => return Err("bad_value"),
    };
    let digits = &text[..text.len() - 1];
    let count: i64 = digits.parse().map_err(|_| "bad_value")?;
    if count <= 0 {
        return Err("bad_value");
    }
    count.checked_mul(seconds * 1_000_000).ok_or("bad_value")
}

/// Refuses empty and inverted periods (R2); an unknown start has nothing to compare.
pub(super) fn check_period(from: Start, until: Option<i64>) -> Result<(), Refusal> {
    match (from, until) {
        (Start::At(a), Some(b)) if a == b => Err("empty_period"),
        (Start::At(a), Some(b)) if a > b => Err("inverted_period"),
        _ => Ok(()),
    }
}

/// Whether two half-open periods share an instant.
pub(super) fn overlap(a: (i64, Option<i64>), b: (i64, Option<i64>)) -> bool {
    let start = a.0.max(b.0);
    let end = a.1.unwrap_or(i64::MAX).min(b.1.unwrap_or(i64::MAX));
    start < end
}
