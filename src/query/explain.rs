//! `explain`: every fact of the slot the caller may see, with `used` or the step and reason of
//! section 6 that removed it.

use serde_json::{Value as Json, json};

use crate::model::form::Object;
use crate::model::name::{Id, Predicate, Subject};
use crate::model::scope::Scope;
use crate::model::value::Value;
use crate::query::answer::{Coded, coded, step};
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;

/// One fact of the slot and what became of it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its id.
    pub id: Id,
    /// Its scope.
    pub scope: Scope,
    /// What it says.
    pub value: Value,
    /// The step of section 6 it came to.
    pub step: u8,
    /// `used`, or why it was removed.
    pub verdict: Coded,
}

/// Explains a slot. Cost: as `get`.
///
/// # Errors
/// When the store cannot be read.
pub fn explain(
    view: &View<'_>,
    subject: &Subject,
    predicate: &Predicate,
    ask: &Ask,
) -> Result<Vec<Candidate>, StoreError> {
    let Some(slot) = view.slot(subject, predicate)? else {
        return Ok(Vec::new());
    };
    let resolution = view.resolve(&slot, ask, view.at(ask))?;
    let mut verdicts: Vec<(u32, u8, Coded)> = Vec::new();
    for (place, removed) in &resolution.removed {
        let recorded = slot.fact(*place).is_some_and(|fact| fact.life.stamp.recorded <= view.pin());
        if recorded {
            verdicts.push((*place, step(removed), coded(view, removed)?));
        }
    }
    verdicts.extend(
        resolution.used.iter().map(|place| (*place, 10, Coded { reason: "used", by: None })),
    );
    verdicts.sort_by_key(|(place, _, _)| *place);
    Ok(verdicts
        .into_iter()
        .filter_map(|(place, step, verdict)| {
            let said = &slot.fact(place)?.said;
            let (id, scope, value) = (said.id.clone(), said.scope.clone(), said.value.clone());
            Some(Candidate { id, scope, value, step, verdict })
        })
        .collect())
}

/// The JSON form.
pub fn json(candidates: &[Candidate]) -> Json {
    let one = |candidate: &Candidate| {
        Object::default()
            .with("id", candidate.id.as_str())
            .with("scope", candidate.scope.as_str())
            .with("value", candidate.value.to_json())
            .with("step", candidate.step)
            .with("verdict", candidate.verdict.reason)
            .some("by", candidate.verdict.by.clone())
            .json()
    };
    json!({ "candidates": candidates.iter().map(one).collect::<Vec<_>>() })
}
