//! Much and strange input (R16, R49): long journals full of broken lines in flat memory, one line
//! of 100 MB, numbers, times and texts from the edges, chains and fans of thousands. Nothing is
//! lost, nothing panics, nothing recurses, and everything ends.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use asof::db::{ImportOptions, Options, Store};
use asof::exchange::question;
use asof::store::open::EngineChoice;
use serde_json::{Value as Json, json};

/// A guard against what is quadratic, not a measure of speed.
const PATIENCE: Duration = Duration::from_secs(120);

fn memory(dir: &Path) -> Store {
    Store::open(dir, Options { engine: EngineChoice::Memory, ..Options::default() }).unwrap()
}

fn ask(store: &Store, question: &Json) -> Json {
    let asked = question::line(&question.to_string(), None).unwrap();
    store.owner().snapshot().answer(&asked).unwrap()
}

fn get(store: &Store, subject: &str) -> Json {
    ask(store, &json!({ "get": { "subject": subject, "predicate": "p", "scope": "t" } }))
}

/// The store takes all of it.
fn taken(store: &Store, text: &str) {
    let report = store.import_text(text).unwrap();
    assert_eq!(report.refused, []);
}

/// A journal in which every hundredth line is broken, each time in another way; the number of
/// broken ones.
fn flood(path: &Path, lines: u64) -> u64 {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut broken = 0;
    for n in 1..=lines {
        let good = format!(
            r#"{{"op":"assert","subject":"s:{}","predicate":"p{}","value":"value {n}","scope":"t/a","kind":"stated"}}"#,
            n % 20_011,
            n % 13
        );
        if n.is_multiple_of(100) {
            broken += 1;
            let bad: &[u8] = match (n / 100) % 8 {
                0 => b"{\"op\":\"assert\"",
                1 => b"not json at all",
                2 => b"\xff\xfe\x00{",
                3 => b"[1,2,3]",
                4 => br#"{"op":"conjure","scope":"t"}"#,
                5 => br#"{"op":"assert","subject":"s","predicate":"p","value":1,"kind":"stated"}"#,
                6 => br#"{"op":"assert","subject":"s","predicate":"p","value":1,"scope":"t","kind":"stated","colour":"red"}"#,
                _ => br#"{"op":"retract","target":"nobody","reason":"mistaken","tenant":"t"}"#,
            };
            file.write_all(bad).unwrap();
        } else {
            file.write_all(good.as_bytes()).unwrap();
        }
        file.write_all(b"\n").unwrap();
    }
    file.flush().unwrap();
    broken
}

const IMPORT: &str = "ASOF_FLOOD_FILE";

/// What the importing child does; without its variable it does nothing.
#[test]
fn the_child_imports_and_tells_its_memory() {
    let Ok(path) = std::env::var(IMPORT) else { return };
    let path = Path::new(&path);
    let store = Store::open(path.with_extension("store"), Options::default()).unwrap();
    let options =
        ImportOptions { rejects: Some(path.with_extension("rejects")), ..ImportOptions::default() };
    let report = store.import(BufReader::new(File::open(path).unwrap()), options).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let peak: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    println!("\npeak {peak} {} {}", report.admitted, report.refused_lines);
}

/// Imports in a process of its own: peak memory in KiB, lines admitted, lines refused.
fn imported(path: &Path) -> [u64; 3] {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_child_imports_and_tells_its_memory", "--nocapture"])
        .env(IMPORT, path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("peak "));
    let Some(line) = line else { panic!("{text}{}", String::from_utf8_lossy(&output.stderr)) };
    let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_journal_with_broken_lines_goes_in_but_for_those_in_flat_memory() {
    let dir = tempfile::tempdir().unwrap();
    let mut peaks = Vec::new();
    for lines in [70_000, 200_000] {
        let path = dir.path().join(format!("{lines}.jsonl"));
        let broken = flood(&path, lines);
        let [peak, admitted, refused] = imported(&path);
        assert_eq!((admitted, refused), (lines - broken, broken));
        let rejects = BufReader::new(File::open(path.with_extension("rejects")).unwrap());
        let numbers: Vec<u64> = rejects
            .lines()
            .map(|line| {
                let reject: Json = serde_json::from_str(&line.unwrap()).unwrap();
                assert!(reject["reason"].is_string() && reject["message"].is_string(), "{reject}");
                reject["line"].as_u64().unwrap()
            })
            .collect();
        let wanted: Vec<u64> = (1..=broken).map(|n| n * 100).collect();
        assert_eq!(numbers, wanted);
        peaks.push(peak);
    }
    println!("peak memory in KiB for 70,000 and 200,000 lines: {peaks:?}");
    assert!(peaks[1] < peaks[0] * 3 / 2, "memory grows with the journal: {peaks:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_100_mb_is_refused_without_being_held_and_the_next_goes_in() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long.jsonl");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    for _ in 0..100 {
        file.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    let good =
        r#"{"op":"assert","subject":"s","predicate":"p","value":1,"scope":"t","kind":"stated"}"#;
    write!(file, "\n{good}\n").unwrap();
    file.flush().unwrap();
    let [peak, admitted, refused] = imported(&path);
    assert_eq!((admitted, refused), (1, 1));
    assert!(peak < 90 << 10, "{peak} KiB");
}

#[test]
fn edges_are_taken_whole_or_refused_with_a_reason_and_never_changed() {
    let dir = tempfile::tempdir().unwrap();
    let store = memory(dir.path());
    assert_eq!(store.import_text("").unwrap().lines, 0);
    assert_eq!(store.import_text("\n\n  \n\r\n").unwrap().lines, 0);
    let texts = [
        "quote \" and \\ backslash",
        "two\nlines\tand a tab",
        "🦀 and 👩‍👩‍👧‍👦",
        "שלום עולם",
        "\u{202e}reversed\u{202c}",
        "é and e\u{301}",
        "",
        "\u{0}null",
        "早会",
    ];
    for (n, text) in texts.iter().enumerate() {
        let line = json!({ "op": "assert", "subject": format!("text:{n}"), "predicate": "p", "value": text, "scope": "t", "kind": "stated" });
        if store.import_text(&line.to_string()).unwrap().admitted == 1 {
            assert_eq!(get(&store, &format!("text:{n}"))["facts"][0]["value"], **text);
        }
    }
    let ids =
        ["🦀", "\"quoted\"", "a\\b", "שלום", "a b", "\u{200f}rtl", "x'); drop table facts;--"];
    for id in ids {
        let line = json!({ "op": "assert", "id": id, "subject": id, "predicate": "p", "value": 1, "scope": "t", "kind": "stated" });
        taken(&store, &line.to_string());
        assert_eq!(get(&store, id)["facts"][0]["id"], id);
    }
    for id in ["", " lead", "trail ", "a\nb", "\u{7}", &"x".repeat(1_025)] {
        let line = json!({ "op": "assert", "id": id, "subject": "s", "predicate": "p", "value": 1, "scope": "t", "kind": "stated" });
        let report = store.import_text(&line.to_string()).unwrap();
        let code = report.refused[0].refusal.reason.code();
        assert!(matches!(code, "bad_name" | "limit_exceeded"), "{id:?}: {code}");
    }
    let raw = |value: &str, more: &str| {
        format!(
            r#"{{"op":"assert","subject":"n","predicate":"p","value":{value},"scope":"t","kind":"stated"{more}}}"#
        )
    };
    let refused = [
        raw("NaN", ""),
        raw("Infinity", ""),
        raw(r#"{"float":1e999}"#, ""),
        raw(r#"{"float":"NaN"}"#, ""),
        raw("null", ""),
        raw("[1]", ""),
        raw(r#"{"instant":"300000-01-01T00:00:00Z"}"#, ""),
        raw(r#"{"date":"300000-01-01"}"#, ""),
        raw("1", r#","valid_from":"300000-01-01T00:00:00Z""#),
        raw("1", r#","valid_from":"2023-02-30T00:00:00Z""#),
        raw("1", r#","value":2"#),
        raw("1", r#","id":"a","id":"b""#),
        raw("1e999999999", ""),
        raw(&"9".repeat(100_000), ""),
        raw(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), ""),
        raw(&format!(r#"{{"json":{}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000)), ""),
        "\u{feff}".to_owned() + &raw("1", ""),
    ];
    for line in &refused {
        let shown: String = line.chars().take(120).collect();
        let report = store.import_text(line).unwrap();
        assert_eq!((report.admitted, report.refused_lines), (0, 1), "{shown}");
        assert!(!report.refused[0].refusal.message.is_empty(), "{shown}");
    }
    let report = store.import(&b"\xff\xfe{\n"[..], ImportOptions::default()).unwrap();
    assert_eq!(report.refused_lines, 1);
    // A number beyond 64 bits is exact or refused, never another number.
    for (n, number) in
        ["9223372036854775808", "-9223372036854775809", "0.1", "123456789012345678901234567890"]
            .iter()
            .enumerate()
    {
        let line = raw(number, "").replace(r#""n""#, &format!(r#""big:{n}""#));
        if store.import_text(&line).unwrap().admitted == 1 {
            let value = get(&store, &format!("big:{n}"))["facts"][0]["value"].to_string();
            assert!(value.contains(number), "{number} became {value}");
        }
    }
}

#[test]
fn five_thousand_sets_on_one_slot_are_written_and_answered() {
    let dir = tempfile::tempdir().unwrap();
    let store = memory(dir.path());
    let began = Instant::now();
    let mut text = String::new();
    for n in 0..5_000 {
        // Few values: each comes back again and again.
        writeln!(text, r#"{{"op":"assert","subject":"s","predicate":"p","value":"v{}","scope":"t","kind":"stated","supersedes":"current"}}"#, n % 7).unwrap();
    }
    taken(&store, &text);
    let written = began.elapsed();
    let answer = get(&store, "s");
    println!(
        "5,000 sets: written {written:?}, then answered {:?}",
        began.elapsed().saturating_sub(written)
    );
    assert_eq!(answer["facts"][0]["value"], format!("v{}", 4_999 % 7));
    assert_eq!(answer["outcome"], "known");
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn a_supersession_chain_of_ten_thousand_is_written_and_answered() {
    let dir = tempfile::tempdir().unwrap();
    let store = memory(dir.path());
    let began = Instant::now();
    let mut text = String::new();
    for n in 0..10_000 {
        let old = if n == 0 { String::new() } else { format!(r#","supersedes":["f{}"]"#, n - 1) };
        writeln!(text, r#"{{"op":"assert","id":"f{n}","subject":"s","predicate":"p","value":"v{n}","scope":"t","kind":"stated"{old}}}"#).unwrap();
    }
    taken(&store, &text);
    let written = began.elapsed();
    let answer = get(&store, "s");
    println!(
        "chain of 10,000: written {written:?}, then answered {:?}",
        began.elapsed().saturating_sub(written)
    );
    assert_eq!(answer["facts"][0]["id"], "f9999");
    taken(&store, r#"{"op":"retract","target":"f9999","reason":"mistaken","tenant":"t"}"#);
    assert_eq!(get(&store, "s")["facts"][0]["id"], "f9998");
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn a_derivation_chain_of_ten_thousand_falls_with_its_first_without_recursion() {
    let dir = tempfile::tempdir().unwrap();
    let store = memory(dir.path());
    let began = Instant::now();
    let mut text = String::new();
    for n in 0..10_000 {
        let from = if n == 0 {
            r#""kind":"stated""#.to_owned()
        } else {
            format!(r#""derived_from":["f{}"]"#, n - 1)
        };
        writeln!(text, r#"{{"op":"assert","id":"f{n}","subject":"s{n}","predicate":"p","value":1,"scope":"t",{from}}}"#).unwrap();
    }
    taken(&store, &text);
    let written = began.elapsed();
    assert_eq!(get(&store, "s9999")["facts"][0]["id"], "f9999");
    taken(&store, r#"{"op":"retract","target":"f0","reason":"mistaken","tenant":"t"}"#);
    assert_eq!(get(&store, "s9999")["facts"], json!([]));
    println!(
        "derivation chain of 10,000: written {written:?}, asked {:?}",
        began.elapsed().saturating_sub(written)
    );
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn fifty_thousand_dependents_of_one_fact_fall_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = memory(dir.path());
    let began = Instant::now();
    let mut text = r#"{"op":"assert","id":"root","subject":"r","predicate":"p","value":1,"scope":"t","kind":"stated"}"#.to_owned();
    for n in 0..50_000 {
        write!(text, "\n{}", format_args!(r#"{{"op":"assert","id":"f{n}","subject":"s{n}","predicate":"p","value":1,"scope":"t","derived_from":["root"]}}"#)).unwrap();
    }
    taken(&store, &text);
    let written = began.elapsed();
    assert_eq!(get(&store, "s49999")["facts"][0]["id"], "f49999");
    taken(&store, r#"{"op":"retract","target":"root","reason":"mistaken","tenant":"t"}"#);
    for n in [0, 25_000, 49_999] {
        assert_eq!(get(&store, &format!("s{n}"))["facts"], json!([]));
    }
    println!(
        "fan of 50,000: written {written:?}, asked {:?}",
        began.elapsed().saturating_sub(written)
    );
    assert!(began.elapsed() < PATIENCE);
}
