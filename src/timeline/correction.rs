//! What a correction says: the statement it corrects, with what it changes (R26). One function,
//! used by the gate when it admits and by the store when it applies.

use crate::model::declared::Rules;
use crate::model::name::Id;
use crate::model::node::{Fact, Standing};
use crate::model::operation::{Changes, Statement, Supersedes};
use crate::time::{Recorded, Start, Valid};
use crate::timeline::doubt::review_date;

/// The correcting statement. Carried over unless given: subject, predicate, value, scope,
/// conditions, valid period (an unknown start with the instant it counted from), memory, `then`
/// and the review date as last set. Never: source, kind, premises, `stated_at`, note.
pub fn corrected(old: &Fact, standing: &Standing, id: Id, given: &Changes) -> Statement {
    let said = &old.said;
    let carried_review = review_date(standing.review_by, said.review_by, &Rules::default(), || {
        old.life.stamp.recorded
    });
    Statement {
        id,
        subject: given.subject.clone().unwrap_or_else(|| said.subject.clone()),
        predicate: given.predicate.clone().unwrap_or_else(|| said.predicate.clone()),
        value: given.value.clone().unwrap_or_else(|| said.value.clone()),
        scope: given.scope.clone().unwrap_or_else(|| said.scope.clone()),
        when: given.when.clone().unwrap_or_else(|| said.when.clone()),
        valid_from: given.valid_from.unwrap_or(said.valid_from),
        valid_until: given.valid_until.unwrap_or_else(|| old.until(standing)),
        source: given.source.clone(),
        kind: None,
        memory: given.memory.or(said.memory),
        outcome: given.outcome.clone(),
        supersedes: Supersedes::Ids(vec![said.id.clone()]),
        then: given.then.or(said.then),
        derived_from: given.derived_from.clone(),
        review_by: given.review_by.or(carried_review),
        stated_at: given.stated_at,
        note: given.note.clone(),
    }
}

/// Where an unknown start counts from: the recorded instant, or for a correction that carries an
/// unknown start over, where the corrected fact counted from (R4, R26).
pub fn counts_from(recorded: Recorded, corrects: Option<&Fact>, given: Option<Start>) -> Valid {
    match (corrects, given) {
        (Some(old), None) => old.counts_from,
        (Some(_) | None, _) => recorded.as_valid(),
    }
}

/// Whether a fact counts as written without an end, which decides what comes after it when nobody
/// says (R25): a correction that carries the period over carries this too.
pub fn written_open(
    until: Option<Valid>,
    corrects: Option<&Fact>,
    given: Option<Option<Valid>>,
) -> bool {
    match (corrects, given) {
        (Some(old), None) => old.written_open,
        (Some(_) | None, _) => until.is_none(),
    }
}
