//! Journal lines in (SPEC section 4): one JSON object to one operation, with what is said around
//! it. Fields that an operation does not have are refused by name.

use serde_json::{Map, Value as Json};
use uuid::Uuid;

use crate::exchange::fields::{Fields, bad_time, missing};
use crate::exchange::strict;
use crate::model::name::{Id, Predicate, Subject, Tenant, near};
use crate::model::operation::{
    Action, ArtifactText, Cardinality, Changes, Declaration, EraseTarget, Memory, Operation,
    SourceText, Statement, Supersedes, Suppression, Takeback, Then,
};
use crate::model::refusal::{Reason, Refusal};
use crate::model::scope::{Scope, ScopePattern};
use crate::model::value::Value;
use crate::time::{Recorded, Span, Start, Zone};

/// One line read.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it asks for.
    pub operation: Operation,
    /// Its transaction id, if given.
    pub tx_id: Option<Uuid>,
    /// Its transaction label, if given.
    pub tx: Option<String>,
    /// When it was recorded, for replay.
    pub recorded_at: Option<Recorded>,
}

/// What says which lines are one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// The transaction id, if given.
    pub tx_id: Option<Uuid>,
    /// The transaction label, if given.
    pub tx: Option<String>,
    /// When it was recorded, if given.
    pub recorded_at: Option<Recorded>,
}

impl Line {
    /// What says to which transaction the line belongs.
    pub fn grouping(&self) -> Grouping {
        Grouping { tx_id: self.tx_id, tx: self.tx.clone(), recorded_at: self.recorded_at }
    }
}

/// To which transaction a line belongs that could not be read whole: it refuses that one.
pub fn grouping(text: &str) -> Grouping {
    let Ok(Json::Object(map)) = strict::parse(text) else {
        return Grouping::default();
    };
    let field = |name: &str| map.get(name).and_then(Json::as_str);
    Grouping {
        tx_id: field("tx_id").and_then(|text| Uuid::parse_str(text).ok()),
        tx: field("tx").map(str::to_owned),
        recorded_at: field("recorded_at").and_then(|text| Recorded::parse_rfc3339(text).ok()),
    }
}

/// What reading needs to know.
pub struct Reading<'a> {
    /// The zone of local times on lines without `tz`.
    pub zone: Option<&'a Zone>,
    /// Whether history is loaded: names are then taken as they were recorded.
    pub replay: bool,
    /// Makes an id for what has none.
    pub make_id: &'a (dyn Fn() -> Id + Sync),
}

const AROUND: [&str; 6] = ["op", "actor", "recorded_at", "tx", "tx_id", "tenant"];
const ASSERT: [&str; 22] = [
    "id",
    "subject",
    "predicate",
    "value",
    "scope",
    "when",
    "valid_from",
    "valid_until",
    "valid_through",
    "source",
    "kind",
    "memory",
    "outcome",
    "supersedes",
    "then",
    "derived_from",
    "review_by",
    "stated_at",
    "note",
    "expect_version",
    "read_at",
    "tz",
];
const CORRECT: [&str; 21] = [
    "target",
    "id",
    "subject",
    "predicate",
    "scope",
    "value",
    "when",
    "valid_from",
    "valid_until",
    "valid_through",
    "source",
    "kind",
    "memory",
    "outcome",
    "then",
    "derived_from",
    "review_by",
    "stated_at",
    "note",
    "expect_version",
    "read_at",
];

/// The fields of each operation, beside those that every line may carry.
const FIELDS: [(&str, &[&str]); 20] = [
    ("predicate", &["name", "cardinality", "value_type", "authority", "then", "review_every"]),
    ("source", &["id", "scope", "kind", "uri", "text", "author", "stated_at", "supersedes"]),
    ("assert", &ASSERT),
    (
        "artifact",
        &[
            "id",
            "kind",
            "scope",
            "when",
            "place",
            "text",
            "derived_from",
            "valid_from",
            "valid_until",
            "valid_through",
            "supersedes",
            "read_at",
        ],
    ),
    ("support", &["target", "derived_from", "kind"]),
    ("affirm", &["target", "review_by", "kind"]),
    ("end", &["target", "valid_until", "valid_through", "kind"]),
    ("correct", &CORRECT),
    ("retract", &["target", "reason", "kind"]),
    ("retract_claim", &["subject", "predicate", "value", "scope", "reason", "kind"]),
    ("reinstate", &["target", "kind"]),
    ("disable", &["target", "kind"]),
    ("enable", &["target", "kind"]),
    ("erase", &["target", "subject", "scope", "kind"]),
    ("confirm", &["target", "kind"]),
    ("reject", &["target", "kind"]),
    ("resolve", &["conflict", "keep", "note", "kind"]),
    ("suppress", &["id", "scope", "subject", "predicate", "kind", "until"]),
    ("unsuppress", &["id"]),
    ("done", &["artifact", "note"]),
];

/// Reads one line.
///
/// # Errors
/// `bad_line` when it is no JSON object or a field has the wrong shape, `unknown_operation`,
/// `unknown_field`, and the codes of the fields.
pub fn line(text: &str, reading: &Reading<'_>) -> Result<Line, Refusal> {
    let json = strict::parse(text)
        .map_err(|error| Refusal::new(Reason::BadLine, format!("not a JSON object: {error}")))?;
    let Json::Object(map) = json else {
        return Err(Refusal::new(
            Reason::BadLine,
            "not a JSON object; a line is one, such as {\"op\":\"assert\",…}",
        ));
    };
    object(map, reading)
}

/// Reads one object.
///
/// # Errors
/// As [`line()`].
pub fn object(map: Map<String, Json>, reading: &Reading<'_>) -> Result<Line, Refusal> {
    let mut fields = Fields::new(map, reading.zone.copied())?;
    let op = fields.need_text("op")?;
    let Some((name, own)) = FIELDS.iter().find(|(name, _)| *name == op) else {
        let near = near(&op, FIELDS.iter().map(|(name, _)| *name));
        let advice = if near.is_empty() {
            String::new()
        } else {
            format!("; did you mean {}?", near.join(", "))
        };
        return Err(Refusal::new(
            Reason::UnknownOperation,
            format!("there is no operation {op:?}{advice}"),
        )
        .at("op"));
    };
    let known: Vec<&str> = AROUND.iter().chain(own.iter()).copied().collect();
    fields.only(name, &known)?;
    let recorded_at = match fields.text("recorded_at")? {
        None => None,
        Some(text) => {
            Some(Recorded::parse_rfc3339(&text).map_err(|error| bad_time("recorded_at", &error))?)
        }
    };
    let tx_id = match fields.text("tx_id")? {
        None => None,
        Some(text) => Some(Uuid::parse_str(&text).map_err(|_| {
            Refusal::new(Reason::BadLine, format!("`tx_id` {text:?} is no UUID")).at("tx_id")
        })?),
    };
    let tx = fields.text("tx")?;
    let tenant = fields.text("tenant")?.map(|text| Tenant::new(&text)).transpose()?;
    let actor = fields.text("actor")?;
    let acting = match *name {
        "source" | "assert" | "artifact" | "suppress" | "predicate" | "unsuppress" | "done" => None,
        _ => fields.kind()?,
    };
    let expect_version = fields.number("expect_version")?;
    let read_at = fields.number("read_at")?;
    let action = action(name, &mut fields, reading)?;
    let operation = Operation { action, tenant, kind: acting, actor, expect_version, read_at };
    Ok(Line { operation, tx_id, tx, recorded_at })
}

fn action(name: &str, fields: &mut Fields, reading: &Reading<'_>) -> Result<Action, Refusal> {
    let made = |id: Option<Id>| id.unwrap_or_else(reading.make_id);
    Ok(match name {
        "predicate" => Action::Predicate(declaration(fields)?),
        "source" => Action::Source(source(fields, reading)?),
        "assert" => Action::Assert(Box::new(statement(fields, reading)?)),
        "artifact" => Action::Artifact(Box::new(artifact(fields, reading)?)),
        "support" => Action::Support(fields.need_id("target")?, fields.premises()?),
        "affirm" => Action::Affirm(fields.need_id("target")?, fields.instant("review_by")?),
        "end" => {
            let target = fields.need_id("target")?;
            Action::End(target, fields.until()?.ok_or_else(|| missing("valid_until"))?)
        }
        "correct" => {
            Action::Correct(fields.need_id("target")?, Box::new(changes(fields, reading)?))
        }
        "retract" => Action::Retract(fields.need_id("target")?, takeback(fields)?),
        "retract_claim" => {
            let (subject, predicate) = slot(fields, reading)?;
            let value = value(fields)?.ok_or_else(|| missing("value"))?;
            Action::RetractClaim(subject, predicate, value, fields.scope()?, takeback(fields)?)
        }
        "reinstate" => Action::Reinstate(fields.need_id("target")?),
        "disable" => Action::Disable(fields.need_id("target")?),
        "enable" => Action::Enable(fields.need_id("target")?),
        "erase" => Action::Erase(erase(fields)?),
        "confirm" => Action::Confirm(fields.need_id("target")?),
        "reject" => Action::Reject(fields.need_id("target")?),
        "resolve" => {
            let conflict = fields.ids("conflict")?;
            Action::Resolve(conflict, fields.need_id("keep")?, fields.text("note")?)
        }
        "suppress" => {
            let id = made(fields.id("id")?);
            Action::Suppress(suppression(fields, id)?)
        }
        "unsuppress" => Action::Unsuppress(fields.need_id("id")?),
        _ => Action::Done(fields.need_id("artifact")?, fields.text("note")?),
    })
}

fn slot(fields: &mut Fields, reading: &Reading<'_>) -> Result<(Subject, Predicate), Refusal> {
    let text = fields.need_text("subject")?;
    let subject = if reading.replay { Subject::recorded(&text)? } else { Subject::new(&text)? };
    let predicate = Predicate::new(&fields.need_text("predicate")?)?;
    Ok((subject, predicate))
}

fn value(fields: &mut Fields) -> Result<Option<Value>, Refusal> {
    fields.take("value").map(|json| Value::from_json(&json)).transpose()
}

fn takeback(fields: &mut Fields) -> Result<Takeback, Refusal> {
    let reason = fields.word("reason", Takeback::WORDS, Takeback::from_word)?;
    reason.ok_or_else(|| {
        Refusal::new(
            Reason::BadLine,
            "`reason` is missing; say \"mistaken\" (it was wrong) or \"withdrawn\" (its source no longer stands behind it)",
        )
        .at("reason")
    })
}

fn declaration(fields: &mut Fields) -> Result<Declaration, Refusal> {
    let review_every = match fields.text("review_every")? {
        None => None,
        Some(text) => Some(Span::parse(&text).map_err(|error| bad_time("review_every", &error))?),
    };
    Ok(Declaration {
        name: Predicate::new(&fields.need_text("name")?)?,
        cardinality: fields.word("cardinality", Cardinality::WORDS, Cardinality::from_word)?,
        value_type: fields.text("value_type")?,
        authority: fields.authority()?,
        then: fields.word("then", Then::WORDS, Then::from_word)?,
        review_every,
    })
}

fn source(fields: &mut Fields, reading: &Reading<'_>) -> Result<SourceText, Refusal> {
    Ok(SourceText {
        scope: fields.scope()?,
        id: fields.id("id")?.unwrap_or_else(reading.make_id),
        kind: fields.kind()?.ok_or_else(|| missing("kind"))?,
        uri: fields.text("uri")?,
        text: fields.text("text")?,
        author: fields.text("author")?,
        stated_at: fields.instant("stated_at")?,
        supersedes: fields.ids("supersedes")?,
    })
}

fn statement(fields: &mut Fields, reading: &Reading<'_>) -> Result<Statement, Refusal> {
    let scope = fields.scope()?;
    let (subject, predicate) = slot(fields, reading)?;
    let supersedes = match fields.take("supersedes") {
        None => Supersedes::Nothing,
        Some(Json::String(word)) if word == "current" => Supersedes::Current,
        Some(Json::Array(list)) if list.is_empty() => Supersedes::Nothing,
        Some(list @ Json::Array(_)) => {
            let mut one = Map::new();
            one.insert("supersedes".to_owned(), list);
            Supersedes::Ids(Fields::new(one, None)?.ids("supersedes")?)
        }
        Some(_) => {
            return Err(Refusal::new(
                Reason::BadLine,
                "`supersedes` is neither a list of ids nor \"current\"",
            )
            .at("supersedes"));
        }
    };
    Ok(Statement {
        id: fields.id("id")?.unwrap_or_else(reading.make_id),
        subject,
        predicate,
        value: value(fields)?.ok_or_else(|| missing("value"))?,
        scope,
        when: fields.when()?.unwrap_or_default(),
        valid_from: fields.start()?.unwrap_or(Start::Unknown),
        valid_until: fields.until()?.flatten(),
        source: fields.id("source")?,
        kind: fields.kind()?,
        memory: fields.word("memory", Memory::WORDS, Memory::from_word)?,
        outcome: fields.text("outcome")?,
        supersedes,
        then: fields.word("then", Then::WORDS, Then::from_word)?,
        derived_from: fields.premises()?,
        review_by: fields.instant("review_by")?,
        stated_at: fields.instant("stated_at")?,
        note: fields.text("note")?,
    })
}

fn changes(fields: &mut Fields, reading: &Reading<'_>) -> Result<Changes, Refusal> {
    Ok(Changes {
        id: Some(fields.id("id")?.unwrap_or_else(reading.make_id)),
        subject: fields.text("subject")?.map(|text| Subject::new(&text)).transpose()?,
        predicate: fields.text("predicate")?.map(|text| Predicate::new(&text)).transpose()?,
        scope: fields.text("scope")?.map(|text| Scope::new(&text)).transpose()?,
        value: value(fields)?,
        when: fields.when()?,
        valid_from: fields.start()?,
        valid_until: fields.until()?,
        source: fields.id("source")?,
        memory: fields.word("memory", Memory::WORDS, Memory::from_word)?,
        outcome: fields.text("outcome")?,
        then: fields.word("then", Then::WORDS, Then::from_word)?,
        derived_from: fields.premises()?,
        review_by: fields.instant("review_by")?,
        stated_at: fields.instant("stated_at")?,
        note: fields.text("note")?,
    })
}

fn artifact(fields: &mut Fields, reading: &Reading<'_>) -> Result<ArtifactText, Refusal> {
    let scope = fields.scope()?;
    let kind = fields.need_text("kind")?;
    crate::model::name::check_name("kind", &kind)?;
    Ok(ArtifactText {
        id: fields.id("id")?.unwrap_or_else(reading.make_id),
        kind,
        scope,
        when: fields.when()?.unwrap_or_default(),
        place: fields.need_text("place")?,
        text: fields.text("text")?,
        derived_from: fields.premises()?,
        valid_from: fields.start()?.unwrap_or(Start::Unknown),
        valid_until: fields.until()?.flatten(),
        supersedes: fields.ids("supersedes")?,
    })
}

fn suppression(fields: &mut Fields, id: Id) -> Result<Suppression, Refusal> {
    let scope = fields.text("scope")?.ok_or_else(|| {
        Refusal::new(Reason::NoScope, "`scope` is missing; give a pattern such as \"acme/**\"")
            .at("scope")
    })?;
    Ok(Suppression {
        id,
        scope: ScopePattern::new(&scope)?,
        subject: fields.text("subject")?,
        predicate: fields.text("predicate")?,
        kind: fields.kind()?,
        until: fields.instant("until")?,
    })
}

fn erase(fields: &mut Fields) -> Result<EraseTarget, Refusal> {
    let target = fields.id("target")?;
    let subject = fields.text("subject")?.map(|text| Subject::new(&text)).transpose()?;
    let scope: Option<Scope> = fields.text("scope")?.map(|text| Scope::new(&text)).transpose()?;
    match (target, subject, scope) {
        (Some(target), None, None) => Ok(EraseTarget::Id(target)),
        (None, Some(subject), Some(scope)) => Ok(EraseTarget::Subject(subject, scope)),
        (None, None, Some(scope)) => Ok(EraseTarget::Scope(scope)),
        (None, Some(_), None) => {
            Err(Refusal::new(Reason::NoScope, "`erase` of a subject names its `scope`").at("scope"))
        }
        (None, None, None) => Err(missing("target")),
        (Some(_), _, _) => Err(Refusal::new(
            Reason::BadLine,
            "`erase` takes `target`, or `subject` and `scope`, or `scope`",
        )),
    }
}
