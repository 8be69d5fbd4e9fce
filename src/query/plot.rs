//! The plane of a slot: who answers where, valid × recorded, as rectangles to draw.

use crate::model::name::{Id, Predicate, Subject};
use crate::model::value::Value;
use crate::query::course::{Piece, recorded_cuts, timeline};
use crate::query::view::{Ask, View};
use crate::store::error::StoreError;
use crate::time::{Recorded, Valid};
use crate::timeline::resolve::Outcome;

/// Recorded instants drawn at most; of more the last are drawn.
pub const COLUMNS_MAX: usize = 200;

/// A rectangle with one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Known since, inclusive.
    pub known_from: Recorded,
    /// Known until, exclusive; `None` = still.
    pub known_until: Option<Recorded>,
    /// Holds from, inclusive; `None` = since ever.
    pub valid_from: Option<Valid>,
    /// Holds until, exclusive; `None` = open.
    pub valid_until: Option<Valid>,
    /// What the answer comes to.
    pub outcome: Outcome,
    /// The distinct values that answer.
    pub values: Vec<Value>,
    /// The facts that answer.
    pub facts: Vec<Id>,
}

/// The rectangles of a slot in a scope, by recorded start, then valid start; and how many recorded
/// instants were left out at the beginning. Cost: `timeline` for each recorded instant drawn.
///
/// # Errors
/// When the store cannot be read.
pub fn plane(
    view: &View<'_>,
    subject: &Subject,
    predicate: &Predicate,
    ask: &Ask,
) -> Result<(Vec<Rectangle>, usize), StoreError> {
    let Some(slot) = view.slot(subject, predicate)? else { return Ok((Vec::new(), 0)) };
    let known_at = view.pinned(view.at(ask)).known_at;
    let cuts: Vec<Recorded> =
        recorded_cuts(view, &slot)?.into_iter().filter(|cut| *cut <= known_at).collect();
    let left_out = cuts.len().saturating_sub(COLUMNS_MAX);
    let mut done = Vec::new();
    let mut open: Vec<Rectangle> = Vec::new();
    for cut in cuts.into_iter().skip(left_out) {
        let ask = Ask { known_at: Some(cut), ..ask.clone() };
        let pieces = timeline(view, subject, predicate, &ask)?;
        let mut column = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let same = open.iter().position(|rectangle| continues(rectangle, &piece));
            column.push(match same {
                Some(place) => open.swap_remove(place),
                None => starting(cut, piece),
            });
        }
        done.extend(open.into_iter().map(|ended| Rectangle { known_until: Some(cut), ..ended }));
        open = column;
    }
    done.extend(open);
    done.sort_by_key(|rectangle| (rectangle.known_from, rectangle.valid_from));
    Ok((done, left_out))
}

fn starting(known_from: Recorded, piece: Piece<Valid>) -> Rectangle {
    Rectangle {
        known_from,
        known_until: None,
        valid_from: piece.from,
        valid_until: piece.until,
        outcome: piece.outcome,
        values: piece.values,
        facts: piece.facts,
    }
}

fn continues(rectangle: &Rectangle, piece: &Piece<Valid>) -> bool {
    rectangle.valid_from == piece.from
        && rectangle.valid_until == piece.until
        && rectangle.outcome == piece.outcome
        && rectangle.values == piece.values
        && rectangle.facts == piece.facts
}
