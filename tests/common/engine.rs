//! The real engine behind the oracle's interface: a store in memory, written by `import --replay`
//! and asked through the same questions as `asof ask`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use asof::db::{ImportOptions, Options, Snapshot, Store};
use asof::exchange::question::{Asked, question};
use asof::model::refusal::Refusal;
use asof::time::{FixedClock, Recorded};
use serde_json::{Value, json};

use super::oracle::Answer;

/// A store in memory.
pub(crate) struct Engine {
    pub store: Store,
}

impl Engine {
    /// An empty one, its clock at `clock_us`.
    pub(crate) fn new(clock_us: i64) -> Self {
        let clock = Arc::new(FixedClock::new(Recorded::from_micros(clock_us).unwrap()));
        let store = Store::in_memory(Options { clock, ..Options::default() }).unwrap();
        Self { store }
    }

    /// Replays one transaction: the verdict of each kind counted, and the refused line's code.
    pub(crate) fn write(
        &self,
        lines: &[Value],
    ) -> (BTreeMap<&'static str, u64>, Option<(usize, String)>) {
        let mut text = String::new();
        for line in lines {
            writeln!(text, "{line}").unwrap();
        }
        let options = ImportOptions { replay: true, ..ImportOptions::default() };
        let report = self.store.import(text.as_bytes(), options).unwrap();
        let refused = report
            .refused
            .first()
            .map(|r| (usize::try_from(r.line).unwrap() - 1, r.refusal.reason.code().to_owned()));
        let counts = BTreeMap::from([
            ("admitted", report.admitted),
            ("unchanged", report.unchanged),
            ("held", report.held),
            ("refused", report.refused_lines),
        ]);
        (counts, refused)
    }

    /// What it sees now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.store.owner().snapshot()
    }
}

fn asked(kind: &str, q: &Value) -> Result<Asked, Refusal> {
    question(kind, q.as_object().unwrap().clone(), None)
}

fn reason(entry: &Value, field: &str) -> String {
    match entry.get("by").and_then(Value::as_str) {
        Some(by) => format!("{}:{by}", entry[field].as_str().unwrap()),
        None => entry[field].as_str().unwrap().to_owned(),
    }
}

/// The answer to `get`, with what `explain` says was removed if `explained`.
pub(crate) fn answer(snapshot: &Snapshot, q: &Value, explained: bool) -> Answer {
    let Ok(get) = asked("get", q) else {
        // A question with a name that no fact can have: nothing is known.
        return Answer { outcome: "unknown".to_owned(), ..Answer::default() };
    };
    let got = snapshot.answer(&get).unwrap();
    let facts = got["facts"].as_array().unwrap();
    let mut values: BTreeMap<String, Value> = BTreeMap::new();
    for fact in facts {
        values.insert(fact["value"].to_string(), fact["value"].clone());
    }
    let leads: BTreeMap<String, String> = got["leads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lead| (lead["id"].as_str().unwrap().to_owned(), reason(lead, "reason")))
        .collect();
    let doubts: BTreeSet<String> =
        got["doubts"].as_array().unwrap().iter().map(|d| reason(d, "reason")).collect();
    let mut excluded = BTreeMap::new();
    if explained {
        let all = snapshot.answer(&asked("explain", q).unwrap()).unwrap();
        for candidate in all["candidates"].as_array().unwrap() {
            if candidate["verdict"] != json!("used") {
                let id = candidate["id"].as_str().unwrap().to_owned();
                excluded.insert(id, reason(candidate, "verdict"));
            }
        }
    }
    Answer {
        outcome: got["outcome"].as_str().unwrap().to_owned(),
        facts: facts.iter().map(|f| f["id"].as_str().unwrap().to_owned()).collect(),
        values: values.into_values().collect(),
        doubts,
        leads,
        excluded,
    }
}
