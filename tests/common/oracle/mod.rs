//! The oracle: a slow and obvious reading of the rules, to judge the real engine by.
//!
//! It keeps what was written as a list of acts and works out every answer from that list, from the first
//! act on, each time it is asked. Nothing is cached, nothing is indexed, and it shares no code with the
//! engine. `time` and `shape` read a journal line; `gate`, `checks`, `effects`, `revival`, `nodes` and
//! `acts` are section 5; `world` is the list; `authority` is R20; `lineage` is section 7; `resolve` and
//! `doubts` are section 6; `worlds` and `random` (with
//! `random_facts` and `dice`) make histories to compare on.

mod acts;
mod authority;
mod checks;
mod dice;
mod doubts;
mod effects;
mod gate;
mod lineage;
mod nodes;
pub(crate) mod random;
mod random_facts;
mod resolve;
mod revival;
mod shape;
mod time;
mod world;
pub(crate) mod worlds;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use world::World;

/// The code of a refusal.
pub(crate) type Refusal = &'static str;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Admitted,
    Unchanged,
    Held,
}

/// What a question is answered with. Doubts and reasons read `reason` or `reason:by`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub outcome: String,
    pub facts: BTreeSet<String>,
    /// Distinct and canonical.
    pub values: Vec<Value>,
    pub doubts: BTreeSet<String>,
    /// All of them, by id.
    pub leads: BTreeMap<String, String>,
    /// Every candidate that was removed, by id, with the first reason.
    pub excluded: BTreeMap<String, String>,
}

/// An empty store, to be written to and asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oracle {
    world: World,
    clock: i64,
}

impl Oracle {
    pub(crate) fn new() -> Self {
        Oracle { world: World { recorded: i64::MIN, ..World::default() }, clock: i64::MIN }
    }

    /// Replays one transaction: one verdict a line, with the code at the line that was refused.
    pub(crate) fn write(
        &mut self,
        lines: &[Value],
        clock_us: i64,
    ) -> Vec<(String, Option<String>)> {
        self.clock = clock_us;
        let same = |word: &str| vec![(word.to_string(), None); lines.len()];
        if self.repeats_a_transaction(lines) {
            return same("unchanged");
        }
        match self.apply(lines, clock_us) {
            Ok(verdicts) => verdicts.into_iter().map(|v| (word(v).to_string(), None)).collect(),
            Err((place, code)) => {
                let mut all = same("refused");
                if let Some(line) = all.get_mut(place) {
                    line.1 = Some(code.to_string());
                }
                all
            }
        }
    }

    /// R9a: a transaction whose id is in the log already.
    fn repeats_a_transaction(&self, lines: &[Value]) -> bool {
        let id = lines.first().and_then(|line| line["tx_id"].as_str());
        id.is_some_and(|id| self.world.transactions.contains(id))
    }

    fn apply(&mut self, lines: &[Value], clock: i64) -> Result<Vec<Verdict>, (usize, Refusal)> {
        let recorded = self.recorded_at(lines, clock).map_err(|code| (0, code))?;
        let mut world = self.world.clone();
        world.recorded = recorded;
        world.seq += 1;
        let mut verdicts = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            verdicts.push(apply_line(&mut world, line).map_err(|code| (place, code))?);
        }
        if world.acts.len() > self.world.acts.len() {
            self.world = world;
        }
        // A transaction that changed nothing is remembered too, but takes no number and no instant.
        let ids = lines.iter().filter_map(|l| l["tx_id"].as_str()).map(str::to_string);
        self.world.transactions.extend(ids);
        Ok(verdicts)
    }

    /// R5, R15.
    fn recorded_at(&self, lines: &[Value], clock: i64) -> Result<i64, Refusal> {
        let Some(given) = lines.first().and_then(|line| line.get("recorded_at")) else {
            return Ok(clock.max(self.world.recorded.saturating_add(1)));
        };
        let at = time::instant(given.as_str().ok_or("bad_value")?, None)?;
        if at <= self.world.recorded {
            return Err("not_increasing");
        }
        if at > clock { Err("in_future") } else { Ok(at) }
    }

    /// Answers the object inside `{"get": …}`. A question that cannot be read answers `unknown`.
    pub(crate) fn get(&self, q: &Value) -> Answer {
        match self.read_question(q) {
            Some(question) => resolve::answer(&self.world, &question),
            None => Answer { outcome: "unknown".to_string(), ..Answer::default() },
        }
    }

    fn read_question(&self, q: &Value) -> Option<resolve::Question> {
        let text = |key: &str| q[key].as_str().map(str::to_string);
        let now = self.clock.max(self.world.recorded);
        let instant = |key: &str| match q[key].as_str().or(q["at"].as_str()) {
            Some(text) => time::instant(text, None).ok(),
            None => Some(now),
        };
        let context = q["with"].as_object().into_iter().flatten();
        let scope = text("scope")?;
        Some(resolve::Question {
            tenant: gate::tenant_of_scope(&scope),
            subject: text("subject")?,
            predicate: text("predicate")?,
            scope,
            inherit: q["inherit"].as_bool().unwrap_or(false),
            v: instant("valid_at")?,
            k: instant("known_at")?,
            context: context
                .filter_map(|(d, v)| Some((d.clone(), v.as_str()?.to_string())))
                .collect(),
        })
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Admitted => "admitted",
        Verdict::Unchanged => "unchanged",
        Verdict::Held => "held",
    }
}

fn apply_line(w: &mut World, value: &Value) -> Result<Verdict, Refusal> {
    let line = shape::Line::read(value)?;
    match line.op {
        "assert" => return gate::assert(w, &line),
        "source" => return nodes::source(w, &line),
        "artifact" => return nodes::artifact(w, &line),
        "retract_claim" => return acts::retract_claim(w, &line),
        "suppress" => return nodes::suppress(w, &line),
        "predicate" if !line.has("tenant") && w.tenants.is_empty() => {
            return nodes::predicate(w, &line, None);
        }
        _ => {}
    }
    let tenant = acts::tenant_of(w, &line)?;
    match line.op {
        "predicate" => nodes::predicate(w, &line, Some(tenant)),
        "unsuppress" => nodes::unsuppress(w, &line, &tenant),
        "resolve" => nodes::resolve(w, &line, &tenant),
        "correct" => gate::correct(w, &line, &tenant),
        "support" => acts::support(w, &line, &tenant),
        "affirm" => acts::affirm(w, &line, &tenant),
        "end" => acts::end(w, &line, &tenant),
        "retract" => acts::retract(w, &line, &tenant),
        "reinstate" => acts::reinstate(w, &line, &tenant),
        "disable" => acts::disable(w, &line, &tenant),
        "enable" => acts::enable(w, &line, &tenant),
        "confirm" => acts::confirm(w, &line, &tenant),
        "reject" => acts::reject(w, &line, &tenant),
        "erase" => acts::erase(w, &line, &tenant),
        "done" => acts::done(w, &line, &tenant),
        _ => Err("unknown_operation"),
    }
}
