//! Time: the lowest floor.
//!
//! What it is for: instants of two axes that do not mix (valid time: when a fact holds; recorded
//! time: when the store came to know it), half-open periods of them, and their text in and out.
//!
//! What it must never do: I/O, or read a clock. The one exception is [`SystemClock`], which only
//! the `db` floor asks. Nothing here holds a lock, and nothing panics on any input.
//!
//! The types, in reading order: [`Instant`] ([`Valid`], [`Recorded`]), [`Period`] and [`Start`],
//! [`Allen`], [`Zone`] with [`parse_instant`] and [`parse_through`], [`Span`], [`Clock`] with
//! [`RecordedClock`], and [`TimeError`].
//!
//! Invariants:
//! - an instant lies inside what chrono can print, so whatever is held can be written and read
//!   back (R1);
//! - a period is `[from, until)` and holds at least one instant (R2);
//! - text without an offset is never guessed at (R3);
//! - an unknown start is not an infinite one (R4);
//! - assigned recorded instants strictly increase (R5).
//!
//! The tests stand at the end of each file; the laws of printing and reading are checked against
//! chrono, and those of zones against a walk through every minute.

mod allen;
mod axis;
mod clock;
mod error;
mod instant;
mod local;
mod parse;
mod period;
mod span;
mod text;
mod wire;
mod zone;

pub use allen::Allen;
pub use axis::{Axis, RecordedAxis, ValidAxis};
pub use clock::{Clock, FixedClock, RecordedClock, SystemClock};
pub use error::TimeError;
pub use instant::{Instant, Recorded, Valid};
pub use parse::{parse_instant, parse_through};
pub use period::{Period, Start};
pub use span::Span;
pub use zone::Zone;
