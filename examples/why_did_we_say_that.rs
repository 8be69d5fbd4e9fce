//! You will see: on 1 July 2016 we told somebody that Cairo would be three hours ahead of UTC on the
//! 10th. It was two. Was that our mistake? The store shows what we knew, from whom, and when it
//! changed.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON answer lacks reads as null")]

use std::error::Error;

use serde_json::json;

mod world;
use world::{World, told};

fn main() -> Result<(), Box<dyn Error>> {
    let world = World::replay(include_str!("../graphs/cairo.jsonl"))?;
    let (subject, predicate, scope) = ("place:cairo", "utc_offset_hours", "world/egypt");
    let (valid_at, known_at) = ("2016-07-10T00:00:00Z", "2016-07-01T00:00:00Z");
    let about = json!({
        "subject": subject, "predicate": predicate, "scope": scope,
        "valid_at": valid_at, "known_at": known_at,
    });

    let said = world.ask(&json!({ "get": about }))?;
    println!("On 1 July, about 10 July:  {}", told(&said));
    let source = said["facts"][0]["source"].as_str().unwrap_or_default();
    let shown = world.ask(&json!({ "show": { "id": source } }))?;
    println!("because of {source}:  {}", shown["text"]);

    println!("\nEvery fact we had that day, and the step that settled it:");
    let explained = world.ask(&json!({ "explain": about }))?;
    for one in explained["candidates"].as_array().into_iter().flatten() {
        println!("  {} = {}  {} {}", one["id"], one["value"], one["verdict"], one["by"]);
    }

    println!("\nHow our answer about 10 July changed:");
    let beliefs = world.ask(&json!({ "beliefs": {
        "subject": subject, "predicate": predicate, "scope": scope, "valid_at": valid_at,
    }}))?;
    for piece in beliefs.as_array().into_iter().flatten() {
        println!("  from {}  {} {}", piece["from"], piece["outcome"], piece["values"]);
    }

    assert_eq!(told(&said), "known: 3");
    assert_eq!(source, "cabinet-april");
    let values: Vec<String> =
        beliefs.as_array().into_iter().flatten().map(|piece| piece["values"].to_string()).collect();
    assert_eq!(values, ["[]", "[2]", "[3]", "[2]"]);
    Ok(())
}
