//! Names and ids (R9): non-empty UTF-8 without control characters or outer white space, at most
//! 1,024 bytes, any script. Each role is a type of its own, so that a subject is never passed for
//! a predicate. Names are shared, not copied: cloning one is a counter.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::limits::{NAME_BYTES_MAX, NEAR_MATCHES};
use crate::model::refusal::{Reason, Refusal};

/// Checks a text against R9.
///
/// # Errors
/// `bad_name` when it is empty, has outer white space or a control character; `limit_exceeded`
/// when it is longer than [`NAME_BYTES_MAX`] bytes. `field` names the place in the message.
pub fn check_name(field: &str, text: &str) -> Result<(), Refusal> {
    let fault = if text.is_empty() {
        "is empty; give it a name".to_owned()
    } else if text.len() > NAME_BYTES_MAX {
        return Err(Refusal::new(
            Reason::LimitExceeded,
            format!("`{field}` has {} bytes; at most {NAME_BYTES_MAX} are allowed", text.len()),
        )
        .at(field));
    } else if text.trim() != text {
        format!("{text:?} starts or ends with white space; remove it")
    } else if let Some(c) = text.chars().find(|c| c.is_control()) {
        format!("{text:?} contains the control character U+{:04X}; remove it", u32::from(c))
    } else {
        return Ok(());
    };
    Err(Refusal::new(Reason::BadName, format!("`{field}` {fault}")).at(field))
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $field:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and wraps a text.
            ///
            /// # Errors
            /// `bad_name` or `limit_exceeded`, see [`check_name`].
            pub fn new(text: &str) -> Result<Self, Refusal> {
                check_name($field, text)?;
                Ok(Self(Arc::from(text)))
            }

            /// The text as written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }
    };
}

name_type!(
    /// Id of a fact, a source, an artifact or a suppression; one name space a tenant (R9).
    Id,
    "id"
);
name_type!(
    /// What a fact is about.
    Subject,
    "subject"
);
name_type!(
    /// Which property of the subject a fact states.
    Predicate,
    "predicate"
);
impl Subject {
    /// A subject as some history recorded it: trailing spaces are kept, since the register had
    /// them. For replay and for questions; everything else goes through [`Subject::new`].
    ///
    /// # Errors
    /// As [`Subject::new`], trailing spaces excepted.
    pub fn recorded(text: &str) -> Result<Self, Refusal> {
        check_name("subject", text.trim_end_matches(' '))?;
        if text.len() > NAME_BYTES_MAX { Self::new(text) } else { Ok(Self(Arc::from(text))) }
    }
}

name_type!(
    /// The isolation boundary: the first segment of every scope (R10a).
    Tenant,
    "tenant"
);

/// The nearest of some names, nearest first: a few letters off, or at least alike from the start
/// (`valid_to` for `valid_until`).
pub fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let letters = |text: &str| text.chars().count();
    let mut near: Vec<(usize, &str)> = names
        .filter_map(|other| {
            let off = strsim::damerau_levenshtein(name, other);
            let limit = (letters(name).max(letters(other)) / 3).max(2);
            let alike = strsim::jaro_winkler(name, other) > 0.88;
            (off <= limit || alike).then_some((off, other))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(NEAR_MATCHES).map(|(_, other)| other.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_script_pass_and_blank_or_control_ones_do_not() {
        for good in ["a", "日本語", "naïve", "👩‍🚀", "a b", "مرحبا", "\"quoted\""] {
            assert!(Subject::new(good).is_ok(), "{good}");
        }
        for bad in ["", " a", "a ", "a\nb", "\u{0}", "\u{7f}"] {
            assert_eq!(Subject::new(bad).unwrap_err().reason, Reason::BadName, "{bad:?}");
        }
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        assert_eq!(Id::new(&long).unwrap_err().reason, Reason::LimitExceeded);
    }
}
