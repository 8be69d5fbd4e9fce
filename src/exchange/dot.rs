//! Drawings as Graphviz text (R43): deterministic, escaped, clustered by scope, both periods on
//! every node; the kinds of edges and the states of nodes are told apart by shape as well as
//! colour.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;

use crate::model::form;
use crate::query::answer::FactView;
use crate::query::chain::{Drawn, Edge};
use crate::timeline::marks::AsOf;

/// Characters of a value shown in a drawing.
const VALUE_SHOWN: usize = 60;

/// A text as a quoted Graphviz string: quotes and backslashes are escaped, line ends become `\n`,
/// `&` the entity it is for Graphviz, other control characters and what XML lacks a visible mark.
///
/// ```
/// assert_eq!(asof::exchange::dot::quoted("a \"b\"\\\n<i>"), r#""a \"b\"\\\n<i>""#);
/// ```
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => {}
            // Graphviz reads `&lt;` and `&#1;` in a label as the character they name.
            '&' => quoted.push_str("&amp;"),
            '\u{fffe}' | '\u{ffff}' => quoted.push('\u{fffd}'),
            c if c.is_control() => quoted.push('\u{fffd}'),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The first characters of a text.
pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= VALUE_SHOWN {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(VALUE_SHOWN).collect();
    short.push('…');
    short
}

fn label(fact: &FactView, not: Option<&str>, predicates: bool) -> String {
    let said = &fact.fact.said;
    let until = |until: Option<String>| until.unwrap_or_else(|| "∞".to_owned());
    let value = cut(&said.value.to_string());
    let first = if predicates { format!("{} = {value}", said.predicate) } else { value };
    let mut lines = vec![first, said.id.to_string()];
    lines.push(format!(
        "valid [{}, {})",
        form::start(said.valid_from),
        until(form::instant(fact.version.valid_until))
    ));
    lines.push(format!(
        "recorded [{}, {})",
        fact.version.recorded_from,
        until(fact.version.recorded_until.map(|at| at.to_string()))
    ));
    if let Some(then) = said.then {
        lines.push(format!("then {}", then.word()));
    }
    lines.push(not.map_or_else(|| "answers".to_owned(), ToOwned::to_owned));
    lines.join("\n")
}

/// Shape and style by what became of a fact: the one that answers is a double octagon.
fn look(drawn: &Drawn) -> &'static str {
    let Some(not) = &drawn.not else {
        return "shape=doubleoctagon, color=\"#1b7837\", penwidth=2";
    };
    match not.reason {
        "superseded_by" => "shape=box, color=\"#2166ac\"",
        "expired" | "not_yet_valid" | "start_unknown" => {
            "shape=box, style=rounded, color=\"#666666\""
        }
        "held" => "shape=box, style=dashed, color=\"#8c510a\"",
        "retracted" | "corrected_by" | "rejected" => "shape=box, style=dotted, color=\"#b2182b\"",
        "disabled" => "shape=octagon, style=dotted, color=\"#b2182b\"",
        "premise_retracted" | "premise_changed" | "unsourced" => "shape=hexagon, color=\"#b2182b\"",
        _ => "shape=box, style=dashed, color=\"#666666\"",
    }
}

pub(super) fn edge_look(edge: Edge) -> &'static str {
    match edge {
        Edge::Supersedes => "label=\"supersedes\", arrowhead=normal, color=\"#2166ac\"",
        Edge::DerivedFrom => {
            "label=\"derived from\", arrowhead=empty, style=dashed, color=\"#666666\""
        }
        Edge::ConflictsWith => {
            "label=\"conflicts with\", dir=both, arrowhead=tee, arrowtail=tee, style=bold, color=\"#b2182b\", constraint=false"
        }
    }
}

const LEGEND: &str = "  subgraph cluster_legend {
    label=\"legend\"; style=dotted; fontsize=10;
    node [fontsize=9];
    legend_answers [label=\"answers\", shape=doubleoctagon, color=\"#1b7837\", penwidth=2];
    legend_superseded [label=\"superseded\", shape=box, color=\"#2166ac\"];
    legend_outside [label=\"outside its period\", shape=box, style=rounded, color=\"#666666\"];
    legend_held [label=\"held\", shape=box, style=dashed, color=\"#8c510a\"];
    legend_closed [label=\"taken back\", shape=box, style=dotted, color=\"#b2182b\"];
    legend_question [label=\"support in question\", shape=hexagon, color=\"#b2182b\"];
  }
";

/// The first lines of every drawing.
pub(super) fn head(title: &str, below: &str) -> String {
    let mut text = String::from(
        "digraph asof {\n  rankdir=LR;\n  compound=true;\n  node [fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
    );
    let heading = format!("{title}\n{below}");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  label={};\n  labelloc=t;", quoted(&heading));
    text
}

/// The point a drawing is of.
pub(super) fn point(at: AsOf) -> String {
    format!("valid at {}, known at {}", at.valid_at, at.known_at)
}

/// The supersession chain of a slot as Graphviz text.
pub fn chain(title: &str, graph: &DiGraph<Drawn, Edge>, at: AsOf) -> String {
    facts(title, graph, at, false)
}

/// The facts of an entity as Graphviz text, each with its predicate.
pub fn entity(title: &str, graph: &DiGraph<Drawn, Edge>, at: AsOf) -> String {
    facts(title, graph, at, true)
}

fn facts(title: &str, graph: &DiGraph<Drawn, Edge>, at: AsOf, predicates: bool) -> String {
    let mut text = head(title, &point(at));
    let mut scopes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, drawn) in graph.node_weights().enumerate() {
        scopes.entry(drawn.fact.fact.said.scope.as_str()).or_default().push(place);
    }
    let drawn: Vec<&Drawn> = graph.node_weights().collect();
    for (number, (scope, places)) in scopes.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{number} {{\n    label={};", quoted(scope));
        for place in places {
            let Some(one) = drawn.get(*place) else { continue };
            let not = one.not.as_ref().map(|not| match &not.by {
                Some(by) => format!("{}: {by}", not.reason),
                None => not.reason.to_owned(),
            });
            let _ = writeln!(
                text,
                "    n{place} [label={}, {}];",
                quoted(&label(&one.fact, not.as_deref(), predicates)),
                look(one)
            );
        }
        text.push_str("  }\n");
    }
    for edge in graph.edge_references() {
        let (from, to) = (edge.source().index(), edge.target().index());
        let _ = writeln!(text, "  n{from} -> n{to} [{}];", edge_look(*edge.weight()));
    }
    text.push_str(LEGEND);
    text.push_str("}\n");
    text
}
