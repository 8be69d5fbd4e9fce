//! Journal lines out: an event of the log as the line that, replayed, makes it again. Fields stand
//! in one fixed order; what was not given is left out.

use serde_json::{Value as Json, json};

use crate::model::event::{Event, Transaction};
use crate::model::form::{
    Object, artifact, end, ids, instant, premises, source, start, statement, when,
};
use crate::model::kind::Authority;
use crate::model::name::Id;
use crate::model::operation::{Action, Changes, Declaration, EraseTarget, Suppression};

/// The lines of a transaction, in order.
pub fn transaction(transaction: &Transaction) -> Vec<Json> {
    let recorded_at = transaction.recorded.to_string();
    let tx_id = transaction.tx_id.to_string();
    let line = |event: &Event| {
        let mut object = self::event(event);
        object.0.insert("recorded_at".to_owned(), json!(recorded_at));
        object.0.insert("tx_id".to_owned(), json!(tx_id));
        object.json()
    };
    transaction.events.iter().map(line).collect()
}

/// One event as a line, without its instant and transaction.
pub fn event(event: &Event) -> Object {
    let object = action(Object::default().with("op", event.action.name()), &event.action);
    let scoped = event.action.scope().is_some()
        || matches!(&event.action, Action::Suppress(said) if said.scope.tenant_str().is_some());
    let tenant = event.tenant.as_ref().filter(|_| !scoped);
    let own_kind = matches!(
        event.action,
        Action::Assert(_) | Action::Source(_) | Action::Artifact(_) | Action::Suppress(_)
    );
    let kind = event.kind.filter(|_| !own_kind);
    object
        .some("kind", kind.map(crate::model::kind::Kind::word))
        .some("tenant", tenant.map(super::super::model::name::Tenant::as_str))
        .some("actor", event.actor.clone())
}

fn action(object: Object, action: &Action) -> Object {
    let target = |object: Object, id: &Id| object.with("target", id.as_str());
    match action {
        Action::Predicate(said) => declaration(object, said),
        Action::Source(said) => source(object, said),
        Action::Assert(said) => statement(object, said),
        Action::Artifact(said) => artifact(object, said),
        Action::Support(id, premises) => {
            target(object, id).some("derived_from", crate::model::form::premises(premises))
        }
        Action::Affirm(id, review_by) => target(object, id).some("review_by", instant(*review_by)),
        Action::End(id, until) => target(object, id).with("valid_until", end(*until)),
        Action::Correct(id, changes) => self::changes(target(object, id), changes),
        Action::Retract(id, why) => target(object, id).with("reason", why.word()),
        Action::RetractClaim(subject, predicate, value, scope, why) => object
            .with("subject", subject.as_str())
            .with("predicate", predicate.as_str())
            .with("value", value.to_json())
            .with("scope", scope.as_str())
            .with("reason", why.word()),
        Action::Reinstate(id)
        | Action::Disable(id)
        | Action::Enable(id)
        | Action::Confirm(id)
        | Action::Reject(id) => target(object, id),
        Action::Erase(EraseTarget::Id(id)) => target(object, id),
        Action::Erase(EraseTarget::Subject(subject, scope)) => {
            object.with("subject", subject.as_str()).with("scope", scope.as_str())
        }
        Action::Erase(EraseTarget::Scope(scope)) => object.with("scope", scope.as_str()),
        Action::Resolve(conflict, keep, note) => object
            .with("conflict", ids(conflict))
            .with("keep", keep.as_str())
            .some("note", note.clone()),
        Action::Suppress(said) => suppression(object, said),
        Action::Unsuppress(id) => object.with("id", id.as_str()),
        Action::Done(id, note) => object.with("artifact", id.as_str()).some("note", note.clone()),
    }
}

fn authority(order: Authority) -> Json {
    let word = |kind: &crate::model::kind::Kind| json!(kind.word());
    order
        .tiers()
        .iter()
        .map(|tier| match tier.as_slice() {
            [one] => word(one),
            tied => tied.iter().map(word).collect(),
        })
        .collect()
}

fn declaration(object: Object, said: &Declaration) -> Object {
    object
        .with("name", said.name.as_str())
        .some("cardinality", said.cardinality.map(crate::model::operation::Cardinality::word))
        .some("value_type", said.value_type.clone())
        .some("authority", said.authority.map(authority))
        .some("then", said.then.map(crate::model::operation::Then::word))
        .some("review_every", said.review_every.as_ref().map(ToString::to_string))
}

fn changes(object: Object, changes: &Changes) -> Object {
    object
        .some("id", changes.id.as_ref().map(Id::as_str))
        .some("subject", changes.subject.as_ref().map(super::super::model::name::Subject::as_str))
        .some(
            "predicate",
            changes.predicate.as_ref().map(super::super::model::name::Predicate::as_str),
        )
        .some("scope", changes.scope.as_ref().map(super::super::model::scope::Scope::as_str))
        .some("value", changes.value.as_ref().map(crate::model::value::Value::to_json))
        .some(
            "when",
            changes.when.as_ref().map(|conditions| when(conditions).unwrap_or_else(|| json!({}))),
        )
        .some("valid_from", changes.valid_from.map(start))
        .some("valid_until", changes.valid_until.map(end))
        .some("source", changes.source.as_ref().map(Id::as_str))
        .some("memory", changes.memory.map(crate::model::operation::Memory::word))
        .some("outcome", changes.outcome.clone())
        .some("then", changes.then.map(crate::model::operation::Then::word))
        .some("derived_from", premises(&changes.derived_from))
        .some("review_by", instant(changes.review_by))
        .some("stated_at", instant(changes.stated_at))
        .some("note", changes.note.clone())
}

fn suppression(object: Object, said: &Suppression) -> Object {
    object
        .with("id", said.id.as_str())
        .with("scope", said.scope.as_str())
        .some("subject", said.subject.clone())
        .some("predicate", said.predicate.clone())
        .some("kind", said.kind.map(crate::model::kind::Kind::word))
        .some("until", instant(said.until))
}
