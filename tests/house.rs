//! The house (SPEC section 12): a file imports only from floors below its own; a crate that does a
//! job is named in as few files as that job has; only the gate appends to the log; every file opens
//! with a word on what it is.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

/// The floors, lowest first. `erasure` stands between `admission` and `query`.
const FLOORS: [&str; 10] = [
    "time",
    "model",
    "timeline",
    "store",
    "lineage",
    "admission",
    "erasure",
    "query",
    "exchange",
    "db",
];

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push(path);
        }
    }
    all.sort();
    all
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The path below `src`, with forward slashes.
fn name(path: &Path) -> String {
    path.strip_prefix(src()).unwrap().to_string_lossy().replace('\\', "/")
}

fn floor(name: &str) -> Option<usize> {
    let first = name.split('/').next()?.trim_end_matches(".rs");
    FLOORS.iter().position(|floor| *floor == first)
}

/// Floors named after `crate::` anywhere in a text, doc comments aside.
fn named_floors(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for rest in code.split("crate::").skip(1) {
            let word: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((number + 1, word));
        }
    }
    found
}

#[test]
fn a_file_imports_only_from_its_own_floor_and_those_below() {
    let mut faults = Vec::new();
    for path in files(&src()) {
        let name = name(&path);
        let Some(own) = floor(&name) else { continue };
        for (line, word) in named_floors(&fs::read_to_string(&path).unwrap()) {
            match FLOORS.iter().position(|floor| *floor == word) {
                Some(other) if other <= own => {}
                Some(_) => faults.push(format!("{name}:{line}: {word} lies above {}", FLOORS[own])),
                None => faults.push(format!("{name}:{line}: crate::{word} is no floor")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_command_line_uses_the_public_interface_only() {
    for path in files(&src().join("cli")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("crate::"), "{} reaches into the crate", name(&path));
    }
}

#[test]
fn a_crate_that_does_a_job_is_named_in_few_files() {
    let jobs: [(&str, &[&str]); 8] = [
        ("sled::", &["store/sled.rs"]),
        ("rustix::", &["store/medium.rs"]),
        ("chrono_tz::", &["time/zone.rs", "time/local.rs"]),
        ("petgraph::", &["query/", "exchange/dot", "lineage/"]),
        (
            "rayon::",
            &[
                "query/slots.rs",
                "db/import.rs",
                "cli/read.rs",
                "lineage/reach.rs",
                "query/agenda.rs",
            ],
        ),
        ("liblzma::", &["exchange/lines.rs"]),
        ("indicatif::", &["cli/whole.rs"]),
        ("comfy_table::", &["cli/render.rs"]),
    ];
    for path in files(&src()) {
        let name = name(&path);
        let text = fs::read_to_string(&path).unwrap();
        for (job, rooms) in jobs {
            let word = |line: &str| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains(&format!(" {job}"))
                    || code.contains(&format!("({job}"))
                    || code.contains(&format!("<{job}"))
            };
            let named = text.lines().any(word) && !text.contains(&format!("crate::store::{job}"));
            let home = rooms.iter().any(|room| name.starts_with(room));
            assert!(!named || home, "{name} names {job} outside its rooms");
        }
    }
}

#[test]
fn only_the_gate_appends_to_the_log() {
    for path in files(&src()) {
        let name = name(&path);
        let text = fs::read_to_string(&path).unwrap();
        if name != "admission/commit.rs"
            && !name.starts_with("store/log")
            && !name.starts_with("store/commit")
        {
            assert!(!text.contains("log.append("), "{name} appends to the log past the gate");
        }
    }
}

#[test]
fn every_file_opens_with_what_it_is() {
    for path in files(&src()) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} opens without a word", name(&path));
    }
}

#[test]
fn the_lower_floors_do_no_input_or_output_and_read_no_clock() {
    let banned = [
        "std::fs",
        "std::net",
        "std::process",
        "Utc::now",
        "SystemTime",
        "Instant::now",
        "Mutex",
        "RwLock",
    ];
    for floor in ["time", "model", "timeline"] {
        for path in files(&src().join(floor)) {
            let name = name(&path);
            if name == "time/clock.rs" {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code: String =
                text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
            for word in banned {
                assert!(!code.contains(word), "{name} uses {word}");
            }
        }
    }
}

#[test]
fn the_words_that_hide_a_distinction_are_not_used_in_names() {
    let banned = [
        "update",
        "delete",
        "latest",
        "soft_delete",
        "manager",
        "helper",
        "util",
        "data",
        "info",
        "misc",
    ];
    let starts = ["fn ", "struct ", "enum ", "trait ", "mod ", "const ", "type "];
    for path in files(&src()) {
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for start in starts {
                let Some((_, rest)) = code.split_once(start) else { continue };
                let word: String =
                    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let lower = word.to_lowercase();
                let hides = lower.split('_').any(|part| banned.contains(&part));
                assert!(!hides, "{}:{}: {word}", name(&path), number + 1);
            }
        }
    }
}
