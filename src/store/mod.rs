//! The store (SPEC section 10): the log is the truth, everything else is derived from it.
//!
//! ```text
//!  log/…  ── transactions in order ──▶ apply ──▶ rows ──▶ state (tail in memory, cache)
//!  [`log`] [`segment`] [`frame`]      [`apply`] [`row`]    [`state`] ── checkpoint ──▶ [`packed`]
//!                                                                              [`engine`]: sled, memory
//! ```
//!
//! [`open`] puts them together and recovers; [`rows`] is how everything above reads; [`draft`] is
//! what one transaction writes before the log has it; [`key`] is the map of the rows. Nothing here
//! judges what is written: that is the gate's.

pub mod apply;
pub mod block;
pub mod codec;
pub mod commit;
pub mod compression;
pub mod draft;
pub mod engine;
pub mod error;
#[doc(hidden)]
pub mod faulty;
pub mod frame;
pub mod identity;
pub mod key;
pub mod lock;
pub mod log;
pub mod medium;
pub mod memory;
pub mod open;
pub mod packed;
pub mod row;
pub mod rows;
pub mod segment;
pub mod sled;
pub mod state;
