//! The worked cases of `../shared/cases`: each is one story, replayed line by line as
//! `import --replay` would, and asked as `asof ask` would.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::engine::{Engine, answer};
use common::oracle::Answer;
use common::{CLOCK, shared, transactions};
use serde_json::Value;

/// Cases that wait for the erasure floor.
const WAITING: [&str; 2] = ["erased_is_gone_at_every_known_at", "no_return"];

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

/// What is named but not found; a reason without `:id` matches any id.
fn missing(expected: &Value, found: &BTreeMap<String, String>) -> Vec<String> {
    let fits = |id: &str, reason: &str| {
        found.get(id).is_some_and(|found| {
            found == reason || (!reason.contains(':') && found.split(':').next() == Some(reason))
        })
    };
    let named = expected.as_object().unwrap().iter();
    named
        .filter(|(id, reason)| !fits(id, reason.as_str().unwrap()))
        .map(|(id, reason)| format!("{id} {reason}"))
        .collect()
}

fn differences(expect: &Value, answer: &Answer) -> Vec<String> {
    let mut faults = Vec::new();
    for (key, wanted) in expect.as_object().unwrap() {
        let good = match key.as_str() {
            "outcome" => answer.outcome == wanted.as_str().unwrap(),
            "facts" => answer.facts == texts(wanted),
            "doubts" => {
                let wanted = texts(wanted);
                let plain: BTreeSet<String> =
                    answer.doubts.iter().map(|d| d.split(':').next().unwrap().to_owned()).collect();
                answer.doubts == wanted || plain == wanted
            }
            "values" => {
                let set = |list: &[Value]| -> BTreeSet<String> {
                    list.iter().map(Value::to_string).collect()
                };
                set(wanted.as_array().unwrap()) == set(&answer.values)
            }
            "leads" if wanted.as_object().unwrap().is_empty() => answer.leads.is_empty(),
            "leads" => missing(wanted, &answer.leads).is_empty(),
            "excluded" => missing(wanted, &answer.excluded).is_empty(),
            other => panic!("unknown key {other}"),
        };
        if !good {
            faults.push(format!("{key}: wanted {wanted}, found {answer:?}"));
        }
    }
    faults
}

fn run(case: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let engine = Engine::new(CLOCK);
    for lines in transactions(case["journal"].as_array().unwrap()) {
        let (_, refused) = engine.write(&lines);
        if let Some((place, code)) = refused {
            faults.push(format!("journal: {code}: {}", lines[place]));
        }
    }
    for (number, ask) in case["ask"].as_array().unwrap().iter().enumerate() {
        let expect = &ask["expect"];
        if let Some(question) = ask.get("get") {
            let found = differences(expect, &answer(&engine.snapshot(), question, true));
            faults.extend(found.into_iter().map(|fault| format!("ask {number}: {fault}")));
            continue;
        }
        let (counts, refused) = engine.write(&[ask["write"].clone()]);
        let verdict = expect["verdict"].as_str().unwrap();
        let reason = refused.map(|(_, code)| code);
        let wanted = expect["reason"].as_str().map(str::to_owned);
        if counts[verdict] != 1 || (wanted.is_some() && wanted != reason) {
            faults.push(format!("ask {number}: wanted {expect}, found {counts:?} {reason:?}"));
        }
    }
    faults
}

#[test]
fn every_worked_case_is_answered_as_worked_out_by_hand() {
    let Some(folder) = shared("cases") else { return };
    let mut passed = 0;
    let mut faults = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "json")) {
        let case: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let name = case["name"].as_str().unwrap();
        if WAITING.contains(&name) {
            println!("waits for erasure: {name}");
            continue;
        }
        let found = run(&case);
        passed += usize::from(found.is_empty());
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    println!("{passed} cases passed");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(passed > 50, "the cases were found");
}
