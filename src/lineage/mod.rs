//! Lineage: what rests on what (SPEC section 7). [`mark`] says whether a node's support is in
//! question at (v, k); [`strength`] how strong evidence is; [`walk`] and [`above`] go along the
//! edges; [`reach`] goes down from a change, [`touch`] says where it begins, [`receipt`] what it
//! came to, and [`worklist`] what is to be done about copies kept elsewhere. Nothing here writes.

pub mod above;
pub mod mark;
pub mod reach;
pub mod receipt;
pub mod strength;
pub mod touch;
pub mod walk;
pub mod worklist;
