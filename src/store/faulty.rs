//! A directory in memory that loses and refuses what a test tells it to. For tests only; it is
//! part of the library so that tests outside the crate can use it, and hidden from its
//! documentation.
//!
//! Every file has two contents: what programs see, and what would outlive a power loss. Between
//! them lies a list of writes and changes of length that were not synced; [`Faulty::crash`] makes
//! a new directory of what outlives, with as much of that list as the test says. Names work the
//! same way. A sync that fails drops the file's list, as Linux does: a later sync succeeds and
//! makes nothing of it durable.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::medium::{Medium, MediumFile};

/// Bytes that a disk writes whole or not at all.
pub const SECTOR_BYTES: usize = 512;

/// Which call fails. Calls are counted from 1, as [`Faulty::calls`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// None.
    Never,
    /// This one only.
    Once(u64),
    /// This one and all after it.
    From(u64),
}

/// What of the unsynced changes outlives a power loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// All of them: the process died, the machine did not.
    KeepAll,
    /// None.
    LoseUnsynced,
    /// All, but only this many bytes of the last write.
    TearLast(usize),
    /// Each name, length and sector by a coin that is thrown from this seed.
    Scatter(u64),
}

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

#[derive(Debug, Clone, Default)]
struct Content {
    seen: Vec<u8>,
    synced: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Debug, Default)]
struct State {
    contents: Vec<Content>,
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
    calls: u64,
    syncs: u64,
    failing: Option<Failing>,
    room: Option<u64>,
    reserves: bool,
}

/// The directory; clones are the same one.
#[derive(Debug, Clone)]
pub struct Faulty {
    state: Arc<Mutex<State>>,
}

struct FaultyFile {
    state: Arc<Mutex<State>>,
    place: usize,
}

impl Default for Faulty {
    fn default() -> Faulty {
        Faulty::new()
    }
}

impl Faulty {
    /// An empty directory on which nothing fails.
    pub fn new() -> Faulty {
        let state = State { reserves: true, ..State::default() };
        Faulty { state: Arc::new(Mutex::new(state)) }
    }

    /// From now on, fails these calls.
    pub fn fail(&self, failing: Failing) {
        locked(&self.state).failing = Some(failing);
    }

    /// From now on, all files together may have this many bytes; without a number, any.
    pub fn room(&self, bytes: Option<u64>) {
        locked(&self.state).room = bytes;
    }

    /// From now on, room can or cannot be reserved ahead.
    pub fn reserves(&self, can: bool) {
        locked(&self.state).reserves = can;
    }

    /// Calls made so far, failed ones counted.
    pub fn calls(&self) -> u64 {
        locked(&self.state).calls
    }

    /// Syncs of files made so far, failed ones counted.
    pub fn syncs(&self) -> u64 {
        locked(&self.state).syncs
    }

    /// What a program sees in a file, if it is there.
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        let state = locked(&self.state);
        let place = *state.names.get(name)?;
        state.contents.get(place).map(|content| content.seen.clone())
    }

    /// Names a program sees, in order.
    pub fn names(&self) -> Vec<String> {
        locked(&self.state).names.keys().cloned().collect()
    }

    /// Makes a file with this content, as if it had been there for long.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let mut state = locked(&self.state);
        let (seen, synced) = (bytes.to_vec(), bytes.to_vec());
        state.contents.push(Content { seen, synced, pending: Vec::new() });
        let place = state.contents.len() - 1;
        state.names.insert(name.to_owned(), place);
        state.synced_names.insert(name.to_owned(), place);
    }

    /// The directory as it is found after a power loss, with nothing failing. This one stays.
    #[must_use]
    pub fn crash(&self, crash: Crash) -> Faulty {
        let state = locked(&self.state);
        let after = Faulty::new();
        let mut coin = Coin(match crash {
            Crash::Scatter(seed) => seed,
            Crash::KeepAll | Crash::LoseUnsynced | Crash::TearLast(_) => 0,
        });
        let mut names = match crash {
            Crash::KeepAll | Crash::TearLast(_) => state.names.clone(),
            Crash::LoseUnsynced | Crash::Scatter(_) => state.synced_names.clone(),
        };
        if matches!(crash, Crash::Scatter(_)) && coin.heads() {
            names.clone_from(&state.names);
        }
        for (name, place) in names {
            if let Some(content) = state.contents.get(place) {
                after.put(&name, &content.outliving(crash, &mut coin));
            }
        }
        after
    }
}

impl Content {
    fn outliving(&self, crash: Crash, coin: &mut Coin) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        let writes = |change: &Change| matches!(change, Change::Write(..));
        let last = self.pending.iter().rposition(writes);
        for (place, change) in self.pending.iter().enumerate() {
            match (crash, change) {
                (Crash::LoseUnsynced, _) => {}
                (Crash::TearLast(count), Change::Write(at, written)) if Some(place) == last => {
                    write(&mut bytes, *at, written.get(..count).unwrap_or(written));
                }
                (Crash::KeepAll | Crash::TearLast(_), Change::Write(at, written)) => {
                    write(&mut bytes, *at, written);
                }
                (Crash::Scatter(_), Change::Write(at, written)) => {
                    let mut at = *at;
                    let mut rest = written.as_slice();
                    while !rest.is_empty() {
                        let left = SECTOR_BYTES - index(at) % SECTOR_BYTES;
                        let (sector, after) = rest.split_at_checked(left).unwrap_or((rest, &[]));
                        if coin.heads() {
                            write(&mut bytes, at, sector);
                        }
                        at = at.saturating_add(count(sector));
                        rest = after;
                    }
                }
                (Crash::Scatter(_), Change::Length(length)) => {
                    if coin.heads() {
                        bytes.resize(index(*length), 0);
                    }
                }
                (_, Change::Length(length)) => bytes.resize(index(*length), 0),
            }
        }
        bytes
    }
}

// A coin that falls the same way for the same seed (splitmix64).
struct Coin(u64);

impl Coin {
    fn heads(&mut self) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) & 1 == 1
    }
}

impl State {
    // Counts a call, and fails it if it is its turn.
    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        let fails = match self.failing {
            None | Some(Failing::Never) => false,
            Some(Failing::Once(call)) => call == self.calls,
            Some(Failing::From(call)) => call <= self.calls,
        };
        if fails { Err(io::Error::other("failed by the test")) } else { Ok(()) }
    }

    fn place(&self, name: &str) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn content(&mut self, place: usize) -> io::Result<&mut Content> {
        self.contents.get_mut(place).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    // How long a file may become.
    fn longest(&self, place: usize) -> u64 {
        let others = self.names.values().filter(|other| **other != place);
        let others = others.filter_map(|other| self.contents.get(*other));
        let others: u64 = others.map(|content| count(&content.seen)).sum();
        self.room.map_or(u64::MAX, |room| room.saturating_sub(others))
    }
}

impl Medium for Faulty {
    fn shown(&self, name: &str) -> PathBuf {
        PathBuf::from("faulty").join(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        locked(&self.state).call()?;
        Ok(self.names())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn MediumFile>> {
        let mut state = locked(&self.state);
        state.call()?;
        state.contents.push(Content::default());
        let place = state.contents.len() - 1;
        state.names.insert(name.to_owned(), place);
        Ok(Arc::new(FaultyFile { state: Arc::clone(&self.state), place }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn MediumFile>> {
        let mut state = locked(&self.state);
        state.call()?;
        let place = state.place(name)?;
        Ok(Arc::new(FaultyFile { state: Arc::clone(&self.state), place }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = locked(&self.state);
        state.call()?;
        let place = state.place(from)?;
        state.names.remove(from);
        state.names.insert(to.to_owned(), place);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = locked(&self.state);
        state.call()?;
        state.place(name)?;
        state.names.remove(name);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = locked(&self.state);
        state.call()?;
        state.synced_names = state.names.clone();
        Ok(())
    }
}

impl MediumFile for FaultyFile {
    fn length(&self) -> io::Result<u64> {
        let mut state = locked(&self.state);
        state.call()?;
        Ok(count(&state.content(self.place)?.seen))
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut state = locked(&self.state);
        state.call()?;
        let seen = &state.content(self.place)?.seen;
        let there = seen.get(index(at)..).unwrap_or_default();
        let copied = bytes.iter_mut().zip(there).map(|(to, from)| *to = *from);
        Ok(copied.count())
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = locked(&self.state);
        let called = state.call();
        let fits = index(state.longest(self.place).saturating_sub(at)).min(bytes.len());
        // A write that fails leaves half of itself behind.
        let (kept, outcome) = match called {
            Err(error) => (bytes.len() / 2, Err(error)),
            Ok(()) if fits < bytes.len() => (fits, Err(io::ErrorKind::StorageFull.into())),
            Ok(()) => (bytes.len(), Ok(())),
        };
        let kept = bytes.get(..kept).unwrap_or(bytes).to_vec();
        let content = state.content(self.place)?;
        write(&mut content.seen, at, &kept);
        content.pending.push(Change::Write(at, kept));
        outcome
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut state = locked(&self.state);
        state.call()?;
        let content = state.content(self.place)?;
        content.seen.resize(index(length), 0);
        content.pending.push(Change::Length(length));
        Ok(())
    }

    fn reserve(&self, length: u64) -> io::Result<bool> {
        let mut state = locked(&self.state);
        state.call()?;
        if !state.reserves {
            return Ok(false);
        }
        if length > state.longest(self.place) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let content = state.content(self.place)?;
        if count(&content.seen) < length {
            content.seen.resize(index(length), 0);
            content.pending.push(Change::Length(length));
        }
        Ok(true)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = locked(&self.state);
        state.syncs += 1;
        let called = state.call();
        let content = state.content(self.place)?;
        let pending = std::mem::take(&mut content.pending);
        called?;
        for change in pending {
            match change {
                Change::Write(at, written) => write(&mut content.synced, at, &written),
                Change::Length(length) => content.synced.resize(index(length), 0),
            }
        }
        Ok(())
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(bytes: &mut Vec<u8>, at: u64, written: &[u8]) {
    let at = index(at);
    if bytes.len() < at + written.len() {
        bytes.resize(at + written.len(), 0);
    }
    let there = bytes.get_mut(at..).unwrap_or_default();
    there.iter_mut().zip(written).for_each(|(to, from)| *to = *from);
}

fn count(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
