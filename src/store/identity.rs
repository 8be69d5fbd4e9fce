//! What a store says of itself: `asof.json` in its directory, and `CLOSED`, the mark of a clean
//! close.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::store::error::StoreError;

/// The format version this program writes and reads.
pub const FORMAT: u64 = 0;
const FILE: &str = "asof.json";
const CLOSED: &str = "CLOSED";

/// The identity of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Format version.
    pub format: u64,
    /// Its own id; log and derived state carry it too.
    pub store: Uuid,
    /// The zone of local times, if one was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
}

/// What every version of the identity has.
#[derive(Deserialize)]
struct Version {
    format: u64,
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
    /// The identity in a directory; `None` if the directory does not exist or is empty.
    ///
    /// # Errors
    /// [`StoreError::NotAStore`] for a file or for a directory with other things in it,
    /// [`StoreError::Format`] for a version this program does not know.
    pub fn read(dir: &Path) -> Result<Option<Self>, StoreError> {
        let shown = dir.display().to_string();
        let other = |why: &str| StoreError::NotAStore { path: shown.clone(), why: why.to_owned() };
        if dir.exists() && !dir.is_dir() {
            return Err(other("it is a file; name a directory with --store"));
        }
        let path = dir.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return match fs::read_dir(dir) {
                    Ok(mut entries) => match entries.next() {
                        Some(_) => Err(other(
                            "the directory holds other files; name an empty or new one with --store",
                        )),
                        None => Ok(None),
                    },
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(io("read", dir)(error)),
                };
            }
            Err(error) => return Err(io("read", &path)(error)),
        };
        let broken =
            || other("asof.json is damaged; restore it from a backup, or export from a copy");
        let version: Version = serde_json::from_str(&text).map_err(|_| broken())?;
        if version.format > FORMAT {
            return Err(StoreError::Format { path: shown, found: version.format, known: FORMAT });
        }
        serde_json::from_str(&text).map(Some).map_err(|_| broken())
    }

    /// Writes the identity of a new store.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn write(&self, dir: &Path) -> Result<(), StoreError> {
        let text =
            serde_json::to_string(self).map_err(|error| StoreError::Encode(error.to_string()))?;
        write_whole(&dir.join(FILE), format!("{text}\n").as_bytes())
    }
}

/// The sequence number a clean close has seen; 0 if there is no such mark.
pub fn closed_at(dir: &Path) -> u64 {
    let text = fs::read_to_string(dir.join(CLOSED)).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// Notes a clean close.
///
/// # Errors
/// [`StoreError::Io`].
pub fn mark_closed(dir: &Path, seq: u64) -> Result<(), StoreError> {
    if closed_at(dir) == seq {
        return Ok(());
    }
    write_whole(&dir.join(CLOSED), format!("{seq}\n").as_bytes())
}

/// The directory of the derived state.
pub fn derived(dir: &Path) -> PathBuf {
    dir.join("derived")
}

/// The directory of the log.
pub fn log(dir: &Path) -> PathBuf {
    dir.join("log")
}
