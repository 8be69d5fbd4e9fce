//! The default engine: one sled tree. This is the only file that names sled.
//!
//! What sled 0.34 does and what this file does about it:
//! - A page that outgrows a quarter of sled's segment (128 KiB) becomes a file of its own that is
//!   never cleaned. A leaf holds up to 16 entries, 20 while leaves are joined, so an entry must
//!   stay within [`ENTRY_BYTES_MAX`]; longer values are cut into parts and joined when read.
//! - `flush` hands bytes to the operating system without waiting for the disk: [`Engine::sync`]
//!   syncs the file itself afterwards.
//! - Its background flusher is off: the caller says when.
//! - Its threads may hold the file's lock for a moment after a drop: opening tries again for up to
//!   [`LOCK_PATIENCE`]. Other processes are kept out by the lock of the store, not by this one.
//! - On damaged files it may panic. Every call is caught, becomes [`EngineError::Damaged`], and the
//!   engine refuses everything after that.
//! - Not used: transactions (closures run again, no ranges), generated ids, merge operators.
//!
//! Layout: `h` + key holds either `0` + the value, or `1` + group (8 bytes) + count of parts
//! (4 bytes) + length of the value (8 bytes); `p` + group + place (4 bytes) holds one part. A value
//! that is written again gets a new group, so a reader that finds a part missing has merely been
//! overtaken and reads the head again.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::store::engine::{Engine, EngineError, Entries, Entry, Write, check_keys};

const NAME: &str = "sled";

/// Bytes of key and value together in one sled entry: 20 of them stay below 128 KiB.
pub const ENTRY_BYTES_MAX: usize = 6 * 1024;
/// Bytes of one part of a long value: an entry's limit less the part's key and overhead.
pub const PART_BYTES: usize = ENTRY_BYTES_MAX - 64;
/// Bytes of the longest value. A joined value is held in memory.
pub const VALUE_BYTES_MAX: usize = 1 << 30;
/// Bytes of the smallest cache: less makes sled reread every page.
pub const CACHE_BYTES_MIN: u64 = 1 << 20;

/// How long opening waits for the threads of an engine that was dropped just before.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(2);

const HEAD: u8 = b'h';
const PART: u8 = b'p';
const WHOLE: u8 = 0;
const PARTED: u8 = 1;
// A reader that is overtaken this often in a row is not overtaken: the parts are gone.
const READ_TRIES: usize = 100;

/// A sled tree in a directory of its own.
pub struct Sled {
    db: sled::Db,
    path: PathBuf,
    // The next free group; held while a batch is written, so batches go one at a time.
    next_group: Mutex<u64>,
    broken: AtomicBool,
}

impl Sled {
    /// Opens the tree in `path`, making it when it is not there. `cache_bytes` bounds sled's page
    /// cache, in bytes; less than [`CACHE_BYTES_MIN`] counts as that.
    ///
    /// Cost: sled replays what it wrote since its last snapshot; after a clean drop, little.
    ///
    /// # Errors
    /// [`EngineError::Io`] when the directory cannot be read or written or another process has it
    /// open; [`EngineError::Damaged`] when sled cannot make sense of its files.
    pub fn open(path: &Path, cache_bytes: u64) -> Result<Sled, EngineError> {
        let config = sled::Config::new()
            .path(path)
            .cache_capacity(cache_bytes.max(CACHE_BYTES_MIN))
            .flush_every_ms(None);
        let broken = AtomicBool::new(false);
        let (db, next_group) = caught(&broken, || {
            let db = patiently_opened(&config).map_err(|error| fault("open", error))?;
            let next_group = match db.last().map_err(|error| fault("read", error))? {
                Some((key, _)) if key.first() == Some(&PART) => match group_of(&key) {
                    Some(group) => group.saturating_add(1),
                    None => return Err(damaged("the key of a part is cut short".to_owned())),
                },
                Some(_) | None => 0,
            };
            Ok((db, next_group))
        })?;
        // The names of new files must outlive a power loss as well.
        for directory in [Some(path), path.parent()].into_iter().flatten() {
            sync_directory(directory)?;
        }
        let path = path.to_owned();
        Ok(Sled { db, path, next_group: Mutex::new(next_group), broken })
    }

    // What the head of a key says: the value, or where its parts are.
    fn value(&self, head_key: &[u8], mut head: Vec<u8>) -> Result<Option<Vec<u8>>, EngineError> {
        for _ in 0..READ_TRIES {
            let parts = match head.split_first() {
                Some((&WHOLE, _)) => {
                    head.remove(0);
                    return Ok(Some(head));
                }
                Some((&PARTED, rest)) => Parts::read(rest),
                Some(_) | None => None,
            };
            let Some(parts) = parts else {
                return Err(damaged(format!("the head of key {} is malformed", shown(head_key))));
            };
            if let Some(value) = self.joined(&parts)? {
                return Ok(Some(value));
            }
            match self.db.get(head_key).map_err(|error| fault("read", error))? {
                None => return Ok(None),
                Some(now) if now == head => {
                    let key = shown(head_key);
                    return Err(damaged(format!("parts of the value of key {key} are missing")));
                }
                Some(now) => head = now.to_vec(),
            }
        }
        Err(damaged(format!("the value of key {} never settles", shown(head_key))))
    }

    // `None` when parts are missing or the length differs.
    fn joined(&self, parts: &Parts) -> Result<Option<Vec<u8>>, EngineError> {
        let mut value = Vec::new();
        for place in 0..parts.count {
            let part = self.db.get(part_key(parts.group, place));
            match part.map_err(|error| fault("read", error))? {
                None => return Ok(None),
                Some(part) => value.extend_from_slice(&part),
            }
        }
        Ok((u64::try_from(value.len()) == Ok(parts.bytes)).then_some(value))
    }

    fn entry(&self, found: (sled::IVec, sled::IVec)) -> Result<Option<Entry>, EngineError> {
        let (head_key, head) = found;
        let Some((&HEAD, key)) = head_key.split_first() else {
            return Err(damaged(format!("key {} is of no known kind", shown(&head_key))));
        };
        let value = self.value(&head_key, head.to_vec())?;
        Ok(value.map(|value| (key.to_vec(), value)))
    }

    fn apply_heads(&self, heads: BTreeMap<Vec<u8>, Option<Vec<u8>>>) -> Result<(), EngineError> {
        let mut next_group = self.next_group.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = sled::Batch::default();
        for (key, value) in heads {
            let head_key = head_key(&key);
            let before = self.db.get(&head_key).map_err(|error| fault("read", error))?;
            if let Some((&PARTED, rest)) = before.as_deref().and_then(<[u8]>::split_first)
                && let Some(parts) = Parts::read(rest)
            {
                (0..parts.count).for_each(|place| batch.remove(part_key(parts.group, place)));
            }
            match value {
                None if before.is_none() => {}
                None => batch.remove(head_key),
                Some(value) if head_key.len() + 1 + value.len() <= ENTRY_BYTES_MAX => {
                    let mut head = Vec::with_capacity(value.len() + 1);
                    head.push(WHOLE);
                    head.extend_from_slice(&value);
                    batch.insert(head_key, head);
                }
                Some(value) => {
                    let parts = Parts::cut(*next_group, &value, &mut batch);
                    *next_group = next_group.saturating_add(1);
                    batch.insert(head_key, parts.written());
                }
            }
        }
        self.db.apply_batch(batch).map_err(|error| fault("write", error))
    }
}

impl Engine for Sled {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        caught(&self.broken, || {
            let head_key = head_key(key);
            match self.db.get(&head_key).map_err(|error| fault("read", error))? {
                None => Ok(None),
                Some(head) => self.value(&head_key, head.to_vec()),
            }
        })
    }

    fn floor(&self, key: &[u8]) -> Result<Option<Entry>, EngineError> {
        caught(&self.broken, || {
            for _ in 0..READ_TRIES {
                let mut before = self.db.range(vec![HEAD]..=head_key(key));
                let Some(found) = before.next_back() else { return Ok(None) };
                // `None` here: removed between the two reads; look again.
                if let Some(entry) = self.entry(found.map_err(|error| fault("read", error))?)? {
                    return Ok(Some(entry));
                }
            }
            Err(damaged(format!("the entry at or before key {} never settles", shown(key))))
        })
    }

    fn scan(&self, from: &[u8], until: Option<&[u8]>) -> Entries<'_> {
        let from = head_key(from);
        let until = until.map_or_else(|| vec![HEAD + 1], head_key);
        if from >= until {
            return Box::new(std::iter::empty());
        }
        let mut found = match caught(&self.broken, || Ok(self.db.range(from..until))) {
            Ok(found) => Some(found),
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        Box::new(std::iter::from_fn(move || {
            let step = caught(&self.broken, || {
                while let Some(next) = found.as_mut().and_then(Iterator::next) {
                    let next = next.map_err(|error| fault("read", error))?;
                    if let Some(entry) = self.entry(next)? {
                        return Ok(Some(entry));
                    }
                }
                Ok(None)
            });
            if !matches!(step, Ok(Some(_))) {
                found = None;
            }
            step.transpose()
        }))
    }

    fn apply(&self, batch: Vec<Write>) -> Result<(), EngineError> {
        check_keys(NAME, &batch)?;
        let mut heads = BTreeMap::new();
        for write in batch {
            let (key, value) = match write {
                Write::Put(key, value) => (key, Some(value)),
                Write::Remove(key) => (key, None),
            };
            let bytes = value.as_ref().map_or(0, Vec::len);
            if bytes > VALUE_BYTES_MAX {
                return Err(EngineError::ValueTooLong {
                    engine: NAME,
                    bytes,
                    limit: VALUE_BYTES_MAX,
                });
            }
            heads.insert(key, value);
        }
        caught(&self.broken, || self.apply_heads(heads))
    }

    fn sync(&self) -> Result<(), EngineError> {
        caught(&self.broken, || self.db.flush().map_err(|error| fault("flush", error)))?;
        let file = OpenOptions::new().write(true).open(self.path.join("db"));
        file.and_then(|file| file.sync_all()).map_err(|source| io_fault("sync", source))
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn size_bytes(&self) -> Result<u64, EngineError> {
        caught(&self.broken, || self.db.size_on_disk().map_err(|error| fault("measure", error)))
    }
}

// Where the parts of a long value are.
struct Parts {
    group: u64,
    count: u32,
    bytes: u64,
}

impl Parts {
    // Writes the parts of `value` into the batch.
    fn cut(group: u64, value: &[u8], batch: &mut sled::Batch) -> Parts {
        let mut count = 0;
        for part in value.chunks(PART_BYTES) {
            batch.insert(part_key(group, count), part);
            count += 1;
        }
        Parts { group, count, bytes: u64::try_from(value.len()).unwrap_or(u64::MAX) }
    }

    fn written(&self) -> Vec<u8> {
        let mut head = vec![PARTED];
        head.extend_from_slice(&self.group.to_be_bytes());
        head.extend_from_slice(&self.count.to_be_bytes());
        head.extend_from_slice(&self.bytes.to_be_bytes());
        head
    }

    fn read(rest: &[u8]) -> Option<Parts> {
        let (group, rest) = rest.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let bytes = rest.try_into().ok()?;
        Some(Parts {
            group: u64::from_be_bytes(*group),
            count: u32::from_be_bytes(*count),
            bytes: u64::from_be_bytes(bytes),
        })
    }
}

fn patiently_opened(config: &sled::Config) -> Result<sled::Db, sled::Error> {
    let began = Instant::now();
    loop {
        match config.open() {
            Err(sled::Error::Io(error))
                if error.to_string().contains("acquire lock")
                    && began.elapsed() < LOCK_PATIENCE =>
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
}

fn head_key(key: &[u8]) -> Vec<u8> {
    let mut head_key = Vec::with_capacity(key.len() + 1);
    head_key.push(HEAD);
    head_key.extend_from_slice(key);
    head_key
}

fn part_key(group: u64, place: u32) -> Vec<u8> {
    let mut key = vec![PART];
    key.extend_from_slice(&group.to_be_bytes());
    key.extend_from_slice(&place.to_be_bytes());
    key
}

fn group_of(part_key: &[u8]) -> Option<u64> {
    let (_, rest) = part_key.split_first()?;
    Some(u64::from_be_bytes(*rest.first_chunk()?))
}

fn shown(key: &[u8]) -> String {
    key.escape_ascii().to_string()
}

fn damaged(what: String) -> EngineError {
    EngineError::Damaged { engine: NAME, what }
}

fn io_fault(action: &'static str, source: io::Error) -> EngineError {
    EngineError::Io { engine: NAME, action, source }
}

fn fault(action: &'static str, error: sled::Error) -> EngineError {
    match error {
        sled::Error::Io(source) => io_fault(action, source),
        // Its own text speaks of a backtrace.
        sled::Error::Corruption { .. } => {
            damaged(format!("cannot {action}: what is there is not what was written"))
        }
        other @ (sled::Error::CollectionNotFound(_)
        | sled::Error::Unsupported(_)
        | sled::Error::ReportableBug(_)) => damaged(format!("cannot {action}: {other}")),
    }
}

thread_local! {
    static CALLING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a call of sled, or the file is one of sled's own: a panic there is
/// caught, or is one of its helper threads', and becomes an error by itself. For panic hooks, which
/// would print it to people who have no use for it.
pub fn is_handled(file: Option<&str>) -> bool {
    CALLING.get() || file.is_some_and(|file| file.contains("/sled-0."))
}

struct Calling(bool);

impl Calling {
    fn begin() -> Calling {
        Calling(CALLING.replace(true))
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        CALLING.set(self.0);
    }
}

// Runs one call of sled. Should it panic, its inner state is not to be trusted again.
fn caught<T>(
    broken: &AtomicBool,
    call: impl FnOnce() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    if broken.load(Ordering::Acquire) {
        return Err(damaged("it failed earlier and is closed; reopen the store".to_owned()));
    }
    let _calling = Calling::begin();
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        broken.store(true, Ordering::Release);
        Err(damaged("sled gave up on what it read".to_owned()))
    })
}

fn sync_directory(path: &Path) -> Result<(), EngineError> {
    // Windows cannot open a directory as a file, and keeps names by itself.
    if cfg!(windows) || path.as_os_str().is_empty() {
        return Ok(());
    }
    File::open(path).and_then(|dir| dir.sync_all()).map_err(|source| io_fault("sync", source))
}
