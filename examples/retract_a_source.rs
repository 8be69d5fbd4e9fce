//! Take it back: a message was wrong; everything made from it is out of use at once, and the
//! copies kept elsewhere are on a list.

use asof::db::{DbError, Options, Store, WriteOptions};
use asof::exchange::question;
use asof::model::name::{Id, Tenant};
use asof::model::operation::{Action, Operation, Takeback};
use serde_json::json;

const JOURNAL: &str = r#"
{"op":"source","id":"message-17","scope":"acme/support","kind":"stated","text":"We ship on Friday."}
{"op":"source","id":"message-18","scope":"acme/support","kind":"stated","text":"The customer is in Oslo."}
{"op":"assert","id":"ships","subject":"order:7","predicate":"ships_on","value":"Friday","scope":"acme/support","source":"message-17"}
{"op":"assert","id":"city","subject":"order:7","predicate":"city","value":"Oslo","scope":"acme/support","source":"message-18"}
{"op":"artifact","id":"summary","kind":"summary","scope":"acme/support","place":"crm://order-7/summary","derived_from":["ships","city"]}
{"op":"artifact","id":"vector","kind":"vector","scope":"acme/support","place":"index://orders/7","derived_from":["ships"]}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let store = Store::open(dir.path().join("store"), Options::default())?;
    let report = store.import_text(JOURNAL.trim_start())?;
    assert_eq!(report.admitted, 6);
    let session = store.session(Tenant::new("acme").map_err(DbError::from)?);

    // What would it reach? A rehearsal writes nothing.
    let retract = [Operation::new(Action::Retract(
        Id::new("message-17").map_err(DbError::from)?,
        Takeback::Mistaken,
    ))];
    let rehearsal = WriteOptions { dry_run: true, ..WriteOptions::default() };
    let before = store.digest()?;
    let rehearsed = session.write(&retract, rehearsal)?;
    assert_eq!(store.digest()?, before);

    let written = session.write(&retract, WriteOptions::default())?;
    let (_, receipt) = written.receipts.first().ok_or("a retraction gives a receipt")?;
    println!("{:#}", receipt.json());
    assert_eq!(receipt.reached_total, 3);
    assert_eq!(rehearsed.receipts.first().map(|(_, r)| r.reached_total), Some(3));
    let todo: Vec<_> =
        receipt.worklist.iter().map(|i| (i.artifact.as_str(), i.what.word())).collect();
    assert_eq!(todo, [("summary", "regenerate"), ("vector", "drop")]);

    // In force for every read from here on.
    let ask = r#"{"get":{"subject":"order:7","predicate":"ships_on","scope":"acme/support"}}"#;
    let answer = session.snapshot().answer(&question::line(ask, None).map_err(DbError::from)?)?;
    assert_eq!(answer.pointer("/outcome"), Some(&json!("unknown")));
    assert_eq!(answer.pointer("/leads/0/reason"), Some(&json!("premise_retracted")));
    Ok(())
}
