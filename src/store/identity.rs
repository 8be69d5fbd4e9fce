//! What a store says of itself: `asof.json` in its directory, and `CLOSED`, the mark of a clean
//! close.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::store::error::StoreError;
use crate::store::frame;
use crate::store::lock::LOCK_FILE;
use crate::store::segment::HEADER_BYTES;

/// The format version this program writes and reads.
pub const FORMAT: u64 = 0;
const FILE: &str = "asof.json";
const CLOSED: &str = "CLOSED";

/// The identity of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Format version.
    pub format: u64,
    /// Its own id; log and derived state carry it too.
    pub store: Uuid,
    /// The zone of local times, if one was declared.
    pub tz: Option<String>,
}

/// The identity as it is written: with a checksum, so that no changed letter passes for another
/// zone or store.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: u64,
    store: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tz: Option<String>,
    crc32c: u32,
}

/// The one field that every format has.
#[derive(Deserialize)]
struct Version {
    format: u64,
}

/// What a directory says before it is locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is not there, or empty.
    Nothing,
    /// Only what making a store leaves behind before it is done: nothing was ever written.
    Unfinished,
    /// A store.
    Store(Identity),
}

/// An I/O failure, with what was tried and where.
pub fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError + use<> {
    let path = path.display().to_string();
    move |source| StoreError::Io { what, path, source }
}

/// Writes a small file so that it is there whole or not at all.
///
/// # Errors
/// [`StoreError::Io`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let beside = path.with_extension("new");
    let mut file = fs::File::create(&beside).map_err(io("write", &beside))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(io("write", &beside))?;
    drop(file);
    fs::rename(&beside, path).map_err(io("write", path))?;
    match path.parent() {
        Some(parent) => {
            fs::File::open(parent).and_then(|dir| dir.sync_all()).map_err(io("sync", parent))
        }
        None => Ok(()),
    }
}

impl Identity {
    /// What stands in a directory.
    ///
    /// # Errors
    /// [`StoreError::NotAStore`] for a file or for a directory with other things in it,
    /// [`StoreError::Format`] for a version this program does not know,
    /// [`StoreError::Identity`] when `asof.json` is damaged or gone.
    pub fn find(dir: &Path) -> Result<Found, StoreError> {
        let shown = dir.display().to_string();
        let other = |why: &str| StoreError::NotAStore { path: shown.clone(), why: why.to_owned() };
        if dir.exists() && !dir.is_dir() {
            return Err(other("it is a file; name a directory with --store"));
        }
        let path = dir.join(FILE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let found = without(dir);
                // Another process may have made the store while we looked: look again.
                return if path.exists() { Self::find(dir) } else { found };
            }
            Err(error) => return Err(io("read", &path)(error)),
        };
        let broken = || StoreError::Identity {
            path: path.display().to_string(),
            what: "does not read, or not as it was written".to_owned(),
        };
        let version: Version = serde_json::from_slice(&bytes).map_err(|_| broken())?;
        if version.format > FORMAT {
            return Err(StoreError::Format { path: shown, found: version.format, known: FORMAT });
        }
        let written: Written = serde_json::from_slice(&bytes).map_err(|_| broken())?;
        let identity = Self { format: written.format, store: written.store, tz: written.tz };
        if identity.crc32c() == written.crc32c { Ok(Found::Store(identity)) } else { Err(broken()) }
    }

    /// Writes the identity of a new store: from then on it is one.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn write(&self, dir: &Path) -> Result<(), StoreError> {
        let written = Written {
            format: self.format,
            store: self.store,
            tz: self.tz.clone(),
            crc32c: self.crc32c(),
        };
        let text = serde_json::to_string(&written)
            .map_err(|error| StoreError::Encode(error.to_string()))?;
        write_whole(&dir.join(FILE), format!("{text}\n").as_bytes())
    }

    fn crc32c(&self) -> u32 {
        let tz = self.tz.as_deref().map_or_else(String::new, |tz| format!(" {tz}"));
        crc32c::crc32c(format!("{} {}{tz}", self.format, self.store).as_bytes())
    }
}

/// A directory without `asof.json`: empty, left in the making, a store that lost it, or another's.
fn without(dir: &Path) -> Result<Found, StoreError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(io("read", dir)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(io("read", dir))?.file_name());
    }
    if names.is_empty() {
        return Ok(Found::Nothing);
    }
    let ours = [LOCK_FILE, "log", "derived", CLOSED, "asof.new", "CLOSED.new"];
    if !names.iter().all(|name| ours.iter().any(|ours| name == ours)) {
        return Err(StoreError::NotAStore {
            path: dir.display().to_string(),
            why: "the directory holds other files; name an empty or new one with --store"
                .to_owned(),
        });
    }
    let written = |name: &std::ffi::OsString| name == "derived" || name == CLOSED;
    if names.iter().any(written) || holds_frames(&log(dir))? {
        return Err(StoreError::Identity {
            path: dir.join(FILE).display().to_string(),
            what: "is gone".to_owned(),
        });
    }
    Ok(Found::Unfinished)
}

/// Whether a log holds more than the header of its first segment.
fn holds_frames(log: &Path) -> Result<bool, StoreError> {
    let entries = match fs::read_dir(log) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(io("read", log)(error)),
    };
    for entry in entries {
        let path = entry.map_err(io("read", log))?.path();
        let mut bytes = [0; HEADER_BYTES + frame::HEADER_BYTES];
        let mut file = fs::File::open(&path).map_err(io("read", &path))?;
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match file.read(rest).map_err(io("read", &path))? {
                0 => break,
                some => filled += some,
            }
        }
        let behind = bytes.get(HEADER_BYTES..).unwrap_or_default();
        if behind.iter().any(|byte| *byte != 0) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The sequence number a clean close has seen; 0 if there is no such mark or it does not read, for
/// it only guards a log that is whole by itself.
pub fn closed_at(dir: &Path) -> u64 {
    let text = fs::read_to_string(dir.join(CLOSED)).unwrap_or_default();
    let seq = text.split_whitespace().next().and_then(|seq| seq.parse().ok()).unwrap_or(0);
    if text == closed_text(seq) { seq } else { 0 }
}

fn closed_text(seq: u64) -> String {
    format!("{seq} {:08x}\n", crc32c::crc32c(seq.to_string().as_bytes()))
}

/// Notes a clean close.
///
/// # Errors
/// [`StoreError::Io`].
pub fn mark_closed(dir: &Path, seq: u64) -> Result<(), StoreError> {
    if closed_at(dir) == seq && seq > 0 {
        return Ok(());
    }
    write_whole(&dir.join(CLOSED), closed_text(seq).as_bytes())
}

/// The directory of the derived state.
pub fn derived(dir: &Path) -> PathBuf {
    dir.join("derived")
}

/// The directory of the log.
pub fn log(dir: &Path) -> PathBuf {
    dir.join("log")
}
