//! One journal line: which fields it may have, and how each of them is read.

use super::Refusal;
use super::time::{self, Start};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The four kinds of evidence.
pub(super) const KINDS: [&str; 4] = ["stated", "observed", "reported", "inferred"];

const COMMON: &str = "op actor tz recorded_at tx tx_id tenant";
const ASSERT: &str = "id subject predicate value scope when valid_from valid_until valid_through source kind memory \
                      outcome supersedes then derived_from review_by stated_at note expect_version read_at";

fn fields_of(op: &str) -> Option<String> {
    let own = match op {
        "predicate" => "name cardinality value_type authority then review_every",
        "source" => "id scope kind uri text author stated_at supersedes",
        "assert" => ASSERT,
        "correct" => return Some(format!("{COMMON} {ASSERT} target")),
        "artifact" => {
            "id kind scope when place text derived_from valid_from valid_until valid_through supersedes read_at"
        }
        "support" => "target derived_from kind",
        "affirm" => "target review_by kind",
        "end" => "target valid_until kind",
        "retract" => "target reason kind",
        "retract_claim" => "subject predicate value scope reason kind",
        "reinstate" | "disable" | "enable" | "confirm" | "reject" => "target kind",
        "erase" => "target subject scope kind",
        "resolve" => "conflict keep note kind",
        "suppress" => "id scope subject predicate kind until",
        "unsuppress" => "id",
        "done" => "artifact note",
        _ => return None,
    };
    Some(format!("{COMMON} {own}"))
}

/// A line whose operation and field names are known.
pub(super) struct Line<'a> {
    pub op: &'a str,
    map: &'a Map<String, Value>,
    zone: Option<&'a str>,
}

/// What `supersedes` says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Named {
    Nothing,
    Current,
    Ids(Vec<String>),
}

impl<'a> Line<'a> {
    pub(super) fn read(value: &'a Value) -> Result<Self, Refusal> {
        let map = value.as_object().ok_or("bad_line")?;
        let op = map.get("op").and_then(Value::as_str).ok_or("unknown_operation")?;
        let allowed = fields_of(op).ok_or("unknown_operation")?;
        let unknown = |key: &String| !allowed.split_whitespace().any(|a| a == key);
        if map.keys().any(unknown) {
            return Err("unknown_field");
        }
        let zone = map.get("tz").map(|z| z.as_str().ok_or("bad_value")).transpose()?;
        Ok(Line { op, map, zone })
    }

    pub(super) fn raw(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// Any text, such as a note.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Refusal> {
        self.raw(key).map(|v| v.as_str().map(str::to_string).ok_or("bad_value")).transpose()
    }

    /// A name or id (R9).
    pub(super) fn name(&self, key: &str) -> Result<Option<String>, Refusal> {
        self.raw(key).map(name).transpose()
    }

    pub(super) fn need_name(&self, key: &str) -> Result<String, Refusal> {
        self.name(key)?.ok_or("bad_line")
    }

    /// The scope, which is mandatory on what is asserted (R10).
    pub(super) fn scope(&self) -> Result<String, Refusal> {
        let text = self.raw("scope").ok_or("no_scope")?.as_str().ok_or("bad_value")?;
        if text.split('/').any(|part| !is_name(part)) || text.len() > 1024 {
            return Err("bad_name");
        }
        if self.op != "suppress" && text.contains('*') {
            return Err("bad_name");
        }
        Ok(text.to_string())
    }

    pub(super) fn one_of(&self, key: &str, words: &[&str]) -> Result<Option<String>, Refusal> {
        let found = self.text(key)?;
        match &found {
            Some(word) if !words.contains(&word.as_str()) => Err("bad_value"),
            _ => Ok(found),
        }
    }

    pub(super) fn kind(&self) -> Result<Option<String>, Refusal> {
        self.one_of("kind", &KINDS)
    }

    /// The kind of an operation on a target: a person acts unless it says otherwise.
    pub(super) fn acting_kind(&self) -> Result<String, Refusal> {
        Ok(self.kind()?.unwrap_or_else(|| "stated".to_string()))
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<i64>, Refusal> {
        self.raw(key).map(|v| v.as_i64().ok_or("bad_value")).transpose()
    }

    pub(super) fn instant(&self, key: &str) -> Result<Option<i64>, Refusal> {
        match self.text(key)? {
            Some(text) => time::instant(&text, self.zone).map(Some),
            None => Ok(None),
        }
    }

    /// Start of the valid period; `None` when absent or `unknown`.
    pub(super) fn start(&self) -> Result<Option<Start>, Refusal> {
        match self.text("valid_from")?.as_deref() {
            None | Some("unknown") => Ok(None),
            Some("-inf") => Ok(Some(Start::Always)),
            Some(text) => time::instant(text, self.zone).map(|t| Some(Start::At(t))),
        }
    }

    /// End of the valid period; `None` when open.
    pub(super) fn end(&self) -> Result<Option<i64>, Refusal> {
        if let Some(day) = self.text("valid_through")? {
            if self.has("valid_until") {
                return Err("bad_line");
            }
            return time::after_day(&day, self.zone).map(Some);
        }
        match self.raw("valid_until") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text == "inf" => Ok(None),
            Some(Value::String(text)) => time::instant(text, self.zone).map(Some),
            Some(_) => Err("bad_value"),
        }
    }

    pub(super) fn ids(&self, key: &str) -> Result<Vec<String>, Refusal> {
        self.raw(key).map_or(Ok(Vec::new()), names)
    }

    /// `[a, b]` is one justification, `[[a], [b]]` are alternatives.
    pub(super) fn justifications(&self) -> Result<Vec<Vec<String>>, Refusal> {
        let Some(value) = self.raw("derived_from") else {
            return Ok(Vec::new());
        };
        let items = value.as_array().ok_or("bad_value")?;
        let all = if items.iter().all(Value::is_array) {
            items.iter().map(names).collect::<Result<Vec<_>, _>>()?
        } else {
            vec![names(value)?]
        };
        if all.is_empty() || all.iter().any(Vec::is_empty) {
            return Err("bad_value");
        }
        Ok(all)
    }

    pub(super) fn named(&self) -> Result<Named, Refusal> {
        match self.raw("supersedes") {
            None => Ok(Named::Nothing),
            Some(Value::String(word)) if word == "current" => Ok(Named::Current),
            Some(list) => match names(list)? {
                ids if ids.is_empty() => Ok(Named::Nothing),
                ids => Ok(Named::Ids(ids)),
            },
        }
    }

    /// Conditions by dimension (R12).
    pub(super) fn conditions(&self) -> Result<BTreeMap<String, Value>, Refusal> {
        let Some(value) = self.raw("when") else {
            return Ok(BTreeMap::new());
        };
        let mut all = BTreeMap::new();
        for (dimension, wanted) in value.as_object().ok_or("bad_value")? {
            if !is_name(dimension) {
                return Err("bad_name");
            }
            let range = wanted.get("semver").and_then(Value::as_str);
            let good =
                wanted.is_string() || range.is_some_and(|r| semver::VersionReq::parse(r).is_ok());
            if !good {
                return Err("bad_value");
            }
            all.insert(dimension.clone(), wanted.clone());
        }
        Ok(all)
    }

    pub(super) fn value(&self) -> Result<Option<Value>, Refusal> {
        self.raw("value").map(|v| canonical(v, self.zone)).transpose()
    }

    /// The line in one normal form, for "same id, same content" (R9).
    pub(super) fn content(&self) -> Result<Value, Refusal> {
        let mut all = self.map.clone();
        let apart = "recorded_at actor tx tx_id expect_version read_at tz tenant valid_through";
        apart.split(' ').for_each(|key| drop(all.remove(key)));
        for key in [
            "valid_from",
            "valid_until",
            "review_by",
            "stated_at",
            "until",
            "derived_from",
            "when",
            "value",
        ] {
            all.remove(key);
        }
        let plain = |found: Option<i64>| found.map(|t| json!(t));
        let start = self.start()?.map(|s| json!(s.counts_from()));
        let given = [
            ("valid_from", start),
            ("valid_until", plain(self.end()?)),
            ("review_by", plain(self.instant("review_by")?)),
            ("stated_at", plain(self.instant("stated_at")?)),
            ("until", plain(self.instant("until")?)),
            ("derived_from", Some(json!(self.justifications()?))),
            ("when", Some(json!(self.conditions()?))),
            ("value", self.value()?),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                all.insert(key.to_string(), value);
            }
        }
        Ok(Value::Object(all))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 1024
        && text.trim() == text
        && !text.chars().any(char::is_control)
}

fn name(value: &Value) -> Result<String, Refusal> {
    let text = value.as_str().ok_or("bad_value")?;
    if is_name(text) { Ok(text.to_string()) } else { Err("bad_name") }
}

fn names(value: &Value) -> Result<Vec<String>, Refusal> {
    value.as_array().ok_or("bad_value")?.iter().map(name).collect()
}

/// A value in the one form in which equal values are equal (R8).
pub(super) fn canonical(value: &Value, zone: Option<&str>) -> Result<Value, Refusal> {
    match value {
        Value::String(_) | Value::Bool(_) => Ok(value.clone()),
        Value::Number(n) if n.is_i64() => Ok(value.clone()),
        Value::Number(n) if n.is_u64() => Err("bad_value"),
        Value::Number(n) => decimal(&n.to_string()),
        Value::Object(map) => typed(map, zone),
        Value::Null | Value::Array(_) => Err("bad_value"),
    }
}

fn typed(map: &Map<String, Value>, zone: Option<&str>) -> Result<Value, Refusal> {
    if let (Some(text), Some(_), 2) = (map.get("text"), map.get("lang"), map.len()) {
        text.as_str().ok_or("bad_value")?;
        return Ok(Value::Object(map.clone()));
    }
    let (key, inner) = map.iter().next().ok_or("bad_value")?;
    if map.len() != 1 {
        return Err("bad_value");
    }
    let text = || inner.as_str().ok_or("bad_value");
    match key.as_str() {
        "entity" => Ok(json!({ "entity": name(inner)? })),
        "text" => Ok(json!(text()?)),
        "float" => Ok(json!({ "float": inner.as_f64().ok_or("bad_value")? })),
        "decimal" => decimal(text()?),
        "instant" => Ok(json!({ "instant": time::instant(text()?, zone)? })),
        "date" => match chrono::NaiveDate::parse_from_str(text()?, "%Y-%m-%d") {
            Ok(day) => Ok(json!({ "date": day.to_string() })),
            Err(_) => Err("bad_time"),
        },
        "json" => Ok(json!({ "json": inner })),
        _ => Err("bad_value"),
    }
}

fn decimal(text: &str) -> Result<Value, Refusal> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let good = |s: &str| s.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || !good(whole) || !good(part) {
        return Err("bad_value");
    }
    let whole = whole.trim_start_matches('0');
    let part = part.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if part.is_empty() { "" } else { "." };
    Ok(json!({ "decimal": format!("{sign}{whole}{point}{part}") }))
}

/// The name of the type of a canonical value.
pub(super) fn type_of(value: &Value) -> &str {
    match value {
        Value::String(_) => "text",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::Object(map) if map.contains_key("text") => "text",
        Value::Object(map) => map.keys().next().map_or("", String::as_str),
        Value::Null | Value::Array(_) => "",
    }
}
