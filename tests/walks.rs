//! Walks over the live graph at (v, k): entities and the ways between them, the snapshot as lines,
//! and the lists of what is open: conflicts, held proposals, reviews due, answers that differ.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::needless_pass_by_value, reason = "values are written in place")]

use asof::db::{ImportOptions, Options, Snapshot, Store};
use asof::exchange::question::question;
use asof::model::name::Tenant;
use asof::model::scope::Scope;
use asof::query::slots::Reach;
use asof::query::snapshot::entities;
use asof::query::view::Ask;
use asof::time::Valid;
use serde_json::{Value, json};

fn loaded(lines: &[Value]) -> Store {
    let store = Store::in_memory(Options::default()).unwrap();
    let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let options = ImportOptions { replay: true, ..ImportOptions::default() };
    assert_eq!(store.import(text.join("\n").as_bytes(), options).unwrap().refused, []);
    store
}

fn fact(id: &str, subject: &str, predicate: &str, value: Value, day: u32) -> Value {
    json!({
        "op": "assert", "id": id, "subject": subject, "predicate": predicate, "value": value,
        "scope": "t/s", "kind": "stated", "valid_from": "2025-01-01T00:00:00Z",
        "recorded_at": format!("2025-01-{day:02}T00:00:00Z"),
    })
}

fn with(mut line: Value, field: &str, value: Value) -> Value {
    line.as_object_mut().unwrap().insert(field.to_owned(), value);
    line
}

fn asked(snapshot: &Snapshot, kind: &str, fields: &Value) -> Value {
    let asked = question(kind, fields.as_object().unwrap().clone(), None).unwrap();
    snapshot.answer(&asked).unwrap()
}

fn entity(name: &str) -> Value {
    json!({ "entity": name })
}

#[test]
fn ways_between_entities_are_those_of_the_instant_asked_about() {
    let store = loaded(&[
        fact("1", "ann", "works_at", entity("acme"), 2),
        fact("2", "bob", "works_at", entity("acme"), 3),
        fact("3", "bob", "knows", entity("cem"), 4),
        fact("4", "cem", "lives_in", entity("rome"), 5),
        fact("5", "cem", "age", json!(7), 6),
        json!({"op":"end","target":"2","valid_until":"2025-02-01T00:00:00Z","recorded_at":"2025-01-07T00:00:00Z"}),
    ]);
    let snapshot = store.owner().snapshot();
    let view = snapshot.view(Tenant::new("t").unwrap());
    let at = |text: &str| {
        let mut ask = Ask::of(Scope::new("t/s").unwrap());
        ask.valid_at = Some(Valid::parse_rfc3339(text).unwrap());
        entities(&view, &Reach::Scope(ask.scope.clone()), &ask).unwrap()
    };
    let january = at("2025-01-20T00:00:00Z");
    assert_eq!(january.path("ann", "rome"), Some(vec!["ann", "acme", "bob", "cem", "rome"]));
    assert_eq!(january.neighbours("ann", 2), [("acme", 1), ("bob", 2)]);
    assert_eq!(january.graph.edge_count(), 4);
    let march = at("2025-03-01T00:00:00Z");
    assert_eq!(march.path("ann", "rome"), None, "bob has left");
    assert_eq!(march.neighbours("ann", 9), [("acme", 1)]);
    assert_eq!(march.path("nobody", "rome"), None);
}

#[test]
fn the_snapshot_holds_what_answers_and_nothing_else() {
    let store = loaded(&[
        fact("a", "e", "p", json!(1), 2),
        with(fact("b", "e", "p", json!(2), 3), "supersedes", json!(["a"])),
        fact("c", "e", "q", json!(3), 4),
        json!({"op":"disable","target":"c","recorded_at":"2025-01-05T00:00:00Z"}),
    ]);
    let snapshot = store.owner().snapshot();
    let ids = |fields: Value| -> Vec<String> {
        let all = asked(&snapshot, "snapshot", &fields);
        all.as_array().unwrap().iter().map(|f| f["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(json!({"scope":"t/s"})), ["b"]);
    assert_eq!(ids(json!({"across":"t/**","known_at":"2025-01-04T00:00:00Z"})), ["b", "c"]);
    assert_eq!(ids(json!({"scope":"t/s","known_at":"2025-01-02T00:00:00Z"})), ["a"]);
}

#[test]
fn what_is_open_is_listed_as_of_the_instant_asked_about() {
    let store = loaded(&[
        fact("a", "e", "p", json!(1), 2),
        fact("b", "e", "p", json!(2), 3),
        with(fact("d", "e", "q", json!(1), 4), "review_by", json!("2025-03-01T00:00:00Z")),
        with(
            with(fact("g", "e", "q", json!(9), 5), "kind", json!("inferred")),
            "supersedes",
            json!(["d"]),
        ),
        json!({"op":"resolve","conflict":["a","b"],"keep":"b","recorded_at":"2025-01-06T00:00:00Z"}),
        json!({"op":"reject","target":"g","recorded_at":"2025-01-07T00:00:00Z"}),
    ]);
    let snapshot = store.owner().snapshot();
    let conflicts =
        asked(&snapshot, "conflicts", &json!({"scope":"t/s","at":"2025-01-05T00:00:00Z"}));
    assert_eq!(conflicts[0]["facts"], json!(["a", "b"]));
    assert_eq!(conflicts[0]["since"], "2025-01-03T00:00:00Z");
    assert_eq!(asked(&snapshot, "conflicts", &json!({"scope":"t/s"})), json!([]), "it was settled");
    let held = asked(&snapshot, "held", &json!({"scope":"t/s","at":"2025-01-05T00:00:00Z"}));
    assert_eq!((&held[0]["id"], &held[0]["against"]), (&json!("g"), &json!(["d"])));
    assert_eq!(asked(&snapshot, "held", &json!({"scope":"t/s"})), json!([]), "it was declined");
    let due = |by: &str| asked(&snapshot, "due", &json!({"scope":"t/s","by":by}));
    assert_eq!(due("2025-04-01T00:00:00Z")[0]["id"], "d");
    assert_eq!(due("2025-02-01T00:00:00Z"), json!([]));
}

#[test]
fn a_difference_names_the_answers_and_the_events_that_made_them_differ() {
    let store = loaded(&[
        fact("a", "e", "p", json!(1), 2),
        fact("same", "e", "q", json!(1), 2 + 1),
        with(fact("b", "e", "p", json!(2), 5), "supersedes", json!(["a"])),
    ]);
    let snapshot = store.owner().snapshot();
    let known = json!(["2025-01-04T00:00:00Z", "2025-01-06T00:00:00Z"]);
    let differs = asked(&snapshot, "diff", &json!({"scope":"t/s","known":known}));
    assert_eq!(differs.as_array().unwrap().len(), 1);
    assert_eq!(differs[0]["before"]["values"], json!([1]));
    assert_eq!(differs[0]["after"]["values"], json!([2]));
    let by = differs[0]["events"].as_array().unwrap();
    assert!(by.iter().any(|event| event["id"] == "b"), "{by:?}");
}
