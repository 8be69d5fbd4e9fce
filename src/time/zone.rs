//! Zones by IANA name: which instants a local time names.
//!
//! The rules are those compiled into chrono-tz; no file of the machine is read, so every machine
//! answers alike. It must not resolve a skipped or repeated local time by a rule of thumb: it
//! says which readings there are, and `parse.rs` refuses (R3).
//!
//! Note: chrono-tz knows the clock changes up to the end of 2099 and keeps the last offset after
//! (so no summer time from 2100 on).

use std::fmt;

use chrono::{DateTime, LocalResult, Offset, TimeZone};
use chrono_tz::{TZ_VARIANTS, Tz};
use serde::{Deserialize, Serialize};

use crate::time::error::{TimeError, quoted};
use crate::time::text::{MICROS_PER_SECOND, Printed};

/// How many near matches a refusal names.
const NEAR_MAX: usize = 3;

/// Longer names have no near match; the longest of a zone has 32 bytes.
const NAME_BYTES_MAX: usize = 64;

/// The farthest that a local clock is from UTC, and two clock changes are apart, in seconds:
/// more than a day, as Samoa skipped one.
const GAP_SECONDS_MAX: i64 = 2 * 86_400;

/// A time zone of the IANA database. Through serde it is its name.
///
/// Source: R3; IANA Time Zone Database (RFC 6557).
///
/// ```
/// use asof::time::Zone;
/// let zone = Zone::parse("Asia/Shanghai")?;
/// assert_eq!(zone.to_string(), "Asia/Shanghai");
/// # Ok::<(), asof::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(Tz);

/// The instants that a local time names, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The ordinary case.
    Once(i64),
    /// The clocks show it twice; earlier first.
    Twice(i64, i64),
    /// The clocks skip it.
    Never {
        /// What it would be with the offset after the gap, and with the one before: in order.
        readings: [i64; 2],
        /// The first instant after the gap.
        resumes: i64,
    },
}

impl Zone {
    /// Finds a zone by its IANA name, such as `Europe/Berlin`; `UTC` and `Z` are UTC. A search in
    /// some 600 names, with the distance to each only when it is refused.
    ///
    /// Spelling counts, capitals too: one zone has one name in what is written down.
    ///
    /// Source: R3.
    ///
    /// ```
    /// use asof::time::Zone;
    /// assert_eq!(Zone::parse("Z")?, Zone::parse("UTC")?);
    /// let error = Zone::parse("Europe/Berln").unwrap_err();
    /// assert!(error.to_string().ends_with("did you mean Europe/Berlin?"));
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError::BadZone`] (`bad_time`), with up to three names like it.
    pub fn parse(name: &str) -> Result<Self, TimeError> {
        if name == "Z" {
            return Ok(Self(Tz::UTC));
        }
        name.parse()
            .map(Self)
            .map_err(|_| TimeError::BadZone { name: quoted(name), near: near(name) })
    }

    /// Its IANA name. Constant time.
    ///
    /// ```
    /// use asof::time::Zone;
    /// assert_eq!(Zone::parse("Z")?.name(), "UTC");
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The instants at which the clocks of the zone show `local`, microseconds since
    /// 1970-01-01T00:00:00 by those clocks. `None` outside what chrono can print.
    pub(super) fn read(self, local: i64) -> Option<Reading> {
        let shown = DateTime::from_timestamp_micros(local)?.naive_utc();
        let at = |ahead: i64| local - ahead * MICROS_PER_SECOND;
        let ahead = |offset: &chrono_tz::TzOffset| i64::from(offset.fix().local_minus_utc());
        Some(match self.0.offset_from_local_datetime(&shown) {
            LocalResult::Single(offset) => Reading::Once(at(ahead(&offset))),
            LocalResult::Ambiguous(one, other) => {
                let (one, other) = (at(ahead(&one)), at(ahead(&other)));
                Reading::Twice(one.min(other), one.max(other))
            }
            LocalResult::None => self.gap(local)?,
        })
    }

    /// Halves the time around a skipped local time until the clock change is found, to the
    /// second: before it the clocks show less, after it more.
    fn gap(self, local: i64) -> Option<Reading> {
        let seconds = local.div_euclid(MICROS_PER_SECOND);
        let (mut before, mut after) = (seconds - GAP_SECONDS_MAX, seconds + GAP_SECONDS_MAX);
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            if middle + self.ahead(middle)? <= seconds {
                before = middle;
            } else {
                after = middle;
            }
        }
        let at = |ahead: i64| local - ahead * MICROS_PER_SECOND;
        Some(Reading::Never {
            readings: [at(self.ahead(after)?), at(self.ahead(before)?)],
            resumes: after * MICROS_PER_SECOND,
        })
    }

    /// Seconds by which the local clock is ahead of UTC at an instant, given in seconds.
    fn ahead(self, seconds: i64) -> Option<i64> {
        let utc = DateTime::from_timestamp(seconds, 0)?.naive_utc();
        Some(i64::from(self.0.offset_from_utc_datetime(&utc).fix().local_minus_utc()))
    }

    /// What the clocks of the zone show at an instant, in microseconds of the local clock.
    pub(super) fn shown(self, micros: i64) -> Option<i64> {
        let ahead = self.ahead(micros.div_euclid(MICROS_PER_SECOND))?;
        Some(micros + ahead * MICROS_PER_SECOND)
    }

    /// An instant as RFC 3339 with the offset of the zone, or in UTC where that offset has
    /// seconds, as it had before there was standard time.
    pub(super) fn print(self, micros: i64) -> Option<String> {
        let ahead = self.ahead(micros.div_euclid(MICROS_PER_SECOND))?;
        if ahead % 60 != 0 {
            return Printed::utc(micros).map(|utc| utc.to_string());
        }
        let local = Printed::local(micros + ahead * MICROS_PER_SECOND)?;
        let sign = if ahead < 0 { '-' } else { '+' };
        let minutes = ahead.abs() / 60;
        Some(format!("{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name().to_owned()
    }
}

impl TryFrom<String> for Zone {
    type Error = TimeError;

    fn try_from(name: String) -> Result<Self, TimeError> {
        Self::parse(&name)
    }
}

/// The names most like this one, nearest first: by the whole name or by the city alone. Case
/// does not count, so another spelling of the same name comes first.
fn near(name: &str) -> Vec<&'static str> {
    if name.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let typed: Vec<char> = lower(name);
    let limit = (typed.len() / 4).min(2);
    let mut near: Vec<(usize, usize, &str)> = TZ_VARIANTS
        .iter()
        .map(|zone| {
            let city = zone.name().rsplit('/').next().unwrap_or_default();
            let whole = distance(&typed, &lower(zone.name()));
            (whole.min(distance(&typed, &lower(city))), whole, zone.name())
        })
        .filter(|(far, _, _)| *far <= limit)
        .collect();
    near.sort_unstable();
    let nearest = near.first().map(|(far, _, _)| *far);
    near.retain(|(far, _, _)| Some(*far) == nearest);
    near.into_iter().take(NEAR_MAX).map(|(_, _, name)| name).collect()
}

/// In small letters, words joined as the names of zones join them.
fn lower(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).map(|c| if c == ' ' { '_' } else { c }).collect()
}

/// How many characters to put in, take out or exchange (Levenshtein 1966), a row at a time.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (typed, seen) in a.iter().zip(1..) {
        let mut left = seen;
        let mut corner = seen - 1;
        for (above, wanted) in row.iter_mut().skip(1).zip(b) {
            let exchanged = corner + usize::from(typed != wanted);
            corner = *above;
            left = exchanged.min(left + 1).min(corner + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = seen;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near_of(name: &str) -> Vec<&'static str> {
        match Zone::parse(name) {
            Err(TimeError::BadZone { near, .. }) => near,
            other => panic!("{name:?}: {other:?}"),
        }
    }

    #[test]
    fn a_zone_is_found_by_its_name_and_utc_also_as_z() {
        for (name, found) in [("Europe/Berlin", "Europe/Berlin"), ("UTC", "UTC"), ("Z", "UTC")] {
            assert_eq!(Zone::parse(name).unwrap().name(), found);
        }
    }

    #[test]
    fn a_misspelt_zone_is_refused_with_the_right_spelling() {
        for wrong in ["Europe/Berln", "europe/berlin", "EUROPE/BERLIN", "Berlin", "Europe/Belrin"] {
            assert_eq!(near_of(wrong), ["Europe/Berlin"], "{wrong}");
        }
        assert_eq!(near_of("utc")[0], "UTC");
        assert_eq!(near_of("New York"), ["America/New_York"]);
        assert_eq!(near_of("sao_paulo"), ["America/Sao_Paulo"]);
    }

    #[test]
    fn what_is_like_no_zone_gets_no_guess() {
        for wrong in ["", "PST", "+02:00", "Middle-earth", "東京", " ", "x".repeat(5_000).as_str()]
        {
            assert_eq!(near_of(wrong), [""; 0], "{wrong}");
            assert_eq!(Zone::parse(wrong).unwrap_err().code(), "bad_time");
        }
    }

    #[test]
    fn the_distance_counts_characters_put_in_taken_out_or_exchanged() {
        let far = |a: &str, b: &str| distance(&lower(a), &lower(b));
        for (a, b, wanted) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
        ] {
            assert_eq!((far(a, b), far(b, a)), (wanted, wanted), "{a} {b}");
        }
    }

    /// Compares with a walk through every quarter of an hour, around every clock change of a few
    /// zones that have had odd ones.
    #[test]
    fn the_readings_of_a_local_time_are_the_instants_at_which_the_clocks_show_it() {
        const STEP: i64 = 900;
        for name in ["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia"] {
            let zone = Zone::parse(name).unwrap();
            // 2000-01-01 to 2020-01-01, a day at a time until the offset differs.
            for day in 10_957..18_262_i64 {
                let start = day * 86_400;
                if zone.ahead(start) == zone.ahead(start + 86_400) {
                    continue;
                }
                for local in (start - 30 * 3_600..start + 54 * 3_600).step_by(900) {
                    let wanted: Vec<i64> = (local - 72_000..local + 72_000)
                        .step_by(usize::try_from(STEP).unwrap())
                        .filter(|at| at + zone.ahead(*at).unwrap() == local)
                        .map(|at| at * MICROS_PER_SECOND)
                        .collect();
                    let found = match zone.read(local * MICROS_PER_SECOND).unwrap() {
                        Reading::Once(at) => vec![at],
                        Reading::Twice(one, other) => vec![one, other],
                        Reading::Never { readings, resumes } => {
                            assert!(readings[0] < resumes && resumes <= readings[1]);
                            assert!(zone.shown(resumes - 1).unwrap() < local * MICROS_PER_SECOND);
                            assert!(zone.shown(resumes).unwrap() > local * MICROS_PER_SECOND);
                            vec![]
                        }
                    };
                    assert_eq!(found, wanted, "{name} {local}");
                }
            }
        }
    }
}
