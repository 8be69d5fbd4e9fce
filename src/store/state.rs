//! The state: rows as of the last transaction. What is newer than the last checkpoint lives in
//! memory (the tail); what is older stands packed in the engine; decoded rows are cached within a
//! byte budget. Readers never wait for the disk under the writer's lock.
//!
//! A row holds everything recorded about its subject, so a reader that has pinned a recorded
//! instant may read rows written later: it asks them with its own `known_at`. That is why a
//! snapshot is a number, and a checkpoint neither loses nor doubles what a reader sees.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use uuid::Uuid;

use crate::model::event::Stamp;
use crate::model::node::SlotNo;
use crate::store::draft::{Draft, merged};
use crate::store::engine::Engine;
use crate::store::error::StoreError;
use crate::store::key;
use crate::store::packed::Packed;
use crate::store::row::{self, Counters, Row};
use crate::store::rows::Rows;

#[derive(Clone)]
struct Weight;

impl Weighter<Vec<u8>, Row> for Weight {
    fn weight(&self, key: &Vec<u8>, row: &Row) -> u64 {
        key.len() as u64 + row.weight()
    }
}

/// Tags of rows that every write asks for though they are seldom there: that they are not is
/// remembered too.
const ASKED_OFTEN: &[u8] = b"ptxz";

struct Tail {
    rows: BTreeMap<Vec<u8>, Row>,
    counters: Counters,
    /// Of the last transaction readers may see; its place says nothing.
    published: Stamp,
    /// Counts checkpoints: a row read from the engine is cached only if none came meanwhile.
    epoch: u64,
}

/// Rows as of the last transaction.
pub struct State {
    engine: Arc<dyn Engine>,
    packed: Packed,
    cache: Cache<Vec<u8>, Row, Weight>,
    tail: RwLock<Tail>,
}

impl State {
    /// The state an engine holds, with its counters.
    ///
    /// # Errors
    /// When the engine fails or its counters are damaged.
    pub fn new(engine: Arc<dyn Engine>, cache_bytes: u64) -> Result<Self, StoreError> {
        let packed = Packed::new(Arc::clone(&engine));
        let counters = match packed.get(key::COUNTERS)? {
            None => Counters::EMPTY,
            Some(bytes) => match row::from_bytes(key::COUNTERS, &bytes, |_| Ok(Vec::new()))? {
                Row::Counters(counters) => counters,
                _ => return Err(StoreError::Row("counters".to_owned())),
            },
        };
        let tail = Tail { rows: BTreeMap::new(), counters, published: last_of(counters), epoch: 0 };
        let items = usize::try_from(cache_bytes / 256).unwrap_or(usize::MAX);
        let cache = Cache::with_weighter(items, cache_bytes, Weight);
        Ok(Self { engine, packed, cache, tail: RwLock::new(tail) })
    }

    /// Whether the derived state is of a store.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn is_of(&self, store: Uuid) -> Result<bool, StoreError> {
        Ok(self.packed.get(key::STORE)?.as_deref() == Some(store.as_bytes().as_slice()))
    }

    /// Marks the derived state as of a store.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn claim(&self, store: Uuid) -> Result<(), StoreError> {
        let entry = (key::STORE.to_vec(), Some(store.as_bytes().to_vec()));
        Ok(self.packed.merge(BTreeMap::from([entry]))?)
    }

    /// The engine below.
    pub fn engine(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    fn read<T>(&self, read: impl FnOnce(&Tail) -> T) -> T {
        read(&self.tail.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut Tail) -> T) -> T {
        write(&mut self.tail.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last transaction readers may see: the last that is durable, or as good as.
    pub fn published(&self) -> Stamp {
        self.read(|tail| tail.published)
    }

    /// Number of rows newer than the last checkpoint.
    pub fn tail_rows(&self) -> usize {
        self.read(|tail| tail.rows.len())
    }

    /// Takes in what a draft wrote; not yet seen by new readers.
    pub fn absorb(&self, (rows, counters): (BTreeMap<Vec<u8>, Row>, Counters)) {
        self.write(|tail| {
            tail.rows.extend(rows);
            tail.counters = counters;
        });
    }

    /// The last transaction taken in, seen by readers or not.
    pub fn last(&self) -> Stamp {
        self.read(|tail| last_of(tail.counters))
    }

    /// Lets readers see everything up to a transaction, which must be durable. One that readers see
    /// already, since another thread was faster, changes nothing.
    pub fn publish(&self, last: Stamp) {
        self.write(|tail| {
            if last.seq > tail.published.seq {
                tail.published = last;
            }
        });
    }

    /// Lets readers see everything taken in; all of it must be durable.
    pub fn publish_all(&self) {
        self.write(|tail| tail.published = last_of(tail.counters));
    }

    /// Writes the tail to the engine in one atomic batch. Only the writer calls it, and only when
    /// the log has everything that the tail holds.
    ///
    /// # Errors
    /// When the engine fails; the tail then stays in memory.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        let (rows, counters) = self.read(|tail| (tail.rows.clone(), tail.counters));
        let mut entries = BTreeMap::new();
        for (key, row) in
            rows.iter().chain(std::iter::once((&key::COUNTERS.to_vec(), &Row::Counters(counters))))
        {
            entries
                .extend(row::entries(key, row)?.into_iter().map(|(key, bytes)| (key, Some(bytes))));
        }
        self.packed.merge(entries)?;
        self.engine.sync()?;
        self.write(|tail| {
            tail.epoch += 1;
            for (key, row) in std::mem::take(&mut tail.rows) {
                let row = match row {
                    Row::Slot(mut slot) => {
                        Arc::make_mut(&mut slot).stored();
                        Row::Slot(slot)
                    }
                    other => other,
                };
                self.cache.insert(key, row);
            }
        });
        Ok(())
    }

    /// A draft over the state, for the one writer.
    pub fn draft(&self) -> Draft<'_> {
        Draft::new(self)
    }

    /// All stored entries in order, for comparing two states byte by byte; call after a checkpoint.
    pub fn stored(&self) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>), StoreError>> + '_ {
        self.packed.scan(&[], None).map(|entry| entry.map_err(StoreError::from))
    }

    fn chunks(&self, no: SlotNo) -> Result<Vec<Vec<u8>>, StoreError> {
        let prefix = key::chunks(no);
        let until = key::after(&prefix);
        self.packed.scan(&prefix, Some(&until)).map(|entry| Ok(entry?.1)).collect()
    }

    fn below(
        &self,
        from: &[u8],
        until: &[u8],
        limit: usize,
    ) -> Result<Vec<(Vec<u8>, Row)>, StoreError> {
        let mut below = Vec::new();
        for entry in self.packed.scan(from, Some(until)).take(limit) {
            let (key, bytes) = entry?;
            let row = row::from_bytes(&key, &bytes, |no| self.chunks(no))?;
            below.push((key, row));
        }
        Ok(below)
    }

    fn load(&self, key: &[u8]) -> Result<Option<Row>, StoreError> {
        match self.packed.get(key)? {
            Some(bytes) => row::from_bytes(key, &bytes, |no| self.chunks(no)).map(Some),
            None => Ok(None),
        }
    }
}

/// How often a row is read again when checkpoints overtake the reader, before that is an error.
const READ_TRIES: usize = 1_000;

fn overtaken() -> StoreError {
    StoreError::Missing("a moment without a checkpoint to read a row in".to_owned())
}

fn last_of(counters: Counters) -> Stamp {
    Stamp { seq: counters.seq, place: 0, recorded: counters.recorded }
}

impl Rows for State {
    // A slot is several entries of the engine, so a checkpoint may change some of them between two
    // reads. Rows leave the tail only when a checkpoint is done, and then the epoch moves: if the
    // epoch stood still and the key is not in the tail afterwards, nobody wrote it meanwhile.
    fn row(&self, key: &[u8]) -> Result<Option<Row>, StoreError> {
        for _ in 0..READ_TRIES {
            let (tail, epoch) = self.read(|tail| (tail.rows.get(key).cloned(), tail.epoch));
            if tail.is_some() {
                return Ok(tail);
            }
            if let Some(row) = self.cache.get(key) {
                return Ok(Some(row).filter(|row| !matches!(row, Row::Absent)));
            }
            let loaded = self.load(key);
            let settled = self.read(|tail| {
                if let Some(row) = tail.rows.get(key) {
                    return Some(Ok(Some(row.clone())));
                }
                if tail.epoch != epoch {
                    return None;
                }
                match &loaded {
                    Ok(Some(row)) => self.cache.insert(key.to_vec(), row.clone()),
                    Ok(None) if key.first().is_some_and(|tag| ASKED_OFTEN.contains(tag)) => {
                        self.cache.insert(key.to_vec(), Row::Absent);
                    }
                    Ok(None) | Err(_) => {}
                }
                Some(loaded)
            });
            if let Some(row) = settled {
                return row;
            }
        }
        Err(overtaken())
    }

    fn between(
        &self,
        from: &[u8],
        until: &[u8],
        limit: usize,
    ) -> Result<Vec<(Vec<u8>, Row)>, StoreError> {
        for _ in 0..READ_TRIES {
            let epoch = self.read(|tail| tail.epoch);
            let below = self.below(from, until, limit);
            // The tail is read last: what a checkpoint may have changed meanwhile is in it.
            let (tail, now) = self.read(|tail| {
                let range = tail.rows.range(from.to_vec()..until.to_vec());
                let rows = range.take(limit).map(|(key, row)| (key.clone(), row.clone()));
                (rows.collect::<Vec<_>>(), tail.epoch)
            });
            if now == epoch {
                return Ok(merged(below?, tail.into_iter(), limit));
            }
        }
        Err(overtaken())
    }

    fn counters(&self) -> Counters {
        self.read(|tail| tail.counters)
    }
}
