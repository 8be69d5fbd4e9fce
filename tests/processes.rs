//! Processes and places (R44, R46): a second process is told at once who has the store, a dead one
//! never blocks, what is no store is left alone, and a full disk ends in an error with a name,
//! after which the store opens with a prefix of what was written.
#![expect(clippy::unwrap_used, reason = "a test may stop")]

#[path = "common/numbered.rs"]
mod numbered;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use asof::db::Store;
use asof::store::open::EngineChoice;
use numbered::{journal, options, write};
use serde_json::Value as Json;

const HOLD: &str = "ASOF_HOLD_DIR";
/// The clock of `numbered`, for the binary.
const CLOCK: &str = "2023-11-14T22:13:20Z";

fn asof(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_asof"));
    command.arg("--store").arg(dir).args(arguments).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What the holding child does; without its variable it does nothing.
#[test]
fn the_child_holds_a_store_until_it_is_killed() {
    let Ok(dir) = std::env::var(HOLD) else { return };
    let store = Store::open(dir, options(EngineChoice::Sled)).unwrap();
    write(&store, store.stats().unwrap().transactions + 1);
    println!("\nholding");
    std::thread::sleep(Duration::from_secs(600));
}

fn holder(dir: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_child_holds_a_store_until_it_is_killed", "--nocapture"])
        .env(HOLD, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "holding"));
    child
}

#[test]
fn a_second_process_is_told_at_once_who_has_the_store_and_a_killed_holder_never_blocks() {
    let dir = tempfile::tempdir().unwrap();
    for round in 1..=3 {
        let mut child = holder(dir.path());
        let began = Instant::now();
        for arguments in [&["stats"][..], &["digest"], &["check"], &["init"]] {
            let output = asof(dir.path(), arguments);
            assert_eq!(output.status.code(), Some(3));
            let told = errors(&output);
            assert!(told.contains(&format!("process {}", child.id())), "{told}");
        }
        // Guards against waiting, not a measure of speed.
        assert!(began.elapsed() < Duration::from_secs(20));
        child.kill().unwrap();
        child.wait().unwrap();
        let output = asof(dir.path(), &["stats", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        let stats: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(stats["transactions"], round);
    }
}

#[test]
fn of_many_processes_that_make_a_store_at_once_each_writes_whole_or_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let at = dir.path().join(format!("{round}"));
        let children: Vec<Child> = (0..8)
            .map(|n| {
                Command::new(env!("CARGO_BIN_EXE_asof"))
                    .arg("--store")
                    .arg(&at)
                    .args(["set", &format!("s:{n}"), "p", "v", "--scope", "t"])
                    .stderr(Stdio::piped())
                    .stdout(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut written = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            match output.status.code() {
                Some(0) => written += 1,
                Some(3) => assert!(errors(&output).contains("(locked)"), "{}", errors(&output)),
                other => assert_eq!(other, Some(0), "{}", errors(&output)),
            }
        }
        let store = Store::open(&at, options(EngineChoice::Sled)).unwrap();
        assert!(written > 0);
        assert_eq!(store.stats().unwrap().transactions, written);
    }
}

#[test]
fn a_store_that_was_left_in_the_making_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made");
    drop(Store::open(&made, options(EngineChoice::Memory)).unwrap());
    fs::remove_file(made.join("asof.json")).unwrap();
    drop(fs::remove_file(made.join("CLOSED")));
    let left = dir.path().join("left");
    fs::create_dir(&left).unwrap();
    for step in ["LOCK", "log", "asof.new"] {
        if step == "log" {
            fs::create_dir(left.join("log")).unwrap();
            for entry in fs::read_dir(made.join("log")).unwrap() {
                let entry = entry.unwrap();
                fs::copy(entry.path(), left.join("log").join(entry.file_name())).unwrap();
            }
        } else {
            fs::write(left.join(step), b"").unwrap();
        }
        let output = asof(&left, &["stats"]);
        assert_eq!(output.status.code(), Some(3));
        assert!(errors(&output).contains("(no_store)"), "{}", errors(&output));
    }
    let store = Store::open(&left, options(EngineChoice::Sled)).unwrap();
    write(&store, 1);
}

#[test]
fn what_is_no_store_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"mine").unwrap();
    let output = asof(&file, &["set", "s:1", "p", "v", "--scope", "t"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(errors(&output).contains("it is a file"), "{}", errors(&output));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let output = asof(&file.join("below"), &["set", "s:1", "p", "v", "--scope", "t"]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));

    let others = dir.path().join("others");
    fs::create_dir(&others).unwrap();
    fs::write(others.join("letter.txt"), b"mine").unwrap();
    let output = asof(&others, &["set", "s:1", "p", "v", "--scope", "t"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(errors(&output).contains("holds other files"), "{}", errors(&output));
    assert_eq!(fs::read_dir(&others).unwrap().count(), 1);

    let output = asof(&dir.path().join("nowhere"), &["stats"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(!dir.path().join("nowhere").exists());
}

#[test]
fn a_store_of_a_newer_format_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path(), options(EngineChoice::Memory)).unwrap());
    let newer = r#"{"format":7,"store":"of a kind to come","more":[1]}"#;
    fs::write(dir.path().join("asof.json"), newer).unwrap();
    for arguments in [&["stats"][..], &["check", "--rebuild"], &["init"]] {
        let output = asof(dir.path(), arguments);
        assert_eq!(output.status.code(), Some(3));
        let told = errors(&output);
        assert!(told.contains("format version 7") && told.contains("newer asof"), "{told}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("asof.json")).unwrap(), newer);
}

#[cfg(unix)]
#[test]
fn a_directory_that_may_not_be_written_is_an_error_that_names_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("store");
    drop(Store::open(&at, options(EngineChoice::Sled)).unwrap());
    fs::remove_file(at.join("LOCK")).unwrap();
    fs::set_permissions(&at, fs::Permissions::from_mode(0o555)).unwrap();
    // Whoever may write anywhere sees no difference.
    let may_write = fs::write(at.join("try"), b"").is_ok();
    if !may_write {
        let output = asof(&at, &["stats"]);
        assert_eq!(output.status.code(), Some(3));
        assert!(errors(&output).contains("LOCK"), "{}", errors(&output));
    }
    fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the binary with a limit on the size of files, in KiB: writes past it fail as on a full
/// disk.
#[cfg(target_os = "linux")]
fn limited(kib: u64, dir: &Path, arguments: &[&str]) -> Output {
    let script = format!(r#"trap "" XFSZ; ulimit -f {kib}; exec "$0" "$@""#);
    Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_asof"), "--clock", CLOCK, "--store"])
        .arg(dir)
        .args(arguments)
        .output()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_in_a_named_error_and_the_store_opens_with_a_prefix() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("journal");
    let transactions = 20_000;
    fs::write(&text, journal(1, transactions)).unwrap();
    let text = text.to_str().unwrap();
    let mut ended = Vec::new();
    for kib in [0, 1, 3, 60, 500, 520, 1_020, 1_030] {
        let at = dir.path().join(format!("store{kib}"));
        let output = limited(kib, &at, &["import", text, "--json"]);
        let told = errors(&output);
        assert!(!told.contains("panicked"), "{kib} KiB: {told}");
        assert!(matches!(output.status.code(), Some(0 | 3)), "{kib} KiB: {output:?}");
        let store = Store::open(&at, options(EngineChoice::Sled)).unwrap();
        let holds = store.stats().unwrap().transactions;
        let model =
            Store::open(dir.path().join(format!("model{kib}")), options(EngineChoice::Memory));
        let model = model.unwrap();
        model.import_text(&journal(1, holds)).unwrap();
        assert_eq!(store.digest().unwrap(), model.digest().unwrap(), "{kib} KiB, {holds} in");
        if output.status.code() == Some(0) {
            assert_eq!(holds, transactions, "{kib} KiB");
        }
        write(&store, holds + 1);
        assert_eq!(store.check().unwrap().faults, Vec::<String>::new(), "{kib} KiB");
        ended.push((kib, output.status.code(), holds));
    }
    println!("KiB, exit code, transactions in: {ended:?}");
    assert!(ended.iter().any(|(_, code, _)| *code == Some(3)));
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_full_disk_what_is_there_can_still_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options(EngineChoice::Sled)).unwrap();
    store.import_text(&journal(1, 500)).unwrap();
    let digest = store.digest().unwrap();
    drop(store);
    for kib in [0, 8, 100] {
        let output = limited(kib, dir.path(), &["digest"]);
        let told = errors(&output);
        assert!(!told.contains("panicked"), "{told}");
        if output.status.code() == Some(0) {
            assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), digest);
        } else {
            assert_eq!(output.status.code(), Some(3), "{told}");
        }
    }
    let store = Store::open(dir.path(), options(EngineChoice::Sled)).unwrap();
    assert_eq!(store.digest().unwrap(), digest);
}
