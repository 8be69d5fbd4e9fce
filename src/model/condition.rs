//! Conditions (R12): what a fact applies to, and the context a question brings.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::model::limits::{CONDITIONS_MAX, TEXT_BYTES_MAX};
use crate::model::name::check_name;
use crate::model::refusal::{Reason, Refusal};

/// What one dimension must be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Requirement {
    /// Exactly this text.
    Exact(String),
    /// A version requirement such as `>=2.0, <3.0`, as written.
    Semver(String),
}

impl Requirement {
    /// A checked version requirement.
    ///
    /// # Errors
    /// `bad_value` when it is not a version requirement.
    pub fn semver(text: &str) -> Result<Self, Refusal> {
        semver::VersionReq::parse(text).map_err(|error| {
            Refusal::new(
                Reason::BadValue,
                format!(
                    "{text:?} is not a version requirement ({error}); write it like \">=2.0, <3.0\""
                ),
            )
            .at("when")
        })?;
        Ok(Self::Semver(text.to_owned()))
    }

    /// Whether a value of the context meets it. A version may leave out its minor and patch
    /// numbers (`2.0` is `2.0.0`); what is no version meets no version requirement.
    pub fn met_by(&self, given: &str) -> bool {
        match self {
            Self::Exact(wanted) => wanted == given,
            Self::Semver(wanted) => match (semver::VersionReq::parse(wanted), version(given)) {
                (Ok(wanted), Some(given)) => wanted.matches(&given),
                (Ok(_) | Err(_), _) => false,
            },
        }
    }
}

/// Reads a version leniently: one or two numbers are completed with zeros.
fn version(text: &str) -> Option<semver::Version> {
    let cut = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at_checked(cut)?;
    let missing = match numbers.split('.').count() {
        1 => ".0.0",
        2 => ".0",
        _ => "",
    };
    semver::Version::parse(&format!("{numbers}{missing}{rest}")).ok()
}

/// The conditions of a fact: dimensions with what each must be. Empty = applies always.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Conditions(BTreeMap<String, Requirement>);

impl Hash for Conditions {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.len().hash(state);
        for (dimension, requirement) in &self.0 {
            dimension.hash(state);
            requirement.hash(state);
        }
    }
}

/// What one fact's conditions come to in a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applies {
    /// All conditions are met.
    Yes,
    /// This dimension is not met.
    NotMet(String),
    /// This dimension is not in the context; all others are met.
    Unknown(String),
}

impl Conditions {
    /// Checks and wraps dimensions.
    ///
    /// # Errors
    /// `bad_name` for a dimension R9 does not allow, `limit_exceeded` for too many or too long.
    pub fn new(dimensions: BTreeMap<String, Requirement>) -> Result<Self, Refusal> {
        if dimensions.len() > CONDITIONS_MAX {
            return Err(Refusal::new(
                Reason::LimitExceeded,
                format!("`when` has more than {CONDITIONS_MAX} dimensions"),
            )
            .at("when"));
        }
        for (dimension, requirement) in &dimensions {
            check_name("when", dimension)?;
            let (Requirement::Exact(text) | Requirement::Semver(text)) = requirement;
            if text.len() > TEXT_BYTES_MAX {
                return Err(
                    Refusal::new(Reason::LimitExceeded, "a condition is too long").at("when")
                );
            }
        }
        Ok(Self(dimensions))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Dimensions and requirements, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Requirement)> {
        self.0.iter().map(|(d, r)| (d.as_str(), r))
    }

    /// Whether the dimensions are a strict superset of the other's (section 6, step 9).
    pub fn narrower_than(&self, other: &Self) -> bool {
        self.0.len() > other.0.len() && other.0.keys().all(|d| self.0.contains_key(d))
    }

    /// Whether they are met in a context. The first dimension by name is named; one that is not
    /// met before one that is unknown.
    pub fn applies(&self, context: &Context) -> Applies {
        let mut unknown = None;
        for (dimension, requirement) in &self.0 {
            match context.0.get(dimension) {
                Some(given) if requirement.met_by(given) => {}
                Some(_) => return Applies::NotMet(dimension.clone()),
                None => {
                    unknown.get_or_insert(dimension);
                }
            }
        }
        unknown.map_or(Applies::Yes, |dimension| Applies::Unknown(dimension.clone()))
    }
}

/// What a question says of its circumstances: `version=3.0`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context(BTreeMap<String, String>);

impl Context {
    /// A context from dimensions and values.
    pub fn new(dimensions: BTreeMap<String, String>) -> Self {
        Self(dimensions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(pairs: &[(&str, &str)]) -> Context {
        Context::new(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
    }

    #[test]
    fn a_short_version_is_completed_and_no_version_meets_nothing() {
        let wanted = Requirement::semver(">=2.0, <3.0").unwrap();
        assert!(wanted.met_by("2") && wanted.met_by("2.9") && wanted.met_by("2.9.1"));
        assert!(!wanted.met_by("3.0") && !wanted.met_by("two") && !wanted.met_by(""));
        assert!(Requirement::semver("between 2 and 3").is_err());
    }

    #[test]
    fn not_met_is_named_before_unknown() {
        let when = Conditions::new(BTreeMap::from([
            ("a".to_owned(), Requirement::Exact("1".to_owned())),
            ("b".to_owned(), Requirement::Exact("2".to_owned())),
        ]))
        .unwrap();
        assert_eq!(when.applies(&context(&[("b", "3")])), Applies::NotMet("b".to_owned()));
        assert_eq!(when.applies(&context(&[("b", "2")])), Applies::Unknown("a".to_owned()));
        assert_eq!(when.applies(&context(&[("a", "1"), ("b", "2")])), Applies::Yes);
    }
}
