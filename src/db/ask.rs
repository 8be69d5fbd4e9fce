//! Any question to its answer in JSON: `ask`, and every read of the command line.

use serde_json::Value as Json;

use crate::db::error::DbError;
use crate::db::session::Snapshot;
use crate::exchange::question::{Asked, Question};
use crate::model::name::Tenant;
use crate::model::refusal::{Reason, Refusal};
use crate::query::answer::FactView;
use crate::query::course::Piece;
use crate::query::diff::Difference;
use crate::query::slots::{Counted, Found};
use crate::query::snapshot::Live;
use crate::query::{
    agenda, answer, course, diff, explain, history, lineage, node, slots, snapshot,
};

/// Answers a question as the snapshot sees it.
pub(super) fn answer(seen: &Snapshot, asked: &Asked) -> Result<Json, DbError> {
    let tenant = seen.tenant(asked.tenant()?)?;
    let view = seen.view(tenant);
    Ok(match &asked.question {
        Question::Get(subject, predicate, ask) => {
            answer::get(&view, subject, predicate, ask)?.json()
        }
        Question::Explain(subject, predicate, ask) => {
            explain::json(&explain::explain(&view, subject, predicate, ask)?)
        }
        Question::Timeline(subject, predicate, ask) => {
            course::timeline(&view, subject, predicate, ask)?.iter().map(Piece::json).collect()
        }
        Question::Beliefs(subject, predicate, ask) => {
            course::beliefs(&view, subject, predicate, ask)?.iter().map(Piece::json).collect()
        }
        Question::History(subject, predicate, reach, known_at) => {
            let rows = history::history(&view, subject, predicate.as_ref(), reach, *known_at)?;
            rows.iter().map(FactView::json).collect()
        }
        Question::Find(pattern, reach, ask) => {
            slots::find(&view, pattern, reach, ask)?.iter().map(Found::json).collect()
        }
        Question::Usable(ids, ask) => {
            node::usable(&view, ids, ask)?.iter().map(node::Usable::json).collect()
        }
        Question::Show(id, ask) => {
            if let Some(shown) = node::show(&view, id, ask)? {
                shown
            } else {
                return Err(unknown(id, view.tenant()));
            }
        }
        Question::Counts(what, reach) => {
            slots::count(&view, *what, reach)?.iter().map(Counted::json).collect()
        }
        Question::List(list, reach, ask) => agenda::json(&view, list, reach, ask)?,
        Question::Walk(way, id, filter, ask) => {
            let graph = lineage::walk(&view, *way, id, filter, ask)?;
            lineage::json(&graph.ok_or_else(|| unknown(id, view.tenant()))?)
        }
        Question::Snapshot(reach, ask) => {
            snapshot::snapshot(&view, reach, ask)?.iter().map(Live::json).collect()
        }
        Question::Diff(reach, ask, between) => {
            diff::diff(&view, reach, ask, *between)?.iter().map(Difference::json).collect()
        }
    })
}

fn unknown(id: &str, tenant: &Tenant) -> DbError {
    let message = format!("there is no {id:?} in tenant {tenant}");
    Refusal::new(Reason::UnknownTarget, message).into()
}
