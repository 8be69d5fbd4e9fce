//! The one idea: nothing is overwritten. Events become versions, and every answer is a pure
//! function of (events, `valid_at`, `known_at`).
//!
//! ```text
//!  valid ▲                         an end said on day 9: the version [2,∞)×[2,9) is closed,
//!        │ ┌───────────┐           [2,6)×[9,∞) opens; neither is ever edited
//!      6 │ │  [2,∞)    ├────────
//!        │ │           │ [2,6)
//!      2 │ └───────────┴────────
//!        └─2───────────9──────▶ recorded
//! ```
//!
//! [`slot`] holds the facts that compete, [`resolve`] is the one resolver (with [`look`], what it
//! asks of each fact, and [`doubt`], its last step), [`marks`] is what it asks of the lineage floor, [`version`] the rectangles, [`correction`]
//! what a correction carries over. This floor does no I/O, reads no clock and holds no lock.
//!
//! Laws: an event recorded at or after k never changes an answer with `known_at` < k (R27);
//! resolving equals the slow oracle in the tests at every (v, k).

pub mod correction;
pub mod doubt;
pub mod look;
pub mod marks;
pub mod resolve;
pub mod slot;
pub mod version;
