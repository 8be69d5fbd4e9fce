//! One history, three stores: random operations, alone, in batches and by import, go to a store on
//! sled and to one in memory, with closings, checkpoints and rebuilds in between. Verdicts, digests
//! and every answer must be the same throughout; at the end the journal that was accepted is
//! replayed into a third, empty store, which must be the same again.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]

#[path = "common/numbered.rs"]
mod numbered;

use std::path::Path;

use asof::db::{ImportOptions, Options, Session, Store, WriteOptions};
use asof::exchange::question;
use asof::exchange::read::{self, Reading};
use asof::store::open::EngineChoice;
use numbered::{journal, options, write};
use proptest::prelude::*;

/// What happens next.
#[derive(Debug, Clone)]
enum Step {
    /// These lines as one transaction.
    Write(Vec<String>),
    /// These lines as a journal.
    Import(Vec<String>),
    Checkpoint,
    Reopen,
    Rebuild,
}

fn line() -> impl Strategy<Value = String> {
    let id = || (0u8..12).prop_map(|n| format!("f{n}"));
    let assert = (id(), 0u8..3, 0u8..4, 0u8..3, 0u8..4, 0u8..3).prop_map(
        |(id, subject, value, scope, supersedes, kind)| {
            let scope = ["t", "t/a", "t/a/b"][usize::from(scope)];
            let supersedes = match supersedes {
                0 => r#","supersedes":"current""#.to_owned(),
                1 => format!(r#","supersedes":["f{value}"]"#),
                2 => r#","valid_from":"2023-01-01T00:00:00Z","valid_until":"2024-06-01T00:00:00Z""#
                    .to_owned(),
                _ => String::new(),
            };
            let kind = [r#""kind":"stated""#, r#""kind":"inferred""#, r#""source":"src""#]
                [usize::from(kind)];
            format!(
                r#"{{"op":"assert","id":"{id}","subject":"s{subject}","predicate":"p","value":"v{value}","scope":"{scope}",{kind}{supersedes}}}"#
            )
        },
    );
    let derived = (id(), id(), 0u8..4).prop_map(|(id, from, value)| {
        format!(
            r#"{{"op":"assert","id":"{id}","subject":"d","predicate":"p","value":"v{value}","scope":"t","derived_from":["{from}"]}}"#
        )
    });
    let target = (id(), 0usize..9).prop_map(|(id, which)| {
        let rest = [
            r#""op":"retract","reason":"mistaken""#,
            r#""op":"retract","reason":"withdrawn""#,
            r#""op":"reinstate""#,
            r#""op":"disable""#,
            r#""op":"enable""#,
            r#""op":"end","valid_until":"2023-06-01T00:00:00Z""#,
            r#""op":"correct","value":"right""#,
            r#""op":"confirm""#,
            r#""op":"affirm""#,
        ][which];
        format!(r#"{{{rest},"target":"{id}","tenant":"t"}}"#)
    });
    let source = Just(r#"{"op":"source","id":"src","scope":"t","kind":"reported"}"#.to_owned());
    let retracted =
        Just(r#"{"op":"retract","target":"src","reason":"withdrawn","tenant":"t"}"#.to_owned());
    prop_oneof![8 => assert, 2 => derived, 5 => target, 1 => source, 1 => retracted]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => proptest::collection::vec(line(), 1..4).prop_map(Step::Write),
        3 => proptest::collection::vec(line(), 1..8).prop_map(Step::Import),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
        1 => Just(Step::Rebuild),
    ]
}

/// What a write or an import came to, without ids that are made.
fn done(store: &Store, step: &Step) -> String {
    match step {
        Step::Write(lines) => {
            let reading = Reading { zone: None, replay: false, make_id: &Session::make_id };
            let operations: Vec<_> =
                lines.iter().map(|line| read::line(line, &reading).unwrap().operation).collect();
            let written = store.owner().write(&operations, WriteOptions::default()).unwrap();
            let verdicts: Vec<_> = written.admissions.iter().map(|a| a.verdict.word()).collect();
            let refused = written.refused().map(|(at, refusal)| (at, refusal.reason.code()));
            format!("{verdicts:?} {refused:?} {:?}", written.stamp)
        }
        Step::Import(lines) => {
            let report = store.import_text(&lines.join("\n")).unwrap();
            let refused: Vec<_> =
                report.refused.iter().map(|r| (r.line, r.refusal.reason.code())).collect();
            format!("{} {} {} {refused:?}", report.admitted, report.unchanged, report.held)
        }
        Step::Checkpoint | Step::Reopen | Step::Rebuild => String::new(),
    }
}

fn answers(store: &Store) -> Vec<String> {
    let snapshot = store.owner().snapshot();
    let mut answers = vec![store.digest().unwrap()];
    for subject in ["s0", "s1", "s2", "d"] {
        for kind in ["get", "explain", "timeline"] {
            for scope in ["t", "t/a", "t/a/b"] {
                let text = format!(
                    r#"{{"{kind}":{{"subject":"{subject}","predicate":"p","scope":"{scope}","inherit":true}}}}"#
                );
                let asked = question::line(&text, None).unwrap();
                let answer = snapshot.answer(&asked);
                answers.push(answer.map_or_else(|e| e.to_string(), |answer| answer.to_string()));
            }
        }
    }
    answers
}

/// A stay-still clock makes records of equal order equal; ids that a correction makes are not, so
/// they are given by the line.
fn with_ids(step: Step, number: usize) -> Step {
    let named = |lines: Vec<String>| {
        let line = |(place, line): (usize, String)| match line.strip_prefix(r#"{"op":"correct""#) {
            Some(rest) => format!(r#"{{"op":"correct","id":"c{number}-{place}"{rest}"#),
            None => line,
        };
        lines.into_iter().enumerate().map(line).collect()
    };
    match step {
        Step::Write(lines) => Step::Write(named(lines)),
        Step::Import(lines) => Step::Import(named(lines)),
        other => other,
    }
}

fn opened(dir: &Path, rebuild: bool) -> Store {
    Store::open(dir, Options { rebuild, ..options(EngineChoice::Sled) }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var("ASOF_LONG").is_ok() { 400 } else { 24 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sled_memory_and_the_replayed_journal_are_one_store(
        steps in proptest::collection::vec(step(), 1..40)
    ) {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("sled");
        let mut sled = opened(&at, false);
        let memory = Store::open(dir.path().join("memory"), options(EngineChoice::Memory)).unwrap();
        for (number, step) in steps.into_iter().enumerate() {
            let step = with_ids(step, number);
            match step {
                Step::Checkpoint => sled.checkpoint().unwrap(),
                Step::Reopen | Step::Rebuild => {
                    drop(sled);
                    sled = opened(&at, matches!(step, Step::Rebuild));
                }
                Step::Write(_) | Step::Import(_) => {}
            }
            prop_assert_eq!(done(&sled, &step), done(&memory, &step));
            prop_assert_eq!(answers(&sled), answers(&memory));
        }
        prop_assert_eq!(sled.check().unwrap().faults, Vec::<String>::new());
        let mut text = Vec::new();
        sled.owner().export(&mut text, None).unwrap();
        let replayed = Store::open(
            dir.path().join("replayed"),
            Options { engine: EngineChoice::Memory, ..Options::default() },
        )
        .unwrap();
        let replay = ImportOptions { replay: true, ..ImportOptions::default() };
        let report = replayed.import(text.as_slice(), replay).unwrap();
        prop_assert_eq!(report.refused, vec![]);
        prop_assert_eq!(replayed.digest().unwrap(), sled.digest().unwrap());
    }
}

#[test]
fn the_same_journal_makes_the_same_store_alone_and_by_import() {
    let dir = tempfile::tempdir().unwrap();
    let alone = Store::open(dir.path().join("alone"), options(EngineChoice::Sled)).unwrap();
    let imported = Store::open(dir.path().join("imported"), options(EngineChoice::Memory)).unwrap();
    (1..=200).for_each(|n| write(&alone, n));
    imported.import_text(&journal(1, 200)).unwrap();
    assert_eq!(alone.digest().unwrap(), imported.digest().unwrap());
    assert_eq!(answers(&alone), answers(&imported));
}
