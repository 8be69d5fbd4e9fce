//! Why did we answer that? Ask again as of then, see what it rested on, and what changed since.

use asof::db::{DbError, ImportOptions, Options, Store};
use asof::exchange::question;
use asof::model::name::Tenant;
use serde_json::{Value as Json, json};

const JOURNAL: &str = r#"
{"op":"source","id":"mail","scope":"acme","kind":"stated","recorded_at":"2026-01-02T00:00:00Z"}
{"op":"assert","id":"thirty","subject":"contract:9","predicate":"notice_days","value":30,"scope":"acme","source":"mail","valid_from":"2026-01-01T00:00:00Z","recorded_at":"2026-01-02T00:00:01Z"}
{"op":"artifact","id":"letter","kind":"report","scope":"acme","place":"dms://letter-1","derived_from":["thirty"],"recorded_at":"2026-02-01T00:00:00Z"}
{"op":"correct","target":"thirty","id":"sixty","value":60,"recorded_at":"2026-03-01T00:00:00Z"}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let store = Store::open(dir.path().join("store"), Options::default())?;
    let replay = ImportOptions { replay: true, ..ImportOptions::default() };
    assert_eq!(store.import(JOURNAL.trim_start().as_bytes(), replay)?.admitted, 4);
    let snapshot = store.session(Tenant::new("acme").map_err(DbError::from)?).snapshot();
    let ask = |text: &str| -> Result<_, Box<dyn std::error::Error>> {
        Ok(snapshot.answer(&question::line(text, None).map_err(DbError::from)?)?)
    };

    let then = ask(
        r#"{"get":{"subject":"contract:9","predicate":"notice_days","scope":"acme","at":"2026-02-01T00:00:00Z"}}"#,
    )?;
    assert_eq!(then.pointer("/facts/0/value"), Some(&json!(30)));

    let why = ask(r#"{"why":{"id":"letter","known_at":"2026-02-01T00:00:00Z"}}"#)?;
    let nodes = why.pointer("/nodes").and_then(Json::as_array).ok_or("nodes")?;
    let ids: Vec<_> = nodes.iter().filter_map(|node| node.get("id")).collect();
    assert_eq!(ids, ["letter", "thirty", "mail"]);

    let diff = ask(
        r#"{"diff":{"scope":"acme","valid_at":"2026-02-01T00:00:00Z","known":["2026-02-01T00:00:00Z","2026-04-01T00:00:00Z"]}}"#,
    )?;
    println!("{diff:#}");
    assert_eq!(diff.pointer("/0/before/values/0"), Some(&json!(30)));
    assert_eq!(diff.pointer("/0/after/values/0"), Some(&json!(60)));
    assert_eq!(diff.pointer("/0/events/0/at"), Some(&json!("2026-03-01T00:00:00Z")));

    let worklist = ask(r#"{"worklist":{"scope":"acme"}}"#)?;
    println!("{worklist:#}");
    assert_eq!(worklist.pointer("/0/do"), Some(&json!("drop")));
    assert_eq!(worklist.pointer("/0/without/0"), Some(&json!("thirty")));
    Ok(())
}
