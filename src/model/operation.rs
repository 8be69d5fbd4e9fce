//! Operations: all that is ever written (SPEC section 4), as Rust types. Times are resolved, names
//! checked; whether an operation may happen is the gate's question, not asked here.

use serde::{Deserialize, Serialize};

use crate::model::condition::Conditions;
use crate::model::kind::{Authority, Kind};
use crate::model::name::{Id, Predicate, Subject, Tenant};
use crate::model::scope::{Scope, ScopePattern};
use crate::model::value::Value;
use crate::time::{Span, Start, Valid};

/// How many values of a predicate hold at once (R13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cardinality {
    /// One: two different values are a conflict.
    #[default]
    One,
    /// Any number: values live side by side.
    Many,
}

/// What comes after an override has ended (R25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Then {
    /// The old fact is known again.
    Resume,
    /// The old fact is returned with a doubt.
    Uncertain,
    /// The same, with a question.
    Ask,
    /// A replacement: the old fact does not come back.
    Never,
}

/// Kinds of memory with rules of their own (R20b).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Memory {
    /// State of work under way; it ends.
    Working,
    /// Something that happened.
    Episodic,
    /// Something that is so.
    Semantic,
    /// A way of working.
    Procedural,
}

/// Why something is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Takeback {
    /// It was wrong: as if it had never been.
    Mistaken,
    /// Its source no longer stands behind it.
    Withdrawn,
}

macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $name {
            /// The word used in journals and answers.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value a word names.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }

            /// All words, for messages.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }
    };
}

words!(Cardinality { One = "one", Many = "many" });
words!(Then { Resume = "resume", Uncertain = "uncertain", Ask = "ask", Never = "never" });
words!(Memory { Working = "working", Episodic = "episodic", Semantic = "semantic", Procedural = "procedural" });
words!(Takeback { Mistaken = "mistaken", Withdrawn = "withdrawn" });

/// What a fact takes the place of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Supersedes {
    /// Nothing.
    #[default]
    Nothing,
    /// What is current: every open fact of this slot, scope and conditions whose period overlaps
    /// and whose kind is not stronger (R20a).
    Current,
    /// These, by id.
    Ids(Vec<Id>),
}

impl Supersedes {
    /// The ids named; none for `current`.
    pub fn ids(&self) -> &[Id] {
        match self {
            Self::Ids(ids) => ids,
            Self::Nothing | Self::Current => &[],
        }
    }
}

/// Alternatives (OR) of premises that must all hold (AND).
pub type Premises = Vec<Vec<Id>>;

/// What `assert` says: one fact as written. Two statements are identical when all fields are
/// equal (R9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Its id.
    pub id: Id,
    /// What it is about.
    pub subject: Subject,
    /// Which property.
    pub predicate: Predicate,
    /// What it says.
    pub value: Value,
    /// Where it counts.
    pub scope: Scope,
    /// What it applies to.
    pub when: Conditions,
    /// Where its valid period starts, inclusive.
    pub valid_from: Start,
    /// Where its valid period ends, exclusive; `None` = open.
    pub valid_until: Option<Valid>,
    /// The source it comes from.
    pub source: Option<Id>,
    /// Its own kind, if one was given.
    pub kind: Option<Kind>,
    /// Its kind of memory.
    pub memory: Option<Memory>,
    /// How it went, for ways of working.
    pub outcome: Option<String>,
    /// What it takes the place of.
    pub supersedes: Supersedes,
    /// What comes after it, if said.
    pub then: Option<Then>,
    /// What it was made from.
    pub derived_from: Premises,
    /// When it must be looked at again, if said.
    pub review_by: Option<Valid>,
    /// When the source says it was said; decides nothing (R6).
    pub stated_at: Option<Valid>,
    /// A remark.
    pub note: Option<String>,
}

/// What `source` says: one utterance, document or reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    /// Its id.
    pub id: Id,
    /// Where it counts.
    pub scope: Scope,
    /// How it came about.
    pub kind: Kind,
    /// Where it is to be found.
    pub uri: Option<String>,
    /// What it says.
    pub text: Option<String>,
    /// Whose words they are.
    pub author: Option<String>,
    /// When it was said or written.
    pub stated_at: Option<Valid>,
    /// Sources it takes the place of.
    pub supersedes: Vec<Id>,
}

/// What `artifact` says: something made from facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactText {
    /// Its id.
    pub id: Id,
    /// summary, vector, cache, report, rule or any other word.
    pub kind: String,
    /// Where it counts.
    pub scope: Scope,
    /// What it applies to.
    pub when: Conditions,
    /// Where the copy is kept.
    pub place: String,
    /// Its text, if kept here.
    pub text: Option<String>,
    /// What it was made from.
    pub derived_from: Premises,
    /// Where its valid period starts, inclusive.
    pub valid_from: Start,
    /// Where its valid period ends, exclusive.
    pub valid_until: Option<Valid>,
    /// Artifacts it takes the place of.
    pub supersedes: Vec<Id>,
}

/// What `correct` changes; what is `None` is carried over (R26).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Id of the correcting fact.
    pub id: Option<Id>,
    /// Its subject, if given; a correction stays in its slot.
    pub subject: Option<Subject>,
    /// Its predicate, if given; a correction stays in its slot.
    pub predicate: Option<Predicate>,
    /// A narrower scope.
    pub scope: Option<Scope>,
    /// Another value.
    pub value: Option<Value>,
    /// Other conditions.
    pub when: Option<Conditions>,
    /// Another start.
    pub valid_from: Option<Start>,
    /// Another end; `Some(None)` = open.
    pub valid_until: Option<Option<Valid>>,
    /// Its source.
    pub source: Option<Id>,
    /// Another kind of memory.
    pub memory: Option<Memory>,
    /// How it went.
    pub outcome: Option<String>,
    /// What comes after it.
    pub then: Option<Then>,
    /// What it was made from.
    pub derived_from: Premises,
    /// When it must be looked at again.
    pub review_by: Option<Valid>,
    /// When the source says it was said.
    pub stated_at: Option<Valid>,
    /// A remark.
    pub note: Option<String>,
}

/// A declaration of a predicate; what is `None` stays as it was (R13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// The predicate.
    pub name: Predicate,
    /// How many values hold at once.
    pub cardinality: Option<Cardinality>,
    /// The type its values have, as [`Value::type_word`] names it.
    pub value_type: Option<String>,
    /// Whose word counts more.
    pub authority: Option<Authority>,
    /// What comes after an override, when it does not say.
    pub then: Option<Then>,
    /// How often its facts must be looked at.
    pub review_every: Option<Span>,
}

/// What is not taken in from now on (R24).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    /// Its id.
    pub id: Id,
    /// Scopes it covers.
    pub scope: ScopePattern,
    /// Subjects it covers, as a glob; `None` = all.
    pub subject: Option<String>,
    /// Predicates it covers, as a glob; `None` = all.
    pub predicate: Option<String>,
    /// The kind it covers; `None` = all.
    pub kind: Option<Kind>,
    /// Facts recorded before this instant; `None` = for good.
    pub until: Option<Valid>,
}

/// What an erasure is aimed at (R35).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EraseTarget {
    /// A fact, source or artifact.
    Id(Id),
    /// All of a subject in a scope.
    Subject(Subject, Scope),
    /// All of a scope.
    Scope(Scope),
}

/// One thing to do, as asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Declares a predicate.
    Predicate(Declaration),
    /// Brings a source.
    Source(SourceText),
    /// States a fact.
    Assert(Box<Statement>),
    /// Notes something made from facts.
    Artifact(Box<ArtifactText>),
    /// Another independent justification of a target.
    Support(Id, Premises),
    /// Looked again; still holds.
    Affirm(Id, Option<Valid>),
    /// Stops holding at an instant, exclusive; `None` = no longer stops.
    End(Id, Option<Valid>),
    /// It was wrong; this is right.
    Correct(Id, Box<Changes>),
    /// Takes back a source, fact or artifact.
    Retract(Id, Takeback),
    /// Takes back every copy of a claim.
    RetractClaim(Subject, Predicate, Value, Scope, Takeback),
    /// Undoes retract, correct or reject.
    Reinstate(Id),
    /// Stops using; keeps for history.
    Disable(Id),
    /// Uses again.
    Enable(Id),
    /// Removes content.
    Erase(EraseTarget),
    /// Accepts a held proposal.
    Confirm(Id),
    /// Declines a held proposal.
    Reject(Id),
    /// Settles a conflict: the kept fact supersedes the claims of the others.
    Resolve(Vec<Id>, Id, Option<String>),
    /// Stops taking in such facts.
    Suppress(Suppression),
    /// Takes them in again.
    Unsuppress(Id),
    /// The copy kept elsewhere has been dealt with.
    Done(Id, Option<String>),
}

impl Action {
    /// The name of the operation in journals and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Predicate(_) => "predicate",
            Self::Source(_) => "source",
            Self::Assert(_) => "assert",
            Self::Artifact(_) => "artifact",
            Self::Support(..) => "support",
            Self::Affirm(..) => "affirm",
            Self::End(..) => "end",
            Self::Correct(..) => "correct",
            Self::Retract(..) => "retract",
            Self::RetractClaim(..) => "retract_claim",
            Self::Reinstate(_) => "reinstate",
            Self::Disable(_) => "disable",
            Self::Enable(_) => "enable",
            Self::Erase(_) => "erase",
            Self::Confirm(_) => "confirm",
            Self::Reject(_) => "reject",
            Self::Resolve(..) => "resolve",
            Self::Suppress(_) => "suppress",
            Self::Unsuppress(_) => "unsuppress",
            Self::Done(..) => "done",
        }
    }

    /// The scope it is written to, for operations that have one.
    pub fn scope(&self) -> Option<&Scope> {
        match self {
            Self::Source(s) => Some(&s.scope),
            Self::Assert(s) => Some(&s.scope),
            Self::Artifact(a) => Some(&a.scope),
            Self::RetractClaim(_, _, _, scope, _) => Some(scope),
            Self::Erase(EraseTarget::Subject(_, scope) | EraseTarget::Scope(scope)) => Some(scope),
            Self::Predicate(_)
            | Self::Support(..)
            | Self::Affirm(..)
            | Self::End(..)
            | Self::Correct(..)
            | Self::Retract(..)
            | Self::Reinstate(_)
            | Self::Disable(_)
            | Self::Enable(_)
            | Self::Erase(EraseTarget::Id(_))
            | Self::Confirm(_)
            | Self::Reject(_)
            | Self::Resolve(..)
            | Self::Suppress(_)
            | Self::Unsuppress(_)
            | Self::Done(..) => None,
        }
    }
}

/// An action with what is said around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What to do.
    pub action: Action,
    /// The tenant, where no scope says it (R10a).
    pub tenant: Option<Tenant>,
    /// Who acts on a target: `stated` unless said.
    pub kind: Option<Kind>,
    /// Who wrote the line.
    pub actor: Option<String>,
    /// The version the slot must have (R19).
    pub expect_version: Option<u64>,
    /// The sequence number at which the premises were read (R19).
    pub read_at: Option<u64>,
}

impl Operation {
    /// An operation with nothing said around it.
    pub fn new(action: Action) -> Self {
        Self { action, tenant: None, kind: None, actor: None, expect_version: None, read_at: None }
    }
}
