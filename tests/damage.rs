//! Damage is named or harmless (R44, R47): every file of a store of several segments and a
//! checkpoint is flipped byte by byte, cut at every length, deleted, swapped, filled with garbage.
//! Opening it, its digest and every answer must then be what they were, or an error with a name:
//! never another answer, a panic, or a wait without end.
//!
//! Long files are sampled; `ASOF_LONG=1` takes twenty times as many places.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may stop")]

#[path = "common/numbered.rs"]
mod numbered;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use asof::admission::commit::{Request, When, Writer};
use asof::admission::rights::Rights;
use asof::db::{DbError, Options, Store};
use asof::exchange::question;
use asof::store::open::{EngineChoice, How, close, open};
use asof::time::Clock as _;
use numbered::{journal, operations, options, write};
use uuid::Uuid;

const TRANSACTIONS: u64 = 60;
const CHECKPOINT: u64 = 40;

/// Everything a store is asked: its digest, and the answer of every slot.
#[derive(Debug, PartialEq, Clone)]
struct Answers(Vec<String>);

/// A file's bytes by its path within the store.
type Files = BTreeMap<PathBuf, Vec<u8>>;

struct Sound {
    files: Files,
    answers: Answers,
}

/// The answers, and whether the derived state was made anew for them.
fn ask(dir: &Path, options: Options) -> Result<(Answers, bool), DbError> {
    let store = Store::open(dir, Options { create: false, ..options })?;
    let snapshot = store.owner().snapshot();
    let mut answers = Vec::new();
    for slot in 0..21 {
        let question = format!(
            r#"{{"get":{{"subject":"s:{}","predicate":"p{}","scope":"t/a","valid_at":"2023-11-15T00:00:00Z"}}}}"#,
            slot / 3,
            slot % 3
        );
        answers.push(snapshot.answer(&question::line(&question, None).unwrap())?.to_string());
    }
    answers.push(store.digest()?);
    Ok((Answers(answers), store.rebuilt().is_some()))
}

fn read(dir: &Path, below: &Path, files: &mut Files) {
    for entry in fs::read_dir(dir.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = below.join(entry.file_name());
        if entry.path().is_dir() {
            read(dir, &name, files);
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

fn place(dir: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// A store of several segments, with or without a derived state on disk, cleanly closed.
fn sound(engine: EngineChoice) -> Sound {
    let dir = tempfile::tempdir().unwrap();
    let options = options(engine);
    let how = How { create: true, tz: None, engine, cache_bytes: 1 << 20, rebuild: false };
    let opened = open(dir.path(), &how).unwrap();
    let mut writer = Writer::new(opened.log.with_segment_bytes(2_500));
    for n in 1..=TRANSACTIONS {
        let request = Request {
            tx_id: Uuid::now_v7(),
            given: false,
            when: When::Now(options.clock.now()),
            operations: &operations(n),
            dry_run: false,
            receipts: false,
        };
        writer.transact(&opened.state, &Rights::owner(), &request).unwrap();
        writer.sync().unwrap();
        if n == CHECKPOINT {
            opened.state.checkpoint().unwrap();
        }
    }
    writer.trim().unwrap();
    opened.state.publish_all();
    close(dir.path(), &opened.state, TRANSACTIONS).unwrap();
    drop((writer, opened.state, opened.lock));
    let (answers, _) = ask(dir.path(), options).unwrap();
    let mut files = Files::new();
    read(dir.path(), Path::new(""), &mut files);
    let segments = files.keys().filter(|name| name.starts_with("log")).count();
    assert!(segments >= 3, "{segments} segments");
    assert!(files.contains_key(Path::new("CLOSED")));
    Sound { files, answers }
}

#[derive(Default, Debug)]
struct Tally {
    right: u64,
    /// Of the right ones, those for which the derived state was made anew.
    rebuilt: u64,
    named: BTreeMap<&'static str, u64>,
}

/// Opens a damaged store within a minute: right answers or an error with a name.
fn judge(sound: &Sound, files: &Files, options: &Options, what: &str, tally: &mut Tally) {
    let dir = tempfile::tempdir().unwrap();
    place(dir.path(), files);
    let (tell, told) = mpsc::channel();
    let (path, options) = (dir.path().to_owned(), options.clone());
    std::thread::spawn(move || {
        let asked = catch_unwind(AssertUnwindSafe(|| ask(&path, options)));
        drop(tell.send(asked));
    });
    match told.recv_timeout(Duration::from_secs(60)) {
        Err(error) => panic!("{what}: no end within a minute: {error}"),
        Ok(Err(_)) => panic!("{what}: panicked"),
        Ok(Ok(Ok((answers, rebuilt)))) => {
            assert_eq!(answers, sound.answers, "{what}");
            tally.right += 1;
            tally.rebuilt += u64::from(rebuilt);
        }
        Ok(Ok(Err(error))) => {
            assert!(!error.to_string().is_empty(), "{what}");
            *tally.named.entry(error.code()).or_default() += 1;
        }
    }
}

/// Places to damage in a file of this length.
fn places(length: usize, wanted: usize) -> impl Iterator<Item = usize> {
    let wanted = if std::env::var("ASOF_LONG").is_ok() { wanted * 20 } else { wanted };
    let step = (length / wanted.max(1)).max(1);
    // Not always the same byte of a field of eight.
    (0..length).step_by(step).enumerate().map(move |(i, at)| (at + i % step).min(length - 1))
}

fn with(sound: &Sound, name: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Files {
    let mut files = sound.files.clone();
    change(files.get_mut(name).unwrap());
    files
}

/// Flips, cuts, deletes and garbles each file that is chosen.
fn damaged(
    sound: &Sound,
    options: &Options,
    flips: usize,
    chosen: impl Fn(&Path) -> bool,
) -> Tally {
    let mut tally = Tally::default();
    for (name, bytes) in sound.files.iter().filter(|(name, _)| chosen(name)) {
        let shown = name.display();
        for at in places(bytes.len(), flips) {
            let files = with(sound, name, |bytes| bytes[at] ^= 1 << (at % 8));
            judge(sound, &files, options, &format!("{shown} flipped at {at}"), &mut tally);
        }
        for length in places(bytes.len(), flips / 4) {
            let files = with(sound, name, |bytes| bytes.truncate(length));
            judge(sound, &files, options, &format!("{shown} cut at {length}"), &mut tally);
        }
        let mut files = sound.files.clone();
        files.remove(name);
        judge(sound, &files, options, &format!("{shown} deleted"), &mut tally);
        for (garbage, byte) in [("zeros", 0), ("ones", 0xff), ("text", b'x')] {
            let files = with(sound, name, |bytes| bytes.fill(byte));
            judge(sound, &files, options, &format!("{shown} all {garbage}"), &mut tally);
        }
        let noise = |bytes: &mut Vec<u8>| {
            for (at, byte) in bytes.iter_mut().enumerate() {
                *byte = blake3::hash(&at.to_le_bytes()).as_bytes()[0];
            }
        };
        judge(sound, &with(sound, name, noise), options, &format!("{shown} noise"), &mut tally);
    }
    tally
}

#[test]
fn no_damage_to_the_log_or_the_marks_is_answered_from() {
    let sound = sound(EngineChoice::Memory);
    let tally = damaged(&sound, &options(EngineChoice::Memory), 250, |_| true);
    println!("log, asof.json, CLOSED, LOCK: {tally:?}");
    let names: Vec<&PathBuf> = sound.files.keys().filter(|name| name.starts_with("log")).collect();
    let mut tally = Tally::default();
    for pair in names.windows(2) {
        let mut files = sound.files.clone();
        files.insert(pair[0].clone(), sound.files[pair[1]].clone());
        files.insert(pair[1].clone(), sound.files[pair[0]].clone());
        let what = format!("{} and {} swapped", pair[0].display(), pair[1].display());
        judge(&sound, &files, &options(EngineChoice::Memory), &what, &mut tally);
    }
    assert_eq!(tally.right, 0);
}

#[test]
fn damage_to_the_log_is_named_also_when_the_derived_state_is_sound() {
    let sound = sound(EngineChoice::Sled);
    let tally =
        damaged(&sound, &options(EngineChoice::Sled), 12, |name| !name.starts_with("derived"));
    println!("log beside a derived state: {tally:?}");
}

#[test]
fn damage_to_the_derived_state_is_made_good_from_the_log_or_named() {
    let sound = sound(EngineChoice::Sled);
    let tally =
        damaged(&sound, &options(EngineChoice::Sled), 120, |name| name.starts_with("derived"));
    println!("derived: {tally:?}");
    assert!(tally.rebuilt > 0);
    let mut tally = Tally::default();
    let mut files = sound.files.clone();
    files.retain(|name, _| !name.starts_with("derived"));
    judge(&sound, &files, &options(EngineChoice::Sled), "derived deleted", &mut tally);
    files.insert(PathBuf::from("derived"), b"not a directory".to_vec());
    judge(&sound, &files, &options(EngineChoice::Sled), "derived a file", &mut tally);
    files.remove(Path::new("derived"));
    for name in ["derived/db", "derived/conf", "derived/blobs/12", "derived/snap.0000000000000001"]
    {
        files.insert(PathBuf::from(name), vec![0x5a; 5_000]);
    }
    judge(&sound, &files, &options(EngineChoice::Sled), "derived garbage", &mut tally);
    assert_eq!((tally.right, tally.named.len()), (3, 0), "{tally:?}");
}

#[test]
fn the_derived_state_of_a_copy_that_went_its_own_way_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    let store = Store::open(&one, options(EngineChoice::Sled)).unwrap();
    store.import_text(&journal(1, 10)).unwrap();
    drop(store);
    let mut files = Files::new();
    read(&one, Path::new(""), &mut files);
    place(&other, &files);
    for (path, value) in [(&one, "kept"), (&other, "strange")] {
        let store = Store::open(path, options(EngineChoice::Sled)).unwrap();
        let line = format!(
            r#"{{"op":"assert","subject":"s:x","predicate":"p","value":"{value}","scope":"t/a","kind":"stated"}}"#
        );
        store.import_text(&line).unwrap();
        store.checkpoint().unwrap();
    }
    fs::remove_dir_all(one.join("derived")).unwrap();
    fs::rename(other.join("derived"), one.join("derived")).unwrap();
    let store = Store::open(&one, options(EngineChoice::Sled)).unwrap();
    assert!(store.rebuilt().is_some());
    let question = r#"{"get":{"subject":"s:x","predicate":"p","scope":"t/a"}}"#;
    let question = question::line(question, None).unwrap();
    let answer = store.owner().snapshot().answer(&question).unwrap();
    assert_eq!(answer["facts"][0]["value"], "kept");
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
}

fn asof(dir: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_asof")).arg("--store").arg(dir).args(arguments).output();
    let output = output.unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("panicked") && !errors.contains("backtrace"), "{errors}");
    (output.status.code(), errors)
}

#[test]
fn a_log_shorter_than_what_was_closed_is_damage_until_the_loss_is_accepted() {
    let sound = sound(EngineChoice::Sled);
    let (last, _) = sound.files.iter().rfind(|(name, _)| name.starts_with("log")).unwrap();
    let cut = with(&sound, last, |bytes| bytes.truncate(bytes.len() - 3));
    let mut unmarked = cut.clone();
    unmarked.remove(Path::new("CLOSED"));
    let mut unlogged = sound.files.clone();
    unlogged.retain(|name, _| !name.starts_with("log"));
    let mut nameless = sound.files.clone();
    nameless.remove(Path::new("asof.json"));
    for (files, exit) in [(&cut, 4), (&unmarked, 0), (&unlogged, 4), (&nameless, 4)] {
        let dir = tempfile::tempdir().unwrap();
        place(dir.path(), files);
        let (code, errors) = asof(dir.path(), &["digest"]);
        assert_eq!(code, Some(exit), "{errors}");
    }
    let dir = tempfile::tempdir().unwrap();
    place(dir.path(), &cut);
    let (code, errors) = asof(dir.path(), &["check", "--rebuild"]);
    assert_eq!(code, Some(0), "{errors}");
    let store = Store::open(dir.path(), options(EngineChoice::Sled)).unwrap();
    assert_eq!(store.stats().unwrap().transactions, TRANSACTIONS - 1);
    write(&store, TRANSACTIONS);
    assert_eq!(store.digest().unwrap(), *sound.answers.0.last().unwrap());
}

#[test]
fn garbage_in_the_derived_state_is_told_in_a_line_and_never_as_a_panic() {
    let sound = sound(EngineChoice::Sled);
    for (name, bytes) in sound.files.iter().filter(|(name, _)| name.starts_with("derived")) {
        for at in places(bytes.len(), 10) {
            let dir = tempfile::tempdir().unwrap();
            let length = bytes.len();
            place(dir.path(), &with(&sound, name, |b| b[at..length.min(at + 64)].fill(0x77)));
            let get = ["get", "s:1", "p1", "--scope", "t/a"];
            let (code, errors) = asof(dir.path(), &get);
            let told = format!("{} at {at}: {code:?} {errors}", name.display());
            assert!(matches!(code, Some(0 | 4)), "{told}");
            let (code, errors) = asof(dir.path(), &["check", "--rebuild"]);
            assert_eq!(code, Some(0), "{told} then {errors}");
            assert_eq!(asof(dir.path(), &get).0, Some(0), "{told}");
        }
    }
}
