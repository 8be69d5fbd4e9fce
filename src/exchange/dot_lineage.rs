//! Lineage and timelines as Graphviz text (R43), by the same rules as [`crate::exchange::dot`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;

use crate::exchange::dot::{cut, edge_look, head, point, quoted};
use crate::lineage::receipt::word;
use crate::model::form;
use crate::model::node::{Life, NodeNo};
use crate::query::chain::Edge;
use crate::query::course::Piece;
use crate::query::lineage::Walked;
use crate::store::rows::NodeView;
use crate::time::{Recorded, Start, Valid};
use crate::timeline::marks::AsOf;
use crate::timeline::resolve::Outcome;
use crate::timeline::version::{State, versions};

const LEGEND: &str = "  subgraph cluster_legend {
    label=\"legend\"; style=dotted; fontsize=10;
    node [fontsize=9];
    legend_fact [label=\"fact\", shape=box, color=\"#2166ac\"];
    legend_source [label=\"source\", shape=note, color=\"#2166ac\"];
    legend_artifact [label=\"artifact\", shape=component, color=\"#2166ac\"];
    legend_question [label=\"support in question\", shape=hexagon, color=\"#b2182b\"];
    legend_closed [label=\"taken back\", shape=octagon, style=dotted, color=\"#b2182b\"];
    legend_disabled [label=\"disabled\", shape=doubleoctagon, style=dotted, color=\"#b2182b\"];
    legend_held [label=\"held\", shape=diamond, style=dashed, color=\"#8c510a\"];
  }
";

/// What is known of a node, over both periods.
fn label(walked: &Walked, known_at: Recorded) -> String {
    let mut lines = Vec::new();
    let (mut valid, mut recorded) = ((Start::Unknown, None), None);
    match &walked.node {
        NodeView::Fact(slot, place) => {
            if let Some(fact) = slot.fact(*place) {
                let said = &fact.said;
                let value = cut(&said.value.to_string());
                lines.push(cut(&format!("fact: {} / {}", said.subject, said.predicate)));
                lines.push(format!("= {value}"));
                valid = (said.valid_from, fact.until(&fact.life.standing(known_at)));
                recorded = versions(fact, known_at)
                    .last()
                    .map(|version| (version.recorded_from, version.recorded_until));
            }
        }
        NodeView::Source(source) => {
            let shown = [&source.said.uri, &source.said.author, &source.said.text];
            let shown = shown.into_iter().flatten().next().map(|text| cut(text));
            lines.push(format!("source: {}", source.said.kind.word()));
            lines.extend(shown);
            valid.1 = source.life.standing(known_at).ended.flatten();
        }
        NodeView::Artifact(artifact) => {
            lines.push(format!("artifact: {}", cut(&artifact.said.kind)));
            lines.push(cut(&artifact.said.place));
            let standing = artifact.life.standing(known_at);
            let until = standing.ended.unwrap_or(artifact.said.valid_until);
            valid = (artifact.said.valid_from, until);
        }
    }
    let recorded = recorded.or_else(|| walked.node.life().map(|life| in_force(life, known_at)));
    let until = |until: Option<String>| until.unwrap_or_else(|| "∞".to_owned());
    lines.push(walked.id.to_string());
    lines.push(format!("valid [{}, {})", form::start(valid.0), until(form::instant(valid.1))));
    if let Some((from, end)) = recorded {
        lines.push(format!("recorded [{from}, {})", until(end.map(|at| at.to_string()))));
    }
    lines.push(match walked.mark {
        Some(mark) => format!("{}, {}", walked.state.word(), word(mark)),
        None => walked.state.word().to_owned(),
    });
    lines.join("\n")
}

/// From when to when a source or artifact stood.
fn in_force(life: &Life, known_at: Recorded) -> (Recorded, Option<Recorded>) {
    let standing = life.standing(known_at);
    let closed = standing.closed.map(|(_, stamp)| stamp.recorded);
    let disabled = standing.disabled.map(|stamp| stamp.recorded);
    (life.stamp.recorded, [closed, disabled].into_iter().flatten().min())
}

/// Shape by state, then by type.
fn look(walked: &Walked) -> &'static str {
    match walked.state {
        State::Corrected(_) | State::Retracted(_) | State::Rejected => {
            "shape=octagon, style=dotted, color=\"#b2182b\""
        }
        State::Disabled => "shape=doubleoctagon, style=dotted, color=\"#b2182b\"",
        State::Held => "shape=diamond, style=dashed, color=\"#8c510a\"",
        State::Open | State::Ended if walked.mark.is_some() => "shape=hexagon, color=\"#b2182b\"",
        State::Open | State::Ended => match walked.node {
            NodeView::Fact(..) => "shape=box, color=\"#2166ac\"",
            NodeView::Source(_) => "shape=note, color=\"#2166ac\"",
            NodeView::Artifact(_) => "shape=component, color=\"#2166ac\"",
        },
    }
}

/// Walks from one node, drawn together: each node once, clustered by scope. Deterministic: nodes
/// stand in order of coming.
pub fn lineage(title: &str, walks: &[DiGraph<Walked, Edge>], at: AsOf) -> String {
    let mut nodes: BTreeMap<NodeNo, &Walked> = BTreeMap::new();
    let mut edges: BTreeSet<(NodeNo, NodeNo, u8)> = BTreeSet::new();
    let kinds = [Edge::DerivedFrom, Edge::Supersedes, Edge::ConflictsWith];
    for graph in walks {
        nodes.extend(graph.node_weights().map(|walked| (walked.no, walked)));
        for edge in graph.edge_references() {
            let ends = (graph.node_weight(edge.source()), graph.node_weight(edge.target()));
            if let ((Some(from), Some(to)), Some(kind)) =
                (ends, (0u8..).zip(kinds).find(|(_, kind)| kind == edge.weight()))
            {
                edges.insert((from.no, to.no, kind.0));
            }
        }
    }
    let mut scopes: BTreeMap<&str, Vec<&Walked>> = BTreeMap::new();
    for walked in nodes.values() {
        let scope = walked.node.scope().map_or("", |scope| scope.as_str());
        scopes.entry(scope).or_default().push(walked);
    }
    let mut text = head(title, &point(at));
    // Writing to a String cannot fail.
    for (number, (scope, walked)) in scopes.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{number} {{\n    label={};", quoted(scope));
        for walked in walked {
            let label = quoted(&label(walked, at.known_at));
            let begun = if walked.depth == 0 { ", penwidth=3" } else { "" };
            let (no, look) = (walked.no.0, look(walked));
            let _ = writeln!(text, "    n{no} [label={label}, {look}{begun}];");
        }
        text.push_str("  }\n");
    }
    for (from, to, kind) in edges {
        let look = kinds.get(usize::from(kind)).map_or("", |kind| edge_look(*kind));
        let _ = writeln!(text, "  n{} -> n{} [{look}];", from.0, to.0);
    }
    text.push_str(LEGEND);
    text.push_str("}\n");
    text
}

const COURSE_LEGEND: &str = "  subgraph cluster_legend {
    label=\"legend\"; style=dotted; fontsize=10;
    node [fontsize=9];
    legend_known [label=\"known\", shape=box, color=\"#1b7837\", penwidth=2];
    legend_uncertain [label=\"uncertain\", shape=box, style=\"rounded,dashed\", color=\"#8c510a\"];
    legend_contested [label=\"contested\", shape=hexagon, color=\"#b2182b\"];
    legend_unknown [label=\"unknown\", shape=ellipse, style=dotted, color=\"#666666\"];
  }
";

/// The answer along valid time, one node a piece, in order. `seen` is since when it was so known:
/// the recorded period of every piece is from there on.
pub fn timeline(title: &str, scope: &str, pieces: &[Piece<Valid>], known_at: Recorded) -> String {
    let mut text = head(title, &format!("along valid time, known at {known_at}"));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  subgraph cluster_0 {{\n    label={};", quoted(scope));
    for (place, piece) in pieces.iter().enumerate() {
        let look = match piece.outcome {
            Outcome::Known => "shape=box, color=\"#1b7837\", penwidth=2",
            Outcome::Uncertain => "shape=box, style=\"rounded,dashed\", color=\"#8c510a\"",
            Outcome::Contested => "shape=hexagon, color=\"#b2182b\"",
            Outcome::Unknown => "shape=ellipse, style=dotted, color=\"#666666\"",
        };
        let mut lines: Vec<String> = piece.values.iter().map(|v| cut(&v.to_string())).collect();
        lines.push(piece.outcome.word().to_owned());
        lines.extend(piece.facts.iter().take(8).map(ToString::to_string));
        if piece.facts.len() > 8 {
            lines.push(format!("… {} facts", piece.facts.len()));
        }
        let from = piece.from.map_or_else(|| "-inf".to_owned(), |at| at.to_string());
        let until = piece.until.map_or_else(|| "∞".to_owned(), |at| at.to_string());
        lines.push(format!("valid [{from}, {until})"));
        lines.push(format!("recorded by {known_at}"));
        let _ = writeln!(text, "    p{place} [label={}, {look}];", quoted(&lines.join("\n")));
    }
    text.push_str("  }\n");
    for place in 1..pieces.len() {
        let _ = writeln!(text, "  p{} -> p{place} [arrowhead=vee, color=\"#666666\"];", place - 1);
    }
    text.push_str(COURSE_LEGEND);
    text.push_str("}\n");
    text
}
