//! Lineage against its definition: random graphs, and R29 written down as slowly as it reads. Marks
//! are compared at every recorded instant and several valid ones, receipts with what differs.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops where something is not as it says"
)]

#[path = "common/naive_lineage.rs"]
mod naive;

use std::collections::BTreeMap;
use std::sync::Arc;

use asof::db::{Options, Session, Store, WriteOptions};
use asof::exchange::question;
use asof::exchange::read::{self, Reading};
use asof::time::{FixedClock, Recorded};
use naive::{Graph, Node, What};
use serde_json::{Value as Json, json};

const DAY: i64 = 86_400_000_000;
const START: i64 = 20_000 * DAY;
const SCOPES: [&str; 2] = ["t", "t/a"];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

fn instant(micros: i64) -> String {
    Recorded::from_micros(micros).unwrap().to_string()
}

struct World {
    _dir: tempfile::TempDir,
    store: Store,
    clock: Arc<FixedClock>,
    graph: Graph,
    /// Type and slot of each node.
    kinds: Vec<(usize, usize)>,
    now: i64,
    /// Receipts that reached something; marks of each kind seen.
    seen: [usize; 3],
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::new(Recorded::from_micros(START).unwrap()));
        let options = Options {
            clock: Arc::<FixedClock>::clone(&clock),
            relaxed: true,
            ..Options::default()
        };
        let store = Store::open(dir.path().join("store"), options).unwrap();
        Self {
            _dir: dir,
            store,
            clock,
            graph: Graph::default(),
            now: START,
            kinds: Vec::new(),
            seen: [0; 3],
        }
    }

    /// Writes one line a day; the receipt if it was admitted, `None` if it was not.
    fn write(&mut self, line: &Json) -> Option<Option<Json>> {
        self.now += DAY;
        self.clock.set(Recorded::from_micros(self.now).unwrap());
        let reading = Reading { zone: None, replay: false, make_id: &Session::make_id };
        let operation = read::line(&line.to_string(), &reading).unwrap().operation;
        let dry = WriteOptions { dry_run: true, ..WriteOptions::default() };
        let operations = [operation];
        let rehearsed = self.store.owner().write(&operations, dry).unwrap();
        let written = self.store.owner().write(&operations, WriteOptions::default()).unwrap();
        written.stamp?;
        let receipt = written.receipts.first().map(|(_, receipt)| receipt.json());
        if let (Some(receipt), Some((_, dry))) = (&receipt, rehearsed.receipts.first()) {
            let mut same = dry.json();
            assert_eq!(same["dry_run"], true);
            same["dry_run"] = json!(false);
            assert_eq!(&same, receipt, "a rehearsal at the same instant tells the same");
        }
        Some(receipt)
    }

    fn open(&self, n: usize) -> bool {
        self.graph.closed(n, self.now).is_none()
    }

    fn premises(&self, dice: &mut Dice) -> Vec<Vec<usize>> {
        let open: Vec<usize> = (0..self.graph.nodes.len()).filter(|n| self.open(*n)).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let one = |dice: &mut Dice| {
            let mut one: Vec<usize> =
                (0..=dice.roll(2)).map(|_| open[dice.roll(open.len())]).collect();
            one.sort_unstable();
            one.dedup();
            one
        };
        (0..=dice.roll(2)).map(|_| one(dice)).collect()
    }

    fn add(&mut self, dice: &mut Dice) {
        let n = self.graph.nodes.len();
        let scope = SCOPES[dice.roll(2)];
        let id = format!("n{n}");
        let kind = dice.roll(4).min(2);
        let slot = dice.roll(3);
        let named = |premises: &Vec<Vec<usize>>| -> Json {
            premises
                .iter()
                .map(|one| one.iter().map(|p| format!("n{p}")).collect::<Vec<_>>())
                .collect()
        };
        // Something of the same type, open, in a scope that allows it: superseded now and then.
        let mut node = Node {
            came: 0,
            scope,
            fact: kind == 2,
            from: None,
            until: None,
            justified: Vec::new(),
            supersedes: Vec::new(),
            happened: Vec::new(),
        };
        let mut line = match kind {
            0 => json!({ "op": "source", "id": id, "scope": scope, "kind": "stated" }),
            1 => {
                node.justified = self.premises(dice);
                if node.justified.is_empty() {
                    return;
                }
                json!({ "op": "artifact", "id": id, "kind": "x", "scope": scope, "place": id, "derived_from": named(&node.justified) })
            }
            _ => {
                node.justified = if dice.roll(2) == 0 { Vec::new() } else { self.premises(dice) };
                node.from = [None, Some(START + 5 * DAY), Some(START + 30 * DAY)][dice.roll(3)];
                let from = node.from.map_or_else(|| "-inf".to_owned(), instant);
                let kind = if node.justified.is_empty() { json!("stated") } else { Json::Null };
                json!({ "op": "assert", "id": id, "subject": format!("s{slot}"), "predicate": "p", "value": id, "scope": scope, "valid_from": from, "kind": kind, "derived_from": named(&node.justified) })
            }
        };
        if line["derived_from"] == json!([]) || line["derived_from"].is_null() {
            line.as_object_mut().unwrap().remove("derived_from");
        }
        if line["kind"].is_null() {
            line.as_object_mut().unwrap().remove("kind");
        }
        let alike = |old: &usize| {
            let (of, at) = self.kinds[*old];
            of == kind && (kind != 2 || at == slot) && self.open(*old)
        };
        let old: Vec<usize> = (0..n).filter(alike).collect();
        if dice.roll(2) == 0 && !old.is_empty() {
            let old = old[dice.roll(old.len())];
            line["supersedes"] = json!([format!("n{old}")]);
            node.supersedes = vec![old];
        }
        if let Some(receipt) = self.write(&line) {
            node.came = self.now;
            let held = self.show(&id, self.now, self.now)["state"] == "held";
            if held {
                // It waits, so it links nothing and nothing may rest on it.
                node.supersedes.clear();
                node.happened.push((self.now, What::Disabled));
            }
            let before = self.now - 1;
            self.graph.nodes.push(node);
            self.kinds.push((kind, slot));
            if let Some(receipt) = receipt.filter(|_| !held) {
                self.compare(&receipt, before, &[n]);
            }
        }
    }

    fn change(&mut self, dice: &mut Dice) {
        let n = dice.roll(self.graph.nodes.len());
        let id = format!("n{n}");
        let more = self.premises(dice);
        let reason = ["mistaken", "withdrawn"][dice.roll(2)];
        let end = [None, Some(START + 10 * DAY), Some(START + 40 * DAY)][dice.roll(3)];
        let (line, what) = match dice.roll(12) {
            0 => (json!({ "op": "retract", "target": id, "reason": reason }), What::Closed),
            1 => (json!({ "op": "reinstate", "target": id }), What::Reopened),
            2 => (json!({ "op": "disable", "target": id }), What::Disabled),
            3 => (json!({ "op": "enable", "target": id }), What::Enabled),
            4..=6 => (
                json!({ "op": "end", "target": id, "valid_until": end.map(instant) }),
                What::Ended(end),
            ),
            7 | 8 => (json!({ "op": "affirm", "target": id }), What::Affirmed),
            _ => {
                let named: Json = more
                    .iter()
                    .map(|one| one.iter().map(|p| format!("n{p}")).collect::<Vec<_>>())
                    .collect();
                (
                    json!({ "op": "support", "target": id, "derived_from": named }),
                    What::Supported(more),
                )
            }
        };
        if let Some(receipt) = self.write(&line) {
            let before = self.now - 1;
            self.graph.nodes[n].happened.push((self.now, what.clone()));
            if let (Some(receipt), false) = (receipt, matches!(what, What::Ended(_))) {
                self.compare(&receipt, before, &[n]);
            }
        }
    }

    /// A receipt names exactly the nodes whose marks differ, apart from those whose mark is the
    /// same but of this cause, with the mark they have now and a shortest path.
    fn compare(&mut self, receipt: &Json, before: i64, from: &[usize]) {
        let mut told: BTreeMap<usize, Json> = BTreeMap::new();
        for node in receipt["reached"].as_array().unwrap() {
            let id = node["id"].as_str().unwrap();
            told.insert(id.get(1..).unwrap().parse().unwrap(), node.clone());
        }
        self.seen[0] += usize::from(!told.is_empty());
        for n in 0..self.graph.nodes.len() {
            let was = self.graph.mark(n, self.now, before);
            let is = self.graph.mark(n, self.now, self.now);
            let new = from.contains(&n);
            if was != is && !new {
                assert!(told.contains_key(&n), "n{n} {was:?} → {is:?} is missing: {receipt}");
            }
            let Some(node) = told.get(&n) else { continue };
            let reason =
                is.map(|mark| if mark.retracted { "premise_retracted" } else { "premise_changed" });
            assert_eq!(node["mark"].as_str(), reason, "n{n}: {receipt}");
            let path = node["path"].as_array().unwrap();
            assert_eq!(node["depth"], json!(path.len() - 1));
            if let Some(depth) = from.iter().filter_map(|f| self.graph.depth(*f, n, self.now)).min()
            {
                assert!(
                    node["depth"].as_u64().unwrap() <= depth,
                    "n{n} is {depth} away: {receipt}"
                );
            }
        }
    }

    fn show(&self, id: &str, v: i64, k: i64) -> Json {
        let question =
            json!({ "show": { "id": id, "valid_at": instant(v), "known_at": instant(k) } });
        let asked = question::line(&question.to_string(), None).unwrap();
        self.store.owner().snapshot().answer(&asked).unwrap()
    }

    fn compare_marks(&mut self) {
        for n in 0..self.graph.nodes.len() {
            let node = self.graph.nodes[n].clone();
            if node.happened.first().is_some_and(|(at, _)| *at == node.came) {
                continue;
            }
            let mut k = node.came;
            while k <= self.now {
                for v in [START + DAY, START + 10 * DAY, START + 35 * DAY, START + 90 * DAY] {
                    let shown = self.show(&format!("n{n}"), v, k);
                    let reason = shown["marks"].get(0).map(|mark| mark["reason"].as_str().unwrap());
                    let mark = self.graph.mark(n, v, k);
                    if let Some(mark) = mark {
                        self.seen[usize::from(mark.retracted) + 1] += 1;
                    }
                    let wanted = mark.map(|mark| {
                        if mark.retracted { "premise_retracted" } else { "premise_changed" }
                    });
                    assert_eq!(reason, wanted, "n{n} at v={} k={}", instant(v), instant(k));
                }
                k += 3 * DAY;
            }
        }
    }
}

#[test]
fn marks_and_receipts_are_what_the_definition_says() {
    let mut seen = [0; 3];
    for seed in 0..100 {
        let mut dice = Dice(seed * 7_919 + 17);
        let mut world = World::new();
        for step in 0..55 {
            if step < 12 || dice.roll(3) == 0 {
                world.add(&mut dice);
            } else if !world.graph.nodes.is_empty() {
                world.change(&mut dice);
            }
        }
        world.compare_marks();
        seen.iter_mut().zip(world.seen).for_each(|(all, one)| *all += one);
    }
    println!("receipts that reached something, marks changed, marks retracted: {seen:?}");
    assert!(seen[0] > 100 && seen[1] > 500 && seen[2] > 500, "{seen:?}");
}
