//! Transactions by number: number n always says the same and is always admitted, so that a store
//! that holds the first n of them has one digest, however and wherever it was written.

use std::fmt::Write as _;
use std::sync::Arc;

use asof::db::{Options, Store, WriteOptions};
use asof::exchange::read::{self, Reading};
use asof::model::name::Id;
use asof::model::operation::Operation;
use asof::store::open::EngineChoice;
use asof::time::{FixedClock, Recorded};

/// Options with a clock that stands still: transaction n is recorded n - 1 microseconds later.
pub(crate) fn options(engine: EngineChoice) -> Options {
    let start = Recorded::from_micros(1_700_000_000_000_000).unwrap();
    Options { engine, clock: Arc::new(FixedClock::new(start)), ..Options::default() }
}

/// The journal lines of transaction n: every fifth is a batch of three, every eleventh takes back
/// the one before.
pub(crate) fn lines(n: u64) -> Vec<String> {
    let assert = |id: String, slot: u64, label: &str| {
        format!(
            r#"{{"op":"assert","id":"{id}","subject":"s:{}","predicate":"p{}","value":"value {n}","scope":"t/a","kind":"stated","supersedes":"current"{label}}}"#,
            slot % 7,
            slot % 3,
        )
    };
    if n.is_multiple_of(5) {
        let label = format!(r#","tx":"t{n}""#);
        return (0..3).map(|i| assert(format!("f{n}-{i}"), n + i, &label)).collect();
    }
    if n % 11 == 3 && !(n - 1).is_multiple_of(5) {
        return vec![format!(
            r#"{{"op":"retract","target":"f{}","reason":"mistaken","tenant":"t"}}"#,
            n - 1
        )];
    }
    vec![assert(format!("f{n}"), n, "")]
}

/// Transactions as one journal.
pub(crate) fn journal(from: u64, until: u64) -> String {
    (from..=until).flat_map(lines).fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").unwrap();
        text
    })
}

/// Transaction n as operations.
pub(crate) fn operations(n: u64) -> Vec<Operation> {
    let make_id = || Id::new("made").unwrap();
    let reading = Reading { zone: None, replay: false, make_id: &make_id };
    lines(n).iter().map(|line| read::line(line, &reading).unwrap().operation).collect()
}

/// Writes transaction n.
pub(crate) fn write(store: &Store, n: u64) {
    let written = store.owner().write(&operations(n), WriteOptions::default()).unwrap();
    assert_eq!(written.refused(), None, "transaction {n}");
    assert_eq!(written.stamp.unwrap().seq, n);
}
