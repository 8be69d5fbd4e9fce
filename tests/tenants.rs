//! Tenants (R10a): two tenants with the same names and ids and different contents in one store;
//! nothing of one appears in any output of a session of the other.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::fmt::Write as _;

use asof::admission::rights::{Grant, Right};
use asof::db::{ImportOptions, Session, Store, WriteOptions};
use asof::exchange::question::question;
use asof::exchange::read::{Reading, line};
use asof::model::name::Tenant;
use asof::model::refusal::{Reason, Verdict};
use asof::model::scope::ScopePattern;
use common::CLOCK;
use common::engine::Engine;
use serde_json::{Value, json};

/// A word that only tenant `n` uses.
fn secret(n: usize, what: usize) -> String {
    format!("tenant{n}only{what}")
}

/// A store of two tenants that use the same ids and subjects with contents of their own.
fn both() -> Store {
    let store = Engine::new(CLOCK).store;
    let mut text = String::new();
    for n in 0..2 {
        for what in 0..20 {
            let scope = format!("t{n}/{}", secret(n, 100 + what % 3));
            let lines = [
                json!({"op":"source","id":format!("s{what}"),"scope":scope,"kind":"stated","text":secret(n, what)}),
                json!({"op":"assert","id":format!("f{what}"),"subject":format!("e{}", what % 4),"predicate":"p",
                       "value":secret(n, 200 + what),"scope":scope,"source":format!("s{what}"),"note":secret(n, 300)}),
                json!({"op":"assert","subject":secret(n, 400),"predicate":secret(n, 401),"value":what,"scope":scope,"kind":"stated"}),
            ];
            for line in lines {
                writeln!(text, "{line}").unwrap();
            }
        }
    }
    let report = store.import(text.as_bytes(), ImportOptions::default()).unwrap();
    assert_eq!(report.refused, []);
    store
}

fn everything(session: &Session, n: usize, other: usize) -> String {
    let snapshot = session.snapshot();
    let mut out = String::new();
    let scopes = [
        format!("t{n}"),
        format!("t{n}/{}", secret(n, 100)),
        format!("t{other}/{}", secret(other, 100)),
    ];
    let mut ask = |kind: &str, fields: Value| {
        let asked = question(kind, fields.as_object().unwrap().clone(), None).unwrap();
        match snapshot.answer(&asked) {
            Ok(answer) => out.push_str(&answer.to_string()),
            Err(error) => out.push_str(&error.to_string()),
        }
    };
    for scope in &scopes {
        for subject in ["e0", "e1", "nobody"] {
            for kind in ["get", "explain", "timeline", "beliefs"] {
                ask(kind, json!({"subject":subject,"predicate":"p","scope":scope,"inherit":true}));
            }
        }
        ask("find", json!({"scope":scope}));
    }
    ask("find", json!({"across":format!("t{n}/**")}));
    ask("find", json!({"across":format!("t{other}/**")}));
    for kind in ["scopes", "subjects", "predicates"] {
        ask(kind, json!({}));
        ask(kind, json!({"across":format!("t{other}/**")}));
    }
    for what in 0..20 {
        ask("history", json!({"subject":format!("e{what}")}));
        ask("show", json!({"id":format!("f{what}")}));
        ask("usable", json!({"ids":[format!("f{what}"),format!("s{what}"),"nobody"]}));
    }
    let mut export = Vec::new();
    session.export(&mut export, None).unwrap();
    out.push_str(&String::from_utf8(export).unwrap());
    let reading = Reading { zone: None, replay: false, make_id: &Session::make_id };
    for target in ["f0", "s0", "nobody"] {
        let text = json!({"op":"retract","target":target,"reason":"mistaken","kind":"inferred"})
            .to_string();
        let operation = line(&text, &reading).unwrap().operation;
        let written = session.write(&[operation], WriteOptions::default()).unwrap();
        writeln!(out, "{:?}", written.admissions).unwrap();
    }
    out
}

#[test]
fn nothing_of_one_tenant_appears_in_any_output_of_the_other() {
    let store = both();
    for (n, other) in [(0, 1), (1, 0)] {
        let session = store.session(Tenant::new(&format!("t{n}")).unwrap());
        let out = everything(&session, n, other);
        assert!(out.contains(&format!("tenant{n}only")), "its own content is there");
        // The scopes asked about are in no answer either: they are questions, not content.
        assert!(!out.contains(&format!("tenant{other}only")), "content of the other tenant shows");
    }
}

#[test]
fn a_session_cannot_write_into_another_tenant_nor_see_its_ids() {
    let store = both();
    let session = store.session(Tenant::new("t0").unwrap());
    let reading = Reading { zone: None, replay: false, make_id: &Session::make_id };
    let verdict = |text: Value| {
        let operation = line(&text.to_string(), &reading).unwrap().operation;
        let written = session.write(&[operation], WriteOptions::default()).unwrap();
        match &written.admissions[0].verdict {
            Verdict::Refused(refusal) => Some(refusal.reason),
            Verdict::Admitted | Verdict::Unchanged | Verdict::Held => None,
        }
    };
    let assert = json!({"op":"assert","subject":"e","predicate":"p","value":1,"scope":"t1/x","kind":"stated"});
    assert_eq!(verdict(assert), Some(Reason::NotPermitted));
    store.import_text(r#"{"op":"assert","id":"only1","subject":"e","predicate":"p","value":1,"scope":"t1/x","kind":"stated"}"#).unwrap();
    let retract = json!({"op":"retract","target":"only1","reason":"mistaken"});
    assert_eq!(verdict(retract), Some(Reason::UnknownTarget));
    let named = json!({"op":"retract","target":"only1","reason":"mistaken","tenant":"t1"});
    assert_eq!(verdict(named), Some(Reason::NotPermitted));
}

#[test]
fn a_principal_sees_and_does_what_its_grants_allow() {
    let store = Engine::new(CLOCK).store;
    let text = concat!(
        r#"{"op":"assert","id":"a","subject":"e","predicate":"p","value":1,"scope":"t/open","kind":"stated"}"#,
        "\n",
        r#"{"op":"assert","id":"b","subject":"e","predicate":"p","value":2,"scope":"t/closed","kind":"stated"}"#,
        "\n",
    );
    store.import_text(text).unwrap();
    let grant = |pattern: &str, rights: &[Right]| Grant {
        scopes: ScopePattern::new(pattern).unwrap(),
        rights: rights.to_vec(),
    };
    let grants = vec![grant("t/open/**", &[Right::Read, Right::Write])];
    let session = store.session_with(Tenant::new("t").unwrap(), grants);
    let ask = |kind: &str, fields: Value| {
        let asked = question(kind, fields.as_object().unwrap().clone(), None).unwrap();
        session.snapshot().answer(&asked).unwrap()
    };
    assert_eq!(
        ask("get", json!({"subject":"e","predicate":"p","scope":"t/open"}))["outcome"],
        "known"
    );
    assert_eq!(
        ask("get", json!({"subject":"e","predicate":"p","scope":"t/closed"}))["outcome"],
        "unknown"
    );
    assert_eq!(ask("history", json!({"subject":"e"})).as_array().unwrap().len(), 1);
    assert_eq!(ask("usable", json!({"ids":["b"]}))[0]["reason"], "unknown_target");
    assert_eq!(ask("scopes", json!({})).as_array().unwrap().len(), 1);
    let reading = Reading { zone: None, replay: false, make_id: &Session::make_id };
    let reason = |text: Value| {
        let operation = line(&text.to_string(), &reading).unwrap().operation;
        session
            .write(&[operation], WriteOptions::default())
            .unwrap()
            .refused()
            .map(|(_, refusal)| refusal.reason)
    };
    assert_eq!(
        reason(
            json!({"op":"assert","subject":"e","predicate":"q","value":1,"scope":"t/open","kind":"stated"})
        ),
        None
    );
    assert_eq!(
        reason(
            json!({"op":"assert","subject":"e","predicate":"q","value":1,"scope":"t/closed","kind":"stated"})
        ),
        Some(Reason::NotPermitted)
    );
    assert_eq!(
        reason(json!({"op":"retract","target":"a","reason":"mistaken"})),
        Some(Reason::NotPermitted)
    );
    assert_eq!(
        reason(json!({"op":"retract","target":"b","reason":"mistaken"})),
        Some(Reason::UnknownTarget)
    );
    assert_eq!(
        reason(
            json!({"op":"assert","subject":"e","predicate":"p","value":3,"scope":"t/open","kind":"stated","supersedes":"current"})
        ),
        Some(Reason::NotPermitted)
    );
}
