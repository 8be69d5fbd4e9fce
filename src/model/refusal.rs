//! Refusals and verdicts as values: what the gate said of an operation, and why (SPEC section 5).
//! Codes are stable; messages say what, where and what to do.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Why an operation was refused: the stable codes of R18.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Reason { $($(#[$doc])* $name,)* }

        impl Reason {
            /// The stable code, as written in reports and JSON.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Every code there is, in the order of the rules.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

reasons! {
    /// A period whose two ends are one instant (R2).
    EmptyPeriod = "empty_period",
    /// A period that ends before it starts (R2).
    InvertedPeriod = "inverted_period",
    /// A local time or bare date without offset or zone (R3).
    NoOffset = "no_offset",
    /// Not a time, or outside the range that can be printed (R1).
    BadTime = "bad_time",
    /// A local time that a clock change skips (R3).
    SkippedLocalTime = "skipped_local_time",
    /// A local time that a clock change repeats (R3).
    AmbiguousLocalTime = "ambiguous_local_time",
    /// A replayed recorded instant not later than the last one (R15).
    NotIncreasing = "not_increasing",
    /// No scope given (R10).
    NoScope = "no_scope",
    /// A name that R9 does not allow.
    BadName = "bad_name",
    /// A field the operation does not have (section 4).
    UnknownField = "unknown_field",
    /// An operation there is not.
    UnknownOperation = "unknown_operation",
    /// An id this tenant does not have (R10a).
    UnknownTarget = "unknown_target",
    /// The target's content has been erased.
    TargetErased = "target_erased",
    /// The id is in use with other content (R9).
    IdTaken = "id_taken",
    /// The store holds several tenants and the line names none (R10a).
    NoTenant = "no_tenant",
    /// Neither source, kind nor premises (R20).
    NoSource = "no_source",
    /// A memory kind without what it needs (R20b).
    MemoryRule = "memory_rule",
    /// The operation's kind is weaker than its target's (R20).
    WeakerKind = "weaker_kind",
    /// A replayed recorded instant later than the clock (R15).
    InFuture = "in_future",
    /// Superseding a fact of another subject or predicate (R18).
    SlotMismatch = "slot_mismatch",
    /// Superseding a fact of a scope that is not one's own or an ancestor (R18).
    ScopeMismatch = "scope_mismatch",
    /// A cycle in supersedes or derived-from (R18).
    Cycle = "cycle",
    /// The slot has another version than expected (R19).
    VersionConflict = "version_conflict",
    /// A premise changed after it was read (R19).
    StalePremise = "stale_premise",
    /// A claim that was taken back would come back by itself (R23).
    Revival = "revival",
    /// Such facts are not taken in (R24).
    Suppressed = "suppressed",
    /// A limit of the limits file.
    LimitExceeded = "limit_exceeded",
    /// The target is closed or held (R23a).
    NotOpen = "not_open",
    /// The target is not held (R23a).
    NotHeld = "not_held",
    /// Not a JSON object, a field given twice, or a field of the wrong shape.
    BadLine = "bad_line",
    /// A value that R8 or the predicate's declared type does not allow.
    BadValue = "bad_value",
    /// The session's grants do not cover the operation (R10a).
    NotPermitted = "not_permitted",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A refused operation: the code, a sentence that says what to do, and the field it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stable code.
    pub reason: Reason,
    /// What is wrong, where, and what to do.
    pub message: String,
    /// The field the refusal is about, if one.
    pub field: Option<String>,
}

impl Refusal {
    /// A refusal with its sentence.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), field: None }
    }

    /// Names the field the refusal is about.
    #[must_use]
    pub fn at(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

impl std::error::Error for Refusal {}

/// What the gate said of one operation (SPEC section 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Taken in and in force.
    Admitted,
    /// Nothing to do: the store says so already.
    Unchanged,
    /// Kept but not used until it is confirmed.
    Held,
    /// Not taken in.
    Refused(Refusal),
}

impl Verdict {
    /// The word used in reports and JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Unchanged => "unchanged",
            Self::Held => "held",
            Self::Refused(_) => "refused",
        }
    }
}
