//! Check: prove the derived state by making it anew from the log and comparing; and what a store
//! takes up.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::db::error::DbError;
use crate::db::store::Store;
use crate::model::form::Object;
use crate::model::limits::CACHE_BYTES;
use crate::store::error::StoreError;
use crate::store::memory::Memory;
use crate::store::open::replay;
use crate::store::rows::{Lookup, Rows};
use crate::store::state::State;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// Transactions in the log.
    pub transactions: u64,
    /// Rows compared.
    pub rows: u64,
    /// What differs or is damaged; none = sound. At most a hundred are listed.
    pub faults: Vec<String>,
    /// Bytes of a torn tail that opening cut.
    pub cut_bytes: u64,
    /// Why opening made the derived state anew, if it did.
    pub rebuilt: Option<String>,
}

impl CheckReport {
    /// The JSON form.
    pub fn json(&self) -> Json {
        Object::default()
            .with("sound", self.faults.is_empty())
            .with("transactions", self.transactions)
            .with("rows", self.rows)
            .with("faults", self.faults.clone())
            .with("cut_bytes", self.cut_bytes)
            .some("rebuilt", self.rebuilt.clone())
            .json()
    }
}

/// What a store holds and takes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Transactions.
    pub transactions: u64,
    /// Facts, sources and artifacts.
    pub nodes: u64,
    /// Slots.
    pub slots: u64,
    /// Tenants.
    pub tenants: u64,
    /// Bytes of the log on disk.
    pub log_bytes: u64,
    /// Bytes of the derived state on disk.
    pub derived_bytes: u64,
    /// Rows newer than the last checkpoint.
    pub tail_rows: u64,
    /// The engine of the derived state.
    pub engine: &'static str,
    /// The last recorded instant, if there is one.
    pub last_recorded: Option<String>,
    /// The declared zone.
    pub tz: Option<String>,
}

impl Stats {
    /// The JSON form.
    pub fn json(&self) -> Json {
        Object::default()
            .with("transactions", self.transactions)
            .with("nodes", self.nodes)
            .with("slots", self.slots)
            .with("tenants", self.tenants)
            .with("log_bytes", self.log_bytes)
            .with("derived_bytes", self.derived_bytes)
            .with("tail_rows", self.tail_rows)
            .with("engine", self.engine)
            .some("last_recorded", self.last_recorded.clone())
            .some("tz", self.tz.clone())
            .json()
    }
}

const FAULTS_SHOWN: usize = 100;

impl Store {
    /// Verifies the log, makes the derived state anew from it in memory and compares every row.
    /// Readers go on; writers wait. Cost: the whole log, and memory for the whole derived state.
    ///
    /// # Errors
    /// When files cannot be read. Damage is a fault in the report, not an error.
    pub fn check(&self) -> Result<CheckReport, DbError> {
        let mut writer = self.writer();
        self.settle(&mut writer)?;
        let mut report = CheckReport {
            transactions: self.inner.state.counters().seq,
            rows: 0,
            faults: Vec::new(),
            cut_bytes: self.cut_bytes(),
            rebuilt: self.rebuilt().map(str::to_owned),
        };
        if let Err(error) = writer.log().verify() {
            report.faults.push(StoreError::from(error).to_string());
            return Ok(report);
        }
        let anew = State::new(Arc::new(Memory::new()), CACHE_BYTES)?;
        if let Err(error) = replay(&anew, writer.log()) {
            report.faults.push(error.to_string());
            return Ok(report);
        }
        anew.checkpoint()?;
        self.inner.state.checkpoint()?;
        compare(&self.inner.state, &anew, &mut report);
        Ok(report)
    }

    /// What the store holds and takes up.
    ///
    /// # Errors
    /// When files cannot be read.
    pub fn stats(&self) -> Result<Stats, DbError> {
        let state = &self.inner.state;
        let (counters, seen) = (state.counters(), state.published());
        let log_bytes = self.writer().log().size_bytes();
        Ok(Stats {
            transactions: seen.seq,
            nodes: counters.nodes,
            slots: counters.slots,
            tenants: state.tenants(seen.recorded)?.len() as u64,
            log_bytes,
            derived_bytes: state.engine().size_bytes().map_err(StoreError::from)?,
            tail_rows: state.tail_rows() as u64,
            engine: state.engine().name(),
            last_recorded: (seen.seq > 0).then(|| seen.recorded.to_string()),
            tz: self.inner.identity.tz.clone(),
        })
    }
}

/// Compares all rows but the mark of the store, which is not derived from the log.
fn compare(kept: &State, anew: &State, report: &mut CheckReport) {
    let own = |entry: &Result<(Vec<u8>, Vec<u8>), StoreError>| !matches!(entry, Ok((key, _)) if key == crate::store::key::STORE);
    let mut kept = kept.stored().filter(own);
    let mut anew = anew.stored().filter(own);
    loop {
        if report.faults.len() >= FAULTS_SHOWN {
            return;
        }
        let shown = |key: &[u8]| String::from_utf8_lossy(key).escape_debug().to_string();
        match (kept.next(), anew.next()) {
            (None, None) => return,
            (Some(Ok(a)), Some(Ok(b))) if a == b => report.rows += 1,
            (Some(Ok((a, _))), Some(Ok((b, _)))) if a == b => {
                report.rows += 1;
                report.faults.push(format!("the row {} differs from what the log says", shown(&a)));
            }
            (Some(Err(error)), _) | (_, Some(Err(error))) => {
                report.faults.push(error.to_string());
                return;
            }
            (a, b) => {
                let key =
                    [a, b].into_iter().flatten().filter_map(Result::ok).map(|(key, _)| key).min();
                let key = key.map(|key| shown(&key)).unwrap_or_default();
                report.faults.push(format!("the rows part at {key}: one is missing or left over"));
                return;
            }
        }
    }
}
