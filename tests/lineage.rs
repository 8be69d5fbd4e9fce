//! Lineage (SPEC section 7): what a retraction reaches, what is then to be done elsewhere, and the
//! walks, on graphs small enough to read and large enough to hurt.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops where something is not as it says"
)]

use std::fmt::Write as _;
use std::time::Instant;

use asof::db::{Options, Session, Store, WriteOptions, Written};
use asof::exchange::question;
use asof::exchange::read::{self, Reading};
use asof::model::operation::Operation;
use serde_json::{Value as Json, json};

struct Bench {
    _dir: tempfile::TempDir,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store"), Options::default()).unwrap();
        Self { _dir: dir, store }
    }

    fn with(lines: &[Json]) -> Self {
        let bench = Self::new();
        bench.load(&lines.iter().fold(String::new(), |mut text, line| {
            writeln!(text, "{line}").unwrap();
            text
        }));
        bench
    }

    fn load(&self, text: &str) {
        let report = self.store.import_text(text).unwrap();
        assert_eq!(report.refused_lines, 0, "{:?}", report.refused);
    }

    fn write(&self, line: &Json, dry_run: bool) -> Written {
        let options = WriteOptions { dry_run, ..WriteOptions::default() };
        let written = self.store.owner().write(&[operation(line)], options).unwrap();
        assert!(written.refused().is_none(), "{:?}", written.refused());
        written
    }

    /// Writes, and gives the receipt.
    fn receipt(&self, line: &Json) -> Json {
        let rehearsed = self.rehearse(line);
        let written = self.write(line, false);
        let receipt = written.receipts.first().unwrap().1.json();
        assert_eq!(unstamped(&rehearsed), unstamped(&receipt), "a rehearsal tells the same");
        receipt
    }

    fn rehearse(&self, line: &Json) -> Json {
        let before = (self.store.digest().unwrap(), self.store.stats().unwrap());
        let written = self.write(line, true);
        assert!(written.stamp.is_none());
        assert_eq!(before, (self.store.digest().unwrap(), self.store.stats().unwrap()));
        let receipt = written.receipts.first().unwrap().1.json();
        assert_eq!(receipt["dry_run"], true);
        receipt
    }

    fn ask(&self, question: &Json) -> Json {
        let asked = question::line(&question.to_string(), None).unwrap();
        self.store.owner().snapshot().answer(&asked).unwrap()
    }

    /// `id:reason` of each node that is marked now.
    fn mark(&self, id: &str) -> Option<String> {
        let shown = self.ask(&json!({ "show": { "id": id } }));
        Some(shown["marks"].get(0)?["reason"].as_str()?.to_owned())
    }

    fn worklist(&self) -> Vec<(String, String, String)> {
        let text = |json: &Json| json.as_str().unwrap().to_owned();
        let items = self.ask(&json!({ "worklist": { "tenant": "t" } }));
        let one = |i: &Json| (text(&i["do"]), text(&i["artifact"]), i["without"].to_string());
        items.as_array().unwrap().iter().map(one).collect()
    }
}

fn operation(line: &Json) -> Operation {
    let reading = Reading { zone: None, replay: false, make_id: &Session::make_id };
    read::line(&line.to_string(), &reading).unwrap().operation
}

/// A receipt without what differs between a rehearsal and the write: instants and `dry_run`.
fn unstamped(receipt: &Json) -> Json {
    let mut receipt = receipt.clone();
    receipt["dry_run"] = Json::Null;
    for item in receipt["worklist"].as_array_mut().unwrap() {
        item["since"] = Json::Null;
    }
    receipt
}

fn source(id: &str) -> Json {
    json!({ "op": "source", "id": id, "scope": "t/a", "kind": "stated" })
}

fn fact(id: &str, derived_from: &Json) -> Json {
    json!({ "op": "assert", "id": id, "subject": id, "predicate": "p", "value": id, "scope": "t/a", "derived_from": derived_from })
}

fn artifact(id: &str, derived_from: &Json) -> Json {
    json!({ "op": "artifact", "id": id, "kind": "summary", "scope": "t/a", "place": format!("at:{id}"), "derived_from": derived_from })
}

fn retract(id: &str) -> Json {
    json!({ "op": "retract", "target": id, "reason": "mistaken" })
}

fn item(what: &str, artifact: &str, without: &str) -> (String, String, String) {
    (what.to_owned(), artifact.to_owned(), without.to_owned())
}

#[test]
fn a_message_taken_back_takes_its_summary_vector_and_cache_along() {
    let bench = Bench::with(&[
        source("M1"),
        artifact("S1", &json!(["M1"])),
        artifact("V1", &json!(["S1"])),
        artifact("cache", &json!(["S1"])),
    ]);
    let receipt = bench.receipt(&retract("M1"));
    assert_eq!(receipt["cause"], "M1");
    assert_eq!(receipt["counts"], json!({ "artifact": 3 }));
    assert_eq!(
        receipt["reached"],
        json!([
            { "id": "S1", "type": "artifact", "depth": 1, "mark": "premise_retracted", "path": ["M1", "S1"] },
            { "id": "V1", "type": "artifact", "depth": 2, "mark": "premise_retracted", "path": ["M1", "S1", "V1"] },
            { "id": "cache", "type": "artifact", "depth": 2, "mark": "premise_retracted", "path": ["M1", "S1", "cache"] },
        ])
    );
    let drop = |id| item("drop", id, "[\"M1\"]");
    assert_eq!(bench.worklist(), [drop("S1"), drop("V1"), drop("cache")]);
    let work = &receipt["worklist"][0];
    assert_eq!((&work["place"], &work["cause"]), (&json!("at:S1"), &json!("M1")));
    bench.write(&json!({ "op": "done", "artifact": "V1" }), false);
    assert_eq!(bench.worklist(), [drop("S1"), drop("cache")]);
    let back = bench.receipt(&json!({ "op": "reinstate", "target": "M1" }));
    assert_eq!(back["counts"], json!({ "artifact": 3 }));
    assert_eq!((&back["reached"][0]["mark"], &back["worklist"]), (&Json::Null, &json!([])));
    assert_eq!(bench.worklist(), []);
    // Taken back again: what was done then is not done now.
    bench.receipt(&retract("M1"));
    assert_eq!(bench.worklist(), [drop("S1"), drop("V1"), drop("cache")]);
}

#[test]
fn a_document_retracted_reaches_the_report_and_says_what_to_leave_out() {
    let bench = Bench::with(&[
        source("D2"),
        source("D3"),
        fact("C7", &json!(["D2"])),
        fact("C8", &json!(["D3"])),
        artifact("report-4", &json!(["C7", "C8"])),
        artifact("note", &json!(["report-4"])),
    ]);
    let receipt = bench.receipt(&retract("D2"));
    assert_eq!(receipt["counts"], json!({ "artifact": 2, "fact": 1 }));
    let make = |id, without| item("regenerate", id, without);
    assert_eq!(bench.worklist(), [make("report-4", "[\"D2\"]"), make("note", "[\"D2\"]")]);
    bench.write(&json!({ "op": "done", "artifact": "report-4" }), false);
    assert_eq!(bench.worklist(), [make("note", "[\"D2\"]")]);
    // A second cause opens it again, and then nothing good is left.
    bench.receipt(&json!({ "op": "disable", "target": "C8" }));
    let drop = |id| item("drop", id, "[\"D2\",\"C8\"]");
    assert_eq!(bench.worklist(), [drop("report-4"), drop("note")]);
}

#[test]
fn one_of_two_supports_may_go_both_may_not_and_a_third_mends() {
    let bench = Bench::with(&[
        source("A"),
        source("B"),
        source("C"),
        fact("F", &json!([["A"], ["B"]])),
        artifact("R", &json!(["F"])),
    ]);
    assert_eq!(bench.receipt(&retract("A"))["reached"], json!([]));
    assert_eq!((bench.mark("F"), bench.mark("R")), (None, None));
    let receipt = bench.receipt(&retract("B"));
    assert_eq!(receipt["counts"], json!({ "artifact": 1, "fact": 1 }));
    assert_eq!(bench.worklist(), [item("drop", "R", "[\"A\",\"B\"]")]);
    let get = json!({ "get": { "subject": "F", "predicate": "p", "scope": "t/a" } });
    assert_eq!(bench.ask(&get)["outcome"], "unknown");
    bench.write(&json!({ "op": "affirm", "target": "F" }), false);
    assert_eq!(bench.mark("F").as_deref(), Some("premise_retracted"), "R31: never by affirm");
    let support = json!({ "op": "support", "target": "F", "derived_from": ["C"] });
    bench.write(&support, false);
    assert_eq!((bench.mark("F"), bench.mark("R"), bench.worklist()), (None, None, vec![]));
}

#[test]
fn both_ways_of_a_diamond_are_one_node_reached_once_by_the_shorter() {
    let bench = Bench::with(&[
        source("top"),
        fact("left", &json!(["top"])),
        fact("right", &json!(["top"])),
        fact("far", &json!(["right"])),
        artifact("bottom", &json!(["left", "far"])),
    ]);
    let receipt = bench.receipt(&retract("top"));
    let bottom = receipt["reached"].as_array().unwrap().iter().find(|n| n["id"] == "bottom");
    assert_eq!(bottom.unwrap()["path"], json!(["top", "left", "bottom"]));
    assert_eq!(receipt["counts"], json!({ "artifact": 1, "fact": 3 }));
    let impact = bench.ask(&json!({ "impact": { "id": "top" } }));
    assert_eq!(impact["edges"].as_array().unwrap().len(), 5);
    let why = bench.ask(&json!({ "why": { "id": "bottom", "types": ["source"] } }));
    let ids: Vec<&Json> = why["nodes"].as_array().unwrap().iter().map(|n| &n["id"]).collect();
    assert_eq!(ids, ["bottom", "top"]);
    let near = bench.ask(&json!({ "impact": { "id": "top", "depth": 1 } }));
    assert_eq!(near["nodes"].as_array().unwrap().len(), 3);
}

#[test]
fn a_change_is_to_be_checked_affirm_clears_it_and_a_later_change_marks_again() {
    let day = |d: u32| format!("2020-01-{d:02}T00:00:00Z");
    let bench = Bench::with(&[
        json!({ "op": "assert", "id": "F", "subject": "s", "predicate": "p", "value": 1, "scope": "t/a", "kind": "stated", "valid_from": day(1) }),
        artifact("R", &json!(["F"])),
        artifact("R2", &json!(["R"])),
    ]);
    let end = |d| json!({ "op": "end", "target": "F", "valid_until": day(d) });
    let receipt = bench.receipt(&end(9));
    assert_eq!(receipt["reached"][0]["mark"], "premise_changed");
    let check = |id| item("check", id, "[]");
    assert_eq!(bench.worklist(), [check("R"), check("R2")]);
    bench.write(&json!({ "op": "affirm", "target": "R" }), false);
    assert_eq!((bench.mark("R"), bench.mark("R2"), bench.worklist()), (None, None, vec![]));
    bench.receipt(&end(8));
    assert_eq!(bench.worklist(), [check("R"), check("R2")]);
    let open = json!({ "op": "end", "target": "F", "valid_until": null });
    let lifted = bench.receipt(&open);
    assert_eq!(lifted["counts"], json!({ "artifact": 2 }), "not what was affirmed either");
    bench.write(&json!({ "op": "affirm", "target": "R" }), false);
    let receipt = bench.receipt(&json!({ "op": "correct", "target": "F", "value": 2 }));
    assert_eq!(receipt["reached"][0]["mark"], "premise_retracted");
    bench.receipt(&json!({ "op": "reinstate", "target": "F" }));
    assert_eq!(bench.worklist(), []);
}

#[test]
fn an_end_still_to_come_is_judged_at_the_instant_it_matters() {
    let bench = Bench::with(&[
        json!({ "op": "assert", "id": "F", "subject": "s", "predicate": "p", "value": 1, "scope": "t/a", "kind": "stated" }),
        artifact("R", &json!(["F"])),
    ]);
    let end = json!({ "op": "end", "target": "F", "valid_until": "2200-01-01T00:00:00Z" });
    assert_eq!(bench.receipt(&end)["reached"][0]["mark"], "premise_changed");
    assert_eq!(bench.mark("R"), None, "today nothing has changed");
    let then = json!({ "worklist": { "tenant": "t", "valid_at": "2200-01-01T00:00:00Z" } });
    assert_eq!(bench.ask(&then)[0]["do"], "check");
}

#[test]
fn a_later_edition_of_a_source_or_artifact_gives_a_receipt_too() {
    let bench = Bench::with(&[
        source("old"),
        fact("F", &json!(["old"])),
        artifact("R", &json!(["F"])),
        artifact("S", &json!(["R"])),
    ]);
    let mut new = source("new");
    new["supersedes"] = json!(["old"]);
    let receipt = bench.receipt(&new);
    assert_eq!(
        (&receipt["cause"], &receipt["reached"][0]["path"]),
        (&json!("new"), &json!(["new", "old", "F"]))
    );
    assert_eq!(receipt["counts"], json!({ "artifact": 2, "fact": 1 }));
    let lifted = bench.receipt(&retract("new"));
    assert_eq!(lifted["reached"][2]["mark"], Json::Null);
    let mut anew = artifact("R'", &json!(["F"]));
    anew["supersedes"] = json!(["R"]);
    assert_eq!(bench.receipt(&anew)["reached"][0]["path"], json!(["R'", "R", "S"]));
    let chain = bench.ask(&json!({ "chain": { "id": "R" } }));
    assert_eq!(chain["edges"], json!([{ "from": "R'", "to": "R", "kind": "supersedes" }]));
}

#[test]
fn a_claim_taken_back_takes_every_copy_and_names_the_oldest() {
    let copy = |id: &str| json!({ "op": "assert", "id": id, "subject": "s", "predicate": "p", "value": 1, "scope": "t/a", "kind": "stated" });
    let bench = Bench::with(&[copy("a"), copy("b"), artifact("R", &json!([["a"], ["b"]]))]);
    let line = json!({ "op": "retract_claim", "subject": "s", "predicate": "p", "value": 1, "scope": "t/a", "reason": "mistaken" });
    let receipt = bench.receipt(&line);
    assert_eq!(
        (&receipt["cause"], &receipt["reached"][0]["path"]),
        (&json!("a"), &json!(["a", "R"]))
    );
    assert_eq!(bench.worklist(), [item("drop", "R", "[\"a\",\"b\"]")]);
}

fn counted(name: &str, text: &str, cause: &str, nodes: u64, deepest: u64) {
    let bench = Bench::new();
    let start = Instant::now();
    bench.load(text);
    let loaded = start.elapsed();
    bench.store.checkpoint().unwrap();
    let bare = WriteOptions { without_receipts: true, ..WriteOptions::default() };
    let start = Instant::now();
    bench.store.owner().write(&[operation(&retract(cause))], bare).unwrap();
    let written = start.elapsed();
    bench.write(&json!({ "op": "reinstate", "target": cause }), false);
    let start = Instant::now();
    let receipt = bench.write(&retract(cause), false).receipts.remove(0).1;
    let told = start.elapsed();
    println!("{name}: load {loaded:.1?}, retract {written:.1?}, with its receipt {told:.1?}");
    assert_eq!(receipt.reached_total as u64, nodes);
    let json = receipt.json();
    assert_eq!(
        (&json["reached_total"], json["reached"].as_array().unwrap().len()),
        (&json!(nodes), 1_000)
    );
    let start = Instant::now();
    let impact = bench.ask(&json!({ "impact": { "id": cause } }));
    println!("{name}: impact {:.1?}", start.elapsed());
    let last = impact["nodes"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["depth"], &last["mark"]), (&json!(deepest), &json!("premise_retracted")));
}

fn derived(count: u64, premises: impl Fn(u64) -> Json) -> String {
    let mut text = format!("{}\n", source("root"));
    for n in 0..count {
        writeln!(text, "{}", fact(&format!("f{n}"), &premises(n))).unwrap();
    }
    text
}

#[test]
fn a_hundred_thousand_rest_on_one_source() {
    counted("fan of 100,000", &derived(100_000, |_| json!(["root"])), "root", 100_000, 1);
}

#[test]
fn a_hundred_thousand_in_a_hundred_layers() {
    let above = |n: u64| match n.checked_sub(1_000) {
        None => json!(["root"]),
        Some(up) => {
            json!([format!("f{up}"), format!("f{}", up / 1_000 * 1_000 + (up + 7) % 1_000)])
        }
    };
    counted("100 layers of 1,000", &derived(100_000, above), "root", 100_000, 100);
}

#[test]
fn a_chain_of_ten_thousand() {
    let above = |n: u64| if n == 0 { json!(["root"]) } else { json!([format!("f{}", n - 1)]) };
    counted("chain of 10,000", &derived(10_000, above), "root", 10_000, 10_000);
}
