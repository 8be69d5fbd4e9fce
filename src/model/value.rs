//! Values (R8) and their JSON forms. Equality is per type: `1`, `"1"` and `1.0` differ.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::model::limits::{DECIMAL_DIGITS_MAX, TEXT_BYTES_MAX};
use crate::model::name::check_name;
use crate::model::refusal::{Reason, Refusal};
use crate::time::Valid;

/// What a fact says of its subject.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Value {
    /// Another subject.
    Entity(String),
    /// Text, with its language if one was given.
    Text(String, Option<String>),
    /// A whole number.
    Integer(i64),
    /// An exact decimal in its shortest form: no leading and no trailing zeros.
    Decimal(String),
    /// The bits of a finite float; never negative zero.
    Float(u64),
    /// True or false.
    Boolean(bool),
    /// An instant, microseconds since 1970-01-01T00:00:00Z.
    Instant(Valid),
    /// A calendar day, `YYYY-MM-DD`.
    Date(String),
    /// Any JSON, with its keys in order.
    Json(String),
}

fn bad(message: impl Into<String>) -> Refusal {
    Refusal::new(Reason::BadValue, message).at("value")
}

fn limited(text: &str) -> Result<String, Refusal> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Refusal::new(
            Reason::LimitExceeded,
            format!("the value has {} bytes; at most {TEXT_BYTES_MAX} are allowed", text.len()),
        )
        .at("value"));
    }
    Ok(text.to_owned())
}

/// An exact decimal in its shortest form.
///
/// # Errors
/// `bad_value` when it is no decimal number; `limit_exceeded` past [`DECIMAL_DIGITS_MAX`] digits.
fn decimal(text: &str) -> Result<String, Refusal> {
    let fault = || bad(format!("{text:?} is not a decimal number; write it like \"1.10\""));
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.parse::<i32>().map_err(|_| fault())?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || mantissa.ends_with('.') {
        return Err(fault());
    }
    let too_long = || {
        Refusal::new(
            Reason::LimitExceeded,
            format!("a decimal has at most {DECIMAL_DIGITS_MAX} digits"),
        )
        .at("value")
    };
    let point = i64::try_from(whole.len()).map_err(|_| too_long())? + i64::from(exponent);
    let max = i64::try_from(DECIMAL_DIGITS_MAX).unwrap_or(i64::MAX);
    if digits.len() > DECIMAL_DIGITS_MAX || point.abs() > max {
        return Err(too_long());
    }
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let length = i64::try_from(digits.len()).map_err(|_| too_long())?;
    let padded = format!("{}{digits}{}", zeros(1 - point), zeros(point - length));
    let cut = usize::try_from(point.max(1)).map_err(|_| too_long())?;
    let (whole, fraction) = padded.split_at_checked(cut).ok_or_else(too_long)?;
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = fraction.trim_end_matches('0');
    let sign = if negative && !(whole == "0" && fraction.is_empty()) { "-" } else { "" };
    Ok(if fraction.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    })
}

/// JSON with the keys of its objects in order, so that equal contents are equal texts. Depth is
/// bounded by what the parser reads.
fn ordered(json: &Json) -> Json {
    match json {
        Json::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            let entry = |key: &String| Some((key.clone(), ordered(map.get(key)?)));
            Json::Object(keys.into_iter().filter_map(entry).collect())
        }
        Json::Array(list) => list.iter().map(ordered).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => json.clone(),
    }
}

impl Value {
    /// Plain text without a language.
    ///
    /// # Errors
    /// `limit_exceeded` when it is longer than [`TEXT_BYTES_MAX`] bytes.
    pub fn text(text: &str) -> Result<Self, Refusal> {
        Ok(Self::Text(limited(text)?, None))
    }

    /// A value from its JSON form.
    ///
    /// # Errors
    /// `bad_value` for what no form of R8 is (null, lists, numbers beyond i64, floats that are not
    /// finite, objects with other keys); `limit_exceeded` for what is too long.
    pub fn from_json(json: &Json) -> Result<Self, Refusal> {
        match json {
            Json::String(text) => Self::text(text),
            Json::Bool(boolean) => Ok(Self::Boolean(*boolean)),
            Json::Number(number) => Self::from_number(&number.to_string()),
            Json::Object(object) => Self::from_object(object),
            Json::Null => Err(bad("a value is missing; null says nothing")),
            Json::Array(_) => {
                Err(bad("a list is no value; assert one fact for each, or write {\"json\":[…]}"))
            }
        }
    }

    fn from_number(text: &str) -> Result<Self, Refusal> {
        if text.contains(['.', 'e', 'E']) {
            return decimal(text).map(Self::Decimal);
        }
        text.parse().map(Self::Integer).map_err(|_| {
            bad(format!("{text} does not fit a 64-bit integer; write {{\"decimal\":\"{text}\"}}"))
        })
    }

    fn from_object(object: &Map<String, Json>) -> Result<Self, Refusal> {
        let one = object.len() == 1;
        let (key, inner) = match object.iter().next() {
            Some(entry) if one || object.contains_key("text") => entry,
            Some(_) | None => {
                return Err(bad(
                    "an object is no value; write {\"json\":{…}} or one of entity, text, decimal, float, instant, date",
                ));
            }
        };
        if object.contains_key("text") {
            return Self::from_text_object(object);
        }
        let text = || inner.as_str().ok_or_else(|| bad(format!("{{\"{key}\":…}} takes a text")));
        match key.as_str() {
            "entity" => {
                check_name("value", text()?)?;
                Ok(Self::Entity(text()?.to_owned()))
            }
            "decimal" => decimal(text()?).map(Self::Decimal),
            "float" => match inner.as_f64() {
                Some(float) if float.is_finite() => {
                    Ok(Self::Float(if float == 0.0 { 0 } else { float.to_bits() }))
                }
                Some(_) | None => Err(bad("a float is a finite number")),
            },
            "instant" => {
                Valid::parse_rfc3339(text()?).map(Self::Instant).map_err(|e| bad(e.to_string()))
            }
            "date" => match chrono::NaiveDate::parse_from_str(text()?, "%Y-%m-%d") {
                Ok(date) if text()?.len() == 10 => Ok(Self::Date(date.to_string())),
                Ok(_) | Err(_) => {
                    Err(bad(format!("{inner} is not a day; write it like \"2026-10-01\"")))
                }
            },
            "json" => limited(&ordered(inner).to_string()).map(Self::Json),
            other => Err(bad(format!(
                "{other:?} is no kind of value; write {{\"json\":{{…}}}} for JSON"
            ))),
        }
    }

    fn from_text_object(object: &Map<String, Json>) -> Result<Self, Refusal> {
        if let Some(other) = object.keys().find(|k| *k != "text" && *k != "lang") {
            return Err(bad(format!("a text has no field {other:?}; it has `text` and `lang`")));
        }
        let field = |name: &str| match object.get(name) {
            Some(Json::String(text)) => Ok(Some(text)),
            None => Ok(None),
            Some(_) => Err(bad(format!("`{name}` is a text"))),
        };
        let language = field("lang")?;
        if let Some(language) = language {
            check_name("lang", language)?;
        }
        let text = field("text")?.ok_or_else(|| bad("`text` is missing"))?;
        Ok(Self::Text(limited(text)?, language.cloned()))
    }

    /// The JSON form, as answers and exports print it.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Entity(name) => json!({ "entity": name }),
            Self::Text(text, None) => Json::String(text.clone()),
            Self::Text(text, Some(lang)) => json!({ "text": text, "lang": lang }),
            Self::Integer(number) => json!(number),
            Self::Decimal(text) if text.contains('.') => {
                text.parse().map_or_else(|_| json!({ "decimal": text }), Json::Number)
            }
            Self::Decimal(text) => json!({ "decimal": text }),
            Self::Float(bits) => json!({ "float": f64::from_bits(*bits) }),
            Self::Boolean(boolean) => json!(boolean),
            Self::Instant(instant) => json!({ "instant": instant.to_string() }),
            Self::Date(date) => json!({ "date": date }),
            Self::Json(text) => {
                json!({ "json": serde_json::from_str::<Json>(text).unwrap_or(Json::Null) })
            }
        }
    }

    /// The word for the type, as `value_type` declares it (R13).
    pub fn type_word(&self) -> &'static str {
        match self {
            Self::Entity(_) => "entity",
            Self::Text(..) => "text",
            Self::Integer(_) => "integer",
            Self::Decimal(_) => "decimal",
            Self::Float(_) => "float",
            Self::Boolean(_) => "boolean",
            Self::Instant(_) => "instant",
            Self::Date(_) => "date",
            Self::Json(_) => "json",
        }
    }

    /// All words of [`Value::type_word`].
    pub const TYPE_WORDS: [&'static str; 9] =
        ["entity", "text", "integer", "decimal", "float", "boolean", "instant", "date", "json"];
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entity(text)
            | Self::Text(text, None)
            | Self::Decimal(text)
            | Self::Date(text)
            | Self::Json(text) => f.write_str(text),
            Self::Text(text, Some(lang)) => write!(f, "{text} ({lang})"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Float(bits) => write!(f, "{}", f64::from_bits(*bits)),
            Self::Boolean(boolean) => write!(f, "{boolean}"),
            Self::Instant(instant) => write!(f, "{instant}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Value, Refusal> {
        Value::from_json(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn equality_is_per_type_and_decimals_compare_by_value() {
        let forms = [
            "1",
            "\"1\"",
            "1.5",
            "{\"float\":1.5}",
            "{\"decimal\":\"1\"}",
            "true",
            "{\"entity\":\"1\"}",
        ];
        let values: Vec<Value> = forms.iter().map(|f| value(f).unwrap()).collect();
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(a == b, i == j, "{} {}", forms[i], forms[j]);
            }
        }
        assert_eq!(value("{\"decimal\":\"1.10\"}").unwrap(), value("1.1").unwrap());
        let json = |text: &str| value(&format!("{{\"json\":{text}}}")).unwrap();
        assert_eq!(
            json("{\"a\":1,\"b\":{\"c\":2,\"d\":3}}"),
            json("{\"b\":{\"d\":3,\"c\":2},\"a\":1}")
        );
        assert_eq!(value("1e2").unwrap(), value("{\"decimal\":\"100\"}").unwrap());
        assert_eq!(value("-0.00").unwrap(), value("{\"decimal\":\"0\"}").unwrap());
        assert_eq!(value("1.5e-3").unwrap(), value("0.0015").unwrap());
    }

    #[test]
    fn every_form_prints_back_to_itself() {
        for form in [
            "1",
            "\"1\"",
            "1.5",
            "{\"float\":1.5}",
            "{\"decimal\":\"1\"}",
            "true",
            "{\"entity\":\"a:b\"}",
            "{\"text\":\"早会\",\"lang\":\"zh\"}",
            "{\"instant\":\"2026-10-01T00:00:00Z\"}",
            "{\"date\":\"2026-10-01\"}",
            "{\"json\":{\"a\":[1,2.50],\"b\":null}}",
        ] {
            let parsed = value(form).unwrap();
            assert_eq!(parsed.to_json().to_string(), form);
            assert_eq!(Value::from_json(&parsed.to_json()).unwrap(), parsed);
        }
    }

    #[test]
    fn what_is_no_value_is_refused_by_name() {
        for bad in [
            "null",
            "[1]",
            "{}",
            "{\"a\":1}",
            "{\"a\":1,\"b\":2}",
            "9223372036854775808",
            "{\"float\":\"NaN\"}",
            "{\"float\":1e999}",
            "{\"date\":\"2026-02-30\"}",
            "{\"decimal\":\"1.\"}",
            "{\"decimal\":\"x\"}",
            "{\"instant\":\"2026-10-01\"}",
            "{\"text\":\"a\",\"x\":1}",
        ] {
            assert_eq!(value(bad).unwrap_err().reason, Reason::BadValue, "{bad}");
        }
        assert_eq!(value("1e999999").unwrap_err().reason, Reason::LimitExceeded);
        assert!(value("1e99999999999").is_err());
    }
}
