//! The one thing the derived state asks of a storage engine: ordered keys, atomic batches, a sync.
//!
//! Invariants every engine keeps:
//! - keys are ordered as byte strings;
//! - a batch is seen whole or not at all, by readers of other threads through a single call and
//!   after a crash by everybody; when it names a key twice, the later write counts;
//! - what was applied before a [`Engine::sync`] that returned `Ok` is there after a power loss.
//!
//! An engine must not interpret values and must not be asked for what the log alone may promise:
//! everything in it can be made anew from the log (R44), so a damaged engine is thrown away.

use std::io;

/// Bytes of the longest key an engine takes. Three names of 1,024 bytes, a tag and separators fit
/// with room to spare; longer keys would crowd the pages of an engine.
pub const KEY_BYTES_MAX: usize = 4_096;

/// One entry: its key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Ascending entries, read as they are asked for.
pub type Entries<'a> = Box<dyn Iterator<Item = Result<Entry, EngineError>> + Send + 'a>;

/// One change in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Sets the value of a key, whether or not it had one.
    Put(Vec<u8>, Vec<u8>),
    /// Takes a key away; no fault when it was not there.
    Remove(Vec<u8>),
}

impl Write {
    /// The key this change is about.
    pub fn key(&self) -> &[u8] {
        match self {
            Write::Put(key, _) | Write::Remove(key) => key,
        }
    }
}

/// Why an engine could not answer. None of these loses what was acknowledged: the log has it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The operating system refused.
    #[error("engine {engine}: cannot {action}: {source}")]
    Io {
        /// Name of the engine.
        engine: &'static str,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// What is stored does not read back; the derived state must be rebuilt from the log.
    #[error("engine {engine} is damaged ({what}); rebuild the derived state from the log")]
    Damaged {
        /// Name of the engine.
        engine: &'static str,
        /// What was seen, with the place where it is known.
        what: String,
    },
    /// A key is longer than [`KEY_BYTES_MAX`].
    #[error("a key of {bytes} bytes is too long for engine {engine}: at most {KEY_BYTES_MAX}")]
    KeyTooLong {
        /// Name of the engine.
        engine: &'static str,
        /// Length of the key, in bytes.
        bytes: usize,
    },
    /// A value is longer than the engine takes.
    #[error("a value of {bytes} bytes is too long for engine {engine}: at most {limit}")]
    ValueTooLong {
        /// Name of the engine.
        engine: &'static str,
        /// Length of the value, in bytes.
        bytes: usize,
        /// Longest value the engine takes, in bytes.
        limit: usize,
    },
}

/// An ordered map from byte strings to byte strings that outlives the process, or pretends to.
pub trait Engine: Send + Sync {
    /// The value of a key, if it has one. Logarithmic in the number of keys.
    ///
    /// # Errors
    /// [`EngineError::Io`] and [`EngineError::Damaged`].
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError>;

    /// The last entry whose key is at or before `key`. Logarithmic in the number of keys.
    ///
    /// # Errors
    /// [`EngineError::Io`] and [`EngineError::Damaged`].
    fn floor(&self, key: &[u8]) -> Result<Option<Entry>, EngineError>;

    /// Ascending entries with `from <= key < until`; without `until`, to the end. Nothing is read
    /// before it is asked for. This is no snapshot: of a batch applied meanwhile, the entries not
    /// yet passed may or may not be seen. After an error the iterator ends.
    fn scan(&self, from: &[u8], until: Option<&[u8]>) -> Entries<'_>;

    /// Applies all changes or none.
    ///
    /// # Errors
    /// [`EngineError::KeyTooLong`] and [`EngineError::ValueTooLong`] before anything is written;
    /// [`EngineError::Io`] and [`EngineError::Damaged`].
    fn apply(&self, batch: Vec<Write>) -> Result<(), EngineError>;

    /// Returns once everything applied so far would outlive a power loss.
    ///
    /// # Errors
    /// [`EngineError::Io`] and [`EngineError::Damaged`].
    fn sync(&self) -> Result<(), EngineError>;

    /// The engine's name as people know it: `sled`, `memory`.
    fn name(&self) -> &'static str;

    /// Bytes the engine takes on disk, or in memory when it has no files.
    ///
    /// # Errors
    /// [`EngineError::Io`] and [`EngineError::Damaged`].
    fn size_bytes(&self) -> Result<u64, EngineError>;
}

/// Refuses batches whose keys are too long; every engine asks this first, so that all agree.
///
/// # Errors
/// [`EngineError::KeyTooLong`] names the first such key's length.
pub fn check_keys(engine: &'static str, batch: &[Write]) -> Result<(), EngineError> {
    match batch.iter().map(|write| write.key().len()).find(|bytes| *bytes > KEY_BYTES_MAX) {
        Some(bytes) => Err(EngineError::KeyTooLong { engine, bytes }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
