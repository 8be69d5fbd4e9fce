//! Export and replay (R9a, R42): an export replayed into an empty store makes the same content and,
//! byte for byte, the same export; imported again it changes nothing; the past does not change
//! (R27), whichever engine holds the derived state.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::sync::Arc;

use asof::db::{ImportOptions, Options, Store};
use asof::store::open::EngineChoice;
use asof::time::{FixedClock, Recorded};
use common::engine::{Engine, answer};
use common::oracle::random::random_world;
use common::oracle::worlds::questions;
use common::{CLOCK, shared, transactions};
use serde_json::Value;

fn export(store: &Store) -> String {
    let mut text = Vec::new();
    store.owner().export(&mut text, None).unwrap();
    String::from_utf8(text).unwrap()
}

fn replay(store: &Store, text: &str) -> asof::db::ImportReport {
    store
        .import(text.as_bytes(), ImportOptions { replay: true, ..ImportOptions::default() })
        .unwrap()
}

fn world(seed: u64, events: usize) -> Vec<Value> {
    let mut world = random_world(seed, events);
    world.retain(|line| line["op"] != "erase");
    world
}

fn loaded(world: &[Value]) -> Engine {
    let engine = Engine::new(CLOCK);
    for lines in transactions(world) {
        engine.write(&lines);
    }
    engine
}

#[test]
fn an_export_replayed_makes_the_same_digest_and_the_same_export() {
    for seed in 0..60 {
        let first = loaded(&world(seed, 60)).store;
        let text = export(&first);
        let second = Engine::new(CLOCK).store;
        let report = replay(&second, &text);
        assert_eq!(report.refused, [], "seed {seed}");
        assert_eq!(first.digest().unwrap(), second.digest().unwrap(), "seed {seed}");
        assert_eq!(export(&second), text, "seed {seed}");
        assert_eq!(second.check().unwrap().faults, Vec::<String>::new());
    }
}

#[test]
fn the_same_export_imported_again_changes_nothing() {
    for seed in 0..30 {
        let store = loaded(&world(seed, 60)).store;
        let (text, digest) = (export(&store), store.digest().unwrap());
        for replaying in [false, true] {
            let options = ImportOptions { replay: replaying, ..ImportOptions::default() };
            let report = store.import(text.as_bytes(), options).unwrap();
            assert_eq!(report.unchanged, report.lines, "seed {seed}");
            assert_eq!(store.digest().unwrap(), digest, "seed {seed}");
        }
    }
}

#[test]
fn a_later_event_never_changes_an_answer_about_the_past() {
    for seed in 0..60 {
        let world = world(seed, 50);
        let asked = questions(&world);
        let Some(cut) = transactions(&world).iter().rev().find_map(|lines| {
            let at = lines[0]["recorded_at"].as_str()?;
            (at < world.last()?["recorded_at"].as_str()?).then(|| at.to_owned())
        }) else {
            continue;
        };
        let engine = Engine::new(CLOCK);
        let mut before = None;
        for lines in transactions(&world) {
            if lines[0]["recorded_at"].as_str().unwrap() > cut.as_str() && before.is_none() {
                before = Some(
                    asked.iter().map(|q| answer(&engine.snapshot(), q, false)).collect::<Vec<_>>(),
                );
            }
            engine.write(&lines);
        }
        let Some(before) = before else { continue };
        for (question, before) in asked.iter().zip(before) {
            if question["known_at"].as_str().is_some_and(|k| k <= cut.as_str()) {
                assert_eq!(answer(&engine.snapshot(), question, false), before, "{question}");
            }
        }
    }
}

#[test]
fn every_engine_and_a_reopened_store_give_the_same_answers_and_digest() {
    for seed in 0..6 {
        let world = world(seed, 80);
        let asked = questions(&world);
        let wanted = loaded(&world);
        let dir = tempfile::tempdir().unwrap();
        let options = || Options {
            clock: Arc::new(FixedClock::new(Recorded::from_micros(CLOCK).unwrap())),
            ..Options::default()
        };
        let path = dir.path().join("store");
        let text = export(&wanted.store);
        let store = Store::open(&path, options()).unwrap();
        assert_eq!(replay(&store, &text).refused, []);
        store.checkpoint().unwrap();
        drop(store);
        for engine in [EngineChoice::Sled, EngineChoice::Memory, EngineChoice::Sled] {
            let store = Store::open(&path, Options { engine, ..options() }).unwrap();
            assert_eq!(store.digest().unwrap(), wanted.store.digest().unwrap());
            let snapshot = store.owner().snapshot();
            for question in &asked {
                let theirs = answer(&wanted.snapshot(), question, true);
                assert_eq!(answer(&snapshot, question, true), theirs, "{question}");
            }
            assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
        }
    }
}

#[test]
fn a_real_history_survives_the_round_trip() {
    let Some(folder) = shared("data") else { return };
    let journal = asof::exchange::lines::open(&folder.join("endoflife.jsonl.xz")).unwrap();
    let first = Engine::new(CLOCK).store;
    let options = ImportOptions { replay: true, ..ImportOptions::default() };
    assert_eq!(first.import(journal, options).unwrap().refused, []);
    let text = export(&first);
    let second = Engine::new(CLOCK).store;
    assert_eq!(replay(&second, &text).refused, []);
    assert_eq!(first.digest().unwrap(), second.digest().unwrap());
    assert_eq!(export(&second), text);
    let again = second.import(text.as_bytes(), ImportOptions::default()).unwrap();
    assert_eq!((again.unchanged, again.refused_lines), (again.lines, 0));
}
