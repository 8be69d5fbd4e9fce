//! Text to valid instants, with a zone for what has no offset of its own (R1, R3).
//!
//! Invariant: an offset in the text always wins over the zone, and a text is never given an
//! offset that nobody named. What the clocks skip or repeat is refused with what to write instead;
//! it must not be decided here.

use chrono::NaiveDate;

use crate::time::error::TimeError;
use crate::time::instant::Valid;
use crate::time::local::{at_local, day_start};
use crate::time::text::{Said, read};
use crate::time::zone::Zone;

/// Reads an instant: RFC 3339 with an offset, or, in a zone, a local time or a date.
///
/// A local time is `YYYY-MM-DDTHH:MM[:SS[.ffffff]]`, also with a space for the `T`. A date is the
/// first instant of that day there, the earlier one if the clocks show midnight twice; so as the
/// (exclusive) end of a period it leaves that day out. Linear in the text, which has at most 64
/// bytes; a search in the clock changes of the zone.
///
/// Source: R1, R3; RFC 3339 section 5.6.
///
/// ```
/// use asof::time::{Zone, parse_instant};
/// let zone = Zone::parse("Europe/Berlin")?;
/// let read = |text| parse_instant(text, Some(&zone)).map(|at| at.to_string());
/// assert_eq!(read("2026-10-05")?, "2026-10-04T22:00:00Z");
/// assert_eq!(read("2026-10-05 09:30")?, "2026-10-05T07:30:00Z");
/// assert_eq!(read("2026-10-05T09:30:00-05:00")?, "2026-10-05T14:30:00Z");
/// assert_eq!(parse_instant("2026-10-05", None).unwrap_err().code(), "no_offset");
/// # Ok::<(), asof::time::TimeError>(())
/// ```
///
/// # Errors
/// - [`TimeError::BadTime`]: no time, no such day or time of day, a leap second (`:60`), a
///   fraction finer than a microsecond; with or without a zone.
/// - [`TimeError::OutOfRange`] (`bad_time`): outside what can be printed.
/// - [`TimeError::NoOffset`]: a local time or a date, and no zone.
/// - [`TimeError::SkippedLocalTime`]: the clocks there skip that local time, or that whole day.
/// - [`TimeError::AmbiguousLocalTime`]: the clocks there show that local time twice.
pub fn parse_instant(text: &str, zone: Option<&Zone>) -> Result<Valid, TimeError> {
    let offset_needed = match Valid::parse_rfc3339(text) {
        Err(error @ TimeError::OffsetNeeded { .. }) => error,
        read => return read,
    };
    let Some(zone) = zone else {
        return Err(TimeError::NoOffset { text: text.to_owned() });
    };
    match read(text)? {
        Said::Local(local) => at_local(text, local, *zone),
        Said::Day(day) => day_start(text, day, *zone),
        Said::Instant(_) => Err(offset_needed),
    }
}

/// Reads the last day on which something holds, and gives the (exclusive) end of a period: the
/// first instant after that day, which is the first of the next day that the zone has.
///
/// Linear in the text; a search in the clock changes of the zone. Source: R3 (`valid_through`).
///
/// ```
/// use asof::time::{Zone, parse_instant, parse_through};
/// let zone = Zone::parse("Europe/Berlin")?;
/// let through = parse_through("2026-10-04", Some(&zone))?;
/// assert_eq!(through, parse_instant("2026-10-05", Some(&zone))?);
/// # Ok::<(), asof::time::TimeError>(())
/// ```
///
/// # Errors
/// - [`TimeError::BadTime`]: no date, no such day, or an instant or local time (for those there is
///   `valid_until`).
/// - [`TimeError::OutOfRange`] (`bad_time`): the day after is outside what can be printed.
/// - [`TimeError::NoOffset`]: a date, and no zone.
/// - [`TimeError::SkippedLocalTime`]: there was no such day in the zone.
pub fn parse_through(text: &str, zone: Option<&Zone>) -> Result<Valid, TimeError> {
    let Said::Day(day) = read(text)? else {
        return Err(TimeError::bad_time(
            text,
            "`valid_through` takes the last day on which it holds, like 2026-10-04; for an \
             instant use `valid_until`, which is exclusive",
        ));
    };
    let Some(zone) = zone else {
        return Err(TimeError::NoOffset { text: text.to_owned() });
    };
    day_start(text, day, *zone)?;
    let next = |day: NaiveDate| day.succ_opt().ok_or_else(|| TimeError::out_of_range(text));
    let after = next(day)?;
    match day_start(text, after, *zone) {
        // The clocks skip the day after as a whole: what comes then is the day after that.
        Err(TimeError::SkippedLocalTime { .. }) => day_start(text, next(after)?, *zone),
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn zone(name: &str) -> Zone {
        Zone::parse(name).unwrap()
    }

    fn at(text: &str, name: &str) -> Result<String, TimeError> {
        parse_instant(text, Some(&zone(name))).map(|at| at.to_string())
    }

    fn through(text: &str, name: &str) -> Result<String, TimeError> {
        parse_through(text, Some(&zone(name))).map(|at| at.to_string())
    }

    #[test]
    fn an_offset_in_the_text_wins_over_the_zone() {
        for text in ["2026-10-05T10:00:00Z", "2026-10-05T12:00:00+02:00", "2026-10-05 10:00Z"] {
            assert_eq!(at(text, "Asia/Shanghai").unwrap(), "2026-10-05T10:00:00Z");
            assert_eq!(parse_instant(text, None).unwrap().to_string(), "2026-10-05T10:00:00Z");
        }
    }

    #[test]
    fn a_local_time_is_read_in_the_zone() {
        for text in [
            "2026-10-05T10:00",
            "2026-10-05 10:00",
            "2026-10-05T10:00:00",
            "2026-10-05 10:00:00.000",
        ] {
            assert_eq!(at(text, "Asia/Shanghai").unwrap(), "2026-10-05T02:00:00Z", "{text}");
        }
        assert_eq!(
            at("2026-10-05T10:00:00.25", "Asia/Kathmandu").unwrap(),
            "2026-10-05T04:15:00.25Z"
        );
        assert_eq!(at("2026-10-05T10:00", "Z").unwrap(), "2026-10-05T10:00:00Z");
    }

    #[test]
    fn a_date_is_the_first_instant_of_that_day_in_the_zone() {
        assert_eq!(at("2026-10-05", "Europe/Berlin").unwrap(), "2026-10-04T22:00:00Z");
        assert_eq!(at("2026-12-05", "Europe/Berlin").unwrap(), "2026-12-04T23:00:00Z");
        assert_eq!(at("2026-10-05", "UTC").unwrap(), "2026-10-05T00:00:00Z");
    }

    #[test]
    fn a_whole_day_that_the_clocks_skip_is_refused_and_never_the_end_of_a_period() {
        let error = at("2011-12-30", "Pacific/Apia").unwrap_err();
        assert_eq!(error.code(), "skipped_local_time");
        assert_eq!(error.candidates(), ["2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"]);
        assert_eq!(through("2011-12-30", "Pacific/Apia").unwrap_err().code(), "skipped_local_time");
        assert_eq!(through("2011-12-29", "Pacific/Apia").unwrap(), "2011-12-30T10:00:00Z");
        assert_eq!(at("2011-12-31", "Pacific/Apia").unwrap(), "2011-12-30T10:00:00Z");
        assert_eq!(at("1993-08-21", "Pacific/Kwajalein").unwrap_err().code(), "skipped_local_time");
    }

    #[test]
    fn valid_through_gives_the_end_that_leaves_the_next_day_out() {
        assert_eq!(through("2026-10-04", "Europe/Berlin").unwrap(), "2026-10-04T22:00:00Z");
        assert_eq!(through("2026-12-31", "UTC").unwrap(), "2027-01-01T00:00:00Z");
    }

    #[test]
    fn valid_through_refuses_an_instant_and_names_valid_until() {
        for text in ["2026-10-04T00:00:00Z", "2026-10-04T00:00"] {
            let error = through(text, "Europe/Berlin").unwrap_err();
            assert_eq!(error.code(), "bad_time");
            assert!(error.to_string().contains("`valid_until`"), "{error}");
        }
    }

    #[test]
    fn without_zone_a_local_time_or_date_has_no_offset_and_the_message_says_what_to_add() {
        for text in ["2026-10-05", "2026-10-05T10:00", "2026-10-05 10:00:00.5"] {
            let error = parse_instant(text, None).unwrap_err();
            assert_eq!(error.code(), "no_offset");
            let message = error.to_string();
            assert!(
                message.contains(text) && message.contains("+02:00") && message.contains("--tz")
            );
        }
        assert_eq!(parse_through("2026-10-05", None).unwrap_err().code(), "no_offset");
    }

    #[test]
    fn what_is_not_a_time_is_bad_with_or_without_a_zone() {
        for text in [
            "2026-02-30",
            "2026-02-30T10:00",
            "2025-02-29",
            "next friday",
            "",
            "300000-01-01",
            "2026-1-5",
        ] {
            assert_eq!(parse_instant(text, None).unwrap_err().code(), "bad_time", "{text:?}");
            assert_eq!(at(text, "UTC").unwrap_err().code(), "bad_time", "{text:?}");
            assert_eq!(parse_through(text, None).unwrap_err().code(), "bad_time", "{text:?}");
        }
    }

    #[test]
    fn at_the_edges_of_what_can_be_printed_a_zone_makes_an_error_and_no_panic() {
        for name in ["Pacific/Kiritimati", "America/New_York", "UTC"] {
            for day in ["-262143-01-01", "+262142-12-31"] {
                for error in [
                    at(day, name).err(),
                    through(day, name).err(),
                    at(&format!("{day}T12:00"), name).err(),
                ] {
                    assert!(error.is_none_or(|error| error.code() == "bad_time"), "{day} {name}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_reads_back_and_never_panics(
            text in "\\PC{0,40}",
            like in "[-+0-9TZ:. ]{0,30}",
        ) {
            let beirut = zone("Asia/Beirut");
            for text in [text, like] {
                if let Ok(at) = parse_instant(&text, Some(&beirut)) {
                    prop_assert_eq!(parse_instant(&at.to_string(), None).unwrap(), at);
                }
                prop_assert!(parse_through(&text, None).is_err());
            }
        }

        #[test]
        fn every_day_of_a_zone_ends_where_the_next_one_starts(
            days in -20_000_i32..40_000,
            tz in prop::sample::select(&chrono_tz::TZ_VARIANTS[..]),
        ) {
            let zone = zone(tz.name());
            let day = |days| NaiveDate::from_epoch_days(days).unwrap().to_string();
            if let (Ok(next), Ok(end)) =
                (parse_instant(&day(days + 1), Some(&zone)), parse_through(&day(days), Some(&zone)))
            {
                prop_assert_eq!(next, end);
                prop_assert!(parse_instant(&day(days), Some(&zone)).unwrap() < end);
            }
        }
    }
}
