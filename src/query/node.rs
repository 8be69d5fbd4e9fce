//! About ids: `show` one whole, and `usable`, the filter to put behind any outside index.

use serde_json::{Value as Json, json};

use crate::model::condition::Applies;
use crate::model::form::{self, Object};
use crate::model::name::Id;
use crate::model::node::{Life, NodeNo, Standing, Succession};
use crate::query::answer::{Coded, coded, fact_view, shown_id};
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::store::rows::{Lookup, NodeView};
use crate::time::{Recorded, Start, Valid};
use crate::timeline::marks::{AsOf, Mark};
use crate::timeline::version::State;

/// How usability and nodes are asked about.
#[derive(Clone, Debug, Default)]
pub struct NodeAsk {
    /// In which scope; `None` = each node's own.
    pub scope: Option<crate::model::scope::Scope>,
    /// The circumstances.
    pub context: crate::model::condition::Context,
    /// About which instant; `None` = now.
    pub valid_at: Option<Valid>,
    /// With the knowledge of which instant; `None` = now.
    pub known_at: Option<Recorded>,
}

impl NodeAsk {
    /// The as-of point, defaults filled in.
    pub fn at(&self, view: &View<'_>) -> AsOf {
        view.point(self.valid_at, self.known_at)
    }

    /// The question about a node of its own scope.
    pub(super) fn ask(&self, own: &crate::model::scope::Scope) -> Ask {
        let scope = self.scope.clone().unwrap_or_else(|| own.clone());
        let (valid_at, known_at) = (self.valid_at, self.known_at);
        Ask { scope, inherit: false, context: self.context.clone(), valid_at, known_at }
    }
}

/// Whether an id may be used.
#[derive(Clone, Debug)]
pub struct Usable {
    /// The id asked about.
    pub id: String,
    /// Why not; `None` = it may be used.
    pub not: Option<Coded>,
}

impl Usable {
    /// The JSON form.
    pub fn json(&self) -> Json {
        Object::default()
            .with("id", self.id.as_str())
            .with("usable", self.not.is_none())
            .some("reason", self.not.as_ref().map(|why| why.reason))
            .some("by", self.not.as_ref().and_then(|why| why.by.clone()))
            .json()
    }
}

/// The node of an id, if the view sees it.
///
/// # Errors
/// When the store cannot be read.
pub fn find(view: &View<'_>, id: &str) -> Result<Option<(NodeNo, NodeView)>, StoreError> {
    let Ok(id) = Id::new(id) else { return Ok(None) };
    let Some(no) = view.rows().find_id(view.tenant(), &id)? else { return Ok(None) };
    let node = view.rows().node(no)?;
    let recorded = node.life().is_some_and(|life| life.stamp.recorded <= view.pin());
    let visible = node.scope().is_some_and(|scope| view.sees(scope));
    Ok((recorded && visible).then_some((no, node)))
}

/// For each id: may it be used, else the reason. A fact may if it answers for its slot in its own
/// scope, or in the scope given.
///
/// # Errors
/// When the store cannot be read.
pub fn usable(view: &View<'_>, ids: &[String], ask: &NodeAsk) -> Result<Vec<Usable>, StoreError> {
    ids.iter().map(|id| Ok(Usable { id: id.clone(), not: not_usable(view, id, ask)? })).collect()
}

fn not_usable(view: &View<'_>, id: &str, ask: &NodeAsk) -> Result<Option<Coded>, StoreError> {
    let plain = |reason| Ok(Some(Coded { reason, by: None }));
    let Some((no, node)) = find(view, id)? else {
        return plain("unknown_target");
    };
    let Some(own) = node.scope().cloned() else { return plain("unknown_target") };
    let ask = ask.ask(&own);
    let at = view.at(&ask);
    match &node {
        NodeView::Fact(slot, place) => {
            let resolution = view.resolve(slot, &ask, at)?;
            match resolution.removed.iter().find(|(removed, _)| removed == place) {
                Some((_, removed)) => coded(view, removed).map(Some),
                None => Ok(None),
            }
        }
        NodeView::Source(source) => {
            standing_reason(view, &source.life, &source.succeeded, at, own == ask.scope)
        }
        NodeView::Artifact(artifact) => {
            let out =
                standing_reason(view, &artifact.life, &artifact.succeeded, at, own == ask.scope)?;
            if out.is_some() {
                return Ok(out);
            }
            match artifact.said.when.applies(&ask.context) {
                Applies::NotMet(by) => {
                    return Ok(Some(Coded { reason: "condition_not_met", by: Some(by) }));
                }
                Applies::Unknown(by) => {
                    return Ok(Some(Coded { reason: "condition_unknown", by: Some(by) }));
                }
                Applies::Yes => {}
            }
            let standing = artifact.life.standing(view.pinned(at).known_at);
            if standing
                .ended
                .unwrap_or(artifact.said.valid_until)
                .is_some_and(|until| at.valid_at >= until)
            {
                return plain("expired");
            }
            if matches!(artifact.said.valid_from, Start::At(from) if at.valid_at < from) {
                return plain("not_yet_valid");
            }
            match view.lineage().judge(no, view.pinned(at))? {
                Some(Mark::Retracted { by, .. }) => {
                    Ok(Some(Coded { reason: "premise_retracted", by: shown_id(view, by)? }))
                }
                Some(Mark::Changed { by, .. }) => {
                    Ok(Some(Coded { reason: "premise_changed", by: shown_id(view, by)? }))
                }
                None => Ok(None),
            }
        }
    }
}

/// Why a source or artifact is out by its standing, scope or successors.
fn standing_reason(
    view: &View<'_>,
    life: &Life,
    succeeded: &[Succession],
    at: AsOf,
    own_scope: bool,
) -> Result<Option<Coded>, StoreError> {
    let known_at = view.pinned(at).known_at;
    let standing: Standing = life.standing(known_at);
    let reason = if life.stamp.recorded > known_at {
        Some("not_yet_recorded")
    } else {
        match State::of(&standing) {
            State::Open | State::Ended if own_scope => None,
            State::Open | State::Ended => Some("other_scope"),
            other @ (State::Corrected(_)
            | State::Retracted(_)
            | State::Rejected
            | State::Disabled
            | State::Held) => Some(other.word()),
        }
    };
    if let Some(reason) = reason {
        return Ok(Some(Coded { reason, by: None }));
    }
    if standing.ended.flatten().is_some_and(|until| at.valid_at >= until) {
        return Ok(Some(Coded { reason: "expired", by: None }));
    }
    for succession in succeeded.iter().rev().filter(|s| s.stamp.recorded <= known_at) {
        let by = view.rows().node(succession.by)?;
        if by.life().is_some_and(|life| life.standing(known_at).is_open()) {
            return Ok(Some(Coded { reason: "superseded_by", by: shown_id(view, succession.by)? }));
        }
    }
    Ok(None)
}

/// `show`: a fact, source or artifact whole; `None` if the view sees no such id.
///
/// # Errors
/// When the store cannot be read.
pub fn show(view: &View<'_>, id: &str, ask: &NodeAsk) -> Result<Option<Json>, StoreError> {
    let Some((no, node)) = find(view, id)? else { return Ok(None) };
    let (Some(own), Some(life)) = (node.scope(), node.life()) else { return Ok(None) };
    let at = view.pinned(view.at(&ask.ask(own)));
    let object = Object::default().with("id", id).with("type", node.type_word());
    let object = match &node {
        NodeView::Fact(slot, place) => {
            let Some(fact) = slot.fact(*place) else { return Ok(None) };
            let object = form::statement(object, &fact.said);
            let Some(shown) = fact_view(view, slot, fact, at)? else { return Ok(None) };
            let supersedes = (!shown.supersedes.is_empty()).then(|| form::ids(&shown.supersedes));
            object
                .with("kind", shown.kind.word())
                .some("supersedes", supersedes)
                .with(
                    "valid",
                    json!({
                        "from": form::start(fact.said.valid_from),
                        "until": form::end(shown.version.valid_until),
                    }),
                )
                .some("by", shown.by.as_ref().map(Id::as_str))
                .some("reasserted", fact.reasserted.then_some(true))
        }
        NodeView::Source(source) => form::source(object, &source.said),
        NodeView::Artifact(artifact) => form::artifact(object, &artifact.said),
    };
    let standing = life.standing(at.known_at);
    let until = standing
        .closed
        .map(|(_, stamp)| stamp)
        .or(standing.disabled)
        .map(|stamp| stamp.recorded.to_string());
    let against = (!life.against.is_empty()).then(|| form::ids(&life.against));
    Ok(Some(
        object
            .with("state", State::of(&standing).word())
            .some("against", against)
            .with("marks", marks(view, no, at)?)
            .with("recorded", json!({ "from": life.stamp.recorded.to_string(), "until": until }))
            .json(),
    ))
}

fn marks(view: &View<'_>, no: NodeNo, at: AsOf) -> Result<Vec<Json>, StoreError> {
    let (reason, by, since) = match view.lineage().judge(no, at)? {
        None => return Ok(Vec::new()),
        Some(Mark::Retracted { by, since }) => ("premise_retracted", by, since),
        Some(Mark::Changed { by, since }) => ("premise_changed", by, since),
    };
    let by = shown_id(view, by)?;
    Ok(vec![json!({ "reason": reason, "by": by, "since": since.to_string() })])
}
