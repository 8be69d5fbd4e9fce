//! Operations on the command line: arguments to the journal line of the same name, then through
//! the gate like any other.

use std::path::Path;

use asof::db::{Session, WriteOptions};
use asof::exchange::lines::{Lines, open};
use asof::exchange::read::{self, Reading};
use asof::model::operation::Operation;
use asof::model::refusal::{Reason, Refusal, Verdict};
use clap::ArgMatches;
use serde_json::{Map, Value as Json, json};

use super::args::{Field, OPERATIONS, Shape};
use super::output::{DONE, Failure};
use super::{Context, render};

/// A value as typed: a number, true, false, an object or a quoted text reads as JSON; the rest is
/// text.
pub(super) fn value(text: &str, as_text: bool) -> Json {
    if !as_text && let Ok(json) = asof::exchange::strict::parse(text) {
        match json {
            Json::Number(_) | Json::Bool(_) | Json::Object(_) | Json::String(_) => return json,
            Json::Null | Json::Array(_) => {}
        }
    }
    Json::String(text.to_owned())
}

fn pairs(list: &[String]) -> Result<Json, Refusal> {
    let mut pairs = Map::new();
    for pair in list {
        let Some((dimension, requirement)) = pair.split_once('=') else {
            return Err(Refusal::new(
                Reason::BadLine,
                format!("--when {pair:?} is not like version=2.0"),
            )
            .at("when"));
        };
        let requirement = match requirement.strip_prefix("semver:") {
            Some(versions) => json!({ "semver": versions }),
            None => json!(requirement),
        };
        pairs.insert(dimension.to_owned(), requirement);
    }
    Ok(Json::Object(pairs))
}

fn kinds(text: &str) -> Json {
    let tier = |tier: &str| match tier.split_once('+') {
        None => json!(tier),
        Some(_) => tier.split('+').collect(),
    };
    text.split(',').map(tier).collect()
}

fn field(field: &Field, arguments: &ArgMatches) -> Result<Option<Json>, Failure> {
    let list: Vec<String> =
        arguments.get_many::<String>(field.name).into_iter().flatten().cloned().collect();
    let Some(text) = list.first() else { return Ok(None) };
    Ok(Some(match field.shape {
        Shape::Text => json!(text),
        Shape::Value => value(text, arguments.get_flag("text-value")),
        Shape::Ids => list.iter().flat_map(|part| part.split(',')).map(str::trim).collect(),
        Shape::Pairs => pairs(&list)?,
        Shape::Number => {
            if let Ok(number) = text.parse::<u64>() {
                json!(number)
            } else {
                let message = format!(
                    "--{} is a whole number from 0 up, not {text:?}",
                    super::args::long(field.name)
                );
                return Err(Refusal::new(Reason::BadLine, message).into());
            }
        }
        Shape::Nullable if matches!(text.as_str(), "null" | "inf") => Json::Null,
        Shape::Nullable => json!(text),
        Shape::Kinds => kinds(text),
    }))
}

/// The journal line that the arguments say.
fn line(
    context: &Context,
    name: &str,
    arguments: &ArgMatches,
) -> Result<Map<String, Json>, Failure> {
    let op = if name == "set" { "assert" } else { name };
    let mut line = Map::new();
    line.insert("op".to_owned(), json!(op));
    let fields =
        OPERATIONS.iter().find(|operation| operation.name == name).map_or(&[][..], |o| o.fields);
    for one in fields {
        if let Some(value) = field(one, arguments)? {
            line.insert(one.name.to_owned(), value);
        }
    }
    if let Some(actor) = arguments.get_one::<String>("actor") {
        line.insert("actor".to_owned(), json!(actor));
    }
    if let Some(tenant) = context.tenant.as_ref().filter(|_| !line.contains_key("scope")) {
        line.insert("tenant".to_owned(), json!(tenant.as_str()));
    }
    if name == "set" {
        line.insert("supersedes".to_owned(), json!("current"));
    }
    let sourced = ["source", "kind", "derived_from"].iter().any(|field| line.contains_key(*field));
    if op == "assert" && !sourced {
        line.insert("kind".to_owned(), json!("stated"));
    }
    Ok(line)
}

fn operations(
    context: &Context,
    session: &Session,
    lines: Vec<Map<String, Json>>,
) -> Result<Vec<Operation>, Failure> {
    let zone = context.zone_of(session.store())?;
    let reading = Reading { zone: zone.as_ref(), replay: false, make_id: &Session::make_id };
    let read =
        |line| read::object(line, &reading).map(|line| line.operation).map_err(Failure::from);
    lines.into_iter().map(read).collect()
}

/// One operation of the command line.
pub(super) fn operation(
    context: &Context,
    name: &str,
    arguments: &ArgMatches,
) -> Result<u8, Failure> {
    let line = line(context, name, arguments)?;
    // A line that cannot be read is told before a store is made for it.
    let reading =
        Reading { zone: context.zone.as_ref(), replay: false, make_id: &Session::make_id };
    if let Err(refusal) = read::object(line.clone(), &reading) {
        let zone_may_help = refusal.reason == Reason::NoOffset && context.has_store();
        if !zone_may_help {
            return Err(refusal.into());
        }
    }
    let store = context.open(matches!(
        name,
        "set" | "assert" | "source" | "artifact" | "predicate" | "suppress"
    ))?;
    let session = store.owner();
    let operations = operations(context, &session, vec![line])?;
    let options =
        WriteOptions { dry_run: arguments.get_flag("dry-run"), ..WriteOptions::default() };
    let written = session.write(&operations, options)?;
    if let Some((_, refusal)) = written.refused() {
        return Err(Failure::refused(refusal));
    }
    let receipt = receipt(&session, &written, name == "set");
    context.out.value(&receipt, render::receipt)?;
    Ok(DONE)
}

/// A node whole, as `show` gives it.
fn shown(session: &Session, id: &str) -> Option<Json> {
    let mut question = Map::new();
    question.insert("id".to_owned(), json!(id));
    let asked = asof::exchange::question::question("show", question, None).ok()?;
    session.snapshot().answer(&asked).ok()
}

/// What a `set` took the place of: id and value, the latest ones.
fn replaced(session: &Session, id: &str) -> Vec<Json> {
    let named = shown(session, id).and_then(|shown| shown.get("supersedes").cloned());
    let ids: Vec<String> =
        named.and_then(|ids| serde_json::from_value(ids).ok()).unwrap_or_default();
    let one = |id: &String| {
        let value = shown(session, id)?.get("value").cloned();
        Some(json!({ "id": id, "value": value }))
    };
    ids.iter().rev().take(REPLACED_SHOWN).filter_map(one).collect()
}

/// Facts a `set` lists as replaced; there may be more further back.
const REPLACED_SHOWN: usize = 5;

fn receipt(session: &Session, written: &asof::db::Written, is_set: bool) -> Json {
    let verdict =
        written.admissions.first().map_or("unchanged", |admission| admission.verdict.word());
    let id = written.admissions.first().and_then(|a| a.id.as_ref()).map(ToString::to_string);
    let mut receipt = json!({ "verdict": verdict });
    let mut put = |field: &str, value: Json| {
        if let Some(object) = receipt.as_object_mut() {
            object.insert(field.to_owned(), value);
        }
    };
    if let Some(id) = &id {
        put("id", json!(id));
    }
    if let Some(stamp) = written.stamp {
        put("seq", json!(stamp.seq));
        put("recorded_at", json!(stamp.recorded.to_string()));
    }
    if is_set && written.stamp.is_some() {
        let replaced = id.as_deref().map_or_else(Vec::new, |id| replaced(session, id));
        if !replaced.is_empty() {
            put("replaced", Json::Array(replaced));
        }
    }
    for (_, receipt) in &written.receipts {
        if let Json::Object(fields) = receipt.json() {
            fields.into_iter().for_each(|(field, value)| put(&field, value));
        }
    }
    let held = written.admissions.iter().any(|a| matches!(a.verdict, Verdict::Held));
    let against = id.as_deref().filter(|_| held).and_then(|id| shown(session, id));
    if let Some(against) = against.as_ref().and_then(|shown| shown.get("against")) {
        put("against", against.clone());
    }
    receipt
}

/// `apply FILE`: all lines as one transaction.
pub(super) fn apply(context: &Context, arguments: &ArgMatches) -> Result<u8, Failure> {
    let path = arguments.get_one::<String>("file").cloned().unwrap_or_default();
    let file = open(Path::new(&path)).map_err(|error| Failure::file("read", &path, error))?;
    let mut lines = Lines::new(file);
    let mut maps = Vec::new();
    let mut numbers = Vec::new();
    while let Some(raw) = lines.next_line().map_err(|error| Failure::file("read", &path, error))? {
        let number = raw.number;
        let at = |message: String| {
            Failure::from(Refusal::new(Reason::BadLine, format!("line {number}: {message}")))
        };
        let text = raw.text.map_err(|_| at("too long or not UTF-8".to_owned()))?;
        match asof::exchange::strict::parse(&text) {
            Ok(Json::Object(map)) => maps.push(map),
            Ok(_) => return Err(at("not a JSON object".to_owned())),
            Err(error) => return Err(at(error.to_string())),
        }
        numbers.push(number);
    }
    let store = context.open(true)?;
    let session = store.owner();
    let operations = operations(context, &session, maps)?;
    let options =
        WriteOptions { dry_run: arguments.get_flag("dry-run"), ..WriteOptions::default() };
    let written = session.write(&operations, options)?;
    if let Some((place, refusal)) = written.refused() {
        let number = numbers.get(place).copied().unwrap_or(0);
        let mut refusal = refusal.clone();
        refusal.message = format!("line {number}: {} (nothing was written)", refusal.message);
        return Err(Failure::refused(&refusal));
    }
    let verdict = |(place, admission): (usize, &asof::admission::gate::Admission)| {
        let receipt = written.receipts.iter().find(|(of, _)| *of == place);
        let mut verdict = json!({ "verdict": admission.verdict.word(), "id": admission.id.as_ref().map(ToString::to_string) });
        if let (Some((_, receipt)), Some(object)) = (receipt, verdict.as_object_mut()) {
            object.insert("receipt".to_owned(), receipt.json());
        }
        verdict
    };
    let verdicts: Vec<Json> = written.admissions.iter().enumerate().map(verdict).collect();
    let seq = written.stamp.map(|stamp| stamp.seq);
    let report = json!({ "operations": verdicts, "seq": seq });
    context.out.value(&report, |report| {
        format!("{} operations written\n", report["operations"].as_array().map_or(0, Vec::len))
    })?;
    Ok(DONE)
}
