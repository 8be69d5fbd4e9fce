//! You will see: one question at four points. Each row is a day we ask about (valid time), each column
//! a day whose knowledge we use (recorded time). Only one of the four answers changed with the late
//! message, and the old answer is still there to be asked for.

use std::error::Error;

use serde_json::json;

mod world;
use world::{World, told};

fn main() -> Result<(), Box<dyn Error>> {
    let world = World::replay(include_str!("../graphs/timeout.jsonl"))?;
    let days = ["2025-10-11T00:00:00Z", "2025-10-14T00:00:00Z"];
    let knowledge = ["2025-10-14T00:00:00Z", "2025-10-18T00:00:00Z"];

    println!("{:>26}   known on the 14th   known on the 18th", "");
    let mut answers = Vec::new();
    for valid_at in days {
        let mut row = Vec::new();
        for known_at in knowledge {
            let answer = world.ask(&json!({ "get": {
                "subject": "service:payments", "predicate": "timeout_seconds",
                "scope": "acme/billing/prod", "valid_at": valid_at, "known_at": known_at,
            }}))?;
            row.push(told(&answer));
        }
        println!("about {valid_at:>18}   {}", row.join("           "));
        answers.extend(row);
    }

    assert_eq!(answers, ["known: 30", "known: 30", "known: 30", "known: 60"]);
    Ok(())
}
