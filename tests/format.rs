//! The format stays readable (R48): a store that this version wrote lies in `graphs/format_v0` and
//! is opened from a copy; the bytes of keys and of a log frame are pinned. If a test here fails, the
//! format has changed: give it a new version and keep reading this one.
//!
//! `graphs/format_v0` was made by `ASOF_MAKE_FORMAT=1 cargo test --test format`.
#![expect(clippy::unwrap_used, reason = "a test may stop")]

#[path = "common/numbered.rs"]
mod numbered;

use std::fs;
use std::path::{Path, PathBuf};

use asof::db::Store;
use asof::model::name::{Id, Predicate, Subject, Tenant};
use asof::model::node::{NodeNo, SlotNo};
use asof::store::frame::{Draft, Seal};
use asof::store::key;
use asof::store::open::EngineChoice;
use asof::time::Recorded;
use numbered::{journal, options, write};
use uuid::Uuid;

const HELD: u64 = 30;

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs/format_v0")
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Makes the kept store: only when asked to, and never over another.
#[test]
fn the_kept_store_is_made_once_when_asked_for() {
    if std::env::var("ASOF_MAKE_FORMAT").is_err() || kept().exists() {
        return;
    }
    let store = Store::open(kept(), options(EngineChoice::Memory)).unwrap();
    store.import_text(&journal(1, HELD)).unwrap();
    drop(store);
    fs::remove_file(kept().join("LOCK")).unwrap();
}

#[test]
fn a_store_of_format_0_opens_and_says_what_it_said() {
    for engine in [EngineChoice::Sled, EngineChoice::Memory] {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("copy");
        copied(&kept(), &at);
        let store = Store::open(&at, options(engine)).unwrap();
        assert_eq!(store.stats().unwrap().transactions, HELD);
        assert_eq!((store.cut_bytes(), store.check().unwrap().faults), (0, vec![]));
        let fresh = Store::open(dir.path().join("fresh"), options(EngineChoice::Memory)).unwrap();
        fresh.import_text(&journal(1, HELD)).unwrap();
        assert_eq!(store.digest().unwrap(), fresh.digest().unwrap());
        write(&store, HELD + 1);
    }
}

#[test]
fn the_kept_store_is_small() {
    let bytes = |path: PathBuf| -> u64 {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    };
    assert!(bytes(kept()) + bytes(kept().join("log")) < 100_000);
}

#[test]
fn the_bytes_of_keys_are_pinned() {
    let tenant = Tenant::new("acme").unwrap();
    let (subject, predicate) = (Subject::new("user:ü").unwrap(), Predicate::new("city").unwrap());
    let hex =
        |key: Vec<u8>| key.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let keys = [
        hex(key::COUNTERS.to_vec()),
        hex(key::tenant("acme")),
        hex(key::scope("acme", "acme/a")),
        hex(key::id(&tenant, &Id::new("f1").unwrap())),
        hex(key::node(NodeNo(0x0102))),
        hex(key::slot_named(&tenant, &subject, &predicate)),
        hex(key::slot_by_predicate(&tenant, &predicate, "user:ü")),
        hex(key::slot(SlotNo(7))),
        hex(key::chunk(SlotNo(7), 3)),
        hex(key::dependent(NodeNo(1), NodeNo(2))),
        hex(key::declared("acme", "city")),
        hex(key::suppressions(&tenant)),
        hex(key::held(&tenant, NodeNo(9))),
        hex(key::transaction(Uuid::from_u128(0xabcd))),
        hex(key::recorded(Recorded::from_micros(-1).unwrap())),
        hex(key::recorded(Recorded::from_micros(5).unwrap())),
    ];
    let pinned = [
        "6d",
        "7461636d65",
        "7861636d650061636d652f61",
        "6961636d65006631",
        "6e0000000000000102",
        "6b61636d6500757365723ac3bc0063697479",
        "7161636d65006369747900757365723ac3bc",
        "730000000000000007",
        "6300000000000000070000000000000003",
        "6400000000000000010000000000000002",
        "7061636d650063697479",
        "7a61636d65",
        "6861636d65000000000000000009",
        "750000000000000000000000000000abcd",
        "6f7fffffffffffffff",
        "6f8000000000000005",
    ];
    assert_eq!(keys.each_ref().map(String::as_str), pinned);
}

#[test]
fn the_bytes_of_a_log_frame_are_pinned() {
    let seal = Seal { store: Uuid::from_u128(7), first: 1 };
    let mut frame = Vec::new();
    Draft::new(2, 1, b"payload").unwrap().place(&seal, 44, &mut frame);
    let text = frame.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    assert_eq!(text, "a566726d00020000000000000001000000070000007069e3f4aaa5c9a97061796c6f6164");
}
