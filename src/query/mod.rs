//! Questions (SPEC section 9): each is asked of one [`view::View`], a pinned snapshot seen by one
//! session, and answered by the one resolver (R28). Nothing here filters by itself.
//!
//! [`answer`] get and its JSON · [`explain`] · [`slots`] find, scopes, subjects, predicates ·
//! [`history`] · [`course`] timeline and beliefs · [`node`] show and usable · [`chain`]
//! supersession for drawings.

pub mod answer;
pub mod chain;
pub mod course;
pub mod explain;
pub mod history;
pub mod node;
pub mod slots;
pub mod view;
