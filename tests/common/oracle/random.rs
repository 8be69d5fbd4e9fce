//! Random larger histories: several slots and scopes, sources, artifacts, derived facts, operations that
//! follow from what is there, and some lines that are refused. The same seed gives the same history.

use super::Oracle;
use super::dice::Dice;
use chrono::DateTime;
use serde_json::{Value, json};

/// 2026-01-01T00:00:00Z; every step of a history is one hour later.
const FIRST_HOUR: i64 = 1_767_225_600;

pub(super) fn hour(step: i64) -> String {
    let at = DateTime::from_timestamp(FIRST_HOUR + step * 3_600, 0).unwrap_or_default();
    at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Tells one history.
pub(super) struct Teller {
    pub dice: Dice,
    pub step: i64,
    pub count: usize,
    two_tenants: bool,
    /// What the lines told so far left behind: the generator asks the oracle which of them were refused.
    store: Oracle,
    pub told: Told,
    pub lines: Vec<Value>,
}

/// What later lines can refer to.
#[derive(Clone, Default)]
pub(super) struct Told {
    /// Asserts and corrections.
    pub facts: Vec<Value>,
    pub sources: Vec<String>,
    artifacts: Vec<String>,
    /// Ids that wait for confirmation.
    held: Vec<String>,
    /// Operations that another one can undo, with their targets.
    pub undoable: Vec<(String, String)>,
}

/// `n_events` lines in the order of their recorded instants; lines of one instant are one transaction.
pub(crate) fn random_world(seed: u64, n_events: usize) -> Vec<Value> {
    let mut dice = Dice::new(seed);
    let two_tenants = dice.chance(25);
    let store = Oracle::new();
    let told = Told::default();
    let mut teller =
        Teller { dice, step: 1, count: 0, two_tenants, store, told, lines: Vec::new() };
    while teller.lines.len() < n_events {
        teller.transaction();
    }
    teller.lines.truncate(n_events);
    teller.lines
}

impl Teller {
    /// Tells one transaction; of those that would be refused, some are left out.
    fn transaction(&mut self) {
        let before = self.told.clone();
        let size = if self.dice.chance(80) { 1 } else { 2 + self.dice.below(2) };
        let mut lines = Vec::new();
        for _ in 0..size {
            let mut line = self.line();
            line["recorded_at"] = json!(hour(self.step));
            if size > 1 {
                line.as_object_mut().map(|fields| fields.remove("tx_id"));
            } else if line.get("tx_id").is_none() && self.dice.chance(5) {
                line["tx_id"] = json!(format!("01900000-0000-7000-8000-{:012}", self.step));
            }
            self.remember(&line);
            lines.push(line);
        }
        let verdicts = self.store.write(&lines, i64::MAX);
        if verdicts.iter().any(|v| v.0 == "refused") {
            self.told = before;
            let telling = verdicts.iter().any(|v| v.1.as_deref() == Some("revival"));
            if !telling && !self.dice.chance(25) {
                return;
            }
        }
        for (line, _) in lines.iter().zip(&verdicts).filter(|(_, v)| v.0 == "held") {
            self.told.held.extend(line["id"].as_str().map(str::to_string));
        }
        self.lines.extend(lines);
        self.step += 1;
    }

    fn remember(&mut self, line: &Value) {
        let text = |key: &str| line[key].as_str().map(str::to_string);
        match (text("op").as_deref(), text("id"), text("target")) {
            (Some("assert"), Some(_), _) => self.told.facts.push(line.clone()),
            (Some("source"), Some(id), _) => self.told.sources.push(id),
            (Some("artifact"), Some(id), _) => self.told.artifacts.push(id),
            (Some("correct"), Some(_), Some(target)) => {
                let old =
                    self.told.facts.iter().find(|f| f["id"] == target).cloned().unwrap_or_default();
                let slot = ["subject", "predicate"].map(|key| (key, old[key].clone()));
                let mut line = line.clone();
                for (key, value) in slot {
                    line[key] = value;
                }
                self.told.facts.push(line);
                self.told.undoable.push(("correct".to_string(), target));
            }
            (Some(op @ ("disable" | "retract" | "reject" | "end")), _, Some(target)) => {
                self.told.undoable.push((op.to_string(), target));
            }
            _ => {}
        }
    }

    fn line(&mut self) -> Value {
        if self.told.sources.len() < 4 {
            return self.source();
        }
        match self.dice.below(100) {
            0..=41 => self.assert(),
            42..=49 => self.source(),
            50..=53 => self.artifact(),
            54..=56 => self.predicate(),
            57..=83 => self.on_target(),
            84..=86 => self.correct(),
            87..=89 => self.resolve(),
            90 => self.suppression(),
            91..=95 => self.repetition(),
            _ => self.broken(),
        }
    }

    pub(super) fn fresh(&mut self, letter: char) -> String {
        self.count += 1;
        format!("{letter}{}", self.count)
    }

    pub(super) fn scope(&mut self) -> String {
        if self.two_tenants && self.dice.chance(15) {
            return "u/a".to_string();
        }
        self.dice.pick(&["t", "t/a", "t/a", "t/a/x", "t/b"]).to_string()
    }

    fn some_fact(&mut self) -> Option<String> {
        let recent = self.dice.below(self.told.facts.len().min(8));
        let any = self.dice.below(self.told.facts.len());
        let place =
            if self.dice.chance(70) { self.told.facts.len().checked_sub(recent + 1)? } else { any };
        self.told.facts.get(place)?["id"].as_str().map(str::to_string)
    }

    /// Any source, fact or artifact.
    pub(super) fn some_node(&mut self) -> String {
        let other = if self.dice.chance(25) {
            self.told.artifacts.clone()
        } else {
            self.told.sources.clone()
        };
        match self.some_fact().filter(|_| self.dice.chance(60)) {
            Some(id) => id,
            None if other.is_empty() => "nothing".to_string(),
            None => self.dice.pick(&other),
        }
    }

    fn source(&mut self) -> Value {
        let kind = self.dice.pick(&["stated", "stated", "observed", "reported", "inferred"]);
        let mut line =
            json!({"op": "source", "id": self.fresh('s'), "scope": self.scope(), "kind": kind});
        if self.dice.chance(20) {
            line["text"] = json!(self.dice.pick(&["one text", "another text"]));
        }
        if self.dice.chance(20) {
            line["uri"] = json!("file:///one");
            line["stated_at"] = json!(hour(1));
        }
        if !self.told.sources.is_empty() && self.dice.chance(20) {
            line["supersedes"] = json!([self.dice.pick(&self.told.sources.clone())]);
        }
        line
    }

    fn artifact(&mut self) -> Value {
        let place = self.fresh('r');
        let mut line = json!({"op": "artifact", "id": place, "kind": "summary", "scope": self.scope(),
            "place": place, "derived_from": [self.some_node()]});
        if !self.told.artifacts.is_empty() && self.dice.chance(20) {
            line["supersedes"] = json!([self.dice.pick(&self.told.artifacts.clone())]);
        }
        line
    }

    fn predicate(&mut self) -> Value {
        let mut line = self.dice.pick(&[
            json!({"op": "predicate", "name": "many", "cardinality": "many"}),
            json!({"op": "predicate", "name": "tool", "authority": ["observed", "stated", "reported", "inferred"]}),
            json!({"op": "predicate", "name": "p", "then": "resume"}),
            json!({"op": "predicate", "name": "q", "review_every": "24h"}),
        ]);
        self.place_in_tenant(&mut line);
        line
    }

    /// Where a store may hold two tenants, a line without scope says its own, mostly.
    fn place_in_tenant(&mut self, line: &mut Value) {
        if self.two_tenants && self.dice.chance(95) {
            line["tenant"] = json!(if self.dice.chance(90) { "t" } else { "u" });
        }
    }

    fn on_target(&mut self) -> Value {
        let ops = [
            "end", "end", "retract", "retract", "disable", "affirm", "affirm", "support",
            "confirm", "erase",
        ];
        let mut op = self.dice.pick(&ops);
        let mut target = self.some_node();
        if !self.told.held.is_empty() && self.dice.chance(25) {
            op = self.dice.pick(&["confirm", "confirm", "reject"]);
            target = self.dice.pick(&self.told.held.clone());
        } else if !self.told.undoable.is_empty() && self.dice.chance(30) {
            let (done, id) = self.dice.pick(&self.told.undoable.clone());
            op = match done.as_str() {
                "disable" => "enable",
                "end" => "end",
                _ => "reinstate",
            };
            target = id;
        }
        let mut line = json!({"op": op, "target": target});
        match op {
            "end" if self.dice.chance(25) => line["valid_until"] = Value::Null,
            "end" => {
                line["valid_until"] =
                    json!(hour(self.step - 6 + i64::try_from(self.dice.below(12)).unwrap()));
            }
            "retract" => line["reason"] = json!(self.dice.pick(&["mistaken", "withdrawn"])),
            "support" => line["derived_from"] = json!([self.some_node()]),
            "affirm" if self.dice.chance(30) => {
                line["review_by"] =
                    json!(hour(self.step + i64::try_from(self.dice.below(24)).unwrap()));
            }
            _ => {}
        }
        if op != "erase" && self.dice.chance(15) {
            line["kind"] = json!(self.dice.pick(&["observed", "reported", "inferred"]));
        }
        self.place_in_tenant(&mut line);
        line
    }

    fn correct(&mut self) -> Value {
        let mut line = json!({"op": "correct", "id": self.fresh('c'), "target": self.some_node()});
        if self.dice.chance(80) {
            line["value"] = json!(self.dice.below(4) + 1);
        }
        if self.dice.chance(30) {
            line["valid_until"] =
                json!(hour(self.step + i64::try_from(self.dice.below(10)).unwrap()));
        }
        if self.dice.chance(20) {
            line["source"] = json!(self.dice.pick(&self.told.sources.clone()));
        }
        self.place_in_tenant(&mut line);
        line
    }

    fn resolve(&mut self) -> Value {
        let Some(keep) = self.some_fact() else {
            return self.assert();
        };
        let kept = self.told.facts.iter().find(|f| f["id"] == keep).cloned().unwrap_or_default();
        let rival =
            |f: &&Value| f["subject"] == kept["subject"] && f["predicate"] == kept["predicate"];
        let rivals: Vec<Value> =
            self.told.facts.iter().rev().filter(rival).take(6).map(|f| f["id"].clone()).collect();
        if rivals.is_empty() {
            return self.assert();
        }
        let mut line =
            json!({"op": "resolve", "conflict": [keep, self.dice.pick(&rivals)], "keep": keep});
        self.place_in_tenant(&mut line);
        line
    }

    fn suppression(&mut self) -> Value {
        let mut line = self.dice.pick(&[
            json!({"op": "suppress", "id": "quiet", "scope": "t/a/**", "predicate": "q*"}),
            json!({"op": "suppress", "id": "hush", "scope": "t/b", "subject": "b", "kind": "inferred"}),
            json!({"op": "unsuppress", "id": "quiet"}),
            json!({"op": "unsuppress", "id": "hush"}),
        ]);
        if line.get("scope").is_none() {
            self.place_in_tenant(&mut line);
        }
        line
    }
}
