//! Lineage: what rests on what (SPEC section 7). [`mark`] says whether a node's support is in
//! question at (v, k); [`strength`] how strong evidence is; [`walk`] and [`above`] go along the edges. Nothing
//! here writes.

pub mod above;
pub mod mark;
pub mod strength;
pub mod walk;
