//! You will see: a count that was wrong from the start, put right ten days later. The correction keeps
//! the valid period, the wrong version stays in the history, and what we answered before can still be
//! asked for.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON answer lacks reads as null")]

use std::error::Error;

use serde_json::json;

mod world;
use world::{World, told};

const JOURNAL: &str = r#"
{"op":"assert","id":"five","subject":"cluster:eu","predicate":"nodes","value":5,"scope":"acme/ops","kind":"observed","valid_from":"2025-10-01T00:00:00Z","recorded_at":"2025-10-10T00:00:00Z"}
{"op":"correct","target":"five","id":"seven","value":7,"note":"two nodes were down when we counted","recorded_at":"2025-10-20T00:00:00Z"}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let world = World::replay(JOURNAL)?;
    let known_on = |known_at: &str| {
        world.ask(&json!({ "get": {
            "subject": "cluster:eu", "predicate": "nodes", "scope": "acme/ops",
            "valid_at": "2025-10-05T00:00:00Z", "known_at": known_at,
        }}))
    };
    let before = told(&known_on("2025-10-15T00:00:00Z")?);
    let after = told(&known_on("2025-10-25T00:00:00Z")?);
    println!("How many nodes on the 5th? As known on the 15th: {before}; on the 25th: {after}");

    let history = world.ask(&json!({ "history": { "subject": "cluster:eu" } }))?;
    for row in history.as_array().into_iter().flatten() {
        println!(
            "{:>6} = {} valid {} recorded {} {}",
            row["id"].as_str().unwrap_or_default(),
            row["value"],
            row["valid"],
            row["recorded"],
            row["state"].as_str().unwrap_or_default()
        );
    }

    assert_eq!(before, "known: 5");
    assert_eq!(after, "known: 7", "the correction reaches back to the start");
    assert_eq!(history[0]["state"], "corrected");
    assert_eq!(history[0]["by"], "seven");
    assert_eq!(history[1]["valid"]["from"], "2025-10-01T00:00:00Z", "the start is carried over");
    Ok(())
}
