//! `get`: what holds. The answer and its JSON form (SPEC section 9).

use serde_json::{Value as Json, json};

use crate::model::form::{Object, end, ids, premises, start, when};
use crate::model::name::{Id, Predicate, Subject, near};
use crate::model::node::{Fact, NodeNo};
use crate::model::operation::Supersedes;
use crate::store::error::StoreError;
use crate::store::rows::Lookup;
use crate::timeline::doubt::Doubt;
use crate::timeline::marks::AsOf;
use crate::timeline::resolve::{Outcome, Removed, Resolution};
use crate::timeline::slot::Slot;
use crate::timeline::version::{State, Version, versions};

use crate::query::view::{Ask, View};

/// A stable code, with the id or dimension it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coded {
    /// The code.
    pub reason: &'static str,
    /// What it is about, if anything.
    pub by: Option<String>,
}

impl Coded {
    fn fields(&self, object: Object) -> Object {
        object.with("reason", self.reason).some("by", self.by.clone())
    }

    /// The JSON form.
    pub fn json(&self) -> Json {
        self.fields(Object::default()).json()
    }
}

/// A fact as answers show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactView {
    /// The fact.
    pub fact: Fact,
    /// The version shown.
    pub version: Version,
    /// What closed it, for a correction.
    pub by: Option<Id>,
    /// The ids it supersedes.
    pub supersedes: Vec<Id>,
    /// The kind in force.
    pub kind: crate::model::kind::Kind,
}

impl FactView {
    /// The JSON form: F of SPEC section 9.
    pub fn json(&self) -> Json {
        let said = &self.fact.said;
        Object::default()
            .with("id", said.id.as_str())
            .with("subject", said.subject.as_str())
            .with("predicate", said.predicate.as_str())
            .with("value", said.value.to_json())
            .with("scope", said.scope.as_str())
            .some("when", when(&said.when))
            .with(
                "valid",
                json!({ "from": start(said.valid_from), "until": end(self.version.valid_until) }),
            )
            .with(
                "recorded",
                json!({
                    "from": self.version.recorded_from.to_string(),
                    "until": self.version.recorded_until.map(|at| at.to_string()),
                }),
            )
            .some("source", said.source.as_ref().map(Id::as_str))
            .with("kind", self.kind.word())
            .some("derived_from", premises(&said.derived_from))
            .some("supersedes", (!self.supersedes.is_empty()).then(|| ids(&self.supersedes)))
            .with("state", self.version.state.word())
            .some("by", self.by.as_ref().map(Id::as_str))
            .some("reasserted", self.fact.reasserted.then_some(true))
            .json()
    }
}

/// A lead: found, not to be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// Its id.
    pub id: Id,
    /// Why it may not be used.
    pub why: Coded,
}

/// A notice beside an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `unknown_scope` or `may_be_declared_many`.
    pub code: &'static str,
    /// What it means, in a sentence.
    pub message: String,
    /// Near matches, for a misspelt scope.
    pub near: Vec<String>,
}

/// The answer to `get`.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What it comes to.
    pub outcome: Outcome,
    /// The facts that answer, oldest first.
    pub facts: Vec<FactView>,
    /// Doubts about them.
    pub doubts: Vec<Coded>,
    /// What was found but must not be used: the nearest.
    pub leads: Vec<Lead>,
    /// The question to put to the user, when the answer is uncertain.
    pub question: Option<String>,
    /// How many leads there are.
    pub leads_total: usize,
    /// Something to know beside the answer.
    pub notice: Option<Notice>,
    /// The as-of point, defaults filled in.
    pub as_of: AsOf,
    /// The sequence number as of which it was answered.
    pub seq: u64,
    /// The version of the slot in the scope asked about (R19).
    pub version: u64,
}

impl Answer {
    /// The JSON form.
    pub fn json(&self) -> Json {
        let lead =
            |lead: &Lead| lead.why.fields(Object::default().with("id", lead.id.as_str())).json();
        let near = self.notice.as_ref().map(|notice| &notice.near).filter(|near| !near.is_empty());
        Object::default()
            .with("outcome", self.outcome.word())
            .with("facts", self.facts.iter().map(FactView::json).collect::<Vec<_>>())
            .with("doubts", self.doubts.iter().map(Coded::json).collect::<Vec<_>>())
            .with("leads", self.leads.iter().map(lead).collect::<Vec<_>>())
            .some("question", self.question.clone())
            .with("leads_total", self.leads_total)
            .some("notice", self.notice.as_ref().map(|notice| notice.code))
            .some("near", near.cloned())
            .with(
                "as_of",
                json!({
                    "valid_at": self.as_of.valid_at.to_string(),
                    "known_at": self.as_of.known_at.to_string(),
                    "seq": self.seq,
                }),
            )
            .with("version", self.version)
            .json()
    }
}

/// The code of a removal, with the id or dimension it is about.
///
/// # Errors
/// When the id of the node it is about cannot be read.
pub fn coded(view: &View<'_>, removed: &Removed) -> Result<Coded, StoreError> {
    let named = |reason, no: NodeNo| -> Result<Coded, StoreError> {
        Ok(Coded { reason, by: shown_id(view, no)? })
    };
    let plain = |reason| Ok(Coded { reason, by: None });
    match removed {
        Removed::NotYetRecorded => plain("not_yet_recorded"),
        Removed::Retracted(_) => plain("retracted"),
        Removed::CorrectedBy(by) => named("corrected_by", *by),
        Removed::Rejected => plain("rejected"),
        Removed::Held => plain("held"),
        Removed::Disabled => plain("disabled"),
        Removed::OtherScope => plain("other_scope"),
        Removed::ConditionNotMet(dimension) => {
            Ok(Coded { reason: "condition_not_met", by: Some(dimension.clone()) })
        }
        Removed::ConditionUnknown(dimension) => {
            Ok(Coded { reason: "condition_unknown", by: Some(dimension.clone()) })
        }
        Removed::NotYetValid => plain("not_yet_valid"),
        Removed::StartUnknown => plain("start_unknown"),
        Removed::Expired => plain("expired"),
        Removed::PremiseRetracted(by) => named("premise_retracted", *by),
        Removed::PremiseChanged(by) => named("premise_changed", *by),
        Removed::Unsourced => plain("unsourced"),
        Removed::SupersededBy(by) => named("superseded_by", *by),
        Removed::OutrankedBy(by) => named("outranked_by", *by),
        Removed::NarrowerRule(by) => named("narrower_rule", *by),
    }
}

/// The id of a node, unless it stands where the session may not read.
///
/// # Errors
/// When the store cannot be read.
pub fn shown_id(view: &View<'_>, no: NodeNo) -> Result<Option<String>, StoreError> {
    let node = view.rows().node(no)?;
    let visible = node.scope().is_some_and(|scope| view.sees(scope));
    Ok(node.id().filter(|_| visible).map(ToString::to_string))
}

/// The step of section 6 that removes for this reason.
pub fn step(removed: &Removed) -> u8 {
    match removed {
        Removed::NotYetRecorded
        | Removed::Retracted(_)
        | Removed::CorrectedBy(_)
        | Removed::Rejected => 2,
        Removed::Held | Removed::Disabled => 3,
        Removed::OtherScope => 4,
        Removed::ConditionNotMet(_) | Removed::ConditionUnknown(_) => 5,
        Removed::NotYetValid | Removed::StartUnknown | Removed::Expired => 6,
        Removed::PremiseRetracted(_) | Removed::PremiseChanged(_) | Removed::Unsourced => 7,
        Removed::SupersededBy(_) => 8,
        Removed::OutrankedBy(_) | Removed::NarrowerRule(_) => 9,
    }
}

/// Whether section 6 calls it a lead: worth a look, where the others are simply not it.
fn is_lead(removed: &Removed) -> bool {
    match removed {
        Removed::Held
        | Removed::ConditionNotMet(_)
        | Removed::ConditionUnknown(_)
        | Removed::StartUnknown
        | Removed::PremiseRetracted(_)
        | Removed::PremiseChanged(_)
        | Removed::Unsourced
        | Removed::OutrankedBy(_) => true,
        Removed::NotYetRecorded
        | Removed::Retracted(_)
        | Removed::CorrectedBy(_)
        | Removed::Rejected
        | Removed::Disabled
        | Removed::OtherScope
        | Removed::NotYetValid
        | Removed::Expired
        | Removed::SupersededBy(_)
        | Removed::NarrowerRule(_) => false,
    }
}

/// Answers `get`. Cost: linear in the facts of the slot.
///
/// # Errors
/// When the store cannot be read.
pub fn get(
    view: &View<'_>,
    subject: &Subject,
    predicate: &Predicate,
    ask: &Ask,
) -> Result<Answer, StoreError> {
    let slot = view.slot(subject, predicate)?;
    of_slot(view, slot.as_deref(), predicate, ask)
}

/// Answers `get` for a slot found already; `None` = nobody ever said anything.
///
/// # Errors
/// When the store cannot be read.
pub fn of_slot(
    view: &View<'_>,
    slot: Option<&Slot>,
    predicate: &Predicate,
    ask: &Ask,
) -> Result<Answer, StoreError> {
    let as_of = view.at(ask);
    let pinned = view.pinned(as_of);
    let mut answer = Answer {
        outcome: Outcome::Unknown,
        facts: Vec::new(),
        doubts: Vec::new(),
        leads: Vec::new(),
        question: None,
        leads_total: 0,
        notice: None,
        as_of,
        seq: view.rows().seq_at(pinned.known_at)?,
        version: 0,
    };
    if let Some(slot) = slot {
        let resolution = view.resolve(slot, ask, as_of)?;
        answer.outcome = resolution.outcome;
        for place in &resolution.used {
            if let Some(fact) = slot.fact(*place) {
                answer.facts.extend(fact_view(view, slot, fact, pinned)?);
            }
        }
        answer.doubts = doubts(view, &resolution)?;
        answer.question = question(&answer, &resolution);
        (answer.leads, answer.leads_total) = leads(view, slot, ask, &resolution)?;
        answer.version = slot.version(&ask.scope, pinned.known_at);
    }
    answer.notice = notice(view, predicate, ask, &answer)?;
    Ok(answer)
}

/// A fact as shown at an as-of point: its version in force, or the last one by then.
///
/// # Errors
/// When the store cannot be read.
pub fn fact_view(
    view: &View<'_>,
    slot: &Slot,
    fact: &Fact,
    at: AsOf,
) -> Result<Option<FactView>, StoreError> {
    match versions(fact, at.known_at).last() {
        Some(version) => version_view(view, slot, fact, *version, at).map(Some),
        None => Ok(None),
    }
}

/// One version of a fact as shown.
///
/// # Errors
/// When the store cannot be read.
pub fn version_view(
    view: &View<'_>,
    slot: &Slot,
    fact: &Fact,
    version: Version,
    at: AsOf,
) -> Result<FactView, StoreError> {
    let by = match version.state {
        State::Corrected(by) => Some(view.rows().id_of(by)?),
        State::Open
        | State::Ended
        | State::Retracted(_)
        | State::Rejected
        | State::Disabled
        | State::Held => None,
    };
    let standing = fact.life.standing(at.known_at);
    let mut supersedes = Vec::new();
    match &fact.said.supersedes {
        Supersedes::Ids(named) => supersedes.extend(named.iter().cloned()),
        Supersedes::Nothing | Supersedes::Current => {}
    }
    let links = fact.links.iter().filter(|link| link.stamp.recorded <= at.known_at);
    for place in links.flat_map(|link| &link.named).flat_map(|(from, until)| *from..*until) {
        if let Some(old) = slot.fact(place).filter(|old| view.sees(&old.said.scope))
            && !supersedes.contains(&old.said.id)
        {
            supersedes.push(old.said.id.clone());
        }
    }
    let mut fact = fact.clone();
    fact.life.changes.clear();
    Ok(FactView { kind: fact.kind_at(&standing), fact, version, by, supersedes })
}

fn doubts(view: &View<'_>, resolution: &Resolution) -> Result<Vec<Coded>, StoreError> {
    let by = |doubt: &Doubt| match doubt {
        Doubt::OverrideEnded { by, .. } | Doubt::OverrideStopped(Some(by)) => shown_id(view, *by),
        Doubt::ConditionUnknown(dimension) => Ok(Some(dimension.clone())),
        Doubt::OverrideStopped(None) | Doubt::ReviewOverdue | Doubt::InferredOnly => Ok(None),
    };
    resolution
        .doubts
        .iter()
        .map(|doubt| Ok(Coded { reason: doubt.code(), by: by(doubt)? }))
        .collect()
}

/// The question an uncertain answer puts to the user: of its first doubt, an asking one first.
fn question(answer: &Answer, resolution: &Resolution) -> Option<String> {
    if answer.outcome != Outcome::Uncertain {
        return None;
    }
    let fact = answer.facts.first()?;
    let said = &fact.fact.said;
    let what = format!("{} / {} = {}", said.subject, said.predicate, said.value);
    let asking = |doubt: &&Doubt| matches!(doubt, Doubt::OverrideEnded { ask: true, .. });
    let at = resolution.doubts.iter().position(|doubt| asking(&doubt)).unwrap_or(0);
    let (doubt, coded) = (resolution.doubts.get(at)?, answer.doubts.get(at)?);
    let by = coded.by.as_deref().unwrap_or("what replaced it");
    Some(match doubt {
        Doubt::OverrideEnded { .. } => format!("{by} has ended. Does {what} hold again?"),
        Doubt::OverrideStopped(_) => {
            format!("{by} took its place and was stopped. Does {what} hold after all?")
        }
        Doubt::ReviewOverdue => {
            format!("{what} was to be looked at again by now. Does it still hold?")
        }
        Doubt::InferredOnly => format!("{what} was only concluded, nobody said so. Is it right?"),
        Doubt::ConditionUnknown(dimension) => {
            format!("{what} unless `{dimension}` says otherwise. Which `{dimension}` is meant?")
        }
    })
}

/// The nearest leads (by step, then recorded), and how many there are.
fn leads(
    view: &View<'_>,
    slot: &Slot,
    ask: &Ask,
    resolution: &Resolution,
) -> Result<(Vec<Lead>, usize), StoreError> {
    let takes_part = |place: u32| {
        slot.fact(place).is_some_and(|fact| {
            fact.said.scope == ask.scope || (ask.inherit && fact.said.scope.covers(&ask.scope))
        })
    };
    let broader = |place: u32| slot.fact(place).map(|fact| fact.said.scope.to_string());
    let mut found: Vec<(u8, u32, Option<&Removed>)> = resolution
        .removed
        .iter()
        .filter(|(place, removed)| is_lead(removed) && takes_part(*place))
        .map(|(place, removed)| (step(removed), *place, Some(removed)))
        .chain(resolution.broader.iter().map(|place| (4, *place, None)))
        .collect();
    found.sort_by_key(|(step, place, _)| (std::cmp::Reverse(*step), *place));
    let total = found.len();
    let mut leads = Vec::new();
    for (_, place, removed) in found.into_iter().take(crate::model::limits::LEADS_SHOWN) {
        let why = match removed {
            Some(removed) => coded(view, removed)?,
            None => Coded { reason: "broader_scope", by: broader(place) },
        };
        if let Some(fact) = slot.fact(place) {
            leads.push(Lead { id: fact.said.id.clone(), why });
        }
    }
    Ok((leads, total))
}

fn notice(
    view: &View<'_>,
    predicate: &Predicate,
    ask: &Ask,
    answer: &Answer,
) -> Result<Option<Notice>, StoreError> {
    if answer.outcome == Outcome::Contested
        && !view.rules(predicate, answer.as_of.known_at)?.declared
    {
        let message = format!(
            "{predicate} is not declared; if several values may hold at once: asof predicate {predicate} --cardinality many"
        );
        return Ok(Some(Notice { code: "may_be_declared_many", message, near: Vec::new() }));
    }
    if answer.outcome != Outcome::Unknown {
        return Ok(None);
    }
    let scopes = view.scopes()?;
    let written = |scope: &crate::model::scope::Scope| {
        ask.scope.covers(scope) || (ask.inherit && scope.covers(&ask.scope))
    };
    if scopes.iter().any(written) {
        return Ok(None);
    }
    let near = near(ask.scope.as_str(), scopes.iter().map(crate::model::scope::Scope::as_str));
    let message = format!("nothing was ever written to {}", ask.scope);
    Ok(Some(Notice { code: "unknown_scope", message, near }))
}
