//! What is open: `worklist` (copies elsewhere to be dealt with), `conflicts`, `held` proposals, and
//! facts `due` to be looked at again. What answers comes from the one resolver (R28).

use rayon::prelude::*;
use serde_json::Value as Json;

use crate::lineage::reach::below;
use crate::lineage::worklist::{Item, Worklist};
use crate::model::form::{Object, ids};
use crate::model::name::{Id, Predicate, Subject};
use crate::model::node::Fact;
use crate::model::scope::Scope;
use crate::query::course::beliefs;
use crate::query::slots::{Pattern, Reach, scopes_of, slots};
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::store::key;
use crate::store::row::{NodeRow, Row};
use crate::store::rows::{Lookup, NodeView};
use crate::time::{Recorded, Valid};
use crate::timeline::doubt::review_date;
use crate::timeline::marks::AsOf;
use crate::timeline::resolve::{Outcome, Resolution};
use crate::timeline::slot::Slot;

/// Rows read at once while looking at all nodes.
const BATCH: usize = 4_096;

/// One of the lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List {
    /// Copies elsewhere to be dealt with.
    Worklist,
    /// Contested slots.
    Conflicts,
    /// Proposals that wait.
    Held,
    /// Facts to be looked at again, by an instant; `None` = the one asked about.
    Due(Option<Valid>),
}

/// A list in its JSON form (SPEC section 9).
///
/// # Errors
/// When the store cannot be read.
pub fn json(view: &View<'_>, list: &List, reach: &Reach, ask: &Ask) -> Result<Json, StoreError> {
    Ok(match list {
        List::Worklist => worklist(view, reach, ask)?.iter().map(Item::json).collect(),
        List::Conflicts => conflicts(view, reach, ask)?.iter().map(Conflict::json).collect(),
        List::Held => held(view, reach, ask)?.iter().map(Waiting::json).collect(),
        List::Due(by) => due(view, reach, ask, *by)?.iter().map(Due::json).collect(),
    })
}

/// The open items of the artifacts in some scopes, in order of the artifacts' coming. Cost: all
/// nodes of the store are looked at, and the premises of its artifacts.
///
/// # Errors
/// When the store cannot be read.
pub fn worklist(view: &View<'_>, reach: &Reach, ask: &Ask) -> Result<Vec<Item>, StoreError> {
    let at = view.pinned(view.at(ask));
    let visible = |scope: &Scope| view.sees(scope);
    let mut worklist = Worklist::new(view.rows(), view.lineage(), at, &visible);
    let mut items = Vec::new();
    let mut from = key::nodes();
    let until = key::after(&from);
    loop {
        let batch = view.rows().between(&from, &until, BATCH)?;
        let Some((last, _)) = batch.last() else { return Ok(items) };
        from.clone_from(last);
        from.push(0);
        for (_, row) in batch {
            let Row::Node(NodeRow::Artifact(artifact)) = row else { continue };
            let scope = &artifact.said.scope;
            if artifact.tenant == *view.tenant()
                && artifact.life.stamp.recorded <= at.known_at
                && reach.takes(scope)
                && view.sees(scope)
            {
                items.extend(worklist.item(&artifact)?);
            }
        }
    }
}

/// A slot that is contested.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What it is about.
    pub subject: Subject,
    /// Which property.
    pub predicate: Predicate,
    /// The scope answered for.
    pub scope: Scope,
    /// The facts left, oldest first.
    pub facts: Vec<Id>,
    /// Since when it has been contested without a break, by what was known then.
    pub since: Recorded,
}

impl Conflict {
    fn json(&self) -> Json {
        Object::default()
            .with("subject", self.subject.as_str())
            .with("predicate", self.predicate.as_str())
            .with("scope", self.scope.as_str())
            .with("facts", ids(&self.facts))
            .with("since", self.since.to_string())
            .json()
    }
}

/// The slots that are contested at (v, k), in order of subject, predicate and scope. Cost: as
/// `find` without a pattern; and as `beliefs` for each slot found.
///
/// # Errors
/// When the store cannot be read.
pub fn conflicts(view: &View<'_>, reach: &Reach, ask: &Ask) -> Result<Vec<Conflict>, StoreError> {
    answered(view, reach, ask, |slot, ask, resolution| {
        if resolution.outcome != Outcome::Contested {
            return Ok(Vec::new());
        }
        let (subject, predicate) = (slot.key.subject.clone(), slot.key.predicate.clone());
        let pieces = beliefs(view, &subject, &predicate, ask)?;
        let contested = pieces.iter().rev().take_while(|p| p.outcome == Outcome::Contested);
        let since = contested.filter_map(|piece| piece.from).last().unwrap_or(Recorded::MIN);
        let used = resolution.used.iter().filter_map(|place| slot.fact(*place));
        let facts = used.map(|fact| fact.said.id.clone()).collect();
        Ok(vec![Conflict { subject, predicate, scope: ask.scope.clone(), facts, since }])
    })
}

/// A proposal that waits to be confirmed.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Its id.
    pub id: Id,
    /// What it is held against.
    pub against: Vec<Id>,
    /// `weaker_kind`: it would replace what is of a stronger kind; `revival`: it says again what
    /// was taken back.
    pub reason: &'static str,
    /// Since when.
    pub since: Recorded,
}

impl Waiting {
    fn json(&self) -> Json {
        Object::default()
            .with("id", self.id.as_str())
            .with("against", ids(&self.against))
            .with("reason", self.reason)
            .with("since", self.since.to_string())
            .json()
    }
}

/// The proposals that wait as of k, in order of coming. Cost: all that ever came held.
///
/// # Errors
/// When the store cannot be read.
pub fn held(view: &View<'_>, reach: &Reach, ask: &Ask) -> Result<Vec<Waiting>, StoreError> {
    let known_at = view.pinned(view.at(ask)).known_at;
    let mut waiting = Vec::new();
    for (key, _) in view.rows().starting(&key::held_all(view.tenant()))? {
        let Some(no) = key::last_number(&key) else { continue };
        let node = view.rows().node(crate::model::node::NodeNo(no))?;
        let (Some(life), Some(id), Some(scope)) = (node.life(), node.id(), node.scope()) else {
            continue;
        };
        let since = life.stamp.recorded;
        let standing = life.standing(known_at);
        if since > known_at || !standing.held || !reach.takes(scope) || !view.sees(scope) {
            continue;
        }
        let against = life.against.clone();
        let reason = why_held(&node, &against);
        waiting.push((life.stamp, Waiting { id: id.clone(), against, reason, since }));
    }
    waiting.sort_by_key(|(stamp, _)| *stamp);
    Ok(waiting.into_iter().map(|(_, waiting)| waiting).collect())
}

fn why_held(node: &NodeView, against: &[Id]) -> &'static str {
    let named = match node {
        NodeView::Fact(slot, place) => match slot.fact(*place) {
            Some(fact) if fact.corrects.is_some() => return "weaker_kind",
            Some(fact) => fact.said.supersedes.ids(),
            None => &[],
        },
        NodeView::Source(source) => source.said.supersedes.as_slice(),
        NodeView::Artifact(artifact) => artifact.said.supersedes.as_slice(),
    };
    if against.iter().any(|id| named.contains(id)) { "weaker_kind" } else { "revival" }
}

/// A fact to be looked at again.
#[derive(Clone, Debug)]
pub struct Due {
    /// Its id.
    pub id: Id,
    /// What it is about.
    pub subject: Subject,
    /// Which property.
    pub predicate: Predicate,
    /// Its scope.
    pub scope: Scope,
    /// The review date as last set by k.
    pub review_by: Valid,
    /// How many nodes rest on it.
    pub rests_on_it: usize,
}

impl Due {
    fn json(&self) -> Json {
        Object::default()
            .with("id", self.id.as_str())
            .with("subject", self.subject.as_str())
            .with("predicate", self.predicate.as_str())
            .with("scope", self.scope.as_str())
            .with("review_by", self.review_by.to_string())
            .with("rests_on_it", self.rests_on_it)
            .json()
    }
}

/// The facts that answer at (v, k) and whose review date lies at or before `by` (default: v),
/// the most pressing first: by date, then by how much rests on them. Cost: as `find` without a
/// pattern; and what rests on each fact found.
///
/// # Errors
/// When the store cannot be read.
pub fn due(
    view: &View<'_>,
    reach: &Reach,
    ask: &Ask,
    by: Option<Valid>,
) -> Result<Vec<Due>, StoreError> {
    let at = view.pinned(view.at(ask));
    let by = by.unwrap_or(at.valid_at);
    let mut due = answered(view, reach, ask, |slot, ask, resolution| {
        let used = resolution.used.iter().filter_map(|place| slot.fact(*place));
        let own = used.filter(|fact| fact.said.scope == ask.scope);
        own.filter_map(|fact| overdue(view, slot, fact, at, by).transpose()).collect()
    })?;
    due.sort_by(|a: &Due, b: &Due| (a.review_by, b.rests_on_it).cmp(&(b.review_by, a.rests_on_it)));
    Ok(due)
}

fn overdue(
    view: &View<'_>,
    slot: &Slot,
    fact: &Fact,
    at: AsOf,
    by: Valid,
) -> Result<Option<Due>, StoreError> {
    let rules = view.rules(&slot.key.predicate, at.known_at)?;
    let standing = fact.life.standing(at.known_at);
    let looked = || standing.affirmed.map_or(fact.life.stamp.recorded, |stamp| stamp.recorded);
    let review_by = review_date(standing.review_by, fact.said.review_by, &rules, looked);
    let Some(review_by) = review_by.filter(|date| *date <= by) else { return Ok(None) };
    let rests = below(view.rows(), &[fact.life.no], at.known_at, u32::MAX)?;
    Ok(Some(Due {
        id: fact.said.id.clone(),
        subject: slot.key.subject.clone(),
        predicate: slot.key.predicate.clone(),
        scope: fact.said.scope.clone(),
        review_by,
        rests_on_it: rests.steps().len().saturating_sub(1),
    }))
}

/// Resolves every slot of the tenant in every scope looked at, on all cores, in order of subject,
/// predicate and scope, and gathers what `each` makes of the answers.
///
/// # Errors
/// When the store cannot be read, or what `each` says.
pub fn answered<T: Send>(
    view: &View<'_>,
    reach: &Reach,
    ask: &Ask,
    each: impl Fn(&Slot, &Ask, &Resolution) -> Result<Vec<T>, StoreError> + Sync,
) -> Result<Vec<T>, StoreError> {
    let slots = slots(view, &Pattern::default())?;
    let in_slot = |slot: &std::sync::Arc<Slot>| {
        let mut all = Vec::new();
        let mut scopes = scopes_of(view, slot);
        scopes.retain(|scope| reach.takes(scope));
        if let (true, Reach::Scope(scope)) = (ask.inherit, reach) {
            scopes.insert(scope.clone());
        }
        for scope in scopes {
            let ask = Ask { scope, ..ask.clone() };
            let resolution = view.resolve(slot, &ask, view.at(&ask))?;
            all.extend(each(slot, &ask, &resolution)?);
        }
        Ok(all)
    };
    let all: Result<Vec<Vec<T>>, StoreError> = slots.par_iter().map(in_slot).collect();
    Ok(all?.into_iter().flatten().collect())
}
