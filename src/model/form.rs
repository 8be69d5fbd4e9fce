//! JSON forms of the nouns, shared by journals and answers: what was not given is left out, fields
//! stand in one fixed order.

use serde_json::{Map, Value as Json, json};

use crate::model::condition::{Conditions, Requirement};
use crate::model::kind::Kind;
use crate::model::name::Id;
use crate::model::operation::{
    ArtifactText, Memory, Premises, SourceText, Statement, Supersedes, Then,
};
use crate::time::{Start, Valid};

/// An object built field by field; what is `None` is left out.
#[derive(Default)]
pub struct Object(pub Map<String, Json>);

impl Object {
    /// Adds a field.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Json>) -> Self {
        self.0.insert(field.to_owned(), value.into());
        self
    }

    /// Adds a field, if there is a value.
    #[must_use]
    pub fn some(mut self, field: &str, value: Option<impl Into<Json>>) -> Self {
        if let Some(value) = value {
            self.0.insert(field.to_owned(), value.into());
        }
        self
    }

    /// The object as JSON.
    pub fn json(self) -> Json {
        Json::Object(self.0)
    }
}

/// An instant as text.
pub fn instant(at: Option<Valid>) -> Option<String> {
    at.map(|at| at.to_string())
}

/// An end: its instant, or null for an open one.
pub fn end(until: Option<Valid>) -> Json {
    instant(until).map_or(Json::Null, Json::String)
}

/// A start: its instant, `-inf` or `unknown`.
pub fn start(from: Start) -> String {
    match from {
        Start::Always => "-inf".to_owned(),
        Start::At(at) => at.to_string(),
        Start::Unknown => "unknown".to_owned(),
    }
}

/// A start as text, if it is known.
pub fn known_start(from: Start) -> Option<String> {
    (from != Start::Unknown).then(|| start(from))
}

/// A list of ids.
pub fn ids(ids: &[Id]) -> Json {
    ids.iter().map(Id::as_str).collect()
}

/// A list of ids; `None` if it is empty.
pub fn some_ids(list: &[Id]) -> Option<Json> {
    (!list.is_empty()).then(|| ids(list))
}

/// Premises: one list, or a list of lists; `None` if there are none.
pub fn premises(premises: &Premises) -> Option<Json> {
    match premises.as_slice() {
        [] => None,
        [one] => Some(ids(one)),
        many => Some(many.iter().map(|one| ids(one)).collect()),
    }
}

/// Conditions; `None` if there are none.
pub fn when(conditions: &Conditions) -> Option<Json> {
    if conditions.is_empty() {
        return None;
    }
    let requirement = |requirement: &Requirement| match requirement {
        Requirement::Exact(text) => json!(text),
        Requirement::Semver(text) => json!({ "semver": text }),
    };
    Some(Json::Object(conditions.iter().map(|(d, r)| (d.to_owned(), requirement(r))).collect()))
}

/// What a fact supersedes, as written; `None` if nothing.
pub fn supersedes(supersedes: &Supersedes) -> Option<Json> {
    match supersedes {
        Supersedes::Nothing => None,
        Supersedes::Current => Some(json!("current")),
        Supersedes::Ids(list) => Some(ids(list)),
    }
}

/// The fields of a source as written.
pub fn source(object: Object, said: &SourceText) -> Object {
    object
        .with("id", said.id.as_str())
        .with("scope", said.scope.as_str())
        .with("kind", said.kind.word())
        .some("uri", said.uri.clone())
        .some("text", said.text.clone())
        .some("author", said.author.clone())
        .some("stated_at", instant(said.stated_at))
        .some("supersedes", some_ids(&said.supersedes))
}

/// The fields of a statement as written.
pub fn statement(object: Object, said: &Statement) -> Object {
    object
        .with("id", said.id.as_str())
        .with("subject", said.subject.as_str())
        .with("predicate", said.predicate.as_str())
        .with("value", said.value.to_json())
        .with("scope", said.scope.as_str())
        .some("when", when(&said.when))
        .some("valid_from", known_start(said.valid_from))
        .some("valid_until", instant(said.valid_until))
        .some("source", said.source.as_ref().map(Id::as_str))
        .some("kind", said.kind.map(Kind::word))
        .some("memory", said.memory.map(Memory::word))
        .some("outcome", said.outcome.clone())
        .some("supersedes", supersedes(&said.supersedes))
        .some("then", said.then.map(Then::word))
        .some("derived_from", premises(&said.derived_from))
        .some("review_by", instant(said.review_by))
        .some("stated_at", instant(said.stated_at))
        .some("note", said.note.clone())
}

/// The fields of an artifact as written.
pub fn artifact(object: Object, said: &ArtifactText) -> Object {
    object
        .with("id", said.id.as_str())
        .with("kind", said.kind.as_str())
        .with("scope", said.scope.as_str())
        .some("when", when(&said.when))
        .with("place", said.place.as_str())
        .some("text", said.text.clone())
        .some("derived_from", premises(&said.derived_from))
        .some("valid_from", known_start(said.valid_from))
        .some("valid_until", instant(said.valid_until))
        .some("supersedes", some_ids(&said.supersedes))
}
