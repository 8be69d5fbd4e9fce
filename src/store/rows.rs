//! Reading rows: one trait for the store as it stands and for a draft over it, and the typed
//! questions everything above asks.

use std::sync::Arc;

use uuid::Uuid;

use crate::model::declared::Declarations;
use crate::model::name::{Id, Predicate, Subject, Tenant};
use crate::model::node::{Artifact, Fact, Life, NodeNo, SlotNo, Source};
use crate::model::scope::Scope;
use crate::store::error::StoreError;
use crate::store::key;
use crate::store::row::{Counters, NodeRow, Row, SuppressionRow};
use crate::time::Recorded;
use crate::timeline::slot::Slot;

/// Rows by key: the store as it stands, or a draft over it.
pub trait Rows: Sync {
    /// One row.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn row(&self, key: &[u8]) -> Result<Option<Row>, StoreError>;

    /// Rows with `from <= key < until` in order, at most `limit`.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn between(
        &self,
        from: &[u8],
        until: &[u8],
        limit: usize,
    ) -> Result<Vec<(Vec<u8>, Row)>, StoreError>;

    /// The counters.
    fn counters(&self) -> Counters;
}

/// A node, whole.
#[derive(Clone, Debug)]
pub enum NodeView {
    /// A fact at its place in its slot.
    Fact(Arc<Slot>, u32),
    /// A source.
    Source(Arc<Source>),
    /// An artifact.
    Artifact(Arc<Artifact>),
}

impl NodeView {
    /// The fact, if it is one.
    pub fn fact(&self) -> Option<&Fact> {
        if let Self::Fact(slot, place) = self { slot.fact(*place) } else { None }
    }

    /// Its life; `None` only for a fact whose place is empty, which a sound store does not have.
    pub fn life(&self) -> Option<&Life> {
        match self {
            Self::Fact(slot, place) => slot.fact(*place).map(|fact| &fact.life),
            Self::Source(source) => Some(&source.life),
            Self::Artifact(artifact) => Some(&artifact.life),
        }
    }

    /// Its id.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Fact(slot, place) => slot.fact(*place).map(|fact| &fact.said.id),
            Self::Source(source) => Some(&source.said.id),
            Self::Artifact(artifact) => Some(&artifact.said.id),
        }
    }

    /// Its scope.
    pub fn scope(&self) -> Option<&Scope> {
        match self {
            Self::Fact(slot, place) => slot.fact(*place).map(|fact| &fact.said.scope),
            Self::Source(source) => Some(&source.said.scope),
            Self::Artifact(artifact) => Some(&artifact.said.scope),
        }
    }

    /// `fact`, `source` or `artifact`.
    pub fn type_word(&self) -> &'static str {
        match self {
            Self::Fact(..) => "fact",
            Self::Source(_) => "source",
            Self::Artifact(_) => "artifact",
        }
    }
}

/// Typed questions to rows.
pub trait Lookup: Rows {
    /// All rows whose key starts with a prefix, in order.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn starting(&self, prefix: &[u8]) -> Result<Vec<(Vec<u8>, Row)>, StoreError> {
        self.between(prefix, &key::after(prefix), usize::MAX)
    }

    /// The number of a node by id.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn find_id(&self, tenant: &Tenant, id: &Id) -> Result<Option<NodeNo>, StoreError> {
        Ok(self.row(&key::id(tenant, id))?.and_then(|row| row.node_no()))
    }

    /// A node by number.
    ///
    /// # Errors
    /// When the engine fails, the bytes are damaged, or there is no such node.
    fn node(&self, no: NodeNo) -> Result<NodeView, StoreError> {
        match self.row(&key::node(no))? {
            Some(Row::Node(NodeRow::Fact(slot, place))) => {
                Ok(NodeView::Fact(self.slot(slot)?, place))
            }
            Some(Row::Node(NodeRow::Source(source))) => Ok(NodeView::Source(source)),
            Some(Row::Node(NodeRow::Artifact(artifact))) => Ok(NodeView::Artifact(artifact)),
            Some(_) | None => Err(StoreError::Missing(format!("node {}", no.0))),
        }
    }

    /// The id of a node.
    ///
    /// # Errors
    /// When the engine fails, the bytes are damaged, or there is no such node.
    fn id_of(&self, no: NodeNo) -> Result<Id, StoreError> {
        self.node(no)?.id().cloned().ok_or_else(|| StoreError::Missing(format!("node {}", no.0)))
    }

    /// A slot by number.
    ///
    /// # Errors
    /// When the engine fails, the bytes are damaged, or there is no such slot.
    fn slot(&self, no: SlotNo) -> Result<Arc<Slot>, StoreError> {
        match self.row(&key::slot(no))? {
            Some(Row::Slot(slot)) => Ok(slot),
            Some(_) | None => Err(StoreError::Missing(format!("slot {}", no.0))),
        }
    }

    /// A slot by name.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn slot_named(
        &self,
        tenant: &Tenant,
        subject: &Subject,
        predicate: &Predicate,
    ) -> Result<Option<Arc<Slot>>, StoreError> {
        match self.row(&key::slot_named(tenant, subject, predicate))?.and_then(|row| row.number()) {
            Some(no) => self.slot(SlotNo(no)).map(Some),
            None => Ok(None),
        }
    }

    /// The declarations of a predicate.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn declared(
        &self,
        tenant: &Tenant,
        predicate: &Predicate,
    ) -> Result<Arc<Declarations>, StoreError> {
        match self.row(&key::declared(tenant.as_str(), predicate.as_str()))? {
            Some(Row::Declared(declared)) => Ok(declared),
            Some(_) | None => Ok(Arc::default()),
        }
    }

    /// The nodes made directly from a node.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn dependents(&self, premise: NodeNo) -> Result<Vec<NodeNo>, StoreError> {
        let rows = self.starting(&key::dependents(premise))?;
        Ok(rows.iter().filter_map(|(key, _)| key::last_number(key)).map(NodeNo).collect())
    }

    /// The suppressions of a tenant.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn suppressions(&self, tenant: &Tenant) -> Result<Arc<Vec<SuppressionRow>>, StoreError> {
        match self.row(&key::suppressions(tenant))? {
            Some(Row::Suppressions(suppressions)) => Ok(suppressions),
            Some(_) | None => Ok(Arc::default()),
        }
    }

    /// The tenants, in order of name, recorded by an instant.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn tenants(&self, known_at: Recorded) -> Result<Vec<Tenant>, StoreError> {
        let rows = self.starting(&key::tenants())?;
        let seen = rows
            .into_iter()
            .filter(|(_, row)| matches!(row, Row::First(stamp) if stamp.recorded <= known_at));
        Ok(seen
            .filter_map(|(key, _)| key::only_name(&key).and_then(|name| Tenant::new(name).ok()))
            .collect())
    }

    /// The scopes of a tenant written to by an instant, in order.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn scopes(&self, tenant: &Tenant, known_at: Recorded) -> Result<Vec<Scope>, StoreError> {
        let rows = self.starting(&key::scope(tenant.as_str(), ""))?;
        let seen = rows
            .into_iter()
            .filter(|(_, row)| matches!(row, Row::First(stamp) if stamp.recorded <= known_at));
        Ok(seen
            .filter_map(|(key, _)| key::last_name(&key).and_then(|name| Scope::new(name).ok()))
            .collect())
    }

    /// The sequence number of a transaction by id.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn transaction(&self, id: Uuid) -> Result<Option<u64>, StoreError> {
        Ok(self.row(&key::transaction(id))?.and_then(|row| row.number()))
    }

    /// The sequence number of the last transaction recorded by an instant; 0 if none.
    ///
    /// # Errors
    /// When the engine fails or the bytes are damaged.
    fn seq_at(&self, known_at: Recorded) -> Result<u64, StoreError> {
        let counters = self.counters();
        if known_at >= counters.recorded {
            return Ok(counters.seq);
        }
        let mut from = key::recorded(known_at);
        from.push(0);
        let next = self.between(&from, &key::after(b"o"), 1)?;
        Ok(next
            .first()
            .and_then(|(_, row)| row.number())
            .map_or(counters.seq, |seq| seq.saturating_sub(1)))
    }
}

impl<R: Rows + ?Sized> Lookup for R {}
