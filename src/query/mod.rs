//! Questions (SPEC section 9): each is asked of one [`view::View`], a pinned snapshot seen by one
//! session, and answered by the one resolver (R28). Nothing here filters by itself.
//!
//! [`answer`] get and its JSON · [`explain`] · [`slots`] find, scopes, subjects, predicates ·
//! [`history`] · [`course`] timeline and beliefs · [`node`] show and usable · [`chain`]
//! supersession for drawings · [`lineage`] impact, why and chain as graphs · [`agenda`] worklist,
//! conflicts, held and due · [`snapshot`] the whole live graph · [`diff`] what differs between two
//! points, and why · [`plot`] the plane of a slot for drawings.

pub mod agenda;
pub mod answer;
pub mod chain;
pub mod course;
pub mod diff;
pub mod explain;
pub mod history;
pub mod lineage;
pub mod node;
pub mod plot;
pub mod slots;
pub mod snapshot;
pub mod view;
