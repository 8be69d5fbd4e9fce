//! asof: an embedded, bitemporal knowledge-graph store. Nothing is overwritten: the store is a
//! list of events, and every answer is a pure function of (events, `valid_at`, `known_at`).
pub mod admission;
pub mod db;
pub mod exchange;
pub mod lineage;
pub mod model;
pub mod query;
pub mod store;
pub mod time;
pub mod timeline;
