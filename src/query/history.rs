//! `history`: every version of every fact of an entity, oldest recorded first, with its state and
//! what closed it.

use crate::model::name::{Predicate, Subject};
use crate::query::answer::{FactView, version_view};
use crate::query::slots::{Pattern, Reach, slots};
use crate::query::view::View;
use crate::store::error::StoreError;
use crate::time::Recorded;
use crate::timeline::marks::AsOf;
use crate::timeline::version::versions;

/// The history of a subject as known at an instant; one row a rectangle. Cost: the facts of the
/// subject.
///
/// # Errors
/// When the store cannot be read.
pub fn history(
    view: &View<'_>,
    subject: &Subject,
    predicate: Option<&Predicate>,
    reach: &Reach,
    known_at: Option<Recorded>,
) -> Result<Vec<FactView>, StoreError> {
    let known_at = known_at.unwrap_or(view.pin()).min(view.pin());
    let at = AsOf { valid_at: known_at.as_valid(), known_at };
    let pattern =
        Pattern { subject: Some(subject.clone()), predicate: predicate.cloned(), value: None };
    let mut rows = Vec::new();
    for slot in slots(view, &pattern)? {
        for (_, fact) in slot.facts() {
            if !reach.takes(&fact.said.scope) || !view.sees(&fact.said.scope) {
                continue;
            }
            for version in versions(fact, known_at) {
                rows.push((
                    version.recorded_from,
                    fact.life.no,
                    version_view(view, &slot, fact, version, at)?,
                ));
            }
        }
    }
    rows.sort_by_key(|(recorded, no, _)| (*recorded, *no));
    Ok(rows.into_iter().map(|(_, _, row)| row).collect())
}
