//! Engine and oracle side by side: the same transactions, the same verdicts, the same answers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::engine::{Engine, answer};
use super::oracle::{Answer, Oracle};
use super::{CLOCK, transactions};

/// Differences between two answers; ids behind a reason of step 8 and 9 may name any equal rank.
fn differ(engine: &Answer, oracle: &Answer) -> Vec<String> {
    let code = |reason: &String| reason.split(':').next().unwrap_or_default().to_owned();
    let codes = |map: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        map.iter().map(|(id, reason)| (id.clone(), code(reason))).collect()
    };
    let exact = |map: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        let lenient = ["outranked_by", "narrower_rule", "superseded_by"];
        map.iter()
            .map(|(id, reason)| {
                let code = code(reason);
                let kept = if lenient.contains(&code.as_str()) { code } else { reason.clone() };
                (id.clone(), kept)
            })
            .collect()
    };
    let texts =
        |values: &[Value]| -> BTreeSet<String> { values.iter().map(Value::to_string).collect() };
    let mut all = Vec::new();
    let mut check = |what: &str, same: bool, a: String, b: String| {
        if !same {
            all.push(format!("{what}: engine {a}, oracle {b}"));
        }
    };
    let show = |x: &dyn std::fmt::Debug| format!("{x:?}");
    check(
        "outcome",
        engine.outcome == oracle.outcome,
        engine.outcome.clone(),
        oracle.outcome.clone(),
    );
    check("facts", engine.facts == oracle.facts, show(&engine.facts), show(&oracle.facts));
    check(
        "values",
        texts(&engine.values) == texts(&oracle.values),
        show(&engine.values),
        show(&oracle.values),
    );
    check("doubts", engine.doubts == oracle.doubts, show(&engine.doubts), show(&oracle.doubts));
    let leads = exact(&engine.leads) == exact(&oracle.leads) || oracle.leads.len() > 20;
    check("leads", leads, show(&engine.leads), show(&oracle.leads));
    let excluded = codes(&engine.excluded) == codes(&oracle.excluded);
    check("excluded", excluded, show(&engine.excluded), show(&oracle.excluded));
    all
}

/// Writes a world to both and asks both everything; the first few differences.
pub(crate) fn compare(world: &[Value], questions: &[Value], explained: bool) -> Vec<String> {
    let engine = Engine::new(CLOCK);
    let mut oracle = Oracle::new();
    let mut faults = Vec::new();
    for lines in transactions(world) {
        let (counts, refused) = engine.write(&lines);
        let verdicts = oracle.write(&lines, CLOCK);
        let theirs =
            verdicts.iter().enumerate().find_map(|(place, (_, code))| Some((place, code.clone()?)));
        let count =
            |word: &str| verdicts.iter().filter(|(verdict, _)| verdict == word).count() as u64;
        let same = refused == theirs
            && ["admitted", "unchanged", "held", "refused"]
                .iter()
                .all(|word| counts[word] == count(word));
        if !same {
            let last = lines.last().map(ToString::to_string).unwrap_or_default();
            faults.push(format!(
                "verdict: engine {counts:?} {refused:?}, oracle {verdicts:?}: {last}"
            ));
            return faults;
        }
    }
    let snapshot = engine.snapshot();
    for question in questions {
        let mut theirs = oracle.get(question);
        if !explained {
            theirs.excluded.clear();
        }
        let found = differ(&answer(&snapshot, question, explained), &theirs);
        faults.extend(found.into_iter().map(|fault| format!("{question}: {fault}")));
        if faults.len() > 3 {
            break;
        }
    }
    faults
}

/// A world as text, for messages.
pub(crate) fn told(world: &[Value]) -> String {
    world.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
