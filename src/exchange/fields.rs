//! The fields of one journal line, taken one by one: each at most once, each with its shape, and
//! at the end none left over.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::model::condition::{Conditions, Requirement};
use crate::model::kind::{Authority, Kind};
use crate::model::limits::{IDS_MAX, TEXT_BYTES_MAX};
use crate::model::name::{Id, near};
use crate::model::operation::Premises;
use crate::model::refusal::{Reason, Refusal};
use crate::model::scope::Scope;
use crate::time::{Start, TimeError, Valid, Zone, parse_instant, parse_through};

/// The fields of a line, and the zone its local times are in.
pub struct Fields {
    map: Map<String, Json>,
    zone: Option<Zone>,
}

fn shape(field: &str, wanted: &str) -> Refusal {
    Refusal::new(Reason::BadLine, format!("`{field}` is not {wanted}")).at(field)
}

/// A refusal for a time that R1 to R3 do not allow.
pub fn bad_time(field: &str, error: &TimeError) -> Refusal {
    let reason = Reason::ALL.iter().copied().find(|reason| reason.code() == error.code());
    Refusal::new(reason.unwrap_or(Reason::BadTime), format!("`{field}`: {error}")).at(field)
}

impl Fields {
    /// The fields of an object; `zone` is what local times are read in if the line has no `tz`.
    ///
    /// # Errors
    /// `bad_time` when the line's `tz` is no zone.
    pub fn new(mut map: Map<String, Json>, zone: Option<Zone>) -> Result<Self, Refusal> {
        let zone = match map.shift_remove("tz") {
            None => zone,
            Some(Json::String(name)) => {
                Some(Zone::parse(&name).map_err(|error| bad_time("tz", &error))?)
            }
            Some(_) => return Err(shape("tz", "the name of a zone such as \"Europe/Berlin\"")),
        };
        Ok(Self { map, zone })
    }

    /// Takes a field; `null` counts as absent.
    pub fn take(&mut self, field: &str) -> Option<Json> {
        self.map.shift_remove(field).filter(|value| !value.is_null())
    }

    /// Puts a field in, to be taken as if it had been given.
    pub fn put(&mut self, field: &str, value: Json) {
        self.map.insert(field.to_owned(), value);
    }

    /// Takes a field, `null` told apart from absent.
    pub fn take_nullable(&mut self, field: &str) -> Option<Json> {
        self.map.shift_remove(field)
    }

    /// Refuses every field that the operation does not have, with the nearest that it has.
    ///
    /// # Errors
    /// `unknown_field`, naming the first.
    pub fn only(&self, operation: &str, known: &[&str]) -> Result<(), Refusal> {
        let Some(unknown) = self.map.keys().find(|key| !known.contains(&key.as_str())) else {
            return Ok(());
        };
        let near = near(unknown, known.iter().copied());
        let advice = if near.is_empty() {
            "remove it".to_owned()
        } else {
            format!("did you mean {}?", near.join(", "))
        };
        let message = format!("`{operation}` has no field {unknown:?}; {advice}");
        Err(Refusal::new(Reason::UnknownField, message).at(unknown))
    }

    /// A text, if given.
    ///
    /// # Errors
    /// `bad_line` when it is no text, `limit_exceeded` when it is too long.
    pub fn text(&mut self, field: &str) -> Result<Option<String>, Refusal> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::String(text)) if text.len() <= TEXT_BYTES_MAX => Ok(Some(text)),
            Some(Json::String(_)) => Err(Refusal::new(
                Reason::LimitExceeded,
                format!("`{field}` has more than {TEXT_BYTES_MAX} bytes"),
            )
            .at(field)),
            Some(_) => Err(shape(field, "a text")),
        }
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// `bad_line` when it is missing, and as [`Fields::text`].
    pub fn need_text(&mut self, field: &str) -> Result<String, Refusal> {
        self.text(field)?.ok_or_else(|| missing(field))
    }

    /// An id, if given.
    ///
    /// # Errors
    /// `bad_name`, and as [`Fields::text`].
    pub fn id(&mut self, field: &str) -> Result<Option<Id>, Refusal> {
        self.text(field)?
            .map(|text| Id::new(&text).map_err(|refusal| renamed(refusal, field)))
            .transpose()
    }

    /// An id that must be there.
    ///
    /// # Errors
    /// As [`Fields::id`], and `bad_line` when it is missing.
    pub fn need_id(&mut self, field: &str) -> Result<Id, Refusal> {
        self.id(field)?.ok_or_else(|| missing(field))
    }

    /// The scope, which must be there (R10).
    ///
    /// # Errors
    /// `no_scope`, `bad_name`.
    pub fn scope(&mut self) -> Result<Scope, Refusal> {
        match self.text("scope")? {
            Some(text) => Scope::new(&text),
            None => Err(Refusal::new(
                Reason::NoScope,
                "`scope` is missing; say where it counts, such as \"acme/billing/prod\" (the first part is the tenant)",
            )
            .at("scope")),
        }
    }

    /// One of some words, if given.
    ///
    /// # Errors
    /// `bad_line` when it is none of them.
    pub fn word<T>(
        &mut self,
        field: &str,
        words: &[&str],
        from: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(field)? else { return Ok(None) };
        match from(&text) {
            Some(value) => Ok(Some(value)),
            None => Err(shape(field, &format!("one of {}, but {text:?}", words.join(", ")))),
        }
    }

    /// A kind, if given.
    ///
    /// # Errors
    /// `bad_line` when it is none.
    pub fn kind(&mut self) -> Result<Option<Kind>, Refusal> {
        self.word("kind", &["stated", "observed", "reported", "inferred"], Kind::from_word)
    }

    /// A whole number that is not negative, if given.
    ///
    /// # Errors
    /// `bad_line` when it is none.
    pub fn number(&mut self, field: &str) -> Result<Option<u64>, Refusal> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Number(number)) => {
                number.as_u64().map(Some).ok_or_else(|| shape(field, "a whole number from 0 up"))
            }
            Some(_) => Err(shape(field, "a whole number from 0 up")),
        }
    }

    /// An instant, if given; local times are read in the line's zone.
    ///
    /// # Errors
    /// The codes of R1 to R3.
    pub fn instant(&mut self, field: &str) -> Result<Option<Valid>, Refusal> {
        match self.text(field)? {
            None => Ok(None),
            Some(text) => parse_instant(&text, self.zone.as_ref())
                .map(Some)
                .map_err(|error| bad_time(field, &error)),
        }
    }

    /// Where a period starts, if given (R4).
    ///
    /// # Errors
    /// The codes of R1 to R3.
    pub fn start(&mut self) -> Result<Option<Start>, Refusal> {
        match self.text("valid_from")? {
            None => Ok(None),
            Some(text) if text == "-inf" => Ok(Some(Start::Always)),
            Some(text) if text == "unknown" => Ok(Some(Start::Unknown)),
            Some(text) => parse_instant(&text, self.zone.as_ref())
                .map(|at| Some(Start::At(at)))
                .map_err(|error| bad_time("valid_from", &error)),
        }
    }

    /// Where a period ends, if given: `Some(None)` = said to be open.
    ///
    /// # Errors
    /// The codes of R1 to R3; `bad_line` when both `valid_until` and `valid_through` are given.
    pub fn until(&mut self) -> Result<Option<Option<Valid>>, Refusal> {
        let through = self.text("valid_through")?;
        let until = self.take_nullable("valid_until");
        match (until, through) {
            (Some(_), Some(_)) => Err(Refusal::new(
                Reason::BadLine,
                "both `valid_until` (exclusive) and `valid_through` (inclusive) are given; give one",
            )),
            (None, Some(day)) => parse_through(&day, self.zone.as_ref())
                .map(|at| Some(Some(at)))
                .map_err(|error| bad_time("valid_through", &error)),
            (Some(Json::Null), None) => Ok(Some(None)),
            (Some(Json::String(text)), None) if text == "inf" => Ok(Some(None)),
            (Some(Json::String(text)), None) => parse_instant(&text, self.zone.as_ref())
                .map(|at| Some(Some(at)))
                .map_err(|error| bad_time("valid_until", &error)),
            (Some(_), None) => Err(shape("valid_until", "a time, null or \"inf\"")),
            (None, None) => Ok(None),
        }
    }

    /// A list of ids; absent = empty.
    ///
    /// # Errors
    /// `bad_line` when it is no list of ids, `limit_exceeded` when it is too long.
    pub fn ids(&mut self, field: &str) -> Result<Vec<Id>, Refusal> {
        match self.take(field) {
            None => Ok(Vec::new()),
            Some(Json::Array(list)) => ids(field, &list),
            Some(_) => Err(shape(field, "a list of ids")),
        }
    }

    /// Premises: a list of ids (one justification) or a list of lists (alternatives).
    ///
    /// # Errors
    /// As [`Fields::ids`].
    pub fn premises(&mut self) -> Result<Premises, Refusal> {
        let field = "derived_from";
        match self.take(field) {
            None => Ok(Vec::new()),
            Some(Json::Array(list)) if list.is_empty() => Ok(Vec::new()),
            Some(Json::Array(list)) if list.iter().all(Json::is_array) => {
                list.iter().filter_map(Json::as_array).map(|inner| ids(field, inner)).collect()
            }
            Some(Json::Array(list)) => Ok(vec![ids(field, &list)?]),
            Some(_) => Err(shape(field, "a list of ids, or a list of such lists")),
        }
    }

    /// Conditions, if given.
    ///
    /// # Errors
    /// `bad_line` for other shapes, `bad_value` for a bad version requirement.
    pub fn when(&mut self) -> Result<Option<Conditions>, Refusal> {
        let map = match self.take("when") {
            None => return Ok(None),
            Some(Json::Object(map)) => map,
            Some(_) => return Err(shape("when", "an object such as {\"version\":\"2.0\"}")),
        };
        let mut dimensions = BTreeMap::new();
        for (dimension, requirement) in map {
            let requirement = match &requirement {
                Json::String(text) => Requirement::Exact(text.clone()),
                Json::Object(inner) if inner.len() == 1 => match inner.get("semver") {
                    Some(Json::String(text)) => Requirement::semver(text)?,
                    Some(_) | None => {
                        return Err(shape(
                            "when",
                            "a text or {\"semver\":\"…\"} for each dimension",
                        ));
                    }
                },
                _ => return Err(shape("when", "a text or {\"semver\":\"…\"} for each dimension")),
            };
            dimensions.insert(dimension, requirement);
        }
        Conditions::new(dimensions).map(Some)
    }

    /// An authority order, if given.
    ///
    /// # Errors
    /// `bad_line` for other shapes, `bad_value` for a kind named twice.
    pub fn authority(&mut self) -> Result<Option<Authority>, Refusal> {
        let wrong =
            || shape("authority", "a list of kinds, strongest first; a nested list is a tie");
        let list = match self.take("authority") {
            None => return Ok(None),
            Some(Json::Array(list)) => list,
            Some(_) => return Err(wrong()),
        };
        let kind = |json: &Json| json.as_str().and_then(Kind::from_word).ok_or_else(wrong);
        let tiers: Result<Vec<Vec<Kind>>, Refusal> = list
            .iter()
            .map(|tier| match tier {
                Json::Array(tied) => tied.iter().map(kind).collect(),
                one => kind(one).map(|kind| vec![kind]),
            })
            .collect();
        Authority::new(&tiers?).map(Some)
    }
}

fn ids(field: &str, list: &[Json]) -> Result<Vec<Id>, Refusal> {
    if list.len() > IDS_MAX {
        return Err(Refusal::new(
            Reason::LimitExceeded,
            format!("`{field}` has more than {IDS_MAX} ids"),
        )
        .at(field));
    }
    list.iter()
        .map(|json| match json {
            Json::String(text) => Id::new(text).map_err(|refusal| renamed(refusal, field)),
            _ => Err(shape(field, "a list of ids")),
        })
        .collect()
}

/// A missing field.
pub fn missing(field: &str) -> Refusal {
    Refusal::new(Reason::BadLine, format!("`{field}` is missing")).at(field)
}

fn renamed(mut refusal: Refusal, field: &str) -> Refusal {
    refusal.message = refusal.message.replacen("`id`", &format!("`{field}`"), 1);
    refusal.field = Some(field.to_owned());
    refusal
}
