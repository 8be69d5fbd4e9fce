//! Draw what a report rests on as Graphviz text, and who answered when as SVG.

use asof::db::{DbError, Options, Store};
use asof::exchange::{dot_lineage, svg};
use asof::model::name::{Predicate, Subject, Tenant};
use asof::model::scope::Scope;
use asof::query::lineage::{Filter, Way, walk};
use asof::query::node::NodeAsk;
use asof::query::plot::plane;
use asof::query::view::Ask;

const JOURNAL: &str = r#"
{"op":"source","id":"audit","scope":"acme","kind":"observed","uri":"file:///audit.pdf"}
{"op":"assert","id":"five","subject":"service:billing","predicate":"replicas","value":5,"scope":"acme/prod","source":"audit","valid_from":"2026-01-01T00:00:00Z"}
{"op":"artifact","id":"report","kind":"report","scope":"acme/prod","place":"wiki <\"billing\">","derived_from":["five"]}
{"op":"assert","id":"seven","subject":"service:billing","predicate":"replicas","value":7,"scope":"acme/prod","kind":"stated","valid_from":"2026-03-01T00:00:00Z","supersedes":["five"]}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let store = Store::open(dir.path().join("store"), Options::default())?;
    store.import_text(JOURNAL.trim_start())?;
    let snapshot = store.session(Tenant::new("acme").map_err(DbError::from)?).snapshot();
    let view = snapshot.view(Tenant::new("acme").map_err(DbError::from)?);

    let why = walk(&view, Way::Why, "report", &Filter::default(), &NodeAsk::default())?;
    let why = why.ok_or("there is a report")?;
    assert_eq!((why.node_count(), why.edge_count()), (3, 2));
    let drawing = dot_lineage::lineage("the report", &[why], NodeAsk::default().at(&view));
    println!("{drawing}");
    assert!(drawing.contains("cluster_0") && drawing.contains(r#"wiki <\"billing\">"#));

    let (subject, predicate) = (
        Subject::new("service:billing").map_err(DbError::from)?,
        Predicate::new("replicas").map_err(DbError::from)?,
    );
    let ask = Ask::of(Scope::new("acme/prod").map_err(DbError::from)?);
    let (rectangles, left_out) = plane(&view, &subject, &predicate, &ask)?;
    assert_eq!(left_out, 0);
    let picture = svg::plane("service:billing / replicas", &rectangles, left_out);
    println!("{picture}");
    assert!(picture.starts_with("<svg ") && picture.contains("prefers-color-scheme"));
    Ok(())
}
