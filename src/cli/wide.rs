//! Commands about more than one slot: what is open, walks, snapshot, diff, drawings.

use std::fmt::Write as _;

use asof::db::{DbError, Snapshot, Store};
use asof::exchange::question::{Asked, Question, question as asked};
use asof::exchange::{dot, dot_lineage, svg};
use asof::model::name::{Predicate, Subject};
use asof::model::refusal::{Reason, Refusal};
use asof::query::lineage::{Filter, Way, walk};
use asof::query::node::NodeAsk;
use asof::query::slots::Reach;
use asof::query::view::{Ask, View};
use asof::query::{chain, course, plot};
use clap::{Arg, ArgMatches, Command};
use serde_json::Value as Json;

use super::args::{as_of, circumstances, slot, text, within};
use super::output::{DONE, Failure};
use super::read::fields;
use super::render::{at, list, table, text as shown};
use super::{Context, read};

fn id(command: Command) -> Command {
    command.arg(Arg::new("id").required(true).help("The id of a fact, source or artifact"))
}

fn walks(name: &'static str, about: &'static str) -> Command {
    as_of(within(id(Command::new(name).about(about))))
        .arg(text("depth", "Go no further than this many edges"))
        .arg(
            text("types", "Show only these: fact, source, artifact")
                .value_delimiter(',')
                .action(clap::ArgAction::Append),
        )
}

fn lists(name: &'static str, about: &'static str) -> Command {
    as_of(within(Command::new(name).about(about)))
}

/// The reads of this file.
pub(super) fn commands() -> [Command; 10] {
    let pair = |name: &'static str, about: &'static str| {
        text(name, about).num_args(2).value_names(["A", "B"])
    };
    [
        lists("worklist", "Copies kept elsewhere to be dropped, made anew or checked"),
        lists("conflicts", "Slots in which two values hold"),
        lists("held", "Proposals that wait to be confirmed"),
        lists("due", "Facts to be looked at again, the most pressing first")
            .arg(text("by", "Due by this time (default: now)")),
        walks("impact", "All that rests on it"),
        walks("why", "All that it rests on"),
        walks("chain", "What took its place and whose place it took"),
        as_of(circumstances(within(
            Command::new("snapshot").about("Every fact that answers, one JSON object a line"),
        ))),
        as_of(circumstances(within(
            Command::new("diff").about("The answers that differ between two times, and why"),
        )))
        .arg(pair("known", "Between what was known at these"))
        .arg(pair("valid", "Between what holds at these").conflicts_with("known")),
        slot("plot", "Who answers where, valid by recorded time, as SVG"),
    ]
}

/// What `dot` draws.
pub(super) fn drawings() -> [Command; 4] {
    [
        slot("chain", "What took the place of what in one slot"),
        as_of(within(id(
            Command::new("lineage").about("What a node rests on and what rests on it")
        )))
        .arg(text("depth", "Go no further than this many edges")),
        as_of(circumstances(within(
            Command::new("entity")
                .about("All facts of an entity")
                .arg(Arg::new("subject").required(true).help("The entity")),
        ))),
        slot("timeline", "The answer along valid time"),
    ]
}

/// `snapshot`: one object a line, with or without `--json`.
pub(super) fn snapshot(context: &Context, arguments: &ArgMatches) -> Result<u8, Failure> {
    let fields = fields(context, arguments)?;
    let store = context.open(false)?;
    let asked = asked("snapshot", fields, context.zone_of(&store)?.as_ref())?;
    let answer = store.owner().snapshot().answer(&asked)?;
    let mut lines = String::new();
    for fact in answer.as_array().into_iter().flatten() {
        lines.push_str(&fact.to_string());
        lines.push('\n');
    }
    context.out.text(&lines)?;
    Ok(DONE)
}

/// A question read from arguments, with the snapshot to ask.
fn seen(
    context: &Context,
    kind: &str,
    arguments: &ArgMatches,
) -> Result<(Store, Snapshot, Asked), Failure> {
    let fields = fields(context, arguments)?;
    let store = context.open(false)?;
    let asked = asked(kind, fields, context.zone_of(&store)?.as_ref())?;
    let snapshot = store.owner().snapshot();
    Ok((store, snapshot, asked))
}

fn one_slot(asked: &Asked) -> Result<(&Subject, &Predicate, &Ask), Failure> {
    match &asked.question {
        Question::Get(subject, predicate, ask) => Ok((subject, predicate, ask)),
        _ => Err(Refusal::new(Reason::BadLine, "this drawing is of one slot").into()),
    }
}

/// `dot chain|lineage|entity|timeline`.
pub(super) fn dot(context: &Context, arguments: &ArgMatches) -> Result<u8, Failure> {
    let Some((kind, arguments)) = arguments.subcommand() else {
        let message = "say what to draw; see asof dot --help";
        return Err(Refusal::new(Reason::UnknownOperation, message).into());
    };
    let question = match kind {
        "lineage" => "impact",
        "entity" => "find",
        _ => "get",
    };
    let (_store, snapshot, asked) = match kind {
        "entity" => entity_question(context, arguments)?,
        _ => seen(context, question, arguments)?,
    };
    let view = snapshot.view(snapshot.tenant(asked.tenant()?)?);
    let text = match &asked.question {
        Question::Walk(_, id, filter, ask) => lineage(&view, id, filter, ask)?,
        Question::Find(pattern, reach, ask) => {
            let subject = pattern.subject.as_ref();
            let subject = subject.ok_or_else(|| {
                Refusal::new(Reason::BadLine, "an entity drawing is of a subject")
            })?;
            entity(&view, subject, reach, ask)?
        }
        _ => {
            let (subject, predicate, ask) = one_slot(&asked)?;
            let title = format!("{subject} / {predicate} in {}", ask.scope);
            if kind == "timeline" {
                let pieces = course::timeline(&view, subject, predicate, ask);
                let pieces = pieces.map_err(DbError::from)?;
                let known_at = view.at(ask).known_at;
                dot_lineage::timeline(&title, ask.scope.as_str(), &pieces, known_at)
            } else {
                let graph = chain::chain(&view, subject, predicate, ask);
                dot::chain(&title, &graph.map_err(DbError::from)?, view.at(ask))
            }
        }
    };
    context.out.text(&text)?;
    Ok(DONE)
}

/// An entity is drawn in all scopes unless some are named.
fn entity_question(
    context: &Context,
    arguments: &ArgMatches,
) -> Result<(Store, Snapshot, Asked), Failure> {
    let mut fields = fields(context, arguments)?;
    let everywhere = !fields.contains_key("scope") && !fields.contains_key("across");
    if everywhere {
        fields.insert("across".to_owned(), Json::String("**".to_owned()));
    }
    let store = context.open(false)?;
    let asked = asked("find", fields, context.zone_of(&store)?.as_ref())?;
    let snapshot = store.owner().snapshot();
    Ok((store, snapshot, asked))
}

fn lineage(view: &View<'_>, id: &str, filter: &Filter, ask: &NodeAsk) -> Result<String, Failure> {
    let mut graphs = Vec::new();
    for way in [Way::Why, Way::Impact] {
        let graph = walk(view, way, id, filter, ask).map_err(DbError::from)?;
        graphs.push(graph.ok_or_else(|| {
            let message = format!("there is no {id:?} in tenant {}", view.tenant());
            Refusal::new(Reason::UnknownTarget, message)
        })?);
    }
    Ok(dot_lineage::lineage(&format!("lineage of {id}"), &graphs, ask.at(view)))
}

fn entity(view: &View<'_>, subject: &Subject, reach: &Reach, ask: &Ask) -> Result<String, Failure> {
    let graph = chain::entity(view, subject, reach, ask).map_err(DbError::from)?;
    Ok(dot::entity(subject.as_str(), &graph, view.at(ask)))
}

/// `plot SUBJECT PREDICATE --scope S`.
pub(super) fn plot(context: &Context, arguments: &ArgMatches) -> Result<u8, Failure> {
    let (_store, snapshot, asked) = seen(context, "get", arguments)?;
    let view = snapshot.view(snapshot.tenant(asked.tenant()?)?);
    let (subject, predicate, ask) = one_slot(&asked)?;
    let plane = plot::plane(&view, subject, predicate, ask);
    let (rectangles, left_out) = plane.map_err(DbError::from)?;
    let title = format!("{subject} / {predicate} in {}", ask.scope);
    context.out.text(&svg::plane(&title, &rectangles, left_out))?;
    Ok(DONE)
}

/// Answers of this file for people.
pub(super) fn answer(kind: &str, json: &Json) -> String {
    let all = json.as_array().map_or(&[][..], Vec::as_slice);
    let cell = |row: &Json, field: &str| shown(at(row, &[field]));
    let plain = |heads: &[&str], fields: &[&str]| {
        let rows = all.iter().map(|row| fields.iter().map(|field| cell(row, field)).collect());
        if all.is_empty() { "nothing\n".to_owned() } else { table(heads, rows) }
    };
    match kind {
        "worklist" => plain(
            &["DO", "ARTIFACT", "PLACE", "WITHOUT", "CAUSE", "SINCE"],
            &["do", "artifact", "place", "without", "cause", "since"],
        ),
        "conflicts" => plain(
            &["SUBJECT", "PREDICATE", "SCOPE", "FACTS", "SINCE"],
            &["subject", "predicate", "scope", "facts", "since"],
        ),
        "held" => {
            plain(&["ID", "AGAINST", "REASON", "SINCE"], &["id", "against", "reason", "since"])
        }
        "due" => plain(
            &["REVIEW BY", "ID", "SUBJECT", "PREDICATE", "SCOPE", "RESTS ON IT"],
            &["review_by", "id", "subject", "predicate", "scope", "rests_on_it"],
        ),
        "diff" => differences(all),
        _ => walked(json),
    }
}

fn walked(json: &Json) -> String {
    let cell = |row: &Json, field: &str| shown(at(row, &[field]));
    let nodes = table(
        &["DEPTH", "TYPE", "ID", "STATE", "MARK"],
        list(json, "nodes").iter().map(|node| {
            ["depth", "type", "id", "state", "mark"].map(|field| cell(node, field)).to_vec()
        }),
    );
    let edges = list(json, "edges");
    if edges.is_empty() {
        return nodes;
    }
    let rows = edges.iter().map(|edge| ["from", "kind", "to"].map(|f| cell(edge, f)).to_vec());
    format!("{nodes}\n{}", table(&["FROM", "", "TO"], rows))
}

fn differences(all: &[Json]) -> String {
    let mut out = String::new();
    for one in all {
        let side = |name: &str| {
            let outcome = shown(at(one, &[name, "outcome"]));
            let values = shown(at(one, &[name, "values"]));
            if values.is_empty() { outcome } else { format!("{outcome}: {values}") }
        };
        let [subject, predicate, scope] =
            ["subject", "predicate", "scope"].map(|field| shown(at(one, &[field])));
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{subject} / {predicate} in {scope}");
        let _ = writeln!(out, "  before  {}", side("before"));
        let _ = writeln!(out, "  after   {}", side("after"));
        for event in list(one, "events") {
            let [when, what, id] = ["at", "what", "id"].map(|field| shown(at(event, &[field])));
            let _ = writeln!(out, "  {when}  {what} {id}");
        }
    }
    if out.is_empty() { "no answer differs\n".to_owned() } else { out }
}

/// A receipt for people, after what became of the operation.
pub(super) fn receipt(json: &Json) -> String {
    let Some(counts) = json.get("counts").and_then(Json::as_object) else { return String::new() };
    let reached = list(json, "reached");
    if reached.is_empty() {
        return "nothing else rests on it\n".to_owned();
    }
    let counted: Vec<String> =
        counts.iter().map(|(kind, n)| format!("{n} {kind}{}", plural(n))).collect();
    let mut out = format!("reached {}\n", counted.join(", "));
    out.push_str(&table(
        &["DEPTH", "TYPE", "ID", "MARK", "PATH"],
        reached.iter().take(50).map(|node| {
            let mark = at(node, &["mark"]);
            let path = list(node, "path").iter().map(shown).collect::<Vec<_>>().join(" → ");
            let mark = if mark.is_null() { "lifted".to_owned() } else { shown(mark) };
            vec![
                shown(at(node, &["depth"])),
                shown(at(node, &["type"])),
                shown(at(node, &["id"])),
                mark,
                path,
            ]
        }),
    ));
    let total = json.get("reached_total").and_then(Json::as_u64).unwrap_or(reached.len() as u64);
    if total > 50 {
        let _ = writeln!(out, "… and {} more (--json lists up to 1000)", total - 50);
    }
    let work = list(json, "worklist");
    if !work.is_empty() {
        out.push_str("\nto be done elsewhere:\n");
        let rows = work.iter().take(50).map(|item| {
            let cell = |field: &str| shown(at(item, &[field]));
            ["do", "artifact", "place", "without"].map(cell).to_vec()
        });
        out.push_str(&table(&["DO", "ARTIFACT", "PLACE", "WITHOUT"], rows));
    }
    if json.get("dry_run") == Some(&Json::Bool(true)) {
        out.push_str("(a rehearsal: nothing was written)\n");
    }
    out
}

fn plural(n: &Json) -> &'static str {
    if n.as_u64() == Some(1) { "" } else { "s" }
}

/// One question of this file.
pub(super) fn question(
    context: &Context,
    kind: &str,
    arguments: &ArgMatches,
) -> Result<u8, Failure> {
    read::answered(context, kind, arguments, answer)
}
