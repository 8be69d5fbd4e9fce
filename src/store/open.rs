//! Opening and recovery (R44–R47): lock, identity, log, engine; then the tail of the log is
//! applied. On doubt about the derived state it is made anew from the log; the log is never guessed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use crate::model::event::Transaction;
use crate::model::limits::{TAIL_ROWS_MAX, TAIL_TRANSACTIONS_MAX};
use crate::store::apply::apply_transaction;
use crate::store::codec;
use crate::store::engine::Engine;
use crate::store::error::StoreError;
use crate::store::faulty::Faulty;
use crate::store::identity::{self, Found, Identity, io};
use crate::store::lock::StoreLock;
use crate::store::log::Log;
use crate::store::memory::Memory;
use crate::store::rows::{Lookup, Rows};
use crate::store::sled::Sled;
use crate::store::state::State;

/// Which engine holds the derived state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// sled, in the store's directory.
    #[default]
    Sled,
    /// Memory: derived anew at each open.
    Memory,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct How {
    /// Make the store if there is none.
    pub create: bool,
    /// The zone to declare when making it.
    pub tz: Option<String>,
    /// The engine of the derived state.
    pub engine: EngineChoice,
    /// Bytes of decoded rows to keep.
    pub cache_bytes: u64,
    /// Make the derived state anew from the log.
    pub rebuild: bool,
}

/// A store, opened.
pub struct Opened {
    /// Its directory; `None` for a store in memory.
    pub dir: Option<PathBuf>,
    /// What it says of itself.
    pub identity: Identity,
    /// The derived state, up to the end of the log.
    pub state: Arc<State>,
    /// The log.
    pub log: Log,
    /// Bytes of a torn tail that were cut.
    pub cut_bytes: u64,
    /// Whether the derived state was made anew, and why.
    pub rebuilt: Option<String>,
    /// Held until the store is closed; `None` for a store in memory.
    pub lock: Option<StoreLock>,
}

/// Opens a store.
///
/// # Errors
/// [`StoreError::NoStore`] when there is none and it is not to be made; [`StoreError::Lock`] when
/// another process has it; what the identity, the log and the engine say.
pub fn open(dir: &Path, how: &How) -> Result<Opened, StoreError> {
    if Identity::find(dir)? == Found::Nothing && !how.create {
        return Err(StoreError::NoStore(dir.display().to_string()));
    }
    fs::create_dir_all(dir).map_err(io("make", dir))?;
    let lock = StoreLock::acquire(dir)?;
    // Asked again now that nobody else can be making it.
    let (identity, log, cut_bytes, lost) = match Identity::find(dir)? {
        Found::Store(identity) => reopen(dir, how, identity)?,
        Found::Nothing | Found::Unfinished if how.create => create(dir, how)?,
        Found::Nothing | Found::Unfinished => {
            return Err(StoreError::NoStore(dir.display().to_string()));
        }
    };
    let (state, rebuilt) = derive(dir, how, &identity, &log)?;
    Ok(Opened {
        dir: Some(dir.to_owned()),
        identity,
        state: Arc::new(state),
        log,
        cut_bytes,
        rebuilt: rebuilt.map(|why| why + &lost),
        lock: Some(lock),
    })
}

/// A new store in memory, log and all: for tests, and for what need not outlive the process.
///
/// # Errors
/// None in practice; those of the log and the engine.
pub fn in_memory(cache_bytes: u64, tz: Option<String>) -> Result<Opened, StoreError> {
    let identity = Identity { format: identity::FORMAT, store: Uuid::now_v7(), tz };
    let log = Log::create_on(Arc::new(Faulty::new()), identity.store)?;
    let state = Arc::new(State::new(Arc::new(Memory::new()), cache_bytes)?);
    Ok(Opened { dir: None, identity, state, log, cut_bytes: 0, rebuilt: None, lock: None })
}

type WithLog = (Identity, Log, u64, String);

/// The log of a store that is there. To rebuild is to take what the log holds, also when more was
/// there once: that is then said.
fn reopen(dir: &Path, how: &How, identity: Identity) -> Result<WithLog, StoreError> {
    let closed = identity::closed_at(dir);
    let must_reach = if how.rebuild { 0 } else { closed };
    let (log, opened) = Log::open(&identity::log(dir), identity.store, must_reach)?;
    let lost = if opened.last_seq < closed {
        format!("; records {} to {closed} are lost", opened.last_seq + 1)
    } else {
        String::new()
    };
    Ok((identity, log, opened.cut_bytes, lost))
}

/// A new store. It is one once its identity is written; what an earlier try left before that holds
/// nothing and is made again.
fn create(dir: &Path, how: &How) -> Result<WithLog, StoreError> {
    let identity = Identity { format: identity::FORMAT, store: Uuid::now_v7(), tz: how.tz.clone() };
    let path = identity::log(dir);
    remove(&path)?;
    let log = Log::create(&path, identity.store)?;
    identity.write(dir)?;
    Ok((identity, log, 0, String::new()))
}

/// Takes a file or a directory away, if it is there.
fn remove(path: &Path) -> Result<(), StoreError> {
    let gone = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    gone.map_err(io("remove", path))
}

/// The derived state up to the end of the log. What cannot be read, is of another store or has
/// seen more than the log holds is made anew, except the last: that is damage of the log.
fn derive(
    dir: &Path,
    how: &How,
    identity: &Identity,
    log: &Log,
) -> Result<(State, Option<String>), StoreError> {
    if how.engine == EngineChoice::Memory {
        let state = State::new(Arc::new(Memory::new()), how.cache_bytes)?;
        replay(&state, log)?;
        return Ok((state, None));
    }
    let path = identity::derived(dir);
    let doubt = if how.rebuild {
        "asked for".to_owned()
    } else {
        match load(&path, how, identity, log) {
            Ok(state) => return Ok((state, None)),
            Err(
                error @ (StoreError::Log(_)
                | StoreError::Record { .. }
                | StoreError::LogTooShort { .. }
                | StoreError::Io { .. }),
            ) => return Err(error),
            Err(error) => error.to_string(),
        }
    };
    remove(&path)?;
    let state = State::new(sled(&path, how)?, how.cache_bytes)?;
    state.claim(identity.store)?;
    replay(&state, log)?;
    state.checkpoint()?;
    Ok((state, Some(doubt)))
}

fn sled(path: &Path, how: &How) -> Result<Arc<dyn Engine>, StoreError> {
    Ok(Arc::new(Sled::open(path, how.cache_bytes)?))
}

fn load(path: &Path, how: &How, identity: &Identity, log: &Log) -> Result<State, StoreError> {
    let fresh = !path.exists();
    let state = State::new(sled(path, how)?, how.cache_bytes)?;
    if fresh {
        state.claim(identity.store)?;
    } else if !state.is_of(identity.store)? {
        return Err(StoreError::Missing("the mark of this store in its derived state".to_owned()));
    }
    let seen = state.counters().seq;
    if seen > log.last_seq() {
        return Err(StoreError::LogTooShort { log: log.last_seq(), seen });
    }
    same_history(&state, log, seen)?;
    replay(&state, log)?;
    Ok(state)
}

/// Refuses derived state that was made from another log of the same store, such as that of a copy
/// that went its own way: the last transaction applied must be the one that the log has there.
fn same_history(state: &State, log: &Log, seen: u64) -> Result<(), StoreError> {
    if seen == 0 {
        return Ok(());
    }
    let Some(record) = log.read_from(seen)?.next() else {
        return Err(StoreError::LogTooShort { log: log.last_seq(), seen });
    };
    let (seq, bytes) = record?;
    let transaction: Transaction = codec::from_bytes(seq, &bytes)?;
    if state.transaction(transaction.tx_id)? == Some(seq) {
        return Ok(());
    }
    Err(StoreError::Missing(format!("transaction {} of the log", transaction.tx_id)))
}

/// Applies what the log holds beyond the state, with checkpoints so that memory stays bounded.
///
/// # Errors
/// When a record of the log is damaged or speaks of what is not there.
pub fn replay(state: &State, log: &Log) -> Result<u64, StoreError> {
    let from = state.counters().seq + 1;
    let mut applied = 0;
    if from > log.last_seq() {
        return Ok(applied);
    }
    for record in log.read_from(from)? {
        let (seq, bytes) = record?;
        let transaction = codec::from_bytes(seq, &bytes)?;
        let mut draft = state.draft();
        apply_transaction(&mut draft, &transaction)?;
        state.absorb(draft.into_rows());
        applied += 1;
        if state.tail_rows() > TAIL_ROWS_MAX {
            state.checkpoint()?;
        }
    }
    state.publish_all();
    Ok(applied)
}

/// Closes cleanly: a checkpoint if the tail would take long to replay, then the mark.
///
/// # Errors
/// When the engine or the directory cannot be written.
pub fn close(dir: &Path, state: &State, tail_transactions: u64) -> Result<(), StoreError> {
    if tail_transactions > TAIL_TRANSACTIONS_MAX
        || state.tail_rows() as u64 > 20 * TAIL_TRANSACTIONS_MAX
    {
        state.checkpoint()?;
    }
    identity::mark_closed(dir, state.counters().seq)
}
