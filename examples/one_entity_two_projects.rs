//! You will see: one refund flow, known to two projects under one house rule. Each project gets its
//! own answer, the house rule is a lead and not an answer, `inherit` lets it speak where nothing
//! nearer does, and a misspelt scope does not look like "no memory".
#![expect(clippy::indexing_slicing, reason = "a field that a JSON answer lacks reads as null")]

use std::error::Error;

use serde_json::json;

mod world;
use world::{World, told};

fn main() -> Result<(), Box<dyn Error>> {
    let world = World::replay(include_str!("../graphs/projects.jsonl"))?;
    let rule = |scope: &str, inherit: bool| {
        let answer = world.ask(&json!({ "get": {
            "subject": "flow:refund", "predicate": "retry", "scope": scope, "inherit": inherit,
            "with": { "api": "1.0" }, "at": "2025-06-20T00:00:00Z",
        }}))?;
        println!(
            "{scope:<14} {:<14} {}",
            if inherit { "and above" } else { "exactly" },
            told(&answer)
        );
        Ok::<_, Box<dyn Error>>(answer)
    };

    let shop = rule("acme/shop", false)?;
    assert_eq!(told(&shop), "known: until it works");
    assert_eq!(told(&rule("acme/billing", false)?), "known: once, by hand");
    assert!(
        shop["leads"].to_string().contains("broader_scope"),
        "the house rule is shown as a lead"
    );
    assert_eq!(
        told(&rule("acme/billing", true)?),
        "known: once, by hand",
        "the nearest scope wins"
    );
    assert_eq!(
        told(&rule("acme/support", true)?),
        "known: twice",
        "nothing nearer: the house rule"
    );

    let misspelt = rule("acme/biling", false)?;
    println!("{:<14} did you mean {}?", "", misspelt["near"][0]);
    assert_eq!(misspelt["notice"], "unknown_scope");
    assert_eq!(misspelt["near"][0], "acme/billing");
    Ok(())
}
