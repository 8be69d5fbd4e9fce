//! Time zones by IANA name.

use chrono_tz::{TZ_VARIANTS, Tz};

use crate::time::error::TimeError;

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone(Tz);

impl Zone {
    /// A zone from its IANA name, such as `Europe/Berlin`; `Z` is `UTC`.
    ///
    /// # Errors
    /// [`TimeError::NoZone`], with names like it.
    pub fn parse(name: &str) -> Result<Self, TimeError> {
        if name.eq_ignore_ascii_case("z") {
            return Ok(Self(Tz::UTC));
        }
        name.parse().map(Self).map_err(|_| TimeError::NoZone { name: name.to_owned(), near: near(name) })
    }

    /// Its IANA name.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    pub(super) fn tz(self) -> Tz {
        self.0
    }
}

fn near(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = TZ_VARIANTS
        .iter()
        .map(|zone| zone.name())
        .map(|zone| {
            let city = zone.rsplit('/').next().unwrap_or(zone).to_lowercase();
            let whole = strsim::damerau_levenshtein(&lower, &zone.to_lowercase());
            (whole.min(strsim::damerau_levenshtein(&lower, &city)), zone)
        })
        .filter(|(far, _)| *far <= 2)
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, zone)| zone.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_zone_is_told_with_the_right_spelling() {
        for wrong in ["Europe/Berln", "europe/berlin", "Berlin"] {
            let Err(TimeError::NoZone { near, .. }) = Zone::parse(wrong) else { panic!("{wrong}") };
            assert_eq!(near[0], "Europe/Berlin", "{wrong}");
        }
        assert_eq!(Zone::parse("Z").unwrap().name(), "UTC");
    }
}
