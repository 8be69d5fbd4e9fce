//! Scopes (R10, R11): paths such as `acme/billing/prod`; patterns over them (`acme/**`,
//! `acme/*/prod`) and globs over names. A scope's first segment is its tenant.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::limits::SCOPE_SEGMENTS_MAX;
use crate::model::name::{Tenant, check_name};
use crate::model::refusal::{Reason, Refusal};

/// A path of non-empty segments; where a fact counts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope(Arc<str>);

impl Scope {
    /// Checks and wraps a path.
    ///
    /// # Errors
    /// `bad_name` for an empty segment, `*` in a segment, or what R9 forbids; `limit_exceeded` for
    /// too many bytes or segments.
    pub fn new(text: &str) -> Result<Self, Refusal> {
        check_name("scope", text)?;
        if text.split('/').any(str::is_empty) {
            return Err(Refusal::new(
                Reason::BadName,
                format!("scope {text:?} has an empty segment; write it like acme/billing/prod"),
            )
            .at("scope"));
        }
        if text.contains('*') {
            return Err(Refusal::new(
                Reason::BadName,
                format!(
                    "scope {text:?} contains `*`; a pattern goes with --across, a scope is one path"
                ),
            )
            .at("scope"));
        }
        if text.split('/').count() > SCOPE_SEGMENTS_MAX {
            return Err(Refusal::new(
                Reason::LimitExceeded,
                format!("scope has more than {SCOPE_SEGMENTS_MAX} segments"),
            )
            .at("scope"));
        }
        Ok(Self(Arc::from(text)))
    }

    /// The path as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first segment.
    pub fn tenant_str(&self) -> &str {
        self.0.split('/').next().unwrap_or(&self.0)
    }

    /// The first segment as a tenant.
    ///
    /// # Errors
    /// `bad_name` when the segment alone is not a name (outer white space inside the path).
    pub fn tenant(&self) -> Result<Tenant, Refusal> {
        Tenant::new(self.tenant_str())
    }

    /// Number of segments: the more, the nearer.
    pub fn depth(&self) -> usize {
        self.0.split('/').count()
    }

    /// Whether `self` is `other` or one of its ancestors.
    pub fn covers(&self, other: &Self) -> bool {
        match other.0.strip_prefix(&*self.0) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// Whether `self` is an ancestor of `other`, and not `other` itself.
    pub fn is_ancestor_of(&self, other: &Self) -> bool {
        self != other && self.covers(other)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// A pattern over scopes: `*` stands for one segment, a last `**` for the path before it and all
/// below.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ScopePattern(Arc<str>);

impl ScopePattern {
    /// Checks and wraps a pattern. The first segment names the tenant, so it is not a wildcard,
    /// except in `**` alone (every scope of the session's tenant).
    ///
    /// # Errors
    /// `bad_name` for an empty segment, for `**` before the end, or for a wildcard as tenant.
    pub fn new(text: &str) -> Result<Self, Refusal> {
        check_name("scope", text)?;
        let segments: Vec<&str> = text.split('/').collect();
        let last = segments.len().saturating_sub(1);
        for (place, segment) in segments.iter().enumerate() {
            let fault = if segment.is_empty() {
                "has an empty segment"
            } else if *segment == "**" && place != last {
                "has `**` before its end; `**` stands last"
            } else if place == 0 && segment.contains('*') && text != "**" {
                "has a wildcard where the tenant stands; name the tenant"
            } else {
                continue;
            };
            return Err(
                Refusal::new(Reason::BadName, format!("pattern {text:?} {fault}")).at("scope")
            );
        }
        Ok(Self(Arc::from(text)))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tenant it names; `None` for `**`.
    pub fn tenant_str(&self) -> Option<&str> {
        self.0.split('/').next().filter(|s| !s.contains('*'))
    }

    /// Whether a scope matches.
    pub fn matches(&self, scope: &Scope) -> bool {
        let mut path = scope.as_str().split('/');
        for wanted in self.0.split('/') {
            if wanted == "**" {
                return true;
            }
            match path.next() {
                Some(segment) if glob(wanted, segment) => {}
                Some(_) | None => return false,
            }
        }
        path.next().is_none()
    }
}

impl fmt::Debug for ScopePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Whether `text` matches a glob in which `*` stands for any run of characters. No recursion:
/// linear in practice, quadratic at worst.
///
/// ```
/// use asof::model::scope::glob;
/// assert!(glob("health.*", "health.allergy"));
/// assert!(!glob("health.*", "sport"));
/// ```
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = rest.get(at + piece.len()..).unwrap_or(""),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(text: &str) -> Scope {
        Scope::new(text).unwrap()
    }

    #[test]
    fn a_scope_covers_itself_and_what_is_below_but_no_name_that_only_starts_alike() {
        assert!(scope("acme").covers(&scope("acme")));
        assert!(scope("acme").is_ancestor_of(&scope("acme/x")));
        assert!(!scope("acme").covers(&scope("acme2")));
        assert!(!scope("acme/x").covers(&scope("acme")));
    }

    #[test]
    fn patterns_match_one_segment_with_a_star_and_any_depth_with_two() {
        let all = ScopePattern::new("acme/**").unwrap();
        assert!(all.matches(&scope("acme")) && all.matches(&scope("acme/a/b")));
        assert!(!all.matches(&scope("acme2/a")));
        let prod = ScopePattern::new("acme/*/prod").unwrap();
        assert!(prod.matches(&scope("acme/a/prod")) && !prod.matches(&scope("acme/a/test")));
        assert!(!prod.matches(&scope("acme/prod")) && !prod.matches(&scope("acme/a/b/prod")));
        assert!(ScopePattern::new("*/prod").is_err() && ScopePattern::new("a/**/b").is_err());
    }

    #[test]
    fn bad_paths_are_named() {
        for bad in ["", "/a", "a/", "a//b", " a", "a/*"] {
            assert_eq!(Scope::new(bad).unwrap_err().reason, Reason::BadName, "{bad:?}");
        }
    }

    #[test]
    fn globs_take_any_run_of_characters() {
        assert!(glob("*", "") && glob("a*c", "abc") && glob("a*b*c", "axxbyyc"));
        assert!(!glob("a*c", "ab") && !glob("ab", "abc") && !glob("a*a", "a"));
    }
}
