//! No return (R23): a claim that was disabled, rejected, retracted or superseded does not come back
//! by itself through re-import, re-extraction or a late write.

use std::collections::HashSet;

use crate::admission::gate::{Checked, Gate, refuse};
use crate::model::event::Decision;
use crate::model::kind::Kind;
use crate::model::node::{Closing, Fact, Source, Standing};
use crate::model::operation::{Statement, Supersedes, Takeback};
use crate::model::refusal::Reason;
use crate::model::scope::Scope;
use crate::store::rows::{Lookup, NodeView};
use crate::time::Valid;
use crate::timeline::slot::Slot;

impl Gate<'_, '_> {
    /// Judges a write without `supersedes`, or with `current`, of a claim that was stopped: it has
    /// copies closed, disabled or superseded, and none that is open, not held and unsuperseded. A write that names by id what now holds is a real
    /// change back and passes. Cost: linear in the facts of the slot.
    pub(super) fn no_return(
        &self,
        slot: &Slot,
        said: &Statement,
        kind: Kind,
        decision: &mut Decision,
    ) -> Checked<()> {
        if matches!(said.supersedes, Supersedes::Ids(_)) {
            return Ok(());
        }
        let now = self.stamp.recorded;
        let copies: Vec<(u32, &Fact, Standing)> = slot
            .facts()
            .filter(|(_, f)| {
                f.said.scope == said.scope && f.said.value == said.value && f.said.when == said.when
            })
            .map(|(place, fact)| (place, fact, fact.life.standing(now)))
            .collect();
        if copies.is_empty() {
            return Ok(());
        }
        let superseded = self.superseded(slot, &said.scope);
        let stopped = |(place, _, standing): &(u32, &Fact, Standing)| {
            standing.closed.is_some() || standing.disabled.is_some() || superseded.has(*place)
        };
        let lives = |copy: &(u32, &Fact, Standing)| copy.2.is_open() && !stopped(copy);
        if copies.iter().any(lives) {
            return Ok(());
        }
        let copies: Vec<_> = copies.into_iter().filter(stopped).collect();
        if copies.is_empty() {
            return Ok(());
        }
        for (_, copy, _) in &copies {
            if self.same_source(said, kind, copy)? {
                return refuse(
                    Reason::Revival,
                    format!(
                        "this claim was taken back or replaced ({}) and its source says nothing new; to change back, supersede by id what now holds, or say it as a new statement",
                        copy.said.id
                    ),
                );
            }
        }
        let dated = self.dated(said)?.filter(|_| kind != Kind::Inferred);
        let stopped = copies.iter().filter(|(_, _, standing)| stopped_by_hand(standing, dated));
        let against: Vec<_> = stopped.map(|(_, copy, _)| copy.said.id.clone()).collect();
        if against.is_empty() {
            return Ok(());
        }
        if kind == Kind::Stated {
            decision.reasserted = true;
        } else {
            decision.held = true;
            decision.against.extend(against);
        }
        Ok(())
    }

    /// The places that something of this scope takes the place of, directly or along a chain, which
    /// was not itself held, mistaken, corrected or rejected.
    fn superseded(&self, slot: &Slot, scope: &Scope) -> Reached {
        let now = self.stamp.recorded;
        let mut reached = Reached::none(slot.len());
        let mut open: Vec<u32> = slot
            .facts()
            .filter(|(_, fact)| !fact.links.is_empty() && fact.said.scope == *scope)
            .filter(|(_, fact)| {
                let standing = fact.life.standing(now);
                !standing.never_was() && !standing.held
            })
            .map(|(place, _)| place)
            .collect();
        let mut followed: HashSet<u32> = open.iter().copied().collect();
        while let Some(fact) = open.pop().and_then(|place| slot.fact(place)) {
            let standing = fact.life.standing(now);
            let links = fact.links.iter().filter(|link| link.counts(now, &standing));
            for (from, until) in links.flat_map(|link| &link.reach) {
                reached.take(*from, *until, |place| {
                    if followed.insert(place) {
                        open.push(place);
                    }
                });
            }
        }
        reached
    }

    /// When the source of a statement was said or written, if it says.
    fn dated(&self, said: &Statement) -> Checked<Option<Valid>> {
        let Some(id) = &said.source else { return Ok(None) };
        match self.draft.find_id(&said.scope.tenant()?, id)? {
            Some(no) => match self.draft.node(no)? {
                NodeView::Source(source) => Ok(source.said.stated_at),
                NodeView::Fact(..) | NodeView::Artifact(_) => Ok(None),
            },
            None => Ok(None),
        }
    }

    /// The same source: same id, same uri and `stated_at`, or same text; or none and not stated.
    fn same_source(&self, said: &Statement, kind: Kind, copy: &Fact) -> Checked<bool> {
        let Some(id) = &said.source else {
            return Ok(kind != Kind::Stated);
        };
        if copy.said.source.as_ref() == Some(id) {
            return Ok(true);
        }
        let Some(old) = copy.source else { return Ok(false) };
        let scope = said.scope.tenant()?;
        let Some(new) = self.draft.find_id(&scope, id)? else { return Ok(false) };
        let (NodeView::Source(new), NodeView::Source(old)) =
            (self.draft.node(new)?, self.draft.node(old)?)
        else {
            return Ok(false);
        };
        Ok(same_utterance(&new, &old))
    }
}

/// Places of a slot that were reached. Each `set` reaches all before it, so ranges overlap without
/// end; a place is gone through once all the same.
struct Reached {
    // For each place one at or after it which was not reached, as far as is known; its own place
    // means not reached.
    next: Vec<u32>,
}

impl Reached {
    fn none(places: u32) -> Self {
        Self { next: (0..=places).collect() }
    }

    fn has(&self, place: u32) -> bool {
        self.at(place) != place
    }

    fn at(&self, place: u32) -> u32 {
        usize::try_from(place).ok().and_then(|at| self.next.get(at)).copied().unwrap_or(place)
    }

    /// The first place from here on that was not reached; shortens the way for the next who asks.
    fn free(&mut self, from: u32) -> u32 {
        let mut free = from;
        while self.has(free) {
            free = self.at(free);
        }
        let mut place = from;
        while place != free {
            let next = self.at(place);
            if let Some(slot) = usize::try_from(place).ok().and_then(|at| self.next.get_mut(at)) {
                *slot = free;
            }
            place = next;
        }
        free
    }

    /// Takes in `from..until` and tells of each place that was not in before.
    fn take(&mut self, from: u32, until: u32, mut each: impl FnMut(u32)) {
        let last = u32::try_from(self.next.len()).unwrap_or(u32::MAX).saturating_sub(1);
        let until = until.min(last);
        let mut place = self.free(from);
        while place < until {
            if let Some(slot) = usize::try_from(place).ok().and_then(|at| self.next.get_mut(at)) {
                *slot = place + 1;
            }
            each(place);
            place = self.free(place + 1);
        }
    }
}

fn same_utterance(a: &Source, b: &Source) -> bool {
    let same_place =
        a.said.uri.is_some() && a.said.uri == b.said.uri && a.said.stated_at == b.said.stated_at;
    let same_text = a.said.text.is_some() && a.said.text == b.said.text;
    same_place || same_text
}

/// Disabled, rejected or retracted as mistaken: what only a person may say again. Except that a
/// source dated at or after the retraction is news, not a return: the next edition of a register
/// may report again what an edition before it took back. Whole histories are made of that.
fn stopped_by_hand(standing: &Standing, dated: Option<Valid>) -> bool {
    let closed = match standing.closed {
        Some((Closing::Retracted(Takeback::Mistaken), stamp)) => {
            dated.is_none_or(|dated| dated < stamp.recorded.as_valid())
        }
        Some((Closing::Rejected, _)) => true,
        Some((Closing::Retracted(Takeback::Withdrawn) | Closing::Corrected(_), _)) | None => false,
    };
    closed || standing.disabled.is_some()
}
