//! The gate (SPEC section 5): every write passes here, and nothing else appends to the log.
//!
//! ```text
//!  operations ─▶ commit::Writer ─▶ gate::Gate ─┬─ fact      assert, correct       R18–R22, R26
//!                 (one transaction:            ├─ evidence  source, premises, kind R20, R20b
//!                  a draft, then the log,      ├─ revival   no return             R23
//!                  then the state)             ├─ target    end, retract, …       R20, R23a
//!                                              └─ settle    confirm, resolve      R22
//! ```
//!
//! A verdict is a value. A refused operation refuses its transaction whole and changes nothing
//! (R14); an admitted one is applied to the draft at once, so that the next one sees it (R23a).

pub mod commit;
mod evidence;
mod fact;
pub mod gate;
mod revival;
pub mod rights;
mod settle;
mod target;
