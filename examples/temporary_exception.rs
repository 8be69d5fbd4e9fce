//! You will see: a rule, two exceptions, and what comes after each. The first said that the rule
//! returns, so it does. The second said nothing, so the answer is uncertain and comes with a question,
//! until somebody looks again.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON answer lacks reads as null")]

use std::error::Error;

use serde_json::{Value as Json, json};

mod world;
use world::{World, told};

fn main() -> Result<(), Box<dyn Error>> {
    let world = World::replay(include_str!("../graphs/exception.jsonl"))?;
    let on = |day: &str| -> Result<Json, Box<dyn Error>> {
        let at = format!("2025-{day}T12:00:00Z");
        let answer = world.ask(&json!({ "get": {
            "subject": "user:demo", "predicate": "meetings", "scope": "acme/demo", "at": at,
        }}))?;
        println!("{day}  {}", told(&answer));
        if let Some(question) = answer["question"].as_str() {
            println!("       ? {question}");
        }
        Ok(answer)
    };

    assert_eq!(told(&on("01-03")?), "known: no evenings");
    assert_eq!(told(&on("01-05")?), "known: evenings are fine");
    assert_eq!(told(&on("01-07")?), "known: no evenings", "`then: resume` brings the rule back");
    assert_eq!(told(&on("03-12")?), "known: any hour");
    let after = on("03-16")?;
    assert_eq!(told(&after), "uncertain: no evenings", "nobody said what comes after it");
    assert_eq!(after["doubts"], json!([{ "reason": "override_ended", "by": "launch" }]));
    assert_eq!(told(&on("03-21")?), "known: no evenings", "somebody looked again on the 20th");
    Ok(())
}
