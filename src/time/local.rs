//! Local times and days of a zone to instants (R3).
//!
//! Invariant: only what the clocks of the zone show exactly once becomes an instant; the rest is
//! refused with both candidates, printed with their offsets. A day is wider than a local time: it
//! has a first instant also where the clocks skip or repeat its midnight.

use chrono::NaiveDate;

use crate::time::error::TimeError;
use crate::time::instant::Valid;
use crate::time::text::midnight;
use crate::time::zone::{Reading, Zone};

/// The one instant of a local time, microseconds since 1970-01-01T00:00:00 of the local clock.
///
/// # Errors
/// `skipped_local_time`, `ambiguous_local_time`, or `bad_time` outside what can be printed.
pub(super) fn at_local(text: &str, local: i64, zone: Zone) -> Result<Valid, TimeError> {
    let reading = zone.read(local).ok_or_else(|| TimeError::out_of_range(text))?;
    match reading {
        Reading::Once(at) => checked(text, at),
        Reading::Twice(one, other) => Err(TimeError::AmbiguousLocalTime {
            text: text.to_owned(),
            zone: zone.name(),
            candidates: printed(&[one, other], zone),
        }),
        Reading::Never { readings, .. } => Err(TimeError::SkippedLocalTime {
            text: text.to_owned(),
            zone: zone.name(),
            candidates: printed(&readings, zone),
        }),
    }
}

/// The first instant of a day: midnight, the earlier one of two, or what comes after a gap.
///
/// # Errors
/// `skipped_local_time` for a whole day, or `bad_time` outside what can be printed.
pub(super) fn day_start(text: &str, day: NaiveDate, zone: Zone) -> Result<Valid, TimeError> {
    let local = midnight(day);
    let out_of_range = || TimeError::out_of_range(text);
    match zone.read(local).ok_or_else(out_of_range)? {
        Reading::Once(at) | Reading::Twice(at, _) => checked(text, at),
        Reading::Never { readings, resumes } => {
            let shown = zone.shown(resumes).ok_or_else(out_of_range)?;
            let next_day = day.succ_opt().ok_or_else(out_of_range)?;
            if shown < midnight(next_day) {
                return checked(text, resumes);
            }
            Err(TimeError::SkippedLocalTime {
                text: text.to_owned(),
                zone: zone.name(),
                candidates: printed(&readings, zone),
            })
        }
    }
}

fn checked(text: &str, micros: i64) -> Result<Valid, TimeError> {
    Valid::from_micros(micros).map_err(|_| TimeError::out_of_range(text))
}

fn printed(candidates: &[i64], zone: Zone) -> Vec<String> {
    candidates.iter().filter_map(|at| zone.print(*at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::parse::parse_instant;

    fn at(text: &str, name: &str) -> Result<String, TimeError> {
        let zone = Zone::parse(name).unwrap();
        parse_instant(text, Some(&zone)).map(|at| at.to_string())
    }

    #[test]
    fn where_the_clocks_skip_midnight_a_day_starts_with_what_comes_after() {
        for (day, name, wanted) in [
            ("2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"),
            ("2022-03-27", "Asia/Beirut", "2022-03-26T22:00:00Z"),
            ("2014-05-16", "Africa/Cairo", "2014-05-15T22:00:00Z"),
            // From 23:30 on the 30th to 00:30 on the 31st.
            ("1919-03-31", "America/Toronto", "1919-03-31T04:30:00Z"),
        ] {
            assert_eq!(at(day, name).unwrap(), wanted, "{day} {name}");
        }
    }

    #[test]
    fn where_the_clocks_show_midnight_twice_a_day_starts_with_the_first() {
        // Havana: from 01:00 back to 00:00.
        assert_eq!(at("2018-11-04", "America/Havana").unwrap(), "2018-11-04T04:00:00Z");
        // Sao Paulo: from 00:00 back to 23:00 of the day before, so midnight comes once.
        assert_eq!(at("2018-02-18", "America/Sao_Paulo").unwrap(), "2018-02-18T03:00:00Z");
    }

    #[test]
    fn a_skipped_local_time_is_refused_with_both_readings() {
        let error = at("2026-03-29T02:30", "Europe/Berlin").unwrap_err();
        assert_eq!(error.code(), "skipped_local_time");
        assert_eq!(error.candidates(), ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"]);
        let message = error.to_string();
        assert!(
            message.contains("2026-03-29T01:30:00+01:00 or 2026-03-29T03:30:00+02:00"),
            "{message}"
        );
        assert!(at("2026-03-29T01:59:59.999999", "Europe/Berlin").is_ok());
        assert!(at("2026-03-29T02:00", "Europe/Berlin").is_err());
        assert!(at("2026-03-29T02:59:59.999999", "Europe/Berlin").is_err());
        assert_eq!(at("2026-03-29T03:00", "Europe/Berlin").unwrap(), "2026-03-29T01:00:00Z");
    }

    #[test]
    fn a_repeated_local_time_is_refused_with_both_instants() {
        let error = at("2026-10-25T02:30", "Europe/Berlin").unwrap_err();
        assert_eq!(error.code(), "ambiguous_local_time");
        assert_eq!(error.candidates(), ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"]);
        let instants: Vec<Valid> =
            error.candidates().iter().map(|text| Valid::parse_rfc3339(text).unwrap()).collect();
        assert_eq!(instants[1].micros() - instants[0].micros(), 3_600_000_000);
        assert!(at("2026-10-25T01:59:59", "Europe/Berlin").is_ok());
        assert!(at("2026-10-25T03:00", "Europe/Berlin").is_ok());
    }

    #[test]
    fn a_candidate_whose_offset_has_seconds_is_told_in_utc() {
        // Berlin left its own mean time, +00:53:28, on 1893-04-01.
        let error = at("1893-04-01T00:03", "Europe/Berlin").unwrap_err();
        assert_eq!(error.candidates(), ["1893-03-31T23:03:00Z", "1893-04-01T00:09:32+01:00"]);
    }
}
