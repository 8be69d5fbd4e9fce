//! You will see: a timeout of 30 seconds that became 60 on the 12th, of which we heard on the 17th;
//! the four questions, their answers, and the chain of facts as Graphviz text.
//!
//! The world is `graphs/timeout.jsonl`. Run with `cargo run --release --example four_questions`.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON answer lacks reads as null")]

use std::error::Error;

use asof::db::DbError;
use asof::exchange::dot;
use asof::model::name::{Predicate, Subject};
use asof::model::scope::Scope;
use asof::query::chain::chain;
use asof::query::view::Ask;
use serde_json::{Value as Json, json};

mod world;
use world::{World, told};

const SUBJECT: &str = "service:payments";
const PREDICATE: &str = "timeout_seconds";
const SCOPE: &str = "acme/billing/prod";

/// The question about the timeout, with its times.
fn get(times: &[(&str, &str)]) -> Json {
    let mut fields = json!({ "subject": SUBJECT, "predicate": PREDICATE, "scope": SCOPE });
    for (name, time) in times {
        fields[*name] = json!(time);
    }
    json!({ "get": fields })
}

/// The chain of facts now, as Graphviz text.
fn drawing(world: &World) -> Result<String, DbError> {
    let (subject, predicate) = (Subject::new(SUBJECT)?, Predicate::new(PREDICATE)?);
    let ask = Ask::of(Scope::new(SCOPE)?);
    let snapshot = world.store.owner().snapshot();
    let view = snapshot.view(ask.scope.tenant()?);
    let graph = chain(&view, &subject, &predicate, &ask)?;
    Ok(dot::chain(&format!("{subject} / {predicate} in {SCOPE}"), &graph, view.at(&ask)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let world = World::replay(include_str!("../graphs/timeout.jsonl"))?;

    println!("The timeout of the payment service in {SCOPE}:\n");
    let now = told(&world.ask(&get(&[]))?);
    println!("1. What holds now, here?                               {now}");

    let then = told(&world.ask(&get(&[("valid_at", "2025-10-11T00:00:00Z")]))?);
    println!("2. What held on 11 October?                            {then}");

    let late = told(&world.ask(&get(&[("valid_at", "2025-10-14T00:00:00Z")]))?);
    let said = told(&world.ask(&get(&[("at", "2025-10-14T00:00:00Z")]))?);
    println!("3. What did we know on 14 October about that day?      {said}");
    println!("   (and what do we now know about it?                  {late})");

    println!("4. What was made from the 30 seconds, may it be used?");
    let made = world.ask(&json!({ "usable": { "ids": ["alert45", "runbook", "alert90"] } }))?;
    for one in made.as_array().into_iter().flatten() {
        let verdict = match one["usable"].as_bool() {
            Some(true) => "yes".to_owned(),
            _ => format!("no, {} by {}", text(&one["reason"]), text(&one["by"])),
        };
        println!("   {:<52}{verdict}", text(&one["id"]));
    }

    let drawing = drawing(&world)?;
    println!("\nThe chain, for `dot -Tsvg`:\n\n{drawing}");

    assert_eq!(now, "known: 60");
    assert_eq!(then, "known: 30");
    assert_eq!(said, "known: 30", "we could not know better on the 14th");
    assert_eq!(late, "known: 60", "told on the 17th: 60 since the 12th");
    let usable: Vec<_> =
        made.as_array().into_iter().flatten().map(|one| one["usable"].clone()).collect();
    assert_eq!(usable, [false, false, true], "what rests on the old value is marked");
    assert!(drawing.contains("n2 -> n0 [label=\"supersedes\""));
    Ok(())
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}
