//! Answers for people: aligned tables from the same JSON that `--json` prints.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value as Json;

/// A value as a cell.
pub(super) fn text(json: &Json) -> String {
    match json {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Object(map) if map.len() == 1 => map
            .iter()
            .next()
            .map_or_else(String::new, |(kind, inner)| format!("{kind}:{}", text(inner))),
        Json::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What stands at a path of fields; null if nothing does.
pub(super) fn at<'a>(json: &'a Json, path: &[&str]) -> &'a Json {
    path.iter().fold(json, |json, field| json.get(*field).unwrap_or(&Json::Null))
}

/// A list of a field; none if there is none.
pub(super) fn list<'a>(json: &'a Json, field: &str) -> &'a [Json] {
    json.get(field).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

fn period(json: &Json, field: &str) -> String {
    let end = |end: &Json| if end.is_null() { "∞".to_owned() } else { text(end) };
    format!("[{}, {})", text(at(json, &[field, "from"])), end(at(json, &[field, "until"])))
}

/// A table without lines: columns aligned, long cells cut only by the terminal.
pub(super) fn table(heads: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heads);
    for row in rows {
        table.add_row(row);
    }
    if table.is_empty() {
        return "nothing found\n".to_owned();
    }
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn coded(json: &Json) -> String {
    match json.get("by") {
        Some(by) => format!("{}: {}", text(at(json, &["reason"])), text(by)),
        None => text(at(json, &["reason"])),
    }
}

/// The answer to a question of a kind.
pub(super) fn answer(kind: &str, json: &Json) -> String {
    let all = json.as_array().map_or(&[][..], Vec::as_slice);
    match kind {
        "get" => get(json),
        "explain" => table(
            &["STEP", "VERDICT", "ID", "VALUE", "SCOPE"],
            list(json, "candidates").iter().map(|c| {
                let verdict = match c.get("by") {
                    Some(by) => format!("{}: {}", text(at(c, &["verdict"])), text(by)),
                    None => text(at(c, &["verdict"])),
                };
                vec![
                    text(at(c, &["step"])),
                    verdict,
                    text(at(c, &["id"])),
                    text(at(c, &["value"])),
                    text(at(c, &["scope"])),
                ]
            }),
        ),
        "timeline" | "beliefs" => table(
            &["FROM", "UNTIL", "OUTCOME", "VALUES", "FACTS"],
            all.iter().map(|p| {
                let until = if at(p, &["until"]).is_null() {
                    "∞".to_owned()
                } else {
                    text(at(p, &["until"]))
                };
                vec![
                    text(at(p, &["from"])),
                    until,
                    text(at(p, &["outcome"])),
                    text(at(p, &["values"])),
                    text(at(p, &["facts"])),
                ]
            }),
        ),
        "history" => table(
            &["RECORDED", "VALID", "PREDICATE", "VALUE", "STATE", "SCOPE", "ID"],
            all.iter().map(|f| {
                let state = match f.get("by") {
                    Some(by) => format!("{} by {}", text(at(f, &["state"])), text(by)),
                    None => text(at(f, &["state"])),
                };
                vec![
                    period(f, "recorded"),
                    period(f, "valid"),
                    text(at(f, &["predicate"])),
                    text(at(f, &["value"])),
                    state,
                    text(at(f, &["scope"])),
                    text(at(f, &["id"])),
                ]
            }),
        ),
        "find" => table(
            &["SUBJECT", "PREDICATE", "VALUE", "OUTCOME", "SCOPE", "ID"],
            all.iter().flat_map(|slot| {
                list(slot, "facts").iter().map(|f| {
                    vec![
                        text(at(slot, &["subject"])),
                        text(at(slot, &["predicate"])),
                        text(at(f, &["value"])),
                        text(at(slot, &["outcome"])),
                        text(at(slot, &["scope"])),
                        text(at(f, &["id"])),
                    ]
                })
            }),
        ),
        "usable" => table(
            &["USABLE", "ID", "WHY NOT"],
            all.iter().map(|u| {
                let usable = at(u, &["usable"]) == &Json::Bool(true);
                vec![if usable { "yes" } else { "no" }.to_owned(), text(at(u, &["id"])), coded(u)]
            }),
        ),
        "show" => fields(json),
        _ => table(
            &["NAME", "FACTS", "SLOTS"],
            all.iter().map(|c| {
                vec![text(at(c, &["name"])), text(at(c, &["facts"])), text(at(c, &["slots"]))]
            }),
        ),
    }
}

fn get(json: &Json) -> String {
    let outcome = text(at(json, &["outcome"]));
    let facts = list(json, "facts");
    let mut values: Vec<String> = facts.iter().map(|fact| text(at(fact, &["value"]))).collect();
    values.sort();
    values.dedup();
    let mut out = if values.is_empty() {
        format!("{outcome}\n")
    } else {
        format!("{outcome}: {}\n", values.join(" | "))
    };
    if let Some(question) = json.get("question") {
        let _ = writeln!(out, "? {}", text(question));
    }
    for doubt in list(json, "doubts") {
        let _ = writeln!(out, "doubt: {}", coded(doubt));
    }
    if let Some(notice) = json.get("notice") {
        let near = json
            .get("near")
            .map(|near| format!("; did you mean {}?", text(near)))
            .unwrap_or_default();
        let said = match notice.as_str() {
            Some("unknown_scope") => "nothing was ever written to this scope",
            Some("may_be_declared_many") => {
                "if several values may hold at once, declare it: asof predicate NAME --cardinality many"
            }
            Some(_) | None => "",
        };
        let _ = writeln!(out, "note: {} ({said}{near})", text(notice));
    }
    if !facts.is_empty() {
        out.push('\n');
        out.push_str(&table(
            &["VALUE", "VALID", "RECORDED", "KIND", "SCOPE", "ID"],
            facts.iter().map(|f| {
                vec![
                    text(at(f, &["value"])),
                    period(f, "valid"),
                    period(f, "recorded"),
                    text(at(f, &["kind"])),
                    text(at(f, &["scope"])),
                    text(at(f, &["id"])),
                ]
            }),
        ));
    }
    let leads = list(json, "leads");
    if !leads.is_empty() {
        let total = text(at(json, &["leads_total"]));
        let _ = writeln!(out, "\nfound, not to be used ({total}):");
        out.push_str(&table(
            &["ID", "WHY"],
            leads.iter().map(|l| vec![text(at(l, &["id"])), coded(l)]),
        ));
    }
    out
}

/// The fields of an object, one a line.
pub(super) fn fields(json: &Json) -> String {
    let map = json.as_object();
    let width = map.into_iter().flatten().map(|(field, _)| field.len()).max().unwrap_or(0);
    let mut out = String::new();
    let told = |value: &Json| value.as_array().is_none_or(|list| !list.is_empty());
    for (field, value) in map.into_iter().flatten().filter(|(_, value)| told(value)) {
        let shown = match (field.as_str(), value) {
            ("recorded" | "valid", Json::Object(_)) => period(json, field),
            ("marks", Json::Array(marks)) => marks.iter().map(coded).collect::<Vec<_>>().join(", "),
            (_, value) => text(value),
        };
        let _ = writeln!(out, "{field:width$}  {shown}");
    }
    out
}

/// What became of an operation.
pub(super) fn receipt(json: &Json) -> String {
    let mut out = text(at(json, &["verdict"]));
    if let Some(id) = json.get("id") {
        let _ = write!(out, " {}", text(id));
    }
    if let Some(at) = json.get("recorded_at") {
        let _ = write!(out, " at {}", text(at));
    }
    out.push('\n');
    for old in list(json, "replaced") {
        let _ =
            writeln!(out, "replaces {} ({})", text(at(old, &["value"])), text(at(old, &["id"])));
    }
    if let Some(against) = json.get("against") {
        let _ = writeln!(
            out,
            "held: it goes against {}; `asof confirm` accepts it, `asof reject` declines it",
            text(against)
        );
    }
    out.push_str(&super::wide::receipt(json));
    out
}

/// What an import came to.
pub(super) fn import(json: &Json) -> String {
    let number = |field: &str| text(at(json, &[field]));
    let mut out = format!(
        "{} lines: {} admitted, {} unchanged, {} held, {} refused\n",
        number("lines"),
        number("admitted"),
        number("unchanged"),
        number("held"),
        number("refused_lines")
    );
    let refused = list(json, "refused");
    for line in refused.iter().take(20) {
        let _ = writeln!(
            out,
            "line {}: {} ({})",
            text(at(line, &["line"])),
            text(at(line, &["message"])),
            text(at(line, &["reason"]))
        );
    }
    if refused.len() > 20 {
        let _ = writeln!(out, "… and {} more", refused.len() - 20);
    }
    if let Some(path) = json.get("rejects") {
        let _ = writeln!(out, "refused lines are in {}", text(path));
    }
    out
}

/// What a check found.
pub(super) fn check(json: &Json) -> String {
    let mut out = String::new();
    for fault in list(json, "faults") {
        let _ = writeln!(out, "fault: {}", text(fault));
    }
    if let Some(why) = json.get("rebuilt") {
        let _ = writeln!(out, "the derived state was made anew ({})", text(why));
    }
    let sound = at(json, &["sound"]) == &Json::Bool(true);
    let verdict = if sound { "sound" } else { "NOT sound" };
    let _ = writeln!(
        out,
        "{verdict}: {} transactions, {} rows compared",
        text(at(json, &["transactions"])),
        text(at(json, &["rows"]))
    );
    out
}
