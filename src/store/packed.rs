//! Many small entries in few engine keys: entries are sorted into blocks of about 4 KiB, and the
//! engine holds one key per block, the block's first key (R45: an engine pays per key).
//!
//! Invariants:
//! - a block's engine key is the key of its first entry; a key lives in the last block whose engine
//!   key is at or before it, and keys before the first block go into the first block;
//! - blocks do not overlap, and none is empty;
//! - one merge is one engine batch.
//!
//! The map owns every key of its engine. It must not cache: the caller keeps decoded rows.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::store::block::{self, Block, BlockFault};
use crate::store::engine::{Engine, EngineError, Entries, Entry, KEY_BYTES_MAX, Write};

/// Bytes a block aims at before compression: one page of a file system, and few enough entries
/// that a single answer need not decode much.
pub const BLOCK_BYTES: usize = 4 * 1024;
/// Bytes above which a block is split. With its key it stays one entry of any engine, and between
/// [`BLOCK_BYTES`] and this a block can grow without being split each time.
pub const BLOCK_BYTES_MAX: usize = 5 * 1024 + 512;
/// Bytes below which a block is joined with the one after it, if that is not a large one.
pub const BLOCK_BYTES_MIN: usize = 1024;
/// Bytes of the largest value; such a value is a block of its own and is held in memory whole.
pub const VALUE_BYTES_MAX: usize = 256 << 20;

/// Why the packed map could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackedError {
    /// The engine could not answer.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A block does not read back; the derived state must be rebuilt from the log.
    #[error("the block at key {key} is damaged: {what}; rebuild the derived state from the log")]
    Damaged {
        /// Key of the block, printable.
        key: String,
        /// How the damage shows.
        what: &'static str,
    },
    /// A block was written by other code; the derived state must be rebuilt from the log.
    #[error(
        "the block at key {key} has version {version}, this program reads {}; \
         rebuild the derived state from the log",
        block::VERSION
    )]
    Version {
        /// Key of the block, printable.
        key: String,
        /// The version it carries.
        version: u8,
    },
    /// An entry is longer than the map takes; nothing was written.
    #[error("an entry has {bytes} bytes in its {part}; at most {limit} are allowed")]
    TooLong {
        /// `key` or `value`.
        part: &'static str,
        /// Its length, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
}

/// An ordered map over an engine. Any number of threads may read while one merges.
pub struct Packed {
    engine: Arc<dyn Engine>,
    // Counts merges. Held for writing while a batch is applied, so that a scan that finds it
    // unchanged knows that the blocks it has not read yet are where they were.
    layout: RwLock<u64>,
    merging: Mutex<()>,
}

impl Packed {
    /// A map over all keys of `engine`. There must be only one per engine at a time. Reads nothing.
    pub fn new(engine: Arc<dyn Engine>) -> Packed {
        Packed { engine, layout: RwLock::new(0), merging: Mutex::new(()) }
    }

    /// The engine below.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// The value of a key, if it has one: one engine read and one block to decode.
    ///
    /// # Errors
    /// [`PackedError::Engine`]; [`PackedError::Damaged`] and [`PackedError::Version`] for the block
    /// the key is in.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, PackedError> {
        let Some((block_key, stored)) = self.engine.floor(key)? else { return Ok(None) };
        let block = read(&block_key, &stored)?;
        let value = block.value(key).map_err(|fault| named(&block_key, fault))?;
        Ok(value.map(<[u8]>::to_vec))
    }

    /// Ascending entries with `from <= key < until`; without `until`, to the end. Blocks are read
    /// one by one as they are needed. A merge meanwhile neither hides nor doubles an entry it does
    /// not touch; of those it changes, the ones in blocks not yet read are seen changed. After an
    /// error the iterator ends.
    pub fn scan(&self, from: &[u8], until: Option<&[u8]>) -> Scan<'_> {
        Scan {
            packed: self,
            blocks: None,
            layout: 0,
            lower: Bound::Included(from.to_vec()),
            until: until.map(<[u8]>::to_vec),
            ready: Vec::new().into_iter(),
            ended: until.is_some_and(|until| until <= from),
        }
    }

    /// Sets the keys that come with a value and takes away those that come with `None`, all in one
    /// engine batch. Cost: each block that is touched is read and written once, and its neighbour
    /// read; the whole batch is held in memory.
    ///
    /// # Errors
    /// [`PackedError::TooLong`], [`PackedError::Damaged`], [`PackedError::Version`] and
    /// [`PackedError::Engine`]; nothing was merged then.
    pub fn merge(&self, entries: BTreeMap<Vec<u8>, Option<Vec<u8>>>) -> Result<(), PackedError> {
        for (key, value) in &entries {
            check_length("key", key.len(), KEY_BYTES_MAX)?;
            check_length("value", value.as_ref().map_or(0, Vec::len), VALUE_BYTES_MAX)?;
        }
        let _one_at_a_time = self.merging.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = self.batch(entries)?;
        if batch.is_empty() {
            return Ok(());
        }
        let mut layout = self.layout.write().unwrap_or_else(PoisonError::into_inner);
        *layout = layout.wrapping_add(1);
        Ok(self.engine.apply(batch)?)
    }

    // The engine batch that merges the entries.
    fn batch(
        &self,
        entries: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    ) -> Result<Vec<Write>, PackedError> {
        let mut changes = entries.into_iter().peekable();
        let mut batch = Vec::new();
        // Entries on their way into a block, and the neighbour that they were too few without.
        let mut open: Vec<Entry> = Vec::new();
        let mut neighbour: Option<Entry> = None;
        loop {
            let home = match (neighbour.take(), changes.peek()) {
                (Some(neighbour), _) => Some(neighbour),
                (None, Some((key, _))) => self.home(key)?,
                (None, None) => return Ok(batch),
            };
            let next = match &home {
                Some((block_key, _)) => self.after(block_key)?,
                None => None,
            };
            let entries = match &home {
                Some((key, stored)) => {
                    read(key, stored)?.entries().map_err(|fault| named(key, fault))?
                }
                None => Vec::new(),
            };
            let joined = !open.is_empty();
            let limit = next.as_ref().map(|(key, _)| key.as_slice());
            let differs = join(&mut open, entries, &mut changes, limit);
            if !differs && !joined {
                open.clear();
                continue;
            }
            batch.extend(home.map(|(key, _)| Write::Remove(key)));
            let small = !open.is_empty() && body_bytes(&open) < BLOCK_BYTES_MIN;
            neighbour = next.filter(|(_, stored)| small && stored.len() <= BLOCK_BYTES_MAX);
            if neighbour.is_none() {
                batch.extend(pieces(std::mem::take(&mut open)));
            }
        }
    }

    // The block a key belongs into; `None` when there are no blocks.
    fn home(&self, key: &[u8]) -> Result<Option<Entry>, PackedError> {
        match self.engine.floor(key)? {
            Some(block) => Ok(Some(block)),
            None => Ok(self.engine.scan(&[], None).next().transpose()?),
        }
    }

    // The block after the one at `block_key`.
    fn after(&self, block_key: &[u8]) -> Result<Option<Entry>, PackedError> {
        let mut from = block_key.to_vec();
        from.push(0);
        Ok(self.engine.scan(&from, None).next().transpose()?)
    }
}

/// Ascending entries of a [`Packed`] map.
pub struct Scan<'a> {
    packed: &'a Packed,
    // Blocks not read yet, and the count of merges they were found at.
    blocks: Option<Entries<'a>>,
    layout: u64,
    // What is still to come of the map, once `ready` is spent.
    lower: Bound<Vec<u8>>,
    until: Option<Vec<u8>>,
    ready: std::vec::IntoIter<Entry>,
    ended: bool,
}

impl Scan<'_> {
    // Decodes the next block that holds something; `false` at the end.
    fn load(&mut self) -> Result<bool, PackedError> {
        let packed = self.packed;
        let layout = packed.layout.read().unwrap_or_else(PoisonError::into_inner);
        let mut seeking = false;
        let mut blocks = match self.blocks.take() {
            Some(blocks) if self.layout == *layout => blocks,
            Some(_) | None => {
                seeking = true;
                let (Bound::Included(lower) | Bound::Excluded(lower)) = &self.lower else {
                    return Ok(false);
                };
                let first = packed.engine.floor(lower)?;
                let from = first.as_ref().map_or(lower.as_slice(), |(key, _)| key.as_slice());
                packed.engine.scan(from, self.until.as_deref())
            }
        };
        self.layout = *layout;
        for found in blocks.by_ref() {
            let (key, stored) = found?;
            let mut entries = read(&key, &stored)?.entries().map_err(|fault| named(&key, fault))?;
            let passed = entries.iter().take_while(|(key, _)| self.passed(key)).count();
            if passed > 0 && !seeking {
                return Err(named(&key, BlockFault::Damaged("it overlaps the block before it")));
            }
            seeking = false;
            entries.drain(..passed);
            if let Some((last, _)) = entries.last() {
                self.lower = Bound::Excluded(last.clone());
                self.ready = entries.into_iter();
                self.blocks = Some(blocks);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn passed(&self, key: &[u8]) -> bool {
        match &self.lower {
            Bound::Included(lower) => key < lower.as_slice(),
            Bound::Excluded(lower) => key <= lower.as_slice(),
            Bound::Unbounded => false,
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<Entry, PackedError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            if let Some(entry) = self.ready.next() {
                if self.until.as_ref().is_some_and(|until| entry.0 >= *until) {
                    break;
                }
                return Some(Ok(entry));
            }
            match self.load() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        self.ended = true;
        None
    }
}

// Appends to `open` the entries of a block with the changes below `limit`; whether any mattered.
fn join(
    open: &mut Vec<Entry>,
    entries: Vec<Entry>,
    changes: &mut Peekable<impl Iterator<Item = (Vec<u8>, Option<Vec<u8>>)>>,
    limit: Option<&[u8]>,
) -> bool {
    let mut differs = false;
    let here = |(key, _): &(Vec<u8>, Option<Vec<u8>>)| limit.is_none_or(|end| **key < *end);
    let mut kept = entries.into_iter().peekable();
    while let Some((key, value)) = changes.next_if(here) {
        while let Some(entry) = kept.next_if(|entry| entry.0 < key) {
            open.push(entry);
        }
        let before = kept.next_if(|entry| entry.0 == key).map(|(_, before)| before);
        differs |= before != value;
        open.extend(value.map(|value| (key, value)));
    }
    open.extend(kept);
    differs
}

fn body_bytes(entries: &[Entry]) -> usize {
    let mut before = None;
    let mut bytes = 0;
    for (key, value) in entries {
        bytes += block::coded_bytes(before, key, value);
        before = Some(key.as_slice());
    }
    bytes
}

// Blocks of even length that hold the entries.
fn pieces(entries: Vec<Entry>) -> Vec<Write> {
    let total = body_bytes(&entries);
    let goal = match total {
        0..=BLOCK_BYTES_MAX => BLOCK_BYTES_MAX,
        _ => total.div_ceil(total.div_ceil(BLOCK_BYTES)),
    };
    let mut writes = Vec::new();
    let mut piece: Vec<Entry> = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        let before = piece.last().map(|(key, _)| key.as_slice());
        let more = block::coded_bytes(before, &entry.0, &entry.1);
        if !piece.is_empty() && (bytes >= goal || bytes + more > BLOCK_BYTES_MAX) {
            writes.extend(put(std::mem::take(&mut piece)));
            bytes = 0;
        }
        bytes += more;
        piece.push(entry);
    }
    writes.extend(put(piece));
    writes
}

fn put(piece: Vec<Entry>) -> Option<Write> {
    let stored = block::written(&piece);
    piece.into_iter().next().map(|(key, _)| Write::Put(key, stored))
}

fn read(key: &[u8], stored: &[u8]) -> Result<Block, PackedError> {
    Block::read(key, stored).map_err(|fault| named(key, fault))
}

fn named(key: &[u8], fault: BlockFault) -> PackedError {
    let key = key.escape_ascii().to_string();
    match fault {
        BlockFault::Version(version) => PackedError::Version { key, version },
        BlockFault::Damaged(what) => PackedError::Damaged { key, what },
    }
}

fn check_length(part: &'static str, bytes: usize, limit: usize) -> Result<(), PackedError> {
    if bytes > limit {
        return Err(PackedError::TooLong { part, bytes, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
