//! An embedded, bitemporal knowledge-graph store: what holds, what held, what did we know, and
//! (to come) take this back.
//!
//! The one idea: **nothing is overwritten. The store is a list of events, and every answer is a pure
//! function of (events, `valid_at`, `known_at`).** Valid time is when a fact holds in the world,
//! recorded time is when this store came to know it; both are half-open, `[from, until)`.
//!
//! ```text
//!  valid ▲                              on the 17th we are told: 60 seconds, since the 12th
//!        │ ┌───────────┬──────────
//!        │ │           │ 60             known on the 14th, about the 14th: 30
//!     12 │ │ 30        ├──────────      known on the 18th, about the 14th: 60
//!        │ │           │ 30
//!      1 │ └───────────┴──────────      nothing was edited: both answers stay
//!        └─10──────────17─────────▶ recorded
//! ```
//!
//! # Berlin, then Paris
//!
//! ```
//! use asof::db::{DbError, Options, Store};
//! use asof::model::name::{Predicate, Subject};
//! use asof::model::scope::Scope;
//! use asof::query::view::Ask;
//! # fn main() -> Result<(), DbError> {
//! # let dir = tempfile::tempdir().expect("a temporary directory");
//!
//! let store = Store::open(dir.path().join("store"), Options::default())?;
//! let set = |city: &str| {
//!     store.import_text(&format!(
//!         r#"{{"op":"assert","subject":"user:u","predicate":"city","value":"{city}","scope":"acme/u",
//!             "kind":"stated","supersedes":"current"}}"#
//!     ).replace('\n', " "))
//! };
//! set("Berlin")?;
//! let before = store.now();
//! set("Paris")?;
//!
//! let session = store.owner();
//! let (subject, predicate) = (Subject::new("user:u")?, Predicate::new("city")?);
//! let now = Ask::of(Scope::new("acme/u")?);
//! let answer = session.get(&subject, &predicate, &now)?;
//! assert_eq!(answer.facts[0].fact.said.value.to_string(), "Paris");
//!
//! // The same question with what was known before the second line.
//! let then = Ask { valid_at: Some(before.as_valid()), known_at: Some(before), ..now };
//! let answer = session.get(&subject, &predicate, &then)?;
//! assert_eq!(answer.facts[0].fact.said.value.to_string(), "Berlin");
//! # Ok(())
//! # }
//! ```
//!
//! # The house
//!
//! A file imports only from floors below its own.
//!
//! | floor | what it does |
//! |---|---|
//! | `cli` | arguments in, text out: the `asof` command, which uses only what is public here |
//! | [`db`] | open, write, ask: the public entrance |
//! | [`exchange`] | journal lines, questions and Graphviz drawings |
//! | [`query`] | get, explain, timeline, beliefs, history, find, usable, show, chain |
//! | erasure | shield, purge, receipt: not there yet, `erase` is refused |
//! | [`admission`] | the gate that every write passes |
//! | [`lineage`] | what rests on what, and the marks that follow from a change |
//! | [`store`] | the log, the engines, what is derived from the log |
//! | [`timeline`] | the one idea: events, versions, the answer at (v, k) |
//! | [`model`] | ids, scopes, conditions, values, operations, limits |
//! | [`time`] | instants, periods, zones, clocks |
//!
//! # Where to read on
//!
//! - [`timeline::resolve`]: the resolver. There is one, and every read uses it.
//! - [`admission::gate`]: the verdicts, and the order in which a write is judged.
//! - [`store::log`]: the truth of the store, on the disk. Everything else is made from it.
//! - [`db`]: [`db::Store`], [`db::Session`], [`db::Snapshot`].
//!
//! # Choices
//!
//! - A source dated at or after a retraction is news: it may say again what was taken back. A new
//!   source dated before it, or without a date, brings back the old: that is held, unless a person
//!   states it. The same source again is refused.
//! - A subject with a trailing space is taken in by a replay only, since some history had it so.
//!   Questions accept it; every other write refuses it.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
pub mod admission;
pub mod db;
pub mod exchange;
pub mod lineage;
pub mod model;
pub mod query;
pub mod store;
pub mod time;
pub mod timeline;
