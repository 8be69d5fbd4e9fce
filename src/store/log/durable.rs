//! How far the log is written and synced, shared between the log and whoever syncs it.
//!
//! Invariant: everything up to `flushed.seq` is in `flushed.file` or in an earlier segment that was
//! synced before this one was begun. So syncing `flushed.file` makes all of it durable, also when
//! the log rolls over meanwhile.
//!
//! A failed sync must not be tried again: the system may have thrown away what it could not write
//! and report success the next time. The log is poisoned instead.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::store::log::error::LogError;
use crate::store::medium::MediumFile;

/// The segment that was written last, and how far.
pub(super) struct Flushed {
    pub(super) file: Arc<dyn MediumFile>,
    pub(super) path: PathBuf,
    pub(super) seq: u64,
}

pub(super) struct Durable {
    flushed: Mutex<Flushed>,
    // Held while syncing: of two syncs at once only one may be told of a failure.
    syncing: Mutex<()>,
    synced: AtomicU64,
    poison: OnceLock<String>,
}

impl Durable {
    pub(super) fn new(flushed: Flushed) -> Durable {
        let synced = AtomicU64::new(flushed.seq);
        let (flushed, syncing) = (Mutex::new(flushed), Mutex::new(()));
        Durable { flushed, syncing, synced, poison: OnceLock::new() }
    }

    pub(super) fn flushed(&self) -> MutexGuard<'_, Flushed> {
        // The three fields are set by plain moves that cannot panic half-way.
        self.flushed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn synced(&self) -> u64 {
        self.synced.load(Ordering::Acquire)
    }

    pub(super) fn check(&self) -> Result<(), LogError> {
        match self.poison.get() {
            None => Ok(()),
            Some(reason) => Err(LogError::Poisoned { reason: reason.clone() }),
        }
    }

    // The first failure is the one that is told later.
    pub(super) fn poisoned(&self, error: LogError) -> LogError {
        self.poison.get_or_init(|| error.to_string());
        error
    }

    pub(super) fn sync(&self) -> Result<u64, LogError> {
        let _one_at_a_time = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        let (file, path, seq) = {
            let flushed = self.flushed();
            (Arc::clone(&flushed.file), flushed.path.clone(), flushed.seq)
        };
        if seq > self.synced() {
            let synced = file.sync().map_err(|source| LogError::io(path, "sync", source));
            synced.map_err(|error| self.poisoned(error))?;
            self.synced.fetch_max(seq, Ordering::AcqRel);
        }
        Ok(seq)
    }
}

/// Syncs what a log has flushed without holding the log, for many writers that share one sync.
#[derive(Clone)]
pub struct SyncHandle {
    pub(super) durable: Arc<Durable>,
}

impl SyncHandle {
    /// Returns once everything flushed before the call would outlive a power loss, with the last
    /// sequence number of that. Costs one `fdatasync`, or nothing when that is so already.
    ///
    /// # Errors
    /// [`LogError::Io`] and [`LogError::NoSpace`] when the sync fails, which poisons the log;
    /// [`LogError::Poisoned`] when it was.
    pub fn sync(&self) -> Result<u64, LogError> {
        self.durable.sync()
    }

    /// The last sequence number known to outlive a power loss.
    pub fn synced(&self) -> u64 {
        self.durable.synced()
    }
}
