//! What can go wrong in the store: the files, the engine, the bytes in them.

use thiserror::Error;

use crate::store::engine::EngineError;
use crate::store::lock::LockError;
use crate::store::log::LogError;
use crate::store::packed::PackedError;

/// Errors of the store. Those for which [`StoreError::is_damage`] holds mean that bytes are not
/// what was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store in the directory.
    #[error("there is no store in {0}; make one with `asof init`, or import a journal")]
    NoStore(String),
    /// The directory holds something else.
    #[error("{path} is not an asof store: {why}")]
    NotAStore {
        /// The directory or file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The file that says what the store is cannot be trusted.
    #[error("{path} {what}; restore it from a backup of this store (its log is not touched)")]
    Identity {
        /// The file.
        path: String,
        /// How it shows.
        what: String,
    },
    /// The store was written by a version this program does not know.
    #[error(
        "the store in {path} has format version {found}; this program reads version {known}; use a newer asof"
    )]
    Format {
        /// The directory.
        path: String,
        /// The version found.
        found: u64,
        /// The version known.
        known: u64,
    },
    /// A file or directory cannot be read or written.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or directory.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The log ends before what a checkpoint has seen.
    #[error(
        "the log ends at record {log}, but record {seen} was there before: its end is lost; restore the log from a backup, or accept the loss with `asof check --rebuild`"
    )]
    LogTooShort {
        /// Where the log ends.
        log: u64,
        /// What was seen.
        seen: u64,
    },
    /// Another process has the store.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The engine of the derived state.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The packed blocks of the derived state.
    #[error(transparent)]
    Packed(#[from] PackedError),
    /// A row of the derived state cannot be read.
    #[error("the derived row {0:?} is damaged; `asof check --rebuild` makes it anew from the log")]
    Row(String),
    /// A record of the log cannot be read.
    #[error("log record {seq} is damaged: {what}")]
    Record {
        /// Its sequence number.
        seq: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The rows or the log speak of what is not there.
    #[error(
        "the store lacks {0}; `asof check --rebuild` makes the derived state anew from the log"
    )]
    Missing(String),
    /// Something cannot be written as bytes.
    #[error("cannot encode: {0}")]
    Encode(String),
}

impl StoreError {
    /// Whether it means that bytes are not what was written.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Row(_)
            | Self::Record { .. }
            | Self::Missing(_)
            | Self::LogTooShort { .. }
            | Self::Identity { .. }
            | Self::Packed(
                PackedError::Damaged { .. }
                | PackedError::Version { .. }
                | PackedError::Engine(EngineError::Damaged { .. }),
            )
            | Self::Engine(EngineError::Damaged { .. }) => true,
            Self::Log(error) => error.is_damage(),
            Self::Packed(_) | Self::Engine(_) => false,
            Self::NoStore(_)
            | Self::NotAStore { .. }
            | Self::Format { .. }
            | Self::Io { .. }
            | Self::Lock(_)
            | Self::Encode(_) => false,
        }
    }
}
