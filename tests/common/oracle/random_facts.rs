//! The facts of a random history: what they say, on what evidence, for when, and in whose place.

use super::random::{Teller, hour};
use serde_json::{Value, json};

impl Teller {
    pub(super) fn assert(&mut self) -> Value {
        let predicate = self.dice.pick(&["p", "p", "p", "q", "many", "tool"]);
        let subject = self.dice.pick(&["a", "a", "b"]);
        let mut line = json!({"op": "assert", "id": self.fresh('f'), "subject": subject, "predicate": predicate,
            "value": self.dice.below(3) + 1, "scope": self.scope()});
        self.add_evidence(&mut line);
        self.add_period(&mut line);
        self.add_conditions(&mut line);
        self.add_supersession(&mut line);
        if self.dice.chance(10) {
            line["review_by"] =
                json!(hour(self.step + i64::try_from(self.dice.below(12)).unwrap()));
        }
        if self.dice.chance(6) {
            line["memory"] =
                json!(self.dice.pick(&["working", "episodic", "semantic", "procedural"]));
        }
        if self.dice.chance(3) {
            line["expect_version"] = json!(self.dice.below(self.lines.len()));
        }
        line
    }

    fn add_evidence(&mut self, line: &mut Value) {
        let kind = self.dice.pick(&["stated", "stated", "observed", "reported", "inferred"]);
        match self.dice.below(10) {
            0..=3 => line["kind"] = json!(kind),
            4..=6 => line["source"] = json!(self.dice.pick(&self.told.sources.clone())),
            7 => line["derived_from"] = json!([self.some_node()]),
            8 => {
                line["derived_from"] =
                    json!([[self.some_node(), self.some_node()], [self.some_node()]]);
                line["kind"] = json!(kind);
            }
            _ => {
                line["derived_from"] = json!([self.some_node()]);
                line["source"] = json!(self.dice.pick(&self.told.sources.clone()));
                line["kind"] = json!(kind);
            }
        }
        if line.get("derived_from").is_some() && self.dice.chance(10) {
            line["read_at"] = json!(self.lines.len().saturating_sub(self.dice.below(20)));
        }
    }

    fn add_period(&mut self, line: &mut Value) {
        let from = self.step - 12 + i64::try_from(self.dice.below(20)).unwrap();
        match self.dice.below(10) {
            0..=1 => {}
            2 => line["valid_from"] = json!("-inf"),
            _ => line["valid_from"] = json!(hour(from)),
        }
        if self.dice.chance(40) {
            line["valid_until"] = json!(hour(from + i64::try_from(self.dice.below(16)).unwrap()));
        }
    }

    fn add_conditions(&mut self, line: &mut Value) {
        match self.dice.below(10) {
            0 => line["when"] = json!({"env": "prod"}),
            1 => line["when"] = json!({"version": {"semver": ">=2.0, <3.0"}}),
            2 => line["when"] = json!({"env": "prod", "version": {"semver": ">=2.0, <3.0"}}),
            _ => {}
        }
    }

    fn add_supersession(&mut self, line: &mut Value) {
        let here =
            |f: &&Value| f["subject"] == line["subject"] && f["predicate"] == line["predicate"];
        let same: Vec<Value> =
            self.told.facts.iter().rev().filter(here).take(6).map(|f| f["id"].clone()).collect();
        match self.dice.below(10) {
            0..=3 if !same.is_empty() => line["supersedes"] = json!([self.dice.pick(&same)]),
            4 => line["supersedes"] = json!("current"),
            5 if self.dice.chance(20) => line["supersedes"] = json!([self.some_node()]),
            _ => {}
        }
        if line.get("supersedes").is_some() && self.dice.chance(50) {
            line["then"] = json!(self.dice.pick(&["resume", "uncertain", "ask", "never"]));
        }
    }

    /// A line told before: the same id again, or the same claim under a new one, from the same source or
    /// another.
    pub(super) fn repetition(&mut self) -> Value {
        let asserts: Vec<Value> =
            self.told.facts.iter().filter(|f| f["op"] == "assert").cloned().collect();
        if asserts.is_empty() {
            return self.assert();
        }
        let stopped = |f: &&Value| self.told.undoable.iter().any(|(_, id)| f["id"] == *id);
        let stopped: Vec<Value> = asserts.iter().filter(stopped).cloned().collect();
        let among = if stopped.is_empty() || self.dice.chance(40) { asserts } else { stopped };
        let mut line = self.dice.pick(&among);
        match self.dice.below(4) {
            0 => {}
            1 => line["value"] = json!("something else"),
            2 => line["id"] = json!(self.fresh('f')),
            _ => {
                line["id"] = json!(self.fresh('f'));
                line["source"] = json!(self.dice.pick(&self.told.sources.clone()));
            }
        }
        if line["id"].as_str().is_some_and(|id| self.told.facts.iter().all(|f| f["id"] != id)) {
            line.as_object_mut().map(|fields| fields.remove("tx_id"));
            line.as_object_mut().map(|fields| fields.remove("supersedes"));
        }
        line
    }

    /// A line that is refused whatever came before.
    pub(super) fn broken(&mut self) -> Value {
        let mut line = self.assert();
        let id = line["id"].clone();
        match self.dice.below(7) {
            0 => line["valid_from"] = json!("next friday"),
            1 => line["valid_from"] = json!("2026-01-05"),
            2 => line["valid_to"] = json!(hour(3)),
            3 => line["subject"] = json!(" padded"),
            4 => line["supersedes"] = json!([id]),
            5 => line["derived_from"] = json!(["nothing of the kind"]),
            _ => line["op"] = json!("frobnicate"),
        }
        line
    }
}
