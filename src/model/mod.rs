//! The nouns: ids, scopes, conditions, values, operations, events and nodes, and the limits on
//! them (SPEC sections 1, 3 and 4).
//!
//! Reading order: [`name`], [`scope`], [`condition`], [`value`] → [`operation`] (what is asked for)
//! → [`event`] (what the gate let through) → [`node`] (what is kept). [`refusal`] holds the stable
//! codes. This floor does no I/O, reads no clock and holds no lock.

pub mod condition;
pub mod declared;
pub mod event;
pub mod form;
pub mod kind;
pub mod limits;
pub mod name;
pub mod node;
pub mod operation;
pub mod refusal;
pub mod scope;
pub mod value;
