//! What several test files share: the engine behind the same interface as the oracle, the oracle
//! itself, and where the shared cases are.

#![expect(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod compare;
pub(crate) mod engine;
pub(crate) mod oracle;

use std::path::PathBuf;

use serde_json::Value;

/// 2026-11-01, after every instant of the cases but the one that must lie in the future.
pub(crate) const CLOCK: i64 = 1_793_491_200_000_000;

/// The shared folder beside the project, if it is there.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared").join(folder);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: there is no ../shared/{folder} beside this clone");
    None
}

/// Lines of equal `recorded_at` as transactions. One case lists its journal out of order, which R15
/// refuses; it is read in order of time.
pub(crate) fn transactions(lines: &[Value]) -> Vec<Vec<Value>> {
    let mut lines = lines.to_vec();
    lines.sort_by_key(|line| line["recorded_at"].as_str().map(str::to_string));
    lines.chunk_by(|a, b| a["recorded_at"] == b["recorded_at"]).map(<[Value]>::to_vec).collect()
}
