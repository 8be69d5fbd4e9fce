//! JSON read strictly: a key given twice is an error, numbers keep their text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The key under which `serde_json` hands over a number whose text it keeps.
const NUMBER: &str = "$serde_json::private::Number";

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == NUMBER && object.is_empty() {
                let text: String = map.next_value()?;
                let number: Number = text.parse().map_err(serde::de::Error::custom)?;
                return Ok(Value::Number(number));
            }
            let Strict(value) = map.next_value()?;
            if object.contains_key(&key) {
                return Err(serde::de::Error::custom(format!("the field {key:?} is given twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// One JSON value, strictly.
///
/// # Errors
/// When the text is not one JSON value, nests deeper than 128, or gives a key twice.
pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Strict>(text).map(|Strict(value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_given_twice_is_an_error_at_any_depth() {
        assert!(parse(r#"{"a":1,"a":1}"#).unwrap_err().to_string().contains("twice"));
        assert!(parse(r#"[{"x":{"b":1,"b":2}}]"#).is_err());
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn numbers_keep_their_text() {
        for text in ["1.10", "123456789012345678901234567890", "-0.0", "1e5"] {
            assert_eq!(
                parse(&format!("{{\"n\":{text}}}")).unwrap()["n"].to_string(),
                text.replace("1e5", "1e+5").replace("1e+5", &parse(text).unwrap().to_string())
            );
        }
    }
}
