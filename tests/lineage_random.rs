//! Lineage against its definition: random graphs, and R29 written down as slowly as it reads. Marks
//! are compared at every recorded instant and several valid ones, receipts with what differs.

mod naive {
    use std::collections::BTreeMap;

    /// What happened to a node: closed or not, disabled or not, its end, looked at.
    #[derive(Clone, Debug)]
    pub(crate) enum What {
        Closed,
        Reopened,
        Disabled,
        Enabled,
        Ended(Option<i64>),
        Affirmed,
        Supported(Vec<Vec<usize>>),
    }

    #[derive(Clone, Debug)]
    pub(crate) struct Node {
        pub(crate) came: i64,
        pub(crate) scope: &'static str,
        pub(crate) fact: bool,
        pub(crate) from: Option<i64>,
        pub(crate) until: Option<i64>,
        pub(crate) justified: Vec<Vec<usize>>,
        pub(crate) supersedes: Vec<usize>,
        pub(crate) happened: Vec<(i64, What)>,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Mark {
        pub(crate) retracted: bool,
        since: i64,
    }

    #[derive(Default)]
    pub(crate) struct Graph {
        pub(crate) nodes: Vec<Node>,
    }

    impl Graph {
        fn until_k(&self, n: usize, k: i64) -> impl Iterator<Item = &(i64, What)> {
            self.nodes[n].happened.iter().filter(move |(at, _)| *at <= k)
        }

        /// Since when it is closed or disabled at k.
        pub(crate) fn closed(&self, n: usize, k: i64) -> Option<i64> {
            let (mut closed, mut disabled) = (None, None);
            for (at, what) in self.until_k(n, k) {
                match what {
                    What::Closed => closed = Some(*at),
                    What::Reopened => closed = None,
                    What::Disabled => disabled = Some(*at),
                    What::Enabled => disabled = None,
                    What::Ended(_) | What::Affirmed | What::Supported(_) => {}
                }
            }
            [closed, disabled].into_iter().flatten().min()
        }

        fn end(&self, n: usize, k: i64) -> Option<i64> {
            let said = self.until_k(n, k).filter_map(|(_, what)| match what {
                What::Ended(until) => Some(*until),
                _ => None,
            });
            said.last().unwrap_or(self.nodes[n].until)
        }

        fn baseline(&self, n: usize, justified: i64, k: i64) -> i64 {
            let looked = self.until_k(n, k).filter(|(_, what)| matches!(what, What::Affirmed));
            looked.map(|(at, _)| *at).fold(justified, i64::max)
        }

        /// All that supersedes a node, directly or along a chain that avoids `but`, each with when
        /// its chain was complete.
        fn superseders(&self, n: usize, but: usize, k: i64) -> BTreeMap<usize, i64> {
            let mut found = BTreeMap::new();
            for (s, node) in self.nodes.iter().enumerate() {
                if s != but && node.came <= k && node.supersedes.contains(&n) {
                    found.insert(s, node.came);
                    for (further, since) in self.superseders(s, but, k) {
                        let since = since.max(node.came);
                        let before = found.get(&further).copied().unwrap_or(i64::MAX);
                        found.insert(further, before.min(since));
                    }
                }
            }
            found
        }

        fn changed(&self, p: usize, n: usize, baseline: i64, v: i64, k: i64) -> Option<i64> {
            let mut last = None;
            let (then, now) = (self.end(p, baseline), self.end(p, k));
            let earlier = [then, now].into_iter().flatten().min();
            if then != now && earlier.is_some_and(|earlier| v >= earlier) {
                let ends = self.until_k(p, k).filter(|(_, what)| matches!(what, What::Ended(_)));
                last = ends.map(|(at, _)| *at).max();
            }
            for (s, since) in self.superseders(p, n, k) {
                let node = &self.nodes[s];
                let covers = self.nodes[n].scope.starts_with(node.scope);
                let touches = !node.fact || node.from.is_none_or(|from| v >= from);
                if since > baseline && covers && touches && self.closed(s, k).is_none() {
                    last = last.max(Some(since));
                }
            }
            last
        }

        /// R29, by recursion.
        pub(crate) fn mark(&self, n: usize, v: i64, k: i64) -> Option<Mark> {
            let node = &self.nodes[n];
            let mut justified: Vec<(i64, &Vec<usize>)> =
                node.justified.iter().map(|premises| (node.came, premises)).collect();
            for (at, what) in self.until_k(n, k) {
                if let What::Supported(more) = what {
                    justified.extend(more.iter().map(|premises| (*at, premises)));
                }
            }
            let mut marks = Vec::new();
            for (at, premises) in justified {
                let baseline = self.baseline(n, at, k);
                let mut gone: Option<i64> = None;
                let mut changed: Option<i64> = None;
                for p in premises {
                    let above = self.mark(*p, v, k);
                    let closed = self.closed(*p, k);
                    let marked = above.filter(|mark| mark.retracted).map(|mark| mark.since);
                    if let Some(since) = [closed, marked].into_iter().flatten().min() {
                        gone = Some(gone.map_or(since, |before| before.min(since)));
                        continue;
                    }
                    let above = above.map(|mark| mark.since).filter(|since| *since > baseline);
                    changed = changed.max(above).max(self.changed(*p, n, baseline, v, k));
                }
                match (gone, changed) {
                    (Some(since), _) => marks.push(Mark { retracted: true, since }),
                    (None, Some(since)) => marks.push(Mark { retracted: false, since }),
                    (None, None) => return None,
                }
            }
            let retracted = marks.iter().all(|mark| mark.retracted);
            let since = marks.iter().map(|mark| mark.since).max()?;
            Some(Mark { retracted, since })
        }

        /// Distance from some nodes down derived-from.
        pub(crate) fn depth(&self, from: usize, to: usize, k: i64) -> Option<u64> {
            let mut level = vec![from];
            let mut seen = level.clone();
            for depth in 0.. {
                if level.contains(&to) {
                    return Some(depth);
                }
                let rests = |n: &usize| {
                    let more = self.until_k(*n, k).filter_map(|(_, what)| match what {
                        What::Supported(more) => Some(more),
                        _ => None,
                    });
                    let mut all = self.nodes[*n].justified.iter().chain(more.flatten());
                    all.any(|premises| premises.iter().any(|p| level.contains(p)))
                };
                let next: Vec<usize> =
                    (0..self.nodes.len()).filter(|n| !seen.contains(n) && rests(n)).collect();
                if next.is_empty() {
                    return None;
                }
                seen.extend(&next);
                level = next;
            }
            None
        }
    }
}

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
