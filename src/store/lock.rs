//! One process at a time: an exclusive lock on a store's directory, held by the operating system.
//!
//! The lock is on the open file, not its existence, so that of a dead process is gone with it. The
//! text inside is for people only and is never believed. Invariant: the file is never removed,
//! since a second file of the same name would be a second lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Name of the lock's file in the directory of a store.
pub const LOCK_FILE: &str = "LOCK";
// Bytes of the holder's text that are read back; more was not written by us.
const HOLDER_BYTES_MAX: u64 = 256;

/// Why a store could not be locked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Somebody else has the store open: another process, or this one a second time.
    #[error(
        "the store is open elsewhere ({holder} holds {}); close it there or wait for it",
        path.display()
    )]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// Who holds it, as they wrote it down; `somebody` when that cannot be read.
        holder: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
}

/// Exclusive hold of a store's directory until it is dropped or the process ends.
#[derive(Debug)]
pub struct StoreLock {
    // The lock lives as long as the file is open.
    file: File,
    path: PathBuf,
}

impl StoreLock {
    /// Takes the lock of the directory `dir`, which must exist, or fails at once.
    ///
    /// # Errors
    /// [`LockError::Held`] when somebody else has it; [`LockError::Io`] when the file cannot be
    /// made, locked or written.
    pub fn acquire(dir: &Path) -> Result<StoreLock, LockError> {
        let path = dir.join(LOCK_FILE);
        let fault = |action| {
            let path = path.clone();
            move |source| LockError::Io { path, action, source }
        };
        let mut options = OpenOptions::new();
        // Not emptied on opening: it may be another's.
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(fault("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = holder(&mut file).unwrap_or_else(|| "somebody".to_owned());
                return Err(LockError::Held { path, holder });
            }
            Err(TryLockError::Error(source)) => return Err(fault("lock")(source)),
        }
        let text = format!("process {} since {}\n", std::process::id(), unix_seconds());
        let written = file.set_len(0).and_then(|()| file.rewind());
        written.and_then(|()| file.write_all(text.as_bytes())).map_err(fault("write"))?;
        Ok(StoreLock { file, path })
    }

    /// The lock's file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for StoreLock {
    fn drop(&mut self) {
        // Closing the file unlocks it as well; this does not wait for copies of it that a child
        // process may have inherited.
        drop(self.file.unlock());
    }
}

// What the holder wrote; where a locked file cannot be read, nothing.
fn holder(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.take(HOLDER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty() && !line.chars().any(char::is_control)).then(|| line.to_owned())
}

// Seconds since 1970 by the clock of the machine, which no answer depends on.
fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_refused_at_once_and_told_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let lock = StoreLock::acquire(dir.path()).unwrap();
        let refused = StoreLock::acquire(dir.path()).unwrap_err();
        let LockError::Held { path, holder } = &refused else { panic!("{refused}") };
        assert_eq!(path, lock.path());
        assert!(holder.starts_with(&format!("process {} since ", std::process::id())));
        drop(lock);
        StoreLock::acquire(dir.path()).unwrap();
    }

    #[test]
    fn a_file_left_behind_by_a_dead_process_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let text = "process 1 since 0, and a longer text than the next holder writes\n";
        std::fs::write(dir.path().join(LOCK_FILE), text).unwrap();
        let lock = StoreLock::acquire(dir.path()).unwrap();
        let now = std::fs::read_to_string(lock.path()).unwrap();
        assert!(now.starts_with(&format!("process {} ", std::process::id())));
        assert_eq!(now.lines().count(), 1);
    }

    #[test]
    fn whatever_stands_in_the_file_the_holder_is_one_short_line() {
        let dir = tempfile::tempdir().unwrap();
        let lock = StoreLock::acquire(dir.path()).unwrap();
        for text in [&b""[..], b"\xff\xfe", b"\x1b[31mred", &[b'x'; 10_000]] {
            std::fs::write(lock.path(), text).unwrap();
            let Err(LockError::Held { holder, .. }) = StoreLock::acquire(dir.path()) else {
                panic!("locked twice")
            };
            assert!(holder == "somebody" || holder == "x".repeat(256), "{holder:?}");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let refused = StoreLock::acquire(&dir.path().join("absent")).unwrap_err();
        assert!(matches!(refused, LockError::Io { action: "open", .. }), "{refused}");
    }
}
