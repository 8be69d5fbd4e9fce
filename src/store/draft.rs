//! A draft: the rows one transaction adds or changes, over the store as it stands. The gate reads
//! and writes through it, so that operations of a transaction see each other; it is thrown away if
//! one is refused, and handed to the store once the log has the transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::event::Stamp;
use crate::model::name::{Id, Tenant};
use crate::model::node::{Artifact, Fact, Life, NodeNo, SlotNo, Source};
use crate::model::scope::Scope;
use crate::store::error::StoreError;
use crate::store::key;
use crate::store::row::{Counters, NodeRow, Row};
use crate::store::rows::{Lookup, NodeView, Rows};
use crate::timeline::slot::{Slot, SlotKey};

/// Rows over rows.
pub struct Draft<'a> {
    base: &'a dyn Rows,
    rows: BTreeMap<Vec<u8>, Row>,
    counters: Counters,
}

impl Rows for Draft<'_> {
    fn row(&self, key: &[u8]) -> Result<Option<Row>, StoreError> {
        match self.rows.get(key) {
            Some(row) => Ok(Some(row.clone())),
            None => self.base.row(key),
        }
    }

    fn between(
        &self,
        from: &[u8],
        until: &[u8],
        limit: usize,
    ) -> Result<Vec<(Vec<u8>, Row)>, StoreError> {
        let base = self.base.between(from, until, limit)?;
        let mine = self
            .rows
            .range(from.to_vec()..until.to_vec())
            .map(|(key, row)| (key.clone(), row.clone()));
        Ok(merged(base, mine, limit))
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

/// Two ordered runs of rows as one; where both have a key, the second counts.
pub fn merged(
    below: Vec<(Vec<u8>, Row)>,
    above: impl Iterator<Item = (Vec<u8>, Row)>,
    limit: usize,
) -> Vec<(Vec<u8>, Row)> {
    let mut above = above.peekable();
    if above.peek().is_none() {
        return below;
    }
    let mut all: BTreeMap<Vec<u8>, Row> = below.into_iter().collect();
    all.extend(above.take(limit));
    all.into_iter().take(limit).collect()
}

impl<'a> Draft<'a> {
    /// An empty draft.
    pub fn new(base: &'a dyn Rows) -> Self {
        Self { base, rows: BTreeMap::new(), counters: base.counters() }
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What was written, to hand to the store.
    pub fn into_rows(self) -> (BTreeMap<Vec<u8>, Row>, Counters) {
        (self.rows, self.counters)
    }

    /// Writes a row.
    pub fn put(&mut self, key: Vec<u8>, row: Row) {
        self.rows.insert(key, row);
    }

    /// Sets the sequence number and recorded instant reached.
    pub fn reach(&mut self, stamp: Stamp) {
        self.counters.seq = stamp.seq;
        self.counters.recorded = stamp.recorded;
    }

    /// Notes that a tenant was written to; the first tenant of a store takes over what was
    /// declared before it came (R10a).
    ///
    /// # Errors
    /// When rows cannot be read.
    pub fn touch_tenant(&mut self, tenant: &Tenant, stamp: Stamp) -> Result<(), StoreError> {
        let key = key::tenant(tenant.as_str());
        if self.row(&key)?.is_some() {
            return Ok(());
        }
        if self.counters.tenants == 0 {
            for (key, row) in self.starting(&key::declared("", ""))? {
                let name = key::last_name(&key).unwrap_or_default().to_owned();
                self.put(key::declared(tenant.as_str(), &name), row);
            }
        }
        self.counters.tenants += 1;
        self.put(key, Row::First(stamp));
        Ok(())
    }

    /// Notes that a scope was written to.
    ///
    /// # Errors
    /// When rows cannot be read.
    pub fn touch_scope(
        &mut self,
        tenant: &Tenant,
        scope: &Scope,
        stamp: Stamp,
    ) -> Result<(), StoreError> {
        self.touch_tenant(tenant, stamp)?;
        let key = key::scope(tenant.as_str(), scope.as_str());
        if self.row(&key)?.is_none() {
            self.put(key, Row::First(stamp));
        }
        Ok(())
    }

    /// The number the next node takes.
    pub fn next_node(&mut self) -> NodeNo {
        self.counters.nodes += 1;
        NodeNo(self.counters.nodes)
    }

    /// Registers a node's id and what it rests on.
    pub fn register(&mut self, tenant: &Tenant, id: &Id, life: &Life) {
        self.put(key::id(tenant, id), Row::Number(life.no.0));
        if life.held {
            self.put(key::held(tenant, life.no), Row::Edge);
        }
        for premise in life.justifications.iter().flat_map(|j| &j.premises) {
            self.put(key::dependent(*premise, life.no), Row::Edge);
        }
    }

    /// The slot of a name, made if there is none.
    ///
    /// # Errors
    /// When rows cannot be read.
    pub fn slot_for(&mut self, name: &SlotKey) -> Result<Arc<Slot>, StoreError> {
        if let Some(slot) = self.slot_named(&name.tenant, &name.subject, &name.predicate)? {
            return Ok(slot);
        }
        self.counters.slots += 1;
        let no = SlotNo(self.counters.slots);
        let slot = Arc::new(Slot::new(no, name.clone()));
        self.put(key::slot_named(&name.tenant, &name.subject, &name.predicate), Row::Number(no.0));
        self.put(
            key::slot_by_predicate(&name.tenant, &name.predicate, name.subject.as_str()),
            Row::Number(no.0),
        );
        self.put(key::slot(no), Row::Slot(Arc::clone(&slot)));
        Ok(slot)
    }

    /// Changes a slot in place: one chunk is copied at most, and only if a reader holds it.
    ///
    /// # Errors
    /// When rows cannot be read.
    pub fn change_slot<T>(
        &mut self,
        no: SlotNo,
        change: impl FnOnce(&mut Slot) -> T,
    ) -> Result<T, StoreError> {
        let key = key::slot(no);
        let mut slot = match self.rows.remove(&key) {
            Some(Row::Slot(slot)) => slot,
            Some(_) | None => self.slot(no)?,
        };
        let made = change(Arc::make_mut(&mut slot));
        self.rows.insert(key, Row::Slot(slot));
        Ok(made)
    }

    /// Adds a fact to its slot.
    ///
    /// # Errors
    /// When rows cannot be read.
    pub fn add_fact(
        &mut self,
        tenant: &Tenant,
        slot: SlotNo,
        fact: Fact,
    ) -> Result<(), StoreError> {
        self.register(tenant, &fact.said.id.clone(), &fact.life);
        let no = fact.life.no;
        let place = self.change_slot(slot, |slot| slot.add(fact))?;
        self.put(key::node(no), Row::Node(NodeRow::Fact(slot, place)));
        Ok(())
    }

    /// Writes a source.
    pub fn put_source(&mut self, source: Source) {
        self.put(key::node(source.life.no), Row::Node(NodeRow::Source(Arc::new(source))));
    }

    /// Writes an artifact.
    pub fn put_artifact(&mut self, artifact: Artifact) {
        self.put(key::node(artifact.life.no), Row::Node(NodeRow::Artifact(Arc::new(artifact))));
    }

    /// Changes the life of a node.
    ///
    /// # Errors
    /// When rows cannot be read.
    pub fn change_life(
        &mut self,
        no: NodeNo,
        change: impl FnOnce(&mut Life),
    ) -> Result<(), StoreError> {
        match self.node(no)? {
            NodeView::Fact(slot, place) => {
                let slot_no = slot.no;
                drop(slot);
                self.change_slot(slot_no, |slot| {
                    if let Some(fact) = slot.fact_mut(place) {
                        change(&mut fact.life);
                    }
                })?;
            }
            NodeView::Source(source) => {
                let mut source = Arc::unwrap_or_clone(source);
                change(&mut source.life);
                self.put_source(source);
            }
            NodeView::Artifact(artifact) => {
                let mut artifact = Arc::unwrap_or_clone(artifact);
                change(&mut artifact.life);
                self.put_artifact(artifact);
            }
        }
        Ok(())
    }
}
