//! Instants to text and back, without zones: RFC 3339 (R1).
//!
//! A bulk import reads and prints millions of instants, so the ordinary form
//! `YYYY-MM-DDTHH:MM:SS[.ffffff]Z` has a way of its own, written by hand; everything else goes
//! through [`read`], which also finds the reason of a refusal. Invariant: the two ways agree with
//! each other and with chrono wherever chrono reads the text (checked by the tests). The calendar
//! itself (which days there are) is always chrono's.
//!
//! It must not guess: a text without offset stays a local time.

use std::fmt;

use chrono::{Datelike, NaiveDate};

use crate::time::error::TimeError;

pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(super) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Longer texts are no times; the longest that is one has 35 bytes plus zeros in its fraction.
const TEXT_BYTES_MAX: usize = 64;

const FORMS: &str = "write it like 2026-10-05T10:00:00Z, or like 2026-10-05 with a zone";

/// What a text says, before any zone has a say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A time with an offset: microseconds since 1970-01-01T00:00:00Z. Not yet checked to be in
    /// the range of instants.
    Instant(i64),
    /// A date and a time of day: microseconds since 1970-01-01T00:00:00 of the local clock.
    Local(i64),
    /// A date alone.
    Day(NaiveDate),
}

/// Microseconds from the epoch to a midnight.
pub(super) fn midnight(day: NaiveDate) -> i64 {
    i64::from(day.to_epoch_days()) * MICROS_PER_DAY
}

/// The ordinary form, quickly. `None` = another form, or no time at all: [`read`] knows.
pub(super) fn read_ordinary(text: &str) -> Option<i64> {
    let (head, tail) = text.as_bytes().split_first_chunk::<19>()?;
    #[rustfmt::skip]
    let &[
        y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2,
    ] = head else {
        return None;
    };
    let year = pair(y1, y2)? * 100 + pair(y3, y4)?;
    let (hour, minute, second) = (pair(h1, h2)?, pair(n1, n2)?, pair(s1, s2)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let day = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, pair(m1, m2)?, pair(d1, d2)?)?;
    let micros = match tail {
        b"Z" => 0,
        [b'.', digits @ .., b'Z'] if matches!(digits.len(), 1..=6) => fraction(digits)?,
        _ => return None,
    };
    let seconds = i64::from(hour * 3_600 + minute * 60 + second);
    Some(midnight(day) + seconds * MICROS_PER_SECOND + micros)
}

fn pair(tens: u8, ones: u8) -> Option<u32> {
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
}

/// Microseconds from the digits behind the point, at most six of them.
fn fraction(digits: &[u8]) -> Option<i64> {
    let mut micros = 0;
    for place in 0..6 {
        let digit = match digits.get(place) {
            Some(digit) if digit.is_ascii_digit() => i64::from(digit - b'0'),
            Some(_) => return None,
            None => 0,
        };
        micros = micros * 10 + digit;
    }
    Some(micros)
}

/// Any form that is read: RFC 3339 (also with a signed year of up to six digits, a space for the
/// `T`, small `t` and `z`, or without seconds), the same without offset, or a bare date.
///
/// # Errors
/// `bad_time`, with the reason.
pub(super) fn read(text: &str) -> Result<Said, TimeError> {
    let bad = |why| TimeError::bad_time(text, why);
    if text.len() > TEXT_BYTES_MAX {
        return Err(bad(FORMS));
    }
    let Some(at) = text.find(['T', 't', ' ']) else {
        return read_day(text, text).map(Said::Day);
    };
    let (date, rest) = text.split_at_checked(at).ok_or_else(|| bad(FORMS))?;
    let day = read_day(text, date)?;
    let rest = rest.get(1..).ok_or_else(|| bad(FORMS))?;
    let end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, offset) = rest.split_at_checked(end).ok_or_else(|| bad(FORMS))?;
    let local = midnight(day) + read_clock(clock).map_err(bad)?;
    if offset.is_empty() {
        return Ok(Said::Local(local));
    }
    let ahead = read_offset(offset).ok_or_else(|| {
        bad("its offset is neither Z nor one like +02:00 (at most 23:59, with the colon)")
    })?;
    Ok(Said::Instant(local - ahead))
}

/// `YYYY-MM-DD`, or a sign and four to six digits for the year.
fn read_day(text: &str, date: &str) -> Result<NaiveDate, TimeError> {
    let bad = |why| TimeError::bad_time(text, why);
    let unsigned = date.strip_prefix(['+', '-']);
    let mut parts = unsigned.unwrap_or(date).split('-');
    let (Some(year), Some(month), Some(day), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(bad(FORMS));
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !(digits(year) && digits(month) && digits(day)) || month.len() != 2 || day.len() != 2 {
        return Err(bad(FORMS));
    }
    let (Ok(size), Ok(month), Ok(day)) = (year.parse::<i32>(), month.parse(), day.parse()) else {
        return Err(bad(FORMS));
    };
    if year.len() > 6 || size > NaiveDate::MAX.year() + 1 {
        return Err(TimeError::out_of_range(text));
    }
    if year.len() < 4 || (unsigned.is_none() && year.len() > 4) {
        return Err(bad("a year has four digits, one past 9999 or before 0 a sign before it"));
    }
    let year = if date.starts_with('-') { -size } else { size };
    if !(NaiveDate::MIN.year()..=NaiveDate::MAX.year()).contains(&year) {
        return Err(TimeError::out_of_range(text));
    }
    NaiveDate::from_ymd_opt(year, month, day).ok_or_else(|| bad("there is no such day"))
}

/// `HH:MM[:SS[.f…]]` as microseconds since midnight, or what is wrong with it.
fn read_clock(clock: &str) -> Result<i64, &'static str> {
    let (whole, digits) = match clock.split_once('.') {
        Some((_, "")) => return Err(FORMS),
        Some((whole, digits)) => (whole, Some(digits)),
        None => (clock, None),
    };
    let mut parts = whole.split(':').map(|part| match part.as_bytes() {
        &[tens, ones] => pair(tens, ones).ok_or(FORMS),
        _ => Err(FORMS),
    });
    let hour = parts.next().ok_or(FORMS)??;
    let minute = parts.next().ok_or(FORMS)??;
    let second = match (parts.next(), digits) {
        (Some(second), _) => second?,
        (None, None) => 0,
        (None, Some(_)) => return Err(FORMS),
    };
    if parts.next().is_some() {
        return Err(FORMS);
    }
    match (hour, minute, second) {
        (0..=23, 0..=59, 0..=59) => {}
        (24, 0, 0) => return Err("hours go from 00 to 23; write 00:00 of the next day"),
        (_, _, 60) => return Err("leap seconds are not kept; write second 59 or the next minute"),
        _ => return Err("there is no such time of day"),
    }
    let digits = digits.unwrap_or_default().as_bytes();
    let (kept, finer) = digits.split_at_checked(6).unwrap_or((digits, &[]));
    if !finer.iter().all(u8::is_ascii_digit) {
        return Err(FORMS);
    }
    let micros = fraction(kept).ok_or(FORMS)?;
    if finer.iter().any(|digit| *digit != b'0') {
        return Err("its fraction is finer than a microsecond; round it to six digits");
    }
    Ok(i64::from(hour * 3_600 + minute * 60 + second) * MICROS_PER_SECOND + micros)
}

/// `Z`, `z` or `±HH:MM` as the microseconds by which the local clock is ahead of UTC.
fn read_offset(offset: &str) -> Option<i64> {
    let (sign, hours, minutes) = match *offset.as_bytes() {
        [b'Z' | b'z'] => return Some(0),
        [b'+', h, o, b':', m, i] => (1, pair(h, o)?, pair(m, i)?),
        [b'-', h, o, b':', m, i] => (-1, pair(h, o)?, pair(m, i)?),
        _ => return None,
    };
    (hours <= 23 && minutes <= 59)
        .then(|| sign * i64::from(hours * 3_600 + minutes * 60) * MICROS_PER_SECOND)
}

/// An instant as text: with `Z`, or as a local clock `ahead` seconds before UTC shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printed {
    year: i32,
    /// `YYYY-MM-DDTHH:MM:SS.ffffffZ`, of which `len` bytes count.
    bytes: [u8; 27],
    len: usize,
}

impl Printed {
    /// In UTC. `None` only outside what chrono can print.
    pub(super) fn utc(micros: i64) -> Option<Self> {
        let mut printed = Self::local(micros)?;
        *printed.bytes.get_mut(printed.len)? = b'Z';
        printed.len += 1;
        Some(printed)
    }

    /// A date and time of day, nothing behind it.
    pub(super) fn local(micros: i64) -> Option<Self> {
        let day = i32::try_from(micros.div_euclid(MICROS_PER_DAY)).ok()?;
        let date = NaiveDate::from_epoch_days(day)?;
        let rest = micros.rem_euclid(MICROS_PER_DAY);
        let seconds = u32::try_from(rest / MICROS_PER_SECOND).ok()?;
        let mut fraction = u32::try_from(rest % MICROS_PER_SECOND).ok()?;
        let year = date.year().unsigned_abs() % 10_000;
        let [y1, y2] = two(year / 100);
        let [y3, y4] = two(year % 100);
        let [m1, m2] = two(date.month());
        let [d1, d2] = two(date.day());
        let [h1, h2] = two(seconds / 3_600);
        let [n1, n2] = two(seconds / 60 % 60);
        let [s1, s2] = two(seconds % 60);
        let [f1, f2] = two(fraction / 10_000);
        let [f3, f4] = two(fraction / 100 % 100);
        let [f5, f6] = two(fraction % 100);
        #[rustfmt::skip]
        let bytes = [
            y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2,
            b'.', f1, f2, f3, f4, f5, f6, 0,
        ];
        let mut len = if fraction == 0 { 19 } else { 26 };
        while fraction > 0 && fraction.is_multiple_of(10) {
            fraction /= 10;
            len -= 1;
        }
        Some(Self { year: date.year(), bytes, len })
    }
}

fn two(number: u32) -> [u8; 2] {
    let digit = |number: u32| b'0' + u8::try_from(number % 10).unwrap_or_default();
    [digit(number / 10), digit(number)]
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.bytes.get(..self.len).unwrap_or_default();
        let shown = std::str::from_utf8(shown).map_err(|_| fmt::Error)?;
        if (0..=9999).contains(&self.year) {
            return f.pad(shown);
        }
        let behind_year = shown.get(4..).unwrap_or_default();
        f.pad(&format!("{:+05}{behind_year}", self.year))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::instant::Valid;
    use chrono::{DateTime, SecondsFormat, Utc};
    use proptest::prelude::*;

    fn why(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn a_leap_second_is_refused() {
        for text in ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z", "2016-12-31T23:59:60+00:00"]
        {
            assert_eq!(read_ordinary(text), None);
            assert!(why(text).contains("leap seconds are not kept"), "{text}");
        }
    }

    #[test]
    fn digits_past_the_microsecond_are_refused_unless_they_are_zero() {
        assert!(why("2026-01-01T00:00:00.1234567Z").contains("finer than a microsecond"));
        assert!(why("2026-01-01T00:00:00.000000001Z").contains("finer than a microsecond"));
        let kept = read("2026-01-01T00:00:00.123456000Z").unwrap();
        assert_eq!(kept, read("2026-01-01T00:00:00.123456Z").unwrap());
    }

    #[test]
    fn each_refusal_names_the_text_and_its_reason() {
        for (text, reason) in [
            ("next friday", "write it like"),
            ("", "write it like"),
            ("T10:00", "write it like"),
            ("2026/10/05", "write it like"),
            ("2026-1-05", "write it like"),
            ("2026-10-05T", "write it like"),
            ("2026-10-05T1:00", "write it like"),
            ("2026-10-05T10", "write it like"),
            ("2026-10-05T10:00.5", "write it like"),
            ("2026-10-05T10:00:00.Z", "write it like"),
            ("2026-10-05T10:00:00,5Z", "write it like"),
            ("2026-10-05T10:00:00:00Z", "write it like"),
            ("2026-10-05T10:00:00.12345678x", "write it like"),
            (" 2026-10-05", "write it like"),
            ("2026-10-05T10:00:00Z ", "neither Z nor"),
            ("2026-02-30", "no such day"),
            ("2026-13-01T00:00:00Z", "no such day"),
            ("2026-10-05T25:00:00Z", "no such time of day"),
            ("2026-10-05T10:61Z", "no such time of day"),
            ("2026-10-05T24:00:00Z", "00:00 of the next day"),
            ("2026-10-05T10:00:00+0200", "neither Z nor"),
            ("2026-10-05T10:00:00+24:00", "neither Z nor"),
            ("2026-10-05T10:00:00 Europe/Berlin", "write it like"),
            ("12345-01-01", "a sign before it"),
            ("26-01-01", "four digits"),
            ("300000-01-01", "outside the years"),
            ("+300000-01-01T00:00:00Z", "outside the years"),
            ("-262144-01-01T00:00:00Z", "outside the years"),
        ] {
            let message = why(text);
            assert!(
                message.contains(reason) && message.contains(&format!("{text:?}")),
                "{message}"
            );
        }
    }

    #[test]
    fn a_year_before_0_or_past_9999_has_a_sign_and_reads_back() {
        for (micros, text) in [
            (-62_167_219_200_000_001, "-0001-12-31T23:59:59.999999Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00Z"),
            (253_402_300_799_900_000, "9999-12-31T23:59:59.9Z"),
            (253_402_300_800_000_000, "+10000-01-01T00:00:00Z"),
            (327_403_382_400_000_000, "+12345-01-01T00:00:00Z"),
        ] {
            assert_eq!(Printed::utc(micros).unwrap().to_string(), text);
            assert_eq!(read(text).unwrap(), Said::Instant(micros));
        }
    }

    #[test]
    fn printed_text_fills_the_width_it_is_asked_for() {
        let at = Printed::utc(0).unwrap();
        assert_eq!(format!("[{at:>22}]"), "[  1970-01-01T00:00:00Z]");
    }

    proptest! {
        #[test]
        fn printing_equals_chrono_and_reads_back(
            micros in Valid::MIN.micros()..=Valid::MAX.micros(),
            whole: bool,
        ) {
            let micros = if whole { micros - micros % MICROS_PER_SECOND } else { micros };
            let text = Printed::utc(micros).unwrap().to_string();
            let theirs = DateTime::<Utc>::from_timestamp_micros(micros).unwrap();
            let theirs = theirs.to_rfc3339_opts(SecondsFormat::Micros, true);
            let trimmed = theirs.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
            prop_assert_eq!(&text, &format!("{trimmed}Z"));
            prop_assert_eq!(read(&text).unwrap(), Said::Instant(micros));
        }

        #[test]
        fn the_short_cut_equals_the_long_way_and_chrono(
            micros in -62_167_219_200_000_000_i64..=253_402_300_799_999_999,
            step in prop::sample::select(vec![1, 1_000, 100_000, MICROS_PER_SECOND]),
        ) {
            let text = Printed::utc(micros - micros % step).unwrap().to_string();
            let theirs = DateTime::parse_from_rfc3339(&text).unwrap().timestamp_micros();
            prop_assert_eq!(read_ordinary(&text), Some(theirs));
            prop_assert_eq!(read(&text).unwrap(), Said::Instant(theirs));
        }

        #[test]
        fn what_chrono_reads_is_read_alike_and_nothing_else_in_that_form(
            date in "[0-9]{3}[0-9]-[01][0-9]-[0-3][0-9]",
            clock in "[Tt ][0-2][0-9]:[0-6][0-9]:[0-5][0-9](\\.[0-9]{1,6})?",
            offset in "Z|z|[-+][0-2][0-9]:[0-6][0-9]",
        ) {
            let text = format!("{date}{clock}{offset}");
            let ours = read(&text).ok();
            let theirs = DateTime::parse_from_rfc3339(&text).ok();
            let theirs = theirs.map(|at| Said::Instant(at.timestamp_micros()));
            prop_assert_eq!(ours, theirs, "{}", text);
            if let Some(micros) = read_ordinary(&text) {
                prop_assert_eq!(ours, Some(Said::Instant(micros)));
            }
        }
    }
}
