//! A store, open: one writer, many readers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::admission::commit::{Outcome, Request, When, Writer};
use crate::admission::rights::{Grant, Rights};
use crate::db::error::DbError;
use crate::db::session::{Session, Snapshot};
use crate::model::limits::{CACHE_BYTES, RELAXED_SYNC_MILLIS, TAIL_ROWS_MAX};
use crate::model::name::Tenant;
use crate::store::commit::GroupSync;
use crate::store::error::StoreError;
use crate::store::identity::Identity;
use crate::store::lock::StoreLock;
use crate::store::log::SyncHandle;
use crate::store::open::{EngineChoice, How, Opened, close, in_memory, open};
use crate::store::rows::Rows;
use crate::store::state::State;
use crate::time::{Clock, Recorded, SystemClock, Zone};

/// How a store is opened.
#[derive(Clone)]
pub struct Options {
    /// Make the store if there is none.
    pub create: bool,
    /// The zone to declare when making it: local times without a zone of their own are read in it.
    pub tz: Option<Zone>,
    /// The engine of the derived state.
    pub engine: EngineChoice,
    /// Bytes of decoded rows kept in memory.
    pub cache_bytes: u64,
    /// Where the present comes from.
    pub clock: Arc<dyn Clock>,
    /// Return from a write before it is on the disk. A crash may lose what was written since the
    /// last sync (at most a second), never more, and never a part of a transaction.
    pub relaxed: bool,
    /// Make the derived state anew from the log.
    pub rebuild: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: true,
            tz: None,
            engine: EngineChoice::Sled,
            cache_bytes: CACHE_BYTES,
            clock: Arc::new(SystemClock),
            relaxed: false,
            rebuild: false,
        }
    }
}

pub(super) struct Inner {
    pub(super) state: Arc<State>,
    pub(super) clock: Arc<dyn Clock>,
    dir: Option<PathBuf>,
    pub(super) identity: Identity,
    relaxed: bool,
    writer: Mutex<Writer>,
    group: GroupSync,
    /// Rows in the tail at which the next checkpoint is tried.
    checkpoint_at: AtomicUsize,
    opened_at: u64,
    cut_bytes: u64,
    rebuilt: Option<String>,
    /// Gone once the store is closed.
    _open: Arc<()>,
    _lock: Option<StoreLock>,
}

/// An open store. Cloning it is a counter; the last one dropped closes it.
///
/// ```
/// use asof::db::{Options, Store};
/// # let dir = tempfile::tempdir()?;
/// let store = Store::open(dir.path().join("store"), Options::default())?;
/// let report = store.import_text(
///     r#"{"op":"assert","subject":"user:u","predicate":"city","value":"Berlin","scope":"acme/u","kind":"stated"}"#,
/// )?;
/// assert_eq!(report.admitted, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
}

impl Store {
    /// Opens a store, or makes one if [`Options::create`] is set.
    ///
    /// # Errors
    /// [`DbError::Store`]: no store there, not a store, held by another process, damaged.
    pub fn open(dir: impl AsRef<Path>, options: Options) -> Result<Self, DbError> {
        let how = How {
            create: options.create,
            tz: options.tz.map(|zone| zone.name().to_owned()),
            engine: options.engine,
            cache_bytes: options.cache_bytes,
            rebuild: options.rebuild,
        };
        let opened = open(dir.as_ref(), &how)?;
        Ok(Self::of(opened, options))
    }

    /// A new store in memory, gone with the last clone of it.
    ///
    /// # Errors
    /// None in practice; those of [`Store::open`].
    pub fn in_memory(options: Options) -> Result<Self, DbError> {
        let tz = options.tz.map(|zone| zone.name().to_owned());
        let opened = in_memory(options.cache_bytes, tz)?;
        Ok(Self::of(opened, options))
    }

    fn of(opened: Opened, options: Options) -> Self {
        let syncing = opened.log.sync_handle();
        let open = Arc::new(());
        if options.relaxed {
            keep_syncing(syncing.clone(), Arc::downgrade(&open));
        }
        let inner = Inner {
            opened_at: opened.state.counters().seq,
            state: opened.state,
            clock: options.clock,
            dir: opened.dir,
            identity: opened.identity,
            relaxed: options.relaxed,
            writer: Mutex::new(Writer::new(opened.log)),
            group: GroupSync::new(syncing),
            checkpoint_at: AtomicUsize::new(TAIL_ROWS_MAX),
            cut_bytes: opened.cut_bytes,
            rebuilt: opened.rebuilt,
            _open: open,
            _lock: opened.lock,
        };
        Self { inner: Arc::new(inner) }
    }

    /// The zone that the store declares for local times, if it does.
    ///
    /// # Errors
    /// [`DbError::Refused`] when this program does not know the zone.
    pub fn zone(&self) -> Result<Option<Zone>, DbError> {
        let name = self.inner.identity.tz.as_deref();
        let parsed = name.map(Zone::parse).transpose();
        parsed.map_err(|error| crate::exchange::fields::bad_time("tz", &error).into())
    }

    /// Bytes of a torn tail that opening cut off the log.
    pub fn cut_bytes(&self) -> u64 {
        self.inner.cut_bytes
    }

    /// Why opening made the derived state anew, if it did.
    pub fn rebuilt(&self) -> Option<&str> {
        self.inner.rebuilt.as_deref()
    }

    /// A session of the store's owner: every tenant, every right.
    pub fn owner(&self) -> Session {
        Session::new(self.clone(), Rights::owner())
    }

    /// A session with every right in one tenant, bound to it.
    pub fn session(&self, tenant: Tenant) -> Session {
        Session::new(self.clone(), Rights::owner_of(tenant))
    }

    /// A session of a principal: one tenant, and there only what the grants allow.
    pub fn session_with(&self, tenant: Tenant, grants: Vec<Grant>) -> Session {
        Session::new(self.clone(), Rights::granted(tenant, grants))
    }

    /// The present: the clock, or the last recorded instant if that is later (R7).
    pub fn now(&self) -> Recorded {
        self.inner.clock.now().max(self.inner.state.published().recorded)
    }

    pub(super) fn snapshot(&self, rights: Rights) -> Snapshot {
        let pin = self.inner.state.published().recorded;
        let now = self.inner.clock.now().max(pin);
        Snapshot::new(Arc::clone(&self.inner.state), rights, pin, now)
    }

    pub(super) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one transaction and waits until it is durable, unless the store is relaxed. Several
    /// threads that wait share one sync. Readers see it once it is durable, not before.
    pub(super) fn transact(
        &self,
        rights: &Rights,
        request: &Request<'_>,
    ) -> Result<Outcome, DbError> {
        let state = &self.inner.state;
        let mut writer = self.writer();
        let outcome = writer.transact(state, rights, request)?;
        if request.dry_run || outcome.refused().is_some() {
            return Ok(outcome);
        }
        // Also if nothing changed: what is unchanged may itself not be durable yet.
        writer.flush()?;
        let last = state.last();
        drop(writer);
        if !self.inner.relaxed {
            self.inner.group.wait(last.seq).map_err(StoreError::from)?;
        }
        state.publish(last);
        if state.tail_rows() > self.inner.checkpoint_at.load(Ordering::Relaxed) {
            self.settle(&mut self.writer())?;
        }
        Ok(outcome)
    }

    /// Makes everything appended durable and lets readers see it; writes a checkpoint if the tail
    /// has grown long. A checkpoint that fails is no failure of what was written: the tail stays,
    /// and it is tried again once that has grown by as much again.
    pub(super) fn settle(&self, writer: &mut Writer) -> Result<(), DbError> {
        writer.sync()?;
        let state = &self.inner.state;
        state.publish_all();
        let rows = state.tail_rows();
        if rows > self.inner.checkpoint_at.load(Ordering::Relaxed) {
            let next = match state.checkpoint() {
                Ok(()) => TAIL_ROWS_MAX,
                Err(_) => rows.saturating_add(TAIL_ROWS_MAX),
            };
            self.inner.checkpoint_at.store(next, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The instant of a write now.
    pub(super) fn when(&self) -> When {
        When::Now(self.inner.clock.now())
    }

    /// Makes what a relaxed store has not yet written durable.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> Result<(), DbError> {
        let mut writer = self.writer();
        self.settle(&mut writer)
    }

    /// Writes the derived state to its engine, so that the next open has nothing to replay.
    ///
    /// # Errors
    /// When the disk or the engine fails.
    pub fn checkpoint(&self) -> Result<(), DbError> {
        let mut writer = self.writer();
        self.settle(&mut writer)?;
        Ok(self.inner.state.checkpoint()?)
    }
}

/// Syncs what a relaxed store has handed to the operating system, until the store is closed.
fn keep_syncing(handle: SyncHandle, open: Weak<()>) {
    std::thread::spawn(move || {
        while open.strong_count() > 0 {
            std::thread::sleep(Duration::from_millis(RELAXED_SYNC_MILLIS));
            // A failure poisons the log, and the next write says so.
            if handle.sync().is_err() {
                return;
            }
        }
    });
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let since = self.state.counters().seq.saturating_sub(self.opened_at);
        // A close that fails is an unclean close: the next open replays the log.
        if let Some(dir) = &self.dir
            && writer.trim().is_ok()
        {
            let _unclean = close(dir, &self.state, since);
        }
    }
}
