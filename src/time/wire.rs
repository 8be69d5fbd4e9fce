//! Instants through serde: RFC 3339 text where people read, an `i64` where they do not.
//!
//! Invariant: both ways in pass the checked constructors, so damaged bytes become an error and
//! never an instant that cannot be printed (R1).

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::time::axis::Axis;
use crate::time::instant::Instant;

impl<A: Axis> Serialize for Instant<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.micros())
        }
    }
}

impl<'de, A: Axis> Deserialize<'de> for Instant<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Rfc3339(PhantomData))
        } else {
            Self::from_micros(i64::deserialize(deserializer)?).map_err(de::Error::custom)
        }
    }
}

/// Reads text without keeping it.
struct Rfc3339<A>(PhantomData<A>);

impl<A: Axis> de::Visitor<'_> for Rfc3339<A> {
    type Value = Instant<A>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} instant as RFC 3339 text with an offset", A::NAME)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Instant::parse_rfc3339(text).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::instant::Valid;
    use serde::de::value::{Error, StrDeserializer};
    use serde::de::{IntoDeserializer, Visitor};
    use serde::forward_to_deserialize_any;

    /// A formatter is serde's smallest text format.
    struct Shown(Valid);

    impl fmt::Display for Shown {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.serialize(f)
        }
    }

    fn from_text(text: &str) -> Result<Valid, Error> {
        let deserializer: StrDeserializer<'_, Error> = text.into_deserializer();
        Valid::deserialize(deserializer)
    }

    /// The smallest binary format: one number.
    struct Binary(i64);

    impl<'de> Deserializer<'de> for Binary {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_i64(self.0)
        }

        fn is_human_readable(&self) -> bool {
            false
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
        }
    }

    #[test]
    fn text_formats_hold_an_instant_as_its_text() {
        assert_eq!(
            from_text("2026-10-05T10:00:00+02:00").unwrap().to_string(),
            "2026-10-05T08:00:00Z"
        );
        for text in ["2026-10-05", "2026-02-30T00:00:00Z"] {
            assert!(from_text(text).unwrap_err().to_string().contains(text));
        }
        assert_eq!(Shown(Valid::from_micros(0).unwrap()).to_string(), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn binary_formats_hold_an_instant_as_microseconds_and_check_its_range() {
        assert_eq!(Valid::deserialize(Binary(7)).unwrap(), Valid::from_micros(7).unwrap());
        let error = Valid::deserialize(Binary(i64::MAX)).unwrap_err();
        assert!(error.to_string().contains("outside the years"), "{error}");
    }
}
