//! Every small history over a chosen alphabet, and the questions to put to a history.
//!
//! A small world opens with three sources (`m` stated, `g` inferred, `r` reported) on 2026-01-01; its events
//! follow one a day from 2026-01-02 on, all about one subject. The alphabet:
//!
//! - an assert starts from a plain form (stated, from the first tick, without an end, scope `t/s`; values
//!   1, 2, 1 by position) in one of three ways: superseding nothing, one earlier fact by id, or `current`.
//!   It then differs from that form in at most one property when it is the first or the third event, in at
//!   most two when it is the second (one with `current`). Properties: the other value; evidence (source `m`,
//!   `g` or `r`; derived from the fact before, stated, in the same slot or under predicate `q`, there also
//!   inferred); start unknown or one of two later ticks; end at one of two ticks; scope `t`; `when {v: 1}`;
//!   and `then` for what supersedes an id.
//! - an operation on each earlier fact: end (two ticks), retract (both reasons), disable, affirm, correct (the
//!   value, or the end), support, erase; and, where an earlier event gives them something to do: confirm and
//!   reject, enable, reinstate, end taken back, resolve (either way), retract and disable of source `m`.
//!
//! Depth 3 gives about two hundred thousand worlds (a test counts them), refused events among them.

use super::dice::Dice;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// At most this many questions are put to one world; a world that allows more is sampled.
const MOST_QUESTIONS: usize = 400;
const LINES_OF_THE_PRELUDE: usize = 3;
const TICKS: [&str; 4] = [
    "2026-01-02T00:00:00Z",
    "2026-01-03T00:00:00Z",
    "2026-01-04T00:00:00Z",
    "2026-01-05T00:00:00Z",
];

/// Fields to set; `null` takes the field away.
type Change = Value;

/// All histories of up to `depth` events, each after the same prelude; shorter ones come before longer ones
/// that continue them.
pub(crate) fn small_worlds(depth: usize) -> impl Iterator<Item = Vec<Value>> {
    let mut waiting = vec![prelude()];
    std::iter::from_fn(move || {
        let world = waiting.pop()?;
        if world.len() < depth.min(TICKS.len()) + LINES_OF_THE_PRELUDE {
            waiting.extend(
                next_events(&world).into_iter().map(|event| [world.clone(), vec![event]].concat()),
            );
        }
        Some(world)
    })
    .filter(|world| world.len() > LINES_OF_THE_PRELUDE)
}

fn prelude() -> Vec<Value> {
    let source = |(id, kind)| json!({"op": "source", "id": id, "scope": "t", "kind": kind, "recorded_at": "2026-01-01T00:00:00Z"});
    [("m", "stated"), ("g", "inferred"), ("r", "reported")].map(source).to_vec()
}

fn next_events(world: &[Value]) -> Vec<Value> {
    let earlier = &world[LINES_OF_THE_PRELUDE..];
    let mut events = asserts(earlier);
    events.extend(operations(earlier));
    for event in &mut events {
        event["recorded_at"] = json!(TICKS[earlier.len()]);
    }
    events
}

fn asserts(earlier: &[Value]) -> Vec<Value> {
    let place = earlier.len();
    let (value, other) = if place == 1 { (2, 1) } else { (1, 2) };
    let base = json!({"op": "assert", "id": format!("f{place}"), "subject": "e", "predicate": "p", "value": value,
        "scope": "t/s", "kind": "stated", "valid_from": TICKS[0]});
    let facts = ids_of_facts(earlier);
    let most = if place == 1 { 2 } else { 1 };
    let mut plain = properties();
    plain.push(evidence(facts.last(), true));
    let Some(_) = facts.last() else {
        return variants(&base, &plain, most);
    };
    plain.push(vec![json!({"value": other})]);
    let mut all = variants(&base, &plain, most);
    let mut over = properties();
    over.push(evidence(facts.last(), false));
    over.push(vec![json!({"value": other})]);
    all.extend(variants(&changed(&base, &json!({"supersedes": "current"})), &over, 1));
    over.push(["resume", "uncertain", "never"].map(|then| json!({"then": then})).to_vec());
    for id in &facts {
        all.extend(variants(&changed(&base, &json!({"supersedes": [id]})), &over, most));
    }
    all
}

/// The properties every assert may differ in; each takes one of its changes or none.
fn properties() -> Vec<Vec<Change>> {
    vec![
        vec![
            json!({"valid_from": null}),
            json!({"valid_from": TICKS[1]}),
            json!({"valid_from": TICKS[2]}),
        ],
        vec![json!({"valid_until": TICKS[2]}), json!({"valid_until": TICKS[3]})],
        vec![json!({"scope": "t"})],
        vec![json!({"when": {"v": "1"}})],
    ]
}

fn evidence(before: Option<&String>, elsewhere: bool) -> Vec<Change> {
    let mut all = vec![
        json!({"kind": null, "source": "m"}),
        json!({"kind": null, "source": "g"}),
        json!({"kind": null, "source": "r"}),
    ];
    if let Some(id) = before {
        all.push(json!({"derived_from": [id]}));
        if elsewhere {
            all.push(json!({"derived_from": [id], "predicate": "q"}));
            all.push(json!({"derived_from": [id], "predicate": "q", "kind": null}));
        }
    }
    all
}

/// The base and everything that differs from it in at most `most` properties.
fn variants(base: &Value, properties: &[Vec<Change>], most: usize) -> Vec<Value> {
    let Some((first, rest)) = properties.split_first() else {
        return vec![base.clone()];
    };
    let mut all = variants(base, rest, most);
    if most > 0 {
        for change in first {
            all.extend(variants(&changed(base, change), rest, most - 1));
        }
    }
    all
}

fn changed(base: &Value, change: &Change) -> Value {
    let mut all = base.as_object().cloned().unwrap_or_default();
    for (key, value) in change.as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(all.remove(key)),
            _ => drop(all.insert(key.clone(), value.clone())),
        }
    }
    Value::Object(all)
}

fn ids_of_facts(lines: &[Value]) -> Vec<String> {
    let creates = |line: &&Value| line["op"] == "assert" || line["op"] == "correct";
    lines.iter().filter(creates).filter_map(|l| l["id"].as_str()).map(str::to_string).collect()
}

fn operations(earlier: &[Value]) -> Vec<Value> {
    let facts = ids_of_facts(earlier);
    let mut all = Vec::new();
    for id in &facts {
        all.extend(on_fact(id, earlier.len()));
        all.extend(undoing(id, earlier));
    }
    if earlier.iter().any(|line| line["source"] == "m") {
        all.push(json!({"op": "retract", "target": "m", "reason": "withdrawn"}));
        all.push(json!({"op": "disable", "target": "m"}));
    }
    if let [.., a, b] = facts.as_slice() {
        all.push(json!({"op": "resolve", "conflict": [a, b], "keep": a}));
        all.push(json!({"op": "resolve", "conflict": [a, b], "keep": b}));
    }
    all
}

fn on_fact(id: &str, place: usize) -> Vec<Value> {
    vec![
        json!({"op": "end", "target": id, "valid_until": TICKS[1]}),
        json!({"op": "end", "target": id, "valid_until": TICKS[2]}),
        json!({"op": "retract", "target": id, "reason": "mistaken"}),
        json!({"op": "retract", "target": id, "reason": "withdrawn"}),
        json!({"op": "disable", "target": id}),
        json!({"op": "affirm", "target": id}),
        json!({"op": "correct", "target": id, "id": format!("c{place}"), "value": 3}),
        json!({"op": "correct", "target": id, "id": format!("c{place}"), "valid_until": TICKS[2]}),
        json!({"op": "support", "target": id, "derived_from": ["r"]}),
        json!({"op": "erase", "target": id}),
    ]
}

fn undoing(id: &str, earlier: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    for line in earlier {
        let op = line["op"].as_str().unwrap_or_default();
        if op == "assert" && line["id"] == id && line.get("kind").is_none() {
            all.push(json!({"op": "confirm", "target": id}));
            all.push(json!({"op": "reject", "target": id}));
        }
        match op {
            _ if line["target"] != id => {}
            "disable" => all.push(json!({"op": "enable", "target": id})),
            "end" => all.push(json!({"op": "end", "target": id, "valid_until": null})),
            "retract" | "correct" | "reject" => all.push(json!({"op": "reinstate", "target": id})),
            _ => {}
        }
    }
    all
}

/// The questions to put to a world: every slot, scope, context, `valid_at` and `known_at` that occurs in it,
/// or a sample (the same each time) where that is too many.
pub(crate) fn questions(world: &[Value]) -> Vec<Value> {
    let small = world.iter().all(|line| !line["subject"].is_string() || line["subject"] == "e");
    let ticks: Vec<String> =
        if small { TICKS.map(str::to_string).to_vec() } else { instants(world) };
    let slots = slots(world);
    let places = places(world);
    let contexts = contexts(world);
    let size = [slots.len(), places.len(), contexts.len(), ticks.len(), ticks.len()];
    let total: usize = size.iter().product();
    let build = |mut number: usize| {
        let mut digits = size.map(|n| (number % n, number /= n).0);
        digits.reverse();
        let [k, v, context, place, slot] = digits;
        let (scope, inherit) = &places[place];
        let (subject, predicate) = &slots[slot];
        json!({"subject": subject, "predicate": predicate, "scope": scope, "inherit": inherit,
            "with": contexts[context], "valid_at": ticks[v], "known_at": ticks[k]})
    };
    if total <= MOST_QUESTIONS {
        return (0..total).map(build).collect();
    }
    let mut dice = Dice::new(world.len() as u64 + 1);
    (0..MOST_QUESTIONS).map(|_| build(dice.below(total))).collect()
}

fn slots(world: &[Value]) -> Vec<(String, String)> {
    let slot = |line: &Value| {
        Some((line["subject"].as_str()?.to_string(), line["predicate"].as_str()?.to_string()))
    };
    let all: BTreeSet<_> = world.iter().filter(|l| l["op"] == "assert").filter_map(slot).collect();
    all.into_iter().collect()
}

/// Scopes that occur, each asked exactly and, below the first segment, with `inherit`.
fn places(world: &[Value]) -> Vec<(String, bool)> {
    let written = world.iter().filter(|l| l["op"] == "assert").filter_map(|l| l["scope"].as_str());
    let mut scopes: BTreeSet<String> = written.map(str::to_string).collect();
    scopes.extend(["t".to_string(), "t/s".to_string()]);
    let both = |scope: &String| {
        if scope.contains('/') {
            vec![(scope.clone(), false), (scope.clone(), true)]
        } else {
            vec![(scope.clone(), false)]
        }
    };
    scopes.iter().flat_map(both).collect()
}

fn contexts(world: &[Value]) -> Vec<Value> {
    let dimensions: BTreeSet<&String> = world
        .iter()
        .filter_map(|line| line["when"].as_object())
        .flat_map(|when| when.keys())
        .collect();
    let mut all = vec![json!({})];
    for dimension in dimensions {
        let words: &[&str] = match dimension.as_str() {
            "version" => &["2.1", "3.0"],
            "env" => &["prod", "test"],
            _ => &["1", "2"],
        };
        let more: Vec<Value> = all
            .iter()
            .flat_map(|context| {
                words.iter().map(|word| changed(context, &json!({ dimension: word })))
            })
            .collect();
        all.extend(more);
    }
    all
}

fn instants(world: &[Value]) -> Vec<String> {
    let fields = ["recorded_at", "valid_from", "valid_until", "review_by"];
    let texts = world.iter().flat_map(|line| fields.map(|field| line[field].as_str()));
    let instant = |text: &&str| text.starts_with("20") && text.ends_with('Z');
    let all: BTreeSet<String> = texts.flatten().filter(instant).map(str::to_string).collect();
    all.into_iter().collect()
}
