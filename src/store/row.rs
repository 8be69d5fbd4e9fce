//! Rows of the derived state, decoded, and their bytes. A row is rebuilt from the log at will, so
//! its bytes may change with the format version; they are checked on the way in, never trusted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::declared::Declarations;
use crate::model::event::Stamp;
use crate::model::node::{Artifact, Fact, NodeNo, SlotNo, Source};
use crate::model::operation::Suppression;
use crate::store::engine::Entry;
use crate::store::error::StoreError;
use crate::time::Recorded;
use crate::timeline::slot::{Slot, SlotKey};

/// Counters of the store, and how far the derived state has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Sequence number of the last transaction applied.
    pub seq: u64,
    /// Its recorded instant.
    pub recorded: Recorded,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of slots.
    pub slots: u64,
    /// Number of tenants.
    pub tenants: u64,
}

impl Counters {
    /// Those of an empty store.
    pub const EMPTY: Self =
        Self { seq: 0, recorded: Recorded::MIN, nodes: 0, slots: 0, tenants: 0 };
}

/// A node row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum NodeRow {
    /// A fact stands in a slot, at a place.
    Fact(SlotNo, u32),
    /// A source.
    Source(Arc<Source>),
    /// An artifact.
    Artifact(Arc<Artifact>),
}

/// A suppression with its life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuppressionRow {
    /// What was written.
    pub said: Suppression,
    /// When it came.
    pub stamp: Stamp,
    /// When it was lifted.
    pub lifted: Option<Stamp>,
}

/// A row of the derived state.
#[derive(Clone, Debug)]
pub enum Row {
    /// Counters.
    Counters(Counters),
    /// A number: of a node, a slot or a transaction.
    Number(u64),
    /// When a tenant or scope was first written to.
    First(Stamp),
    /// A node.
    Node(NodeRow),
    /// A slot with all its facts.
    Slot(Arc<Slot>),
    /// Declarations of a predicate.
    Declared(Arc<Declarations>),
    /// The suppressions of a tenant, oldest first.
    Suppressions(Arc<Vec<SuppressionRow>>),
    /// An edge: the key says it all.
    Edge,
    /// No such row; only ever in the cache.
    Absent,
}

impl Row {
    /// The number in it, if it is one.
    pub fn number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The node number in it, if it is one.
    pub fn node_no(&self) -> Option<NodeNo> {
        self.number().map(NodeNo)
    }

    /// Bytes it takes in memory, roughly; for budgets, not for accounting.
    pub fn weight(&self) -> u64 {
        match self {
            Self::Slot(slot) => 128 + u64::from(slot.len()) * 400,
            Self::Node(NodeRow::Source(_) | NodeRow::Artifact(_)) => 512,
            Self::Counters(_)
            | Self::Number(_)
            | Self::First(_)
            | Self::Node(NodeRow::Fact(..))
            | Self::Edge
            | Self::Absent => 64,
            Self::Declared(_) | Self::Suppressions(_) => 256,
        }
    }
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    postcard::to_stdvec(value).map_err(|error| StoreError::Encode(error.to_string()))
}

fn decode<'a, T: Deserialize<'a>>(key: &[u8], bytes: &'a [u8]) -> Result<T, StoreError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) | Err(_) => Err(StoreError::Row(String::from_utf8_lossy(key).into_owned())),
    }
}

/// The stored entries of a row: one, or for a slot its name and the chunks touched.
///
/// # Errors
/// [`StoreError::Encode`] when a row cannot be written as bytes.
pub fn entries(key: &[u8], row: &Row) -> Result<Vec<Entry>, StoreError> {
    let bytes = match row {
        Row::Counters(counters) => encode(counters)?,
        Row::Number(number) => encode(number)?,
        Row::First(stamp) => encode(stamp)?,
        Row::Node(node) => encode(node)?,
        Row::Declared(declared) => encode(declared.as_ref())?,
        Row::Suppressions(suppressions) => encode(suppressions.as_ref())?,
        Row::Edge => Vec::new(),
        Row::Absent => return Ok(Vec::new()),
        Row::Slot(slot) => return slot_entries(key, slot),
    };
    Ok(vec![(key.to_vec(), bytes)])
}

fn slot_entries(key: &[u8], slot: &Slot) -> Result<Vec<Entry>, StoreError> {
    let mut entries = vec![(key.to_vec(), encode(&slot.key)?)];
    for number in slot.touched() {
        let chunk = usize::try_from(*number).ok().and_then(|at| slot.chunks().get(at));
        if let Some(chunk) = chunk {
            entries.push((crate::store::key::chunk(slot.no, *number), encode(chunk.as_ref())?));
        }
    }
    Ok(entries)
}

/// A row from its key and bytes; for a slot, `chunks` gives the bytes of its chunks in order.
///
/// # Errors
/// [`StoreError::Row`] when the bytes are not such a row.
pub fn from_bytes(
    key: &[u8],
    bytes: &[u8],
    chunks: impl FnOnce(SlotNo) -> Result<Vec<Vec<u8>>, StoreError>,
) -> Result<Row, StoreError> {
    let broken = || StoreError::Row(String::from_utf8_lossy(key).into_owned());
    Ok(match key.first() {
        Some(b'm') => Row::Counters(decode(key, bytes)?),
        Some(b'i' | b'k' | b'q' | b'u' | b'o') => Row::Number(decode(key, bytes)?),
        Some(b't' | b'x') => Row::First(decode(key, bytes)?),
        Some(b'n') => Row::Node(decode(key, bytes)?),
        Some(b'p') => Row::Declared(Arc::new(decode(key, bytes)?)),
        Some(b'z') => Row::Suppressions(Arc::new(decode(key, bytes)?)),
        Some(b'd' | b'h') => Row::Edge,
        Some(b's') => {
            let no = SlotNo(crate::store::key::last_number(key).ok_or_else(broken)?);
            let name: SlotKey = decode(key, bytes)?;
            let facts: Result<Vec<Vec<Arc<Fact>>>, StoreError> =
                chunks(no)?.iter().map(|bytes| decode(key, bytes)).collect();
            Row::Slot(Arc::new(Slot::from_chunks(no, name, facts?)))
        }
        Some(_) | None => return Err(broken()),
    })
}
