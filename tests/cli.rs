//! The command line as a newcomer meets it: the everyday write, the messages that help, the exit
//! codes, the JSON forms of SPEC section 9.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A directory of its own for one test, and the binary run in it.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_asof"));
        command.current_dir(self.path()).env_remove("ASOF_STORE").args(arguments);
        command.output().unwrap()
    }

    /// Runs it, wants exit code 0, gives standard output.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[&["--json"], arguments].concat())).unwrap()
    }

    /// Runs it, wants an exit code, gives standard error.
    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }
}

#[test]
fn berlin_then_paris_is_paris_and_both_are_history() {
    let desk = Desk::new();
    desk.ok(&[
        "set",
        "user:u",
        "city",
        "Berlin",
        "--scope",
        "acme/u",
        "--clock",
        "2026-01-02T00:00:00Z",
    ]);
    let said = desk.ok(&[
        "set",
        "user:u",
        "city",
        "Paris",
        "--scope",
        "acme/u",
        "--clock",
        "2026-01-05T00:00:00Z",
    ]);
    assert!(said.contains("replaces Berlin"), "{said}");
    let now = desk.json(&["get", "user:u", "city", "--scope", "acme/u"]);
    assert_eq!((&now["outcome"], &now["facts"][0]["value"]), (&"known".into(), &"Paris".into()));
    let then =
        desk.json(&["get", "user:u", "city", "--scope", "acme/u", "--at", "2026-01-03T00:00:00Z"]);
    assert_eq!(then["facts"][0]["value"], "Berlin");
    assert_eq!(then["as_of"]["known_at"], "2026-01-03T00:00:00Z");
    let history = desk.json(&["history", "user:u"]);
    assert_eq!(history.as_array().unwrap().len(), 2);
    let why = desk.json(&["explain", "user:u", "city", "--scope", "acme/u"]);
    assert_eq!(why["candidates"][0]["verdict"], "superseded_by");
    assert_eq!(why["candidates"][1]["verdict"], "used");
}

#[test]
fn a_mistake_is_told_with_what_to_do() {
    let desk = Desk::new();
    let missing = desk.fails(2, &["set", "user:u", "city", "Berlin"]);
    assert!(missing.contains("scope") && missing.contains("acme/billing/prod"), "{missing}");
    assert!(!desk.path().join(".asof").exists(), "a mistake makes no store");
    let zone = desk.fails(
        2,
        &[
            "set",
            "e",
            "p",
            "1",
            "--scope",
            "t",
            "--valid-from",
            "2026-01-05",
            "--tz",
            "Europe/Berln",
        ],
    );
    assert!(zone.contains("Europe/Berlin"), "{zone}");
    let offset =
        desk.fails(2, &["set", "e", "p", "1", "--scope", "t", "--valid-from", "2026-01-05"]);
    assert!(offset.contains("no_offset") && offset.contains("--tz"), "{offset}");
    let gap = desk.fails(
        2,
        &[
            "set",
            "e",
            "p",
            "1",
            "--scope",
            "t",
            "--valid-from",
            "2026-03-29T02:30",
            "--tz",
            "Europe/Berlin",
        ],
    );
    assert!(gap.contains("01:30:00+01:00") && gap.contains("03:30:00+02:00"), "{gap}");
    let none = desk.fails(3, &["get", "e", "p", "--scope", "t"]);
    assert!(none.contains("asof init"), "{none}");
    desk.ok(&["set", "e", "p", "1", "--scope", "acme/billing"]);
    let near = desk.json(&["get", "e", "p", "--scope", "acme/biling"]);
    assert_eq!((&near["outcome"], &near["notice"]), (&"unknown".into(), &"unknown_scope".into()));
    assert_eq!(near["near"][0], "acme/billing");
    let command = desk.fails(2, &["timelin", "e", "p"]);
    assert!(command.contains("timeline"), "{command}");
    let output = desk.run(&["get", "e", "pp", "--scope", "acme/billing"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean p?"), "{output:?}");
    let error: Value =
        serde_json::from_str(&desk.fails(2, &["--json", "set", "e", "p", "1"])).unwrap();
    assert_eq!(error["error"]["code"], "no_scope");
}

#[test]
fn refused_lines_are_kept_with_their_reason_and_the_rest_goes_in() {
    let desk = Desk::new();
    let journal = desk.file(
        "journal.jsonl",
        concat!(
            r#"{"op":"assert","id":"a","subject":"e","predicate":"p","value":1,"scope":"t/s","kind":"stated"}"#, "\n",
            r#"{"op":"assert","id":"b","subject":"e","predicate":"p","value":1,"scope":"t/s","kind":"stated","valid_to":"x"}"#, "\n",
            "not json\n",
            r#"{"op":"asert","id":"b"}"#, "\n",
            r#"{"op":"assert","id":"c","id":"d","subject":"e","predicate":"p","value":1,"scope":"t/s","kind":"stated"}"#, "\n",
            r#"{"op":"assert","id":"e","subject":"e","predicate":"q","value":9223372036854775808,"scope":"t/s","kind":"stated"}"#, "\n",
            r#"{"op":"retract","target":"nope","reason":"mistaken","tx":"x"}"#, "\n",
            r#"{"op":"assert","id":"f","subject":"e","predicate":"r","value":1,"scope":"t/s","kind":"stated","tx":"x"}"#, "\n",
            r#"{"op":"assert","id":"g","subject":"\"q\"\n","predicate":"r","value":1,"scope":"t/s","kind":"stated"}"#, "\n",
            r#"{"op":"assert","id":"h👩‍🚀 مرحبا","subject":"早","predicate":"r","value":"\"<b>\"","scope":"t/s","kind":"stated"}"#, "\n",
        ),
    );
    let output = desk.run(&["--json", "import", &journal]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reasons: Vec<&str> = report["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["reason"].as_str().unwrap())
        .collect();
    assert_eq!(
        reasons,
        [
            "unknown_field",
            "bad_line",
            "unknown_operation",
            "bad_line",
            "bad_value",
            "unknown_target",
            "bad_name"
        ]
    );
    assert!(report["refused"][0]["message"].as_str().unwrap().contains("valid_until"));
    assert!(report["refused"][2]["message"].as_str().unwrap().contains("assert"));
    assert_eq!((&report["admitted"], &report["refused_lines"]), (&2.into(), &8.into()));
    let rejects = std::fs::read_to_string(format!("{journal}.rejects")).unwrap();
    let lines: Vec<u64> = rejects
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(desk.json(&["get", "早", "r", "--scope", "t/s"])["outcome"], "known");
    let strict = desk.run(&["--json", "--store", "strict", "import", "--strict", &journal]);
    let report: Value = serde_json::from_slice(&strict.stdout).unwrap();
    assert_eq!((&report["lines"], &report["admitted"]), (&3.into(), &1.into()));
}

#[test]
fn questions_of_a_file_are_answered_in_order_each_on_its_line() {
    let desk = Desk::new();
    desk.ok(&["set", "e", "p", "1", "--scope", "t/s"]);
    desk.ok(&["set", "e", "q", "{\"entity\":\"x\"}", "--scope", "t/s"]);
    let questions = desk.file(
        "ask.jsonl",
        concat!(
            r#"{"get":{"subject":"e","predicate":"p","scope":"t/s"}}"#,
            "\n",
            r#"{"get":{"subject":"e","predicate":"p"}}"#,
            "\n",
            r#"{"find":{"scope":"t/s","value":{"entity":"x"}}}"#,
            "\n",
            r#"{"history":{"subject":"e"}}"#,
            "\n",
        ),
    );
    let output = desk.run(&["ask", &questions]);
    assert_eq!(output.status.code(), Some(2), "one question was not understood");
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers[0]["facts"][0]["value"], 1);
    assert_eq!(answers[1]["error"]["code"], "no_scope");
    assert_eq!(answers[2][0]["predicate"], "q");
    assert_eq!(answers[3].as_array().unwrap().len(), 2);
}

#[test]
fn an_answer_has_the_fields_that_are_promised() {
    let desk = Desk::new();
    desk.ok(&["source", "--scope", "t/s", "--kind", "reported", "--id", "m"]);
    desk.ok(&[
        "assert",
        "e",
        "p",
        "1.10",
        "--scope",
        "t/s",
        "--source",
        "m",
        "--when",
        "version=semver:>=2, <3",
        "--id",
        "f",
        "--valid-from",
        "2026-01-01T00:00:00Z",
    ]);
    let get = desk.json(&["get", "e", "p", "--scope", "t/s", "--with", "version=2.5"]);
    let mut fields: Vec<&String> = get.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["as_of", "doubts", "facts", "leads", "leads_total", "outcome", "version"]);
    let mut fields: Vec<&String> = get["facts"][0].as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(
        fields,
        [
            "id",
            "kind",
            "predicate",
            "recorded",
            "scope",
            "source",
            "state",
            "subject",
            "valid",
            "value",
            "when"
        ]
    );
    let out = desk.json(&["get", "e", "p", "--scope", "t/s", "--with", "version=3"]);
    assert_eq!(
        (&out["leads"][0]["reason"], &out["leads"][0]["by"]),
        (&"condition_not_met".into(), &"version".into())
    );
    let usable = desk.json(&["usable", "f", "m", "nope", "--with", "version=2.1"]);
    assert_eq!(usable[0]["usable"], true);
    assert_eq!(usable[2]["reason"], "unknown_target");
    let shown = desk.json(&["show", "f"]);
    assert_eq!((&shown["type"], &shown["state"]), (&"fact".into(), &"open".into()));
    for (kind, name) in [("scopes", "t/s"), ("subjects", "e"), ("predicates", "p")] {
        assert_eq!(desk.json(&[kind])[0]["name"], name);
    }
    let pieces = desk.json(&["timeline", "e", "p", "--scope", "t/s", "--with", "version=2.5"]);
    assert_eq!(pieces[0]["outcome"], "unknown");
    assert_eq!(
        (&pieces[1]["from"], &pieces[1]["until"]),
        (&"2026-01-01T00:00:00Z".into(), &Value::Null)
    );
}

#[test]
fn every_operation_of_the_journal_is_a_command() {
    let desk = Desk::new();
    let run = |arguments: &[&str]| desk.ok(arguments);
    run(&["predicate", "tags", "--cardinality", "many", "--tenant", "t"]);
    run(&["source", "--scope", "t", "--kind", "stated", "--id", "s"]);
    run(&["assert", "e", "p", "1", "--scope", "t", "--id", "a"]);
    run(&["assert", "e", "p", "2", "--scope", "t", "--id", "b"]);
    assert_eq!(desk.json(&["get", "e", "p", "--scope", "t"])["notice"], "may_be_declared_many");
    run(&["resolve", "a,b", "--keep", "b"]);
    run(&[
        "artifact",
        "--kind",
        "summary",
        "--scope",
        "t",
        "--place",
        "x/1",
        "--derived-from",
        "b",
        "--id",
        "r",
    ]);
    run(&["support", "r", "--derived-from", "s"]);
    run(&["affirm", "b", "--review-by", "2027-01-01T00:00:00Z"]);
    run(&["end", "b", "--valid-until", "2027-01-01T00:00:00Z"]);
    run(&["end", "b", "--valid-until", "inf"]);
    run(&["correct", "b", "--value", "3", "--id", "c"]);
    run(&["retract", "c", "--reason", "withdrawn"]);
    run(&["reinstate", "c"]);
    run(&["disable", "c"]);
    run(&["enable", "c"]);
    assert!(
        run(&[
            "assert",
            "e",
            "p",
            "4",
            "--scope",
            "t",
            "--kind",
            "inferred",
            "--supersedes",
            "c",
            "--id",
            "g"
        ])
        .starts_with("held")
    );
    run(&["confirm", "g"]);
    run(&[
        "assert",
        "e",
        "p",
        "5",
        "--scope",
        "t",
        "--kind",
        "inferred",
        "--supersedes",
        "g",
        "--id",
        "h",
    ]);
    run(&["reject", "h"]);
    run(&["retract_claim", "e", "p", "4", "--scope", "t", "--reason", "mistaken"]);
    run(&["suppress", "--scope", "t/**", "--predicate", "health.*", "--id", "z"]);
    let refused = desk.fails(1, &["set", "e", "health.x", "1", "--scope", "t"]);
    assert!(refused.contains("suppressed"), "{refused}");
    run(&["unsuppress", "z"]);
    run(&["done", "r"]);
    let dry = run(&["set", "e", "dry", "1", "--scope", "t", "--dry-run"]);
    assert!(dry.starts_with("admitted"), "{dry}");
    assert_eq!(desk.json(&["get", "e", "dry", "--scope", "t"])["outcome"], "unknown");
    let batch = desk.file(
        "batch.jsonl",
        concat!(
            r#"{"op":"assert","id":"x","subject":"e","predicate":"x","value":1,"scope":"t","kind":"stated"}"#, "\n",
            r#"{"op":"retract","target":"nope","reason":"mistaken"}"#, "\n",
        ),
    );
    let refused = desk.fails(1, &["apply", &batch]);
    assert!(refused.contains("line 2"), "{refused}");
    assert_eq!(desk.json(&["get", "e", "x", "--scope", "t"])["outcome"], "unknown");
    assert_eq!(desk.json(&["check"])["sound"], true);
    assert_eq!(desk.json(&["check", "--rebuild"])["sound"], true);
    assert!(desk.json(&["stats"])["transactions"].as_u64().unwrap() > 20);
    let drawing = run(&["dot", "chain", "e", "p", "--scope", "t"]);
    assert!(drawing.starts_with("digraph") && drawing.contains("supersedes"));
}

#[test]
fn the_declared_zone_is_where_local_times_are_read() {
    let desk = Desk::new();
    desk.ok(&["init", "--tz", "Asia/Shanghai"]);
    desk.ok(&[
        "set",
        "e",
        "p",
        "1",
        "--scope",
        "t",
        "--valid-from",
        "2026-10-05",
        "--valid-through",
        "2026-10-06",
        "--id",
        "f",
    ]);
    let fact = desk.json(&["show", "f"]);
    assert_eq!(fact["valid"]["from"], "2026-10-04T16:00:00Z");
    assert_eq!(fact["valid"]["until"], "2026-10-06T16:00:00Z");
    let get = desk.json(&["get", "e", "p", "--scope", "t", "--valid-at", "2026-10-06"]);
    assert_eq!(get["outcome"], "known");
}
