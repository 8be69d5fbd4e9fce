//! Questions on the command line: arguments to the same question that `ask` reads, the answer
//! printed.

use std::io::Write as _;
use std::path::Path;

use asof::db::Snapshot;
use asof::exchange::lines::{Lines, open};
use asof::exchange::question::{Asked, Question, line, question as asked};
use asof::model::name::near;
use asof::model::refusal::{Reason, Refusal};
use asof::query::slots;
use asof::time::Zone;
use clap::ArgMatches;
use rayon::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::output::{BAD_INPUT, DONE, Failure};
use super::write::value;
use super::{Context, render};

/// Arguments as the fields of a question.
pub(super) fn fields(
    context: &Context,
    arguments: &ArgMatches,
) -> Result<Map<String, Json>, Failure> {
    let mut fields = Map::new();
    for name in arguments.ids().map(|id| id.as_str().to_owned()) {
        let field = name.replace('-', "_");
        match name.as_str() {
            "json" | "store" | "clock" | "tz" | "tenant" | "text-value" => {}
            "inherit" => {
                fields.insert(field, json!(arguments.get_flag("inherit")));
            }
            "value" => {
                let text = arguments.get_one::<String>("value").cloned().unwrap_or_default();
                fields.insert(field, value(&text, arguments.get_flag("text-value")));
            }
            "ids" | "types" | "known" | "valid" => {
                let several: Vec<&String> =
                    arguments.get_many(&name).into_iter().flatten().collect();
                fields.insert(field, json!(several));
            }
            "with" => {
                let mut pairs = Map::new();
                for pair in arguments.get_many::<String>("with").into_iter().flatten() {
                    let (dimension, text) = pair.split_once('=').ok_or_else(|| {
                        Refusal::new(
                            Reason::BadLine,
                            format!("--with {pair:?} is not like version=3.0"),
                        )
                    })?;
                    pairs.insert(dimension.to_owned(), json!(text));
                }
                fields.insert(field, Json::Object(pairs));
            }
            _ => {
                if let Some(text) = arguments.get_one::<String>(&name) {
                    fields.insert(field, json!(text));
                }
            }
        }
    }
    if let Some(tenant) = &context.tenant {
        fields.insert("tenant".to_owned(), json!(tenant.as_str()));
    }
    Ok(fields)
}

/// One question of the command line.
pub(super) fn question(
    context: &Context,
    kind: &str,
    arguments: &ArgMatches,
) -> Result<u8, Failure> {
    answered(context, kind, arguments, render::answer)
}

/// Asks, and prints what `shown` makes of the answer.
pub(super) fn answered(
    context: &Context,
    kind: &str,
    arguments: &ArgMatches,
    shown: fn(&str, &Json) -> String,
) -> Result<u8, Failure> {
    let fields = fields(context, arguments)?;
    let store = context.open(false)?;
    let asked = asked(kind, fields, context.zone_of(&store)?.as_ref())?;
    let answer = store.owner().snapshot().answer(&asked)?;
    context.out.value(&answer, |answer| shown(kind, answer))?;
    if kind == "get"
        && answer.get("notice").is_none()
        && answer.get("outcome").is_some_and(|o| o == "unknown")
    {
        note_near(context, &store, &asked)?;
    }
    Ok(DONE)
}

/// For people: a slot of which nobody ever said anything may be a misspelt one.
fn note_near(context: &Context, store: &asof::db::Store, asked: &Asked) -> Result<(), Failure> {
    let Question::Get(subject, predicate, ask) = &asked.question else { return Ok(()) };
    let snapshot = store.owner().snapshot();
    let view = snapshot.view(ask.scope.tenant()?);
    if view.slot(subject, predicate).map_err(asof::db::DbError::from)?.is_some() {
        return Ok(());
    }
    let of = |subject| slots::Pattern { subject, ..slots::Pattern::default() };
    let named =
        |pattern: &slots::Pattern| slots::slots(&view, pattern).map_err(asof::db::DbError::from);
    let about = named(&of(Some(subject.clone())))?;
    let near = if about.is_empty() {
        let all = named(&of(None))?;
        near(subject.as_str(), all.iter().map(|slot| slot.key.subject.as_str()))
    } else {
        near(predicate.as_str(), about.iter().map(|slot| slot.key.predicate.as_str()))
    };
    let advice = if near.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", near.join(", "))
    };
    context.out.note(&format!("note: nothing was ever said about {subject} / {predicate}{advice}"));
    Ok(())
}

/// `ask FILE`: one answer a line, in order, all seen at one snapshot; answered on all cores.
pub(super) fn ask(context: &Context, arguments: &ArgMatches) -> Result<u8, Failure> {
    let path = arguments.get_one::<String>("file").cloned().unwrap_or_default();
    let file = open(Path::new(&path)).map_err(|error| Failure::file("read", &path, error))?;
    let store = context.open(false)?;
    let zone = context.zone_of(&store)?;
    let snapshot = store.owner().snapshot();
    let mut lines = Lines::new(file);
    let mut stdout = std::io::BufWriter::new(std::io::stdout().lock());
    let mut exit = DONE;
    loop {
        let mut batch = Vec::new();
        while batch.len() < 4_096 {
            let Some(raw) =
                lines.next_line().map_err(|error| Failure::file("read", &path, error))?
            else {
                break;
            };
            batch.push(raw);
        }
        if batch.is_empty() {
            break;
        }
        let answers: Vec<Result<Json, Failure>> = batch
            .par_iter()
            .map(|raw| {
                let bad = || {
                    Refusal::new(
                        Reason::BadLine,
                        format!("line {}: too long or not UTF-8", raw.number),
                    )
                };
                let text = raw.text.as_ref().map_err(|_| Failure::from(bad()))?;
                one(&snapshot, text, zone.as_ref(), raw.number)
            })
            .collect();
        for answer in answers {
            let answer = answer?;
            if answer.get("error").is_some() {
                exit = BAD_INPUT;
            }
            if let Err(error) = writeln!(stdout, "{answer}") {
                return if error.kind() == std::io::ErrorKind::BrokenPipe {
                    Ok(DONE)
                } else {
                    Err(error.into())
                };
            }
        }
    }
    stdout.flush()?;
    Ok(exit)
}

/// One answer; a question that cannot be understood gets an error in its place.
fn one(snapshot: &Snapshot, text: &str, zone: Option<&Zone>, number: u64) -> Result<Json, Failure> {
    let error = |refusal: &Refusal| json!({ "error": { "code": refusal.reason.code(), "message": refusal.message, "line": number } });
    let asked = match line(text, zone) {
        Ok(asked) => asked,
        Err(refusal) => return Ok(error(&refusal)),
    };
    match snapshot.answer(&asked) {
        Ok(answer) => Ok(answer),
        Err(asof::db::DbError::Refused(refusal)) => Ok(error(&refusal)),
        Err(other) => Err(other.into()),
    }
}
