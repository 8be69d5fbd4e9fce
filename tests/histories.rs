//! The real histories of `../shared/data`: replayed whole, every question answered as the outside
//! source answers it, with outcome `known` or `unknown`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::path::Path;

use asof::db::{ImportOptions, Options, Store};
use asof::exchange::lines::open;
use asof::exchange::question::question;
use common::shared;
use rayon::prelude::*;
use serde_json::json;

/// Replays a history into a store on disk and counts the questions answered rightly.
fn answered(folder: &Path, name: &str) -> (usize, usize) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store"), Options::default()).unwrap();
    let journal = open(&folder.join(format!("{name}.jsonl.xz"))).unwrap();
    let report =
        store.import(journal, ImportOptions { replay: true, ..ImportOptions::default() }).unwrap();
    assert_eq!(report.refused, [], "every line of a history goes in");
    let text = std::fs::read_to_string(folder.join(format!("{name}.questions.tsv"))).unwrap();
    let questions: Vec<Vec<&str>> =
        text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let snapshot = store.owner().snapshot();
    let right = |fields: &&Vec<&str>| {
        let [subject, predicate, scope, valid_at, known_at, wanted] = fields.as_slice() else {
            panic!("six fields a line");
        };
        let asked = json!({
            "subject": subject, "predicate": predicate, "scope": scope,
            "valid_at": valid_at, "known_at": known_at,
        });
        let asked = question("get", asked.as_object().unwrap().clone(), None).unwrap();
        let answer = snapshot.answer(&asked).unwrap();
        let facts = answer["facts"].as_array().unwrap();
        let says = |fact: &serde_json::Value| match &fact["value"] {
            serde_json::Value::String(text) => text == wanted,
            other => {
                serde_json::from_str(wanted).is_ok_and(|wanted: serde_json::Value| wanted == *other)
            }
        };
        if wanted.is_empty() {
            answer["outcome"] == "unknown" && facts.is_empty()
        } else {
            answer["outcome"] == "known" && !facts.is_empty() && facts.iter().all(says)
        }
    };
    let good = questions.par_iter().filter(right).count();
    println!("{name}: {good} of {} questions answered rightly", questions.len());
    (good, questions.len())
}

#[test]
fn every_question_about_the_time_zones_is_answered_as_the_zone_library_answers_it() {
    let Some(folder) = shared("data") else { return };
    assert_eq!(answered(&folder, "tz"), (3_000, 3_000));
}

#[test]
fn every_question_about_ends_of_support_is_answered_as_the_register_said() {
    let Some(folder) = shared("data") else { return };
    assert_eq!(answered(&folder, "endoflife"), (2_000, 2_000));
}
