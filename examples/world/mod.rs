//! Shared by the examples: a store in a directory of its own, with a history in it.

use std::error::Error;

use asof::db::{DbError, ImportOptions, Options, Store};
use asof::exchange::question;
use serde_json::Value as Json;
use tempfile::TempDir;

/// A store that goes when it is dropped. The store stands first: it closes before its directory goes.
pub(crate) struct World {
    pub(crate) store: Store,
    _dir: TempDir,
}

impl World {
    /// Replays a journal into a new store; every line has to be taken in.
    pub(crate) fn replay(journal: &str) -> Result<Self, Box<dyn Error>> {
        let dir = tempfile::tempdir()?;
        let store = Store::open(dir.path().join("store"), Options::default())?;
        let options = ImportOptions { replay: true, ..ImportOptions::default() };
        let report = store.import(journal.as_bytes(), options)?;
        assert!(report.refused.is_empty(), "refused: {:?}", report.refused);
        Ok(Self { store, _dir: dir })
    }

    /// Puts a question in its JSON form, `{"get":{…}}`, and gives the answer in the same form.
    pub(crate) fn ask(&self, asked: &Json) -> Result<Json, DbError> {
        let asked = question::line(&asked.to_string(), None)?;
        self.store.owner().snapshot().answer(&asked)
    }
}

/// An answer in short: its outcome and its values.
pub(crate) fn told(answer: &Json) -> String {
    let outcome = answer["outcome"].as_str().unwrap_or_default();
    let facts = answer["facts"].as_array().into_iter().flatten();
    let values: Vec<String> = facts
        .map(|fact| fact["value"].as_str().map_or_else(|| fact["value"].to_string(), str::to_owned))
        .collect();
    format!("{outcome}: {}", values.join(" | ")).trim_end_matches(": ").to_owned()
}
