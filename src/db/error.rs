//! What can go wrong at the entrance.

use thiserror::Error;

use crate::model::refusal::Refusal;
use crate::store::error::StoreError;

/// Errors of the public entrance.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DbError {
    /// The store: its files, its engine, its lock.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A question or an option that cannot be understood.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// A file beside the store cannot be read or written.
    #[error("cannot {what} {path}: {source}")]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The store takes no more writes: its disk failed.
    #[error(
        "the store takes no more writes since its disk failed ({0}); close it, look after the disk, open it again"
    )]
    Poisoned(String),
}

impl From<Refusal> for DbError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl DbError {
    /// A stable word for the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.reason.code(),
            Self::File { .. } => "file",
            Self::Poisoned(_) => "poisoned",
            Self::Store(StoreError::Lock(_)) => "locked",
            Self::Store(StoreError::NoStore(_)) => "no_store",
            Self::Store(error) if error.is_damage() => "damaged",
            Self::Store(_) => "store",
        }
    }
}
