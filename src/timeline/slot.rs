//! A slot: all facts of one (tenant, subject, predicate), where facts compete. Facts are added,
//! never moved: a fact's place is its order of coming. Chunks are shared between readers and the
//! writer, so that adding a fact copies one chunk at most.
//!
//! Here also stand the two sets that a write speaks of without naming each member: what is
//! `current` (R20a) and what a supersession reaches (R22).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::condition::Conditions;
use crate::model::event::Stamp;
use crate::model::kind::KindSet;
use crate::model::limits::CHUNK_FACTS;
use crate::model::name::{Predicate, Subject, Tenant};
use crate::model::node::{Fact, Link, SlotNo, to_ranges};
use crate::model::scope::Scope;
use crate::time::{Recorded, Valid};

/// What names a slot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SlotKey {
    /// The isolation boundary.
    pub tenant: Tenant,
    /// What the facts are about.
    pub subject: Subject,
    /// Which property they state.
    pub predicate: Predicate,
}

/// All facts of one slot, in order of their coming.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its number.
    pub no: SlotNo,
    /// Its name.
    pub key: SlotKey,
    chunks: Vec<Arc<Vec<Arc<Fact>>>>,
    count: u32,
    touched: BTreeSet<u32>,
}

impl Slot {
    /// An empty slot.
    pub fn new(no: SlotNo, key: SlotKey) -> Self {
        Self { no, key, chunks: Vec::new(), count: 0, touched: BTreeSet::new() }
    }

    /// A slot from its stored chunks.
    pub fn from_chunks(no: SlotNo, key: SlotKey, chunks: Vec<Vec<Arc<Fact>>>) -> Self {
        let count = chunks.iter().map(Vec::len).sum::<usize>();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            no,
            key,
            chunks: chunks.into_iter().map(Arc::new).collect(),
            count,
            touched: BTreeSet::new(),
        }
    }

    /// Number of facts.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The chunks, each of at most [`CHUNK_FACTS`] facts.
    pub fn chunks(&self) -> &[Arc<Vec<Arc<Fact>>>] {
        &self.chunks
    }

    /// Numbers of the chunks added to since they were last stored.
    pub fn touched(&self) -> &BTreeSet<u32> {
        &self.touched
    }

    /// Notes that all chunks have been stored.
    pub fn stored(&mut self) {
        self.touched.clear();
    }

    fn touch(&mut self, place: u32) {
        self.touched.insert(place / u32::try_from(CHUNK_FACTS).unwrap_or(u32::MAX));
    }

    /// The fact at a place.
    pub fn fact(&self, place: u32) -> Option<&Fact> {
        let place = usize::try_from(place).ok()?;
        self.chunks.get(place / CHUNK_FACTS)?.get(place % CHUNK_FACTS).map(AsRef::as_ref)
    }

    /// The fact at a place, to add to it.
    pub fn fact_mut(&mut self, place: u32) -> Option<&mut Fact> {
        self.touch(place);
        let place = usize::try_from(place).ok()?;
        let chunk = self.chunks.get_mut(place / CHUNK_FACTS)?;
        Arc::make_mut(chunk).get_mut(place % CHUNK_FACTS).map(Arc::make_mut)
    }

    /// Facts with their places, oldest first.
    pub fn facts(&self) -> impl Iterator<Item = (u32, &Fact)> {
        (0u32..).zip(self.chunks.iter().flat_map(|chunk| chunk.iter().map(AsRef::as_ref)))
    }

    /// Adds a fact; returns its place.
    pub fn add(&mut self, fact: Fact) -> u32 {
        self.touch(self.count);
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK_FACTS => Arc::make_mut(chunk).push(Arc::new(fact)),
            Some(_) | None => {
                let mut chunk = Vec::with_capacity(CHUNK_FACTS);
                chunk.push(Arc::new(fact));
                self.chunks.push(Arc::new(chunk));
            }
        }
        self.count += 1;
        self.count - 1
    }

    /// The sequence number of the last event about a fact of the slot in a scope, recorded by
    /// `known_at`; 0 if none (R23a). Marks do not count.
    pub fn version(&self, scope: &Scope, known_at: Recorded) -> u64 {
        self.facts()
            .filter(|(_, fact)| fact.said.scope == *scope)
            .flat_map(|(_, fact)| stamps(fact))
            .filter(|stamp| stamp.recorded <= known_at)
            .map(|stamp| stamp.seq)
            .max()
            .unwrap_or(0)
    }

    /// What is `current` for a write (R20a): every open fact of exactly this scope and these
    /// conditions whose valid period overlaps `[from, until)` and whose kind is in `kinds`.
    pub fn current(&self, write: &Current<'_>) -> Vec<u32> {
        self.facts()
            .filter(|(_, fact)| fact.said.scope == *write.scope && fact.said.when == *write.when)
            .filter(|(_, fact)| {
                let standing = fact.life.standing_before(write.stamp);
                standing.is_open()
                    && write.kinds.has(fact.kind_at(&standing))
                    && overlap(
                        (write.from, write.until),
                        (fact.counted_from(), fact.until(&standing)),
                    )
            })
            .map(|(place, _)| place)
            .collect()
    }

    /// What a supersession by a fact of `scope` reaches (R22): the named facts and every copy of
    /// their claims that stands before `stamp` in the writer's scope or an ancestor and whose kind
    /// is in `kinds`; never the fact at `but`, and never copies of its claim if `spare` is set.
    pub fn link(&self, named: Vec<u32>, write: &Reach<'_>) -> Link {
        let kept = write.spare.and_then(|place| self.fact(place));
        let spared = |fact: &Fact| kept.is_some_and(|kept| kept.same_claim(fact));
        let targets: Vec<&Fact> = named.iter().filter_map(|place| self.fact(*place)).collect();
        let reach = self
            .facts()
            .filter(|(place, fact)| {
                Some(*place) != write.by && fact.life.stamp < write.stamp && !spared(fact)
            })
            .filter(|(place, fact)| {
                named.binary_search(place).is_ok()
                    || (fact.said.scope.covers(write.scope)
                        && targets.iter().any(|target| target.same_claim(fact))
                        && write.kinds.has(fact.kind_at(&fact.life.standing_before(write.stamp))))
            })
            .map(|(place, _)| place);
        let reach = to_ranges(reach);
        Link { stamp: write.stamp, waits: write.waits, named: to_ranges(named), reach }
    }
}

/// A write that replaces what is current.
#[derive(Clone, Copy, Debug)]
pub struct Current<'a> {
    /// Its scope.
    pub scope: &'a Scope,
    /// Its conditions.
    pub when: &'a Conditions,
    /// Where its period starts to count; `None` = always.
    pub from: Option<Valid>,
    /// Where its period ends, exclusive; `None` = open.
    pub until: Option<Valid>,
    /// Kinds that are not stronger than its own.
    pub kinds: KindSet,
    /// Its stamp.
    pub stamp: Stamp,
}

/// A write that supersedes.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'a> {
    /// The place of the superseding fact, once it has one.
    pub by: Option<u32>,
    /// Its scope.
    pub scope: &'a Scope,
    /// Kinds of copies it reaches.
    pub kinds: KindSet,
    /// Its stamp: only what stands before it is reached.
    pub stamp: Stamp,
    /// Whether it waits to be confirmed.
    pub waits: bool,
    /// The fact whose copies are left alone (`resolve`).
    pub spare: Option<u32>,
}

/// The stamps of all events about a fact.
pub fn stamps(fact: &Fact) -> impl Iterator<Item = Stamp> {
    std::iter::once(fact.life.stamp)
        .chain(fact.life.changes.iter().map(|change| change.stamp))
        .chain(fact.life.justifications.iter().map(|justification| justification.stamp))
        .chain(fact.links.iter().map(|link| link.stamp))
}

/// Whether two half-open stretches share an instant; `None` is unbounded.
pub fn overlap(a: (Option<Valid>, Option<Valid>), b: (Option<Valid>, Option<Valid>)) -> bool {
    let before = |until: Option<Valid>, from: Option<Valid>| match (until, from) {
        (Some(until), Some(from)) => until <= from,
        (Some(_) | None, Some(_) | None) => false,
    };
    let empty = |(from, until): (Option<Valid>, Option<Valid>)| before(until, from);
    !before(a.1, b.0) && !before(b.1, a.0) && !empty(a) && !empty(b)
}
