//! Time (SPEC section 2): instants of two axes that do not mix, half-open periods, text in and out,
//! zones, clocks. No I/O; no clock is read here except by [`SystemClock`].

mod allen;
mod clock;
mod error;
mod instant;
mod parse;
mod period;
mod span;
mod zone;

pub use allen::Allen;
pub use clock::{Clock, FixedClock, SystemClock};
pub use error::TimeError;
pub use instant::{Instant, Recorded, RecordedAxis, Valid, ValidAxis};
pub use parse::{parse_instant, parse_through};
pub use period::{Period, Start};
pub use span::Span;
pub use zone::Zone;
