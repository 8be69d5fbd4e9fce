//! The public entrance: open a [`Store`], take a [`Session`], write and ask.
//!
//! A session is bound to a tenant and what its principal may do there (R10a). [`Snapshot`] is what
//! it sees at one moment. Import, export and check are about
//! whole stores.

mod ask;
mod check;
mod error;
mod export;
mod import;
mod session;
mod store;

pub use check::{CheckReport, Stats};
pub use error::DbError;
pub use import::{ImportOptions, ImportReport, RefusedLine};
pub use session::{Session, Snapshot, WriteOptions, Written};
pub use store::{Options, Store};
