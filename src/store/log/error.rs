//! What can go wrong with the log, one variant for each thing a caller can do about it.
//!
//! Every message names the file and says what to do next. Nothing here decides anything.

use std::io;
use std::path::PathBuf;

use uuid::Uuid;

use crate::store::frame::PAYLOAD_BYTES_MAX;
use crate::store::segment;

/// Why the log refused, failed, or cannot be trusted. Offsets are in bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The operating system refused. After a write or a sync the log is poisoned as well.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The disk, a quota or a limit on file sizes is full. When [`Log::append`] says so, nothing of
    /// that frame was kept and the log goes on once there is room.
    ///
    /// [`Log::append`]: crate::store::log::Log::append
    #[error("no room to {action} {}: {source}; free some and try again", path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// An earlier write or sync failed, so what the disk holds is in doubt until it is read again.
    #[error("the log stopped after a failure ({reason}); close and open the store again")]
    Poisoned {
        /// The failure, as it was reported then.
        reason: String,
    },
    /// A frame was appended out of order; nothing was written.
    #[error("the next frame of the log is {expected}, not {given}")]
    OutOfOrder {
        /// The sequence number the log waits for.
        expected: u64,
        /// The one it was given.
        given: u64,
    },
    /// A payload is longer than a frame holds; nothing was written.
    #[error("a payload of {bytes} bytes is too long for the log: at most {PAYLOAD_BYTES_MAX}")]
    TooLong {
        /// Its length, in bytes.
        bytes: usize,
    },
    /// A sync was awaited for a frame that was not flushed; no wait can end well.
    #[error("frame {seq} was never handed to the operating system (last: {flushed}); flush first")]
    NotFlushed {
        /// The frame that was awaited.
        seq: u64,
        /// The last frame that was flushed.
        flushed: u64,
    },
    /// A log is there already.
    #[error("{} holds a log already; open it instead", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds no segment.
    #[error("{} holds no log; restore it from a backup", path.display())]
    NoSegments {
        /// The directory.
        path: PathBuf,
    },
    /// A segment between others, or the first one, is gone.
    #[error("segment {} is missing; restore it, or the store, from a backup", path.display())]
    MissingSegment {
        /// The file that should be there.
        path: PathBuf,
    },
    /// A segment belongs to another store.
    #[error("{} belongs to store {found}, not {expected}; put the right file back", path.display())]
    ForeignStore {
        /// The file.
        path: PathBuf,
        /// The store it was written for.
        found: Uuid,
        /// The store that is being opened.
        expected: Uuid,
    },
    /// A segment was written in a format this program does not know.
    #[error(
        "{} has log format {version}, this program reads {}; use the program that wrote it",
        path.display(),
        segment::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The format it carries.
        version: u8,
    },
    /// Bytes that were synced are not what they were.
    #[error(
        "{} is damaged at byte {offset}: {what}; restore the store from a backup",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damage begins, in bytes from the start of the file.
        offset: u64,
        /// How it shows.
        what: String,
    },
    /// A whole frame carries another sequence number than its place says.
    #[error(
        "{} holds frame {found} at byte {offset} where frame {expected} belongs; \
         restore the store from a backup",
        path.display()
    )]
    Gap {
        /// The file.
        path: PathBuf,
        /// Offset of the frame, in bytes.
        offset: u64,
        /// The sequence number that belongs there.
        expected: u64,
        /// The one that stands there.
        found: u64,
    },
    /// The log ends before a frame that was acknowledged; nothing was cut.
    #[error(
        "{} ends at frame {last} (byte {offset}), but frame {must_reach} was acknowledged; \
         restore the store from a backup",
        path.display()
    )]
    Short {
        /// The last file.
        path: PathBuf,
        /// Where its last whole frame ends, in bytes.
        offset: u64,
        /// The last whole frame.
        last: u64,
        /// The frame a checkpoint or a clean close has seen.
        must_reach: u64,
    },
}

impl LogError {
    /// Whether stored bytes are not what they should be, as against a refusal or a passing failure
    /// of the machine (exit code 4 of the command line).
    pub fn is_damage(&self) -> bool {
        match self {
            LogError::NoSegments { .. }
            | LogError::MissingSegment { .. }
            | LogError::ForeignStore { .. }
            | LogError::Damaged { .. }
            | LogError::Gap { .. }
            | LogError::Short { .. } => true,
            LogError::Io { .. }
            | LogError::NoSpace { .. }
            | LogError::Poisoned { .. }
            | LogError::OutOfOrder { .. }
            | LogError::TooLong { .. }
            | LogError::NotFlushed { .. }
            | LogError::Exists { .. }
            | LogError::Version { .. } => false,
        }
    }

    pub(in crate::store) fn io(path: PathBuf, action: &'static str, source: io::Error) -> LogError {
        let full = matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        );
        if full {
            return LogError::NoSpace { path, action, source };
        }
        LogError::Io { path, action, source }
    }
}
