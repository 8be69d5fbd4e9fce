//! Questions about more than one slot: what is open, walks, snapshot and diff.

use serde_json::Value as Json;

use crate::exchange::fields::{Fields, missing};
use crate::exchange::question::{Question, Times, ask, context, reach};
use crate::model::refusal::{Reason, Refusal};
use crate::model::scope::Scope;
use crate::query::agenda::List;
use crate::query::diff::Between;
use crate::query::lineage::{Filter, Way};
use crate::query::node::NodeAsk;
use crate::query::slots::Reach;
use crate::query::view::Ask;
use crate::time::Valid;

/// The scope to start from; each scope looked at takes its place.
pub(super) fn some_scope(reach: &Reach, kind: &str) -> Result<Scope, Refusal> {
    match reach {
        Reach::Scope(scope) => Ok(scope.clone()),
        Reach::Across(pattern) => Scope::new(pattern.tenant_str().unwrap_or("all")),
        Reach::All => {
            let message = format!("`{kind}` needs `scope` or `across`");
            Err(Refusal::new(Reason::NoScope, message).at("scope"))
        }
    }
}

/// `worklist`, `conflicts`, `held`, `due`: of some scopes, or of the whole tenant.
pub(super) fn list(kind: &str, fields: &mut Fields, times: Times) -> Result<Question, Refusal> {
    let list = match kind {
        "worklist" => List::Worklist,
        "conflicts" => List::Conflicts,
        "held" => List::Held,
        _ => List::Due(fields.instant("by")?),
    };
    let reach = reach(fields)?;
    let scope = match &reach {
        Reach::All => Scope::new("all")?,
        Reach::Scope(_) | Reach::Across(_) => some_scope(&reach, kind)?,
    };
    Ok(Question::List(list, reach, Box::new(ask(fields, scope, times)?)))
}

/// `impact`, `why`, `chain`.
pub(super) fn walk(
    kind: &str,
    fields: &mut Fields,
    (valid_at, known_at): Times,
) -> Result<Question, Refusal> {
    let way = match kind {
        "impact" => Way::Impact,
        "why" => Way::Why,
        _ => Way::Chain,
    };
    let id = fields.need_text("id")?;
    let filter = Filter { types: types(fields)?, depth: depth(fields)?, reach: reach(fields)? };
    let ask = NodeAsk { scope: None, context: context(fields)?, valid_at, known_at };
    Ok(Question::Walk(way, id, Box::new(filter), ask))
}

fn types(fields: &mut Fields) -> Result<Vec<String>, Refusal> {
    let wrong = || {
        Refusal::new(Reason::BadLine, "`types` is a list of `fact`, `source` and `artifact`")
            .at("types")
    };
    let list = match fields.take("types") {
        None => return Ok(Vec::new()),
        Some(Json::Array(list)) => list,
        Some(one) => vec![one],
    };
    let word = |json: &Json| match json.as_str() {
        Some(word @ ("fact" | "source" | "artifact")) => Some(word.to_owned()),
        Some(_) | None => None,
    };
    list.iter().map(|json| word(json).ok_or_else(wrong)).collect()
}

fn depth(fields: &mut Fields) -> Result<Option<u32>, Refusal> {
    let number = match fields.take("depth") {
        None => return Ok(None),
        Some(Json::Number(number)) => number.as_u64().and_then(|depth| u32::try_from(depth).ok()),
        Some(Json::String(text)) => text.parse().ok(),
        Some(_) => None,
    };
    let wrong = || Refusal::new(Reason::BadLine, "`depth` is a whole number").at("depth");
    number.map(Some).ok_or_else(wrong)
}

/// `snapshot`: of a scope or across some.
pub(super) fn snapshot(fields: &mut Fields, times: Times) -> Result<Question, Refusal> {
    let reach = reach(fields)?;
    let scope = some_scope(&reach, "snapshot")?;
    Ok(Question::Snapshot(reach, Box::new(ask(fields, scope, times)?)))
}

/// `diff`: `known` or `valid` holds two instants.
pub(super) fn diff(fields: &mut Fields, times: Times) -> Result<Question, Refusal> {
    let reach = reach(fields)?;
    let scope = some_scope(&reach, "diff")?;
    let known = pair(fields, "known")?;
    let valid = pair(fields, "valid")?;
    let ask: Ask = ask(fields, scope, times)?;
    let between = match (known, valid) {
        (Some((a, b)), None) if ask.known_at.is_none() => {
            Between::Known(a.as_recorded(), b.as_recorded())
        }
        (None, Some((a, b))) if ask.valid_at.is_none() => Between::Valid(a, b),
        _ => {
            return Err(Refusal::new(
                Reason::BadLine,
                "`diff` compares two instants of one axis: give `known` or `valid`, and at most the other axis as `valid_at` or `known_at`",
            ));
        }
    };
    Ok(Question::Diff(reach, Box::new(ask), between))
}

fn pair(fields: &mut Fields, field: &str) -> Result<Option<(Valid, Valid)>, Refusal> {
    let list = match fields.take(field) {
        None => return Ok(None),
        Some(Json::Array(list)) => list,
        Some(_) => return Err(missing(field)),
    };
    let mut instants = Vec::new();
    for json in list {
        fields.put(field, json);
        instants.extend(fields.instant(field)?);
    }
    if let [a, b] = instants.as_slice() {
        return Ok(Some((*a, *b)));
    }
    let message = format!("`{field}` is a list of two instants");
    Err(Refusal::new(Reason::BadLine, message).at(field))
}
