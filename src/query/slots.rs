//! Over many slots: `find` what answers match a pattern, and what scopes, subjects and predicates
//! there are. Slots are resolved on all cores.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value as Json;

use crate::model::form::Object;
use crate::model::name::{Predicate, Subject};
use crate::model::node::SlotNo;
use crate::model::scope::{Scope, ScopePattern};
use crate::model::value::Value;
use crate::query::answer::{Answer, Coded, FactView, of_slot};
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::store::key;
use crate::store::rows::Lookup;
use crate::timeline::resolve::Outcome;
use crate::timeline::slot::Slot;

/// Which slots and answers are looked for.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// Of this subject.
    pub subject: Option<Subject>,
    /// Of this predicate.
    pub predicate: Option<Predicate>,
    /// Answering with this value.
    pub value: Option<Value>,
}

/// Where a read looks.
#[derive(Clone, Debug)]
pub enum Reach {
    /// In exactly this scope (with its ancestors, if the question inherits).
    Scope(Scope),
    /// In every scope that matches.
    Across(ScopePattern),
    /// In every scope of the tenant.
    All,
}

impl Reach {
    /// Whether facts of a scope are looked at.
    pub fn takes(&self, scope: &Scope) -> bool {
        match self {
            Self::Scope(one) => one == scope,
            Self::Across(pattern) => pattern.matches(scope),
            Self::All => true,
        }
    }
}

/// A slot of which some answering fact matches.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it is about.
    pub subject: Subject,
    /// Which property.
    pub predicate: Predicate,
    /// The scope answered for.
    pub scope: Scope,
    /// The answer.
    pub answer: Answer,
}

impl Found {
    /// The JSON form.
    pub fn json(&self) -> Json {
        Object::default()
            .with("subject", self.subject.as_str())
            .with("predicate", self.predicate.as_str())
            .with("scope", self.scope.as_str())
            .with("outcome", self.answer.outcome.word())
            .with("facts", self.answer.facts.iter().map(FactView::json).collect::<Vec<_>>())
            .with("doubts", self.answer.doubts.iter().map(Coded::json).collect::<Vec<_>>())
            .json()
    }
}

/// The slots of a pattern, in order of subject and predicate.
///
/// # Errors
/// When the store cannot be read.
pub fn slots(view: &View<'_>, pattern: &Pattern) -> Result<Vec<Arc<Slot>>, StoreError> {
    let rows = view.rows();
    let tenant = view.tenant();
    let found = match (&pattern.subject, &pattern.predicate) {
        (Some(subject), Some(predicate)) => {
            return Ok(view.slot(subject, predicate)?.into_iter().collect());
        }
        (Some(subject), None) => rows.starting(&key::slots_of_subject(tenant, subject))?,
        (None, Some(predicate)) => rows.starting(&key::slot_by_predicate(tenant, predicate, ""))?,
        (None, None) => rows.starting(&key::slots_of_tenant(tenant))?,
    };
    let numbers: Vec<SlotNo> =
        found.iter().filter_map(|(_, row)| row.number()).map(SlotNo).collect();
    let mut slots =
        numbers.into_par_iter().map(|no| rows.slot(no)).collect::<Result<Vec<_>, _>>()?;
    slots.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(slots)
}

/// The scopes of a slot's facts that the view sees by its pin, in order.
pub fn scopes_of(view: &View<'_>, slot: &Slot) -> BTreeSet<Scope> {
    let seen = slot.facts().filter(|(_, fact)| fact.life.stamp.recorded <= view.pin());
    seen.map(|(_, fact)| &fact.said.scope).filter(|scope| view.sees(scope)).cloned().collect()
}

/// What answers match a pattern. `ask.scope` is replaced by each scope looked at. Cost: the facts
/// of the slots looked at, spread over the cores.
///
/// # Errors
/// When the store cannot be read.
pub fn find(
    view: &View<'_>,
    pattern: &Pattern,
    reach: &Reach,
    ask: &Ask,
) -> Result<Vec<Found>, StoreError> {
    let slots = slots(view, pattern)?;
    let per_slot: Result<Vec<Vec<Found>>, StoreError> =
        slots.par_iter().map(|slot| find_in(view, slot, pattern, reach, ask)).collect();
    Ok(per_slot?.into_iter().flatten().collect())
}

fn find_in(
    view: &View<'_>,
    slot: &Slot,
    pattern: &Pattern,
    reach: &Reach,
    ask: &Ask,
) -> Result<Vec<Found>, StoreError> {
    let scopes: Vec<Scope> = match reach {
        Reach::Scope(scope) => vec![scope.clone()],
        Reach::Across(_) | Reach::All => {
            scopes_of(view, slot).into_iter().filter(|scope| reach.takes(scope)).collect()
        }
    };
    let mut found = Vec::new();
    for scope in scopes {
        let ask = Ask { scope: scope.clone(), ..ask.clone() };
        let answer = of_slot(view, Some(slot), &slot.key.predicate, &ask)?;
        let matches = |fact: &FactView| {
            pattern.value.as_ref().is_none_or(|value| fact.fact.said.value == *value)
        };
        if answer.outcome != Outcome::Unknown && answer.facts.iter().any(matches) {
            let (subject, predicate) = (slot.key.subject.clone(), slot.key.predicate.clone());
            found.push(Found { subject, predicate, scope, answer });
        }
    }
    Ok(found)
}

/// A name with how many facts were recorded under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The scope, subject or predicate.
    pub name: String,
    /// Facts recorded, in whatever state.
    pub facts: u64,
    /// Slots.
    pub slots: u64,
}

impl Counted {
    /// The JSON form.
    pub fn json(&self) -> Json {
        Object::default()
            .with("name", self.name.as_str())
            .with("facts", self.facts)
            .with("slots", self.slots)
            .json()
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Scopes.
    Scopes,
    /// Subjects.
    Subjects,
    /// Predicates.
    Predicates,
}

/// What there is, with counts, in order of name. Cost: all facts of the tenant, over the cores.
///
/// # Errors
/// When the store cannot be read.
pub fn count(view: &View<'_>, what: Count, reach: &Reach) -> Result<Vec<Counted>, StoreError> {
    let slots = slots(view, &Pattern::default())?;
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    if what == Count::Scopes {
        let written = view.scopes()?;
        counts.extend(written.iter().filter(|s| reach.takes(s)).map(|s| (s.to_string(), (0, 0))));
    }
    for slot in &slots {
        let mut here: BTreeMap<&str, u64> = BTreeMap::new();
        let seen = slot.facts().filter(|(_, fact)| {
            let scope = &fact.said.scope;
            fact.life.stamp.recorded <= view.pin() && reach.takes(scope) && view.sees(scope)
        });
        for (_, fact) in seen {
            let name = match what {
                Count::Scopes => fact.said.scope.as_str(),
                Count::Subjects => slot.key.subject.as_str(),
                Count::Predicates => slot.key.predicate.as_str(),
            };
            *here.entry(name).or_default() += 1;
        }
        for (name, facts) in here {
            let entry = counts.entry(name.to_owned()).or_default();
            entry.0 += facts;
            entry.1 += 1;
        }
    }
    Ok(counts.into_iter().map(|(name, (facts, slots))| Counted { name, facts, slots }).collect())
}
