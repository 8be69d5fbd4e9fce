//! Text to instants (R1, R3): RFC 3339 with an offset; local times and bare dates with a zone.

use chrono::{DateTime, Days, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, Offset, SecondsFormat, TimeDelta, TimeZone};

use crate::time::error::TimeError;
use crate::time::instant::Valid;
use crate::time::zone::Zone;

const FORMS: &str = "write it like 2026-10-05T10:00:00Z, or 2026-10-05 with a zone";

/// Text in one of the forms that are read.
enum Text {
    Instant(i64),
    Local(NaiveDateTime),
    Day(NaiveDate),
}

/// Microseconds of RFC 3339 text with an offset.
pub(super) fn with_offset(text: &str) -> Result<i64, TimeError> {
    match read(text)? {
        Text::Instant(micros) => Ok(micros),
        Text::Local(_) | Text::Day(_) => Err(TimeError::NoOffset(text.to_owned())),
    }
}

/// An instant from text: RFC 3339 with an offset, or with a zone a local time
/// (`2026-10-05T10:00`, seconds and fraction optional) or a date (the first instant of that day).
///
/// ```
/// use asof::time::{Zone, parse_instant};
/// let zone = Zone::parse("Asia/Shanghai")?;
/// assert_eq!(parse_instant("2026-10-05", Some(&zone))?.to_string(), "2026-10-04T16:00:00Z");
/// assert_eq!(parse_instant("2026-10-05", None).unwrap_err().code(), "no_offset");
/// # Ok::<(), asof::time::TimeError>(())
/// ```
///
/// # Errors
/// `bad_time`, `no_offset`, and for a local time that a clock change skips or repeats
/// `skipped_local_time` or `ambiguous_local_time`, with the candidates (R3).
pub fn parse_instant(text: &str, zone: Option<&Zone>) -> Result<Valid, TimeError> {
    if let Ok(instant) = Valid::parse_rfc3339(text) {
        return Ok(instant);
    }
    match (read(text)?, zone) {
        (Text::Instant(micros), _) => Valid::from_micros(micros),
        (Text::Local(_) | Text::Day(_), None) => Err(TimeError::NoOffset(text.to_owned())),
        (Text::Local(local), Some(zone)) => at_local(text, local, zone),
        (Text::Day(day), Some(zone)) => first_of_day(text, day, zone),
    }
}

/// The inclusive form of an end: the instant after the last one of a day.
///
/// # Errors
/// As [`parse_instant`]; `bad_time` for anything but a date.
pub fn parse_through(text: &str, zone: Option<&Zone>) -> Result<Valid, TimeError> {
    let Text::Day(day) = read(text)? else {
        return Err(TimeError::bad(text, "`valid_through` takes a date, the last day on which it holds; for an instant use `valid_until`"));
    };
    let zone = zone.ok_or_else(|| TimeError::NoOffset(text.to_owned()))?;
    first_of_day(text, day, zone)?;
    let mut next = day;
    for _ in 0..3 {
        next = next.checked_add_days(Days::new(1)).ok_or_else(|| TimeError::OutOfRange(text.to_owned()))?;
        match first_of_day(text, next, zone) {
            Err(TimeError::Skipped { .. }) => {}
            found => return found,
        }
    }
    Err(TimeError::OutOfRange(text.to_owned()))
}

fn read(text: &str) -> Result<Text, TimeError> {
    if text.len() > 64 {
        return Err(TimeError::bad(text, FORMS));
    }
    let time_at = text.char_indices().skip(1).find(|(_, c)| matches!(c, 'T' | 't' | ' '));
    let Some((at, _)) = time_at else {
        return match date(text) {
            Some(day) => Ok(Text::Day(day)),
            None => Err(TimeError::bad(text, shaped_like_date(text))),
        };
    };
    let (day_text, rest) = text.split_at_checked(at).ok_or_else(|| TimeError::bad(text, FORMS))?;
    let rest = rest.get(1..).unwrap_or_default();
    let day = date(day_text).ok_or_else(|| TimeError::bad(text, shaped_like_date(day_text)))?;
    let zone_at = rest.find(['Z', 'z', '+', '-']);
    let (clock, offset) = rest.split_at_checked(zone_at.unwrap_or(rest.len())).unwrap_or((rest, ""));
    let local = day.and_time(time(text, clock)?);
    if offset.is_empty() {
        return Ok(Text::Local(local));
    }
    let seconds = offset_seconds(offset)
        .ok_or_else(|| TimeError::bad(text, "its offset is neither Z nor like +02:00"))?;
    let micros = local.and_utc().timestamp_micros().checked_sub(seconds * 1_000_000);
    micros.map(Text::Instant).ok_or_else(|| TimeError::OutOfRange(text.to_owned()))
}

fn shaped_like_date(text: &str) -> &'static str {
    let dashes = text.bytes().filter(|b| *b == b'-').count() >= 2;
    if dashes && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+')) {
        "there is no such day, or its year is outside what can be told"
    } else {
        FORMS
    }
}

/// `YYYY-MM-DD`, or a signed year of more digits.
fn date(text: &str) -> Option<NaiveDate> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (1, text),
    };
    let mut parts = unsigned.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    let signed = unsigned.len() != text.len();
    let years = if signed { 4..=6 } else { 4..=4 };
    if parts.next().is_some() || !digits(year, years) || !digits(month, 2..=2) || !digits(day, 2..=2) {
        return None;
    }
    NaiveDate::from_ymd_opt(sign * year.parse::<i32>().ok()?, month.parse().ok()?, day.parse().ok()?)
}

fn time(text: &str, clock: &str) -> Result<NaiveTime, TimeError> {
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = whole.split(':');
    let mut part = |needed: bool| -> Result<u32, TimeError> {
        match parts.next() {
            Some(two) if two.len() == 2 && two.bytes().all(|b| b.is_ascii_digit()) => {
                two.parse().map_err(|_| TimeError::bad(text, FORMS))
            }
            None if !needed => Ok(0),
            Some(_) | None => Err(TimeError::bad(text, FORMS)),
        }
    };
    let (hour, minute, second) = (part(true)?, part(true)?, part(false)?);
    if parts.next().is_some() || clock.ends_with('.') {
        return Err(TimeError::bad(text, FORMS));
    }
    if second == 60 {
        return Err(TimeError::bad(text, "leap seconds are not told apart; write :59 or the next minute"));
    }
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(TimeError::bad(text, FORMS));
    }
    let (kept, lost) = fraction.split_at_checked(6).unwrap_or((fraction, ""));
    if lost.bytes().any(|b| b != b'0') {
        return Err(TimeError::bad(text, "its fraction is finer than a microsecond; round it to six digits"));
    }
    let micros: u32 = format!("{kept:0<6}").parse().map_err(|_| TimeError::bad(text, FORMS))?;
    NaiveTime::from_hms_micro_opt(hour, minute, second, micros)
        .ok_or_else(|| TimeError::bad(text, "there is no such time of day"))
}

fn offset_seconds(offset: &str) -> Option<i64> {
    if offset.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let two = |part: &str, max: i64| {
        (part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse::<i64>().ok())
            .flatten()
            .filter(|n| *n <= max)
    };
    Some(sign * (two(hours, 23)? * 3_600 + two(minutes, 59)? * 60))
}

fn printed<T: TimeZone>(at: &DateTime<T>) -> String {
    at.fixed_offset().to_rfc3339_opts(SecondsFormat::AutoSi, false)
}

fn at_local(text: &str, local: NaiveDateTime, zone: &Zone) -> Result<Valid, TimeError> {
    match zone.tz().from_local_datetime(&local) {
        LocalResult::Single(at) => Valid::from_micros(at.timestamp_micros()),
        LocalResult::Ambiguous(a, b) => Err(TimeError::Ambiguous {
            text: text.to_owned(),
            zone: zone.name().to_owned(),
            candidates: vec![printed(&a), printed(&b)],
        }),
        LocalResult::None => Err(TimeError::Skipped {
            text: text.to_owned(),
            zone: zone.name().to_owned(),
            candidates: beside_gap(local, zone),
        }),
    }
}

/// The two readings of a local time in a gap: with the offset before it and with the one after.
fn beside_gap(local: NaiveDateTime, zone: &Zone) -> Vec<String> {
    let near = |away: TimeDelta| {
        let at = local.checked_add_signed(away)?;
        let offset = zone.tz().offset_from_utc_datetime(&at).fix();
        let utc = local.checked_sub_offset(offset)?;
        Some(printed(&zone.tz().from_utc_datetime(&utc)))
    };
    let mut candidates: Vec<String> =
        [TimeDelta::days(2), TimeDelta::days(-2)].into_iter().filter_map(near).collect();
    candidates.sort();
    candidates.dedup();
    candidates
}

/// The first instant of a day in a zone: midnight, or what comes after it where that is skipped;
/// the earlier one where it is repeated.
fn first_of_day(text: &str, day: NaiveDate, zone: &Zone) -> Result<Valid, TimeError> {
    let midnight = day.and_time(NaiveTime::MIN);
    match zone.tz().from_local_datetime(&midnight) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Valid::from_micros(at.timestamp_micros()),
        LocalResult::None => first_after_gap(text, midnight, zone),
    }
}

/// The instant of the clock change that skips a midnight, if it still lies on that day.
fn first_after_gap(text: &str, midnight: NaiveDateTime, zone: &Zone) -> Result<Valid, TimeError> {
    let out = || TimeError::OutOfRange(text.to_owned());
    let local = |utc: NaiveDateTime| zone.tz().from_utc_datetime(&utc).naive_local();
    let mut before = midnight.checked_sub_signed(TimeDelta::days(2)).ok_or_else(out)?;
    let mut after = midnight.checked_add_signed(TimeDelta::days(2)).ok_or_else(out)?;
    while after - before > TimeDelta::seconds(1) {
        let middle = before + (after - before) / 2;
        if local(middle) < midnight { before = middle } else { after = middle }
    }
    let found = local(after);
    if found.date() == midnight.date() {
        let micros = after.and_utc().timestamp_micros();
        return Valid::from_micros(micros - micros.rem_euclid(1_000_000));
    }
    Err(TimeError::Skipped {
        text: text.to_owned(),
        zone: zone.name().to_owned(),
        candidates: beside_gap(midnight, zone),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, zone: &str) -> Result<String, TimeError> {
        let zone = Zone::parse(zone).unwrap();
        parse_instant(text, Some(&zone)).map(|at| at.to_string())
    }

    #[test]
    fn a_date_is_the_first_instant_of_that_day_also_where_midnight_is_skipped() {
        assert_eq!(at("2026-10-05", "Europe/Berlin").unwrap(), "2026-10-04T22:00:00Z");
        // Brazil skipped midnight on 2018-11-04, Lebanon on 2022-03-27.
        assert_eq!(at("2018-11-04", "America/Sao_Paulo").unwrap(), "2018-11-04T03:00:00Z");
        assert_eq!(at("2022-03-27", "Asia/Beirut").unwrap(), "2022-03-26T22:00:00Z");
        // Samoa had no 30 December 2011.
        assert_eq!(at("2011-12-30", "Pacific/Apia").unwrap_err().code(), "skipped_local_time");
        let apia = Zone::parse("Pacific/Apia").unwrap();
        assert_eq!(parse_through("2011-12-29", Some(&apia)).unwrap().to_string(), "2011-12-30T10:00:00Z");
    }

    #[test]
    fn skipped_and_repeated_times_list_their_candidates() {
        let Err(TimeError::Skipped { candidates, .. }) = at("2026-03-29T02:30:00", "Europe/Berlin") else { panic!() };
        assert_eq!(candidates, ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"]);
        let Err(TimeError::Ambiguous { candidates, .. }) = at("2026-10-25T02:30:00", "Europe/Berlin") else { panic!() };
        assert_eq!(candidates, ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"]);
    }

    #[test]
    fn valid_through_is_the_inclusive_form_of_the_same() {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(parse_through("2026-10-04", Some(&zone)), parse_instant("2026-10-05", Some(&zone)));
        assert_eq!(parse_through("2026-10-04T00:00:00Z", Some(&zone)).unwrap_err().code(), "bad_time");
    }

    #[test]
    fn what_is_no_time_is_told_from_what_has_no_offset() {
        for (text, code) in [
            ("2026-01-05", "no_offset"), ("2026-01-05T10:00:00", "no_offset"), ("2026-01-05 10:00", "no_offset"),
            ("2026-02-30", "bad_time"), ("2026-02-30T10:00:00Z", "bad_time"), ("next friday", "bad_time"),
            ("", "bad_time"), ("300000-01-01T00:00:00Z", "bad_time"), ("+300000-01-01T00:00:00Z", "bad_time"),
            ("2026-01-01T24:00:00Z", "bad_time"), ("2026-01-01T23:59:60Z", "bad_time"),
            ("2026-01-01T00:00:00.1234567Z", "bad_time"), ("2026-01-01T00:00:00+25:00", "bad_time"),
            ("2026-1-1", "bad_time"), ("早", "bad_time"), ("2026-01-01T00:00:00.Z", "bad_time"),
        ] {
            assert_eq!(parse_instant(text, None).unwrap_err().code(), code, "{text:?}");
        }
        assert_eq!(parse_instant("2026-01-01T00:00:00.1234560Z", None).unwrap().to_string(), "2026-01-01T00:00:00.123456Z");
        assert_eq!(parse_instant("2026-01-01T02:00:00+02:00", None).unwrap().to_string(), "2026-01-01T00:00:00Z");
    }
}
