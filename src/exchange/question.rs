//! Questions in: one JSON object such as `{"get":{"subject":…}}` to one [`Question`]. The command
//! line makes the same values, so both are answered in one way.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::exchange::fields::{Fields, bad_time, missing};
use crate::exchange::strict;
use crate::exchange::wide;
use crate::model::condition::Context;
use crate::model::name::{Predicate, Subject, Tenant, near};
use crate::model::refusal::{Reason, Refusal};
use crate::model::scope::{Scope, ScopePattern};
use crate::model::value::Value;
use crate::query::agenda::List;
use crate::query::diff::Between;
use crate::query::lineage::{Filter, Way};
use crate::query::node::NodeAsk;
use crate::query::slots::{Count, Pattern, Reach};
use crate::query::view::Ask;
use crate::time::{Recorded, Valid, Zone, parse_instant};

/// A question of section 9.
#[derive(Clone, Debug)]
pub enum Question {
    /// What holds.
    Get(Subject, Predicate, Ask),
    /// Why it is the answer.
    Explain(Subject, Predicate, Ask),
    /// The answer along valid time.
    Timeline(Subject, Predicate, Ask),
    /// How the answer changed along recorded time.
    Beliefs(Subject, Predicate, Ask),
    /// Every version of every fact.
    History(Subject, Option<Predicate>, Reach, Option<Recorded>),
    /// What answers match a pattern.
    Find(Pattern, Reach, Box<Ask>),
    /// May these be used?
    Usable(Vec<String>, NodeAsk),
    /// One node whole.
    Show(String, NodeAsk),
    /// What scopes, subjects or predicates there are.
    Counts(Count, Reach),
    /// What is open: worklist, conflicts, held, due.
    List(List, Reach, Box<Ask>),
    /// What rests on what, or what took the place of what.
    Walk(Way, String, Box<Filter>, NodeAsk),
    /// The whole live graph.
    Snapshot(Reach, Box<Ask>),
    /// What is answered differently between two points.
    Diff(Reach, Box<Ask>, Between),
}

/// A question with the tenant it names, if it does.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What is asked.
    pub question: Question,
    /// Of which tenant, where no scope says it.
    pub tenant: Option<Tenant>,
}

const KINDS: [&str; 20] = [
    "get",
    "explain",
    "timeline",
    "beliefs",
    "history",
    "find",
    "usable",
    "show",
    "scopes",
    "subjects",
    "predicates",
    "worklist",
    "conflicts",
    "held",
    "due",
    "impact",
    "why",
    "chain",
    "snapshot",
    "diff",
];
const FIELDS: [&str; 20] = [
    "subject",
    "predicate",
    "value",
    "scope",
    "across",
    "inherit",
    "with",
    "valid_at",
    "known_at",
    "at",
    "ids",
    "id",
    "tenant",
    "tz",
    "limit",
    "by",
    "types",
    "depth",
    "known",
    "valid",
];

/// A question from one line.
///
/// # Errors
/// `bad_line` and the codes of the fields.
pub fn line(text: &str, zone: Option<&Zone>) -> Result<Asked, Refusal> {
    let json = strict::parse(text)
        .map_err(|error| Refusal::new(Reason::BadLine, format!("not a JSON object: {error}")))?;
    let one = match json {
        Json::Object(map) if map.len() == 1 => map.into_iter().next(),
        _ => None,
    };
    let Some((kind, Json::Object(fields))) = one else {
        return Err(Refusal::new(
            Reason::BadLine,
            "a question is an object with one field, such as {\"get\":{…}}",
        ));
    };
    question(&kind, fields, zone)
}

/// A question of a kind from its fields.
///
/// # Errors
/// As [`line()`].
pub fn question(
    kind: &str,
    fields: Map<String, Json>,
    zone: Option<&Zone>,
) -> Result<Asked, Refusal> {
    if !KINDS.contains(&kind) {
        let near = near(kind, KINDS.into_iter());
        let advice = if near.is_empty() {
            KINDS.join(", ")
        } else {
            format!("did you mean {}?", near.join(", "))
        };
        return Err(Refusal::new(
            Reason::UnknownOperation,
            format!("there is no question {kind:?}: {advice}"),
        ));
    }
    let mut fields = Fields::new(fields, zone.copied())?;
    fields.only(kind, &FIELDS)?;
    let tenant = fields.text("tenant")?.map(|text| Tenant::new(&text)).transpose()?;
    let times = times(&mut fields)?;
    let question = match kind {
        "get" | "explain" | "timeline" | "beliefs" => slot_question(kind, &mut fields, times)?,
        "history" => {
            let subject = Subject::recorded(&fields.need_text("subject")?)?;
            let predicate =
                fields.text("predicate")?.map(|text| Predicate::new(&text)).transpose()?;
            Question::History(subject, predicate, reach(&mut fields)?, times.1)
        }
        "find" => find(&mut fields, times)?,
        "usable" => {
            let ids = match fields.take("ids") {
                Some(Json::Array(list)) => {
                    list.iter().map(|id| id.as_str().map(str::to_owned)).collect()
                }
                Some(_) | None => None,
            };
            Question::Usable(ids.ok_or_else(|| missing("ids"))?, node_ask(&mut fields, times)?)
        }
        "show" => Question::Show(fields.need_text("id")?, node_ask(&mut fields, times)?),
        "scopes" => Question::Counts(Count::Scopes, reach(&mut fields)?),
        "subjects" => Question::Counts(Count::Subjects, reach(&mut fields)?),
        "worklist" | "conflicts" | "held" | "due" => wide::list(kind, &mut fields, times)?,
        "impact" | "why" | "chain" => wide::walk(kind, &mut fields, times)?,
        "snapshot" => wide::snapshot(&mut fields, times)?,
        "diff" => wide::diff(&mut fields, times)?,
        _ => Question::Counts(Count::Predicates, reach(&mut fields)?),
    };
    Ok(Asked { question, tenant })
}

pub(super) type Times = (Option<Valid>, Option<Recorded>);

/// `valid_at` and `known_at`, or `at` for both (R7).
fn times(fields: &mut Fields) -> Result<Times, Refusal> {
    let valid_at = fields.instant("valid_at")?;
    let known_at = fields.instant("known_at")?.map(Valid::as_recorded);
    match fields.instant("at")? {
        None => Ok((valid_at, known_at)),
        Some(at) if valid_at.is_none() && known_at.is_none() => {
            Ok((Some(at), Some(at.as_recorded())))
        }
        Some(_) => Err(Refusal::new(
            Reason::BadLine,
            "`at` sets both times; leave out `valid_at` and `known_at`",
        )),
    }
}

fn slot_question(kind: &str, fields: &mut Fields, times: Times) -> Result<Question, Refusal> {
    let scope = fields.scope()?;
    let subject = Subject::recorded(&fields.need_text("subject")?)?;
    let predicate = Predicate::new(&fields.need_text("predicate")?)?;
    let ask = ask(fields, scope, times)?;
    Ok(match kind {
        "get" => Question::Get(subject, predicate, ask),
        "explain" => Question::Explain(subject, predicate, ask),
        "timeline" => Question::Timeline(subject, predicate, ask),
        _ => Question::Beliefs(subject, predicate, ask),
    })
}

pub(super) fn ask(
    fields: &mut Fields,
    scope: Scope,
    (valid_at, known_at): Times,
) -> Result<Ask, Refusal> {
    Ok(Ask {
        scope,
        inherit: flag(fields, "inherit")?,
        context: context(fields)?,
        valid_at,
        known_at,
    })
}

pub(super) fn node_ask(
    fields: &mut Fields,
    (valid_at, known_at): Times,
) -> Result<NodeAsk, Refusal> {
    let scope = fields.text("scope")?.map(|text| Scope::new(&text)).transpose()?;
    Ok(NodeAsk { scope, context: context(fields)?, valid_at, known_at })
}

pub(super) fn flag(fields: &mut Fields, field: &str) -> Result<bool, Refusal> {
    match fields.take(field) {
        None => Ok(false),
        Some(Json::Bool(flag)) => Ok(flag),
        Some(_) => {
            Err(Refusal::new(Reason::BadLine, format!("`{field}` is true or false")).at(field))
        }
    }
}

pub(super) fn context(fields: &mut Fields) -> Result<Context, Refusal> {
    let wrong = || {
        Refusal::new(Reason::BadLine, "`with` is an object of texts, such as {\"version\":\"3.0\"}")
            .at("with")
    };
    match fields.take("with") {
        None => Ok(Context::default()),
        Some(Json::Object(map)) => {
            let pairs: Option<BTreeMap<String, String>> =
                map.into_iter().map(|(d, v)| v.as_str().map(|v| (d, v.to_owned()))).collect();
            pairs.map(Context::new).ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

pub(super) fn reach(fields: &mut Fields) -> Result<Reach, Refusal> {
    match (fields.text("scope")?, fields.text("across")?) {
        (Some(scope), None) => Ok(Reach::Scope(Scope::new(&scope)?)),
        (None, Some(pattern)) => Ok(Reach::Across(ScopePattern::new(&pattern)?)),
        (None, None) => Ok(Reach::All),
        (Some(_), Some(_)) => {
            Err(Refusal::new(Reason::BadLine, "give `scope` or `across`, not both"))
        }
    }
}

fn find(fields: &mut Fields, times: Times) -> Result<Question, Refusal> {
    let pattern = Pattern {
        subject: fields.text("subject")?.map(|text| Subject::recorded(&text)).transpose()?,
        predicate: fields.text("predicate")?.map(|text| Predicate::new(&text)).transpose()?,
        value: fields.take("value").map(|json| Value::from_json(&json)).transpose()?,
    };
    let reach = reach(fields)?;
    let scope = wide::some_scope(&reach, "find")?;
    Ok(Question::Find(pattern, reach, Box::new(ask(fields, scope, times)?)))
}

/// An instant given on the command line.
///
/// # Errors
/// The codes of R1 to R3.
pub fn instant(name: &str, text: &str, zone: Option<&Zone>) -> Result<Valid, Refusal> {
    parse_instant(text, zone).map_err(|error| bad_time(name, &error))
}

impl Asked {
    /// The tenant that the question names by its scope, or by itself.
    ///
    /// # Errors
    /// `bad_name` when the first segment of the scope is no name.
    pub fn tenant(&self) -> Result<Option<Tenant>, Refusal> {
        let scope = match &self.question {
            Question::Get(_, _, ask)
            | Question::Explain(_, _, ask)
            | Question::Timeline(_, _, ask)
            | Question::Beliefs(_, _, ask) => Some(ask.scope.tenant()?),
            Question::History(_, _, reach, _)
            | Question::Find(_, reach, _)
            | Question::Counts(_, reach)
            | Question::List(_, reach, _)
            | Question::Snapshot(reach, _)
            | Question::Diff(reach, _, _) => match reach {
                Reach::Scope(scope) => Some(scope.tenant()?),
                Reach::Across(pattern) => pattern.tenant_str().map(Tenant::new).transpose()?,
                Reach::All => None,
            },
            Question::Walk(_, _, filter, _) => match &filter.reach {
                Reach::Scope(scope) => Some(scope.tenant()?),
                Reach::Across(pattern) => pattern.tenant_str().map(Tenant::new).transpose()?,
                Reach::All => None,
            },
            Question::Usable(_, ask) | Question::Show(_, ask) => {
                ask.scope.as_ref().map(Scope::tenant).transpose()?
            }
        };
        Ok(scope.or_else(|| self.tenant.clone()))
    }
}
