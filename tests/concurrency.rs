//! Readers and writers at once (R14, R46): while threads write pairs and others write checkpoints,
//! a snapshot answers the same however often it is asked, no transaction is seen in part, and what
//! a reader has seen once never goes away. A small cache makes readers go to the engine, so that
//! checkpoints overtake them.
//!
//! `ASOF_LONG=1` goes on for a minute instead of three seconds.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use asof::db::{Options, Snapshot, Store, WriteOptions};
use asof::exchange::question;
use asof::exchange::read::{self, Reading};
use asof::model::operation::Operation;
use serde_json::Value as Json;
use uuid::Uuid;

fn operations(lines: &[String]) -> Vec<Operation> {
    let reading = Reading { zone: None, replay: false, make_id: &asof::db::Session::make_id };
    lines.iter().map(|line| read::line(line, &reading).unwrap().operation).collect()
}

fn set(subject: &str, value: u64) -> String {
    format!(
        r#"{{"op":"assert","subject":"{subject}","predicate":"p","value":{value},"scope":"t","kind":"stated","supersedes":"current"}}"#
    )
}

fn ask(snapshot: &Snapshot, subject: &str) -> Json {
    let text = format!(r#"{{"get":{{"subject":"{subject}","predicate":"p","scope":"t"}}}}"#);
    let mut answer = snapshot.answer(&question::line(&text, None).unwrap()).unwrap();
    // When it was asked is not what it said.
    answer.as_object_mut().unwrap().remove("as_of");
    answer
}

fn value(answer: &Json) -> u64 {
    assert_eq!(answer["outcome"], "known", "{answer}");
    answer["facts"][0]["value"].as_u64().unwrap()
}

#[test]
fn a_snapshot_stands_still_and_pairs_are_never_seen_apart() {
    const PAIRS: usize = 40;
    let seconds = if std::env::var("ASOF_LONG").is_ok() { 60 } else { 3 };
    let dir = tempfile::tempdir().unwrap();
    let store =
        Store::open(dir.path(), Options { cache_bytes: 4_096, ..Options::default() }).unwrap();
    let pair = |n: usize, value: u64| {
        let lines = [set(&format!("a{n}"), value), set(&format!("b{n}"), value)];
        let written = store.owner().write(&operations(&lines), WriteOptions::default()).unwrap();
        assert_eq!(written.refused(), None);
        written.stamp.unwrap()
    };
    for n in 0..PAIRS {
        pair(n, 0);
    }
    let (stop, written, asked) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let n = usize::try_from(round).unwrap() % PAIRS;
                let stamp = pair(n, round);
                // A writer sees its own write at once.
                let own = store.owner().snapshot();
                assert!(own.pin() >= stamp.recorded);
                assert_eq!(value(&ask(&own, &format!("a{n}"))), round);
                written.store(round, Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                store.checkpoint().unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        for reader in 0..8 {
            let (store, stop, asked) = (&store, &stop, &asked);
            scope.spawn(move || {
                let mut seen = [0; PAIRS];
                let mut n = reader;
                while !stop.load(Ordering::Relaxed) {
                    n = (n + 7) % PAIRS;
                    let snapshot = store.owner().snapshot();
                    let first = ask(&snapshot, &format!("a{n}"));
                    let other = ask(&snapshot, &format!("b{n}"));
                    assert_eq!(value(&first), value(&other), "a pair is seen in part");
                    assert!(value(&first) >= seen[n], "what was seen went away");
                    seen[n] = value(&first);
                    std::thread::yield_now();
                    assert_eq!(ask(&snapshot, &format!("a{n}")), first, "the snapshot moved");
                    assert_eq!(ask(&snapshot, &format!("b{n}")), other, "the snapshot moved");
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let until = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(written.load(Ordering::Relaxed) > 0 && asked.load(Ordering::Relaxed) > 0);
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
    println!("{written:?} pairs written, {asked:?} snapshots asked");
}

#[test]
fn writers_of_many_threads_all_get_in_each_whole_and_in_one_order() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), Options::default()).unwrap();
    let mut stamps: Vec<_> = std::thread::scope(|scope| {
        let write = |thread: usize| {
            let session = store.owner();
            scope.spawn(move || {
                let one = |n| {
                    let lines = [set(&format!("s{thread}"), n), set("shared", n)];
                    let written = session.write(&operations(&lines), WriteOptions::default());
                    let stamp = written.unwrap().stamp.unwrap();
                    assert!(session.snapshot().pin() >= stamp.recorded, "own write is not seen");
                    (stamp.seq, stamp.recorded)
                };
                (0..60).map(one).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = (0..8).map(write).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    stamps.sort_unstable();
    assert!(stamps.windows(2).all(|two| two[0].0 + 1 == two[1].0 && two[0].1 < two[1].1));
    assert_eq!(store.stats().unwrap().transactions, 480);
    let digest = store.digest().unwrap();
    drop(store);
    let store = Store::open(dir.path(), Options::default()).unwrap();
    assert_eq!(store.digest().unwrap(), digest);
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
}

#[test]
fn one_transaction_id_sent_by_many_threads_is_written_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), Options::default()).unwrap();
    for _ in 0..20 {
        let options = WriteOptions { tx_id: Some(Uuid::now_v7()), ..WriteOptions::default() };
        let before = store.stats().unwrap().transactions;
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let written = store.owner().write(&operations(&[set("s", before)]), options);
                    assert_eq!(written.unwrap().refused(), None);
                    // Written by whichever thread, it is durable and seen on return.
                    assert_eq!(value(&ask(&store.owner().snapshot(), "s")), before);
                });
            }
        });
        assert_eq!(store.stats().unwrap().transactions, before + 1);
    }
}
