//! Strict reading of a JSON text without building its value.
//!
//! It accepts and refuses exactly what `Value::from_json` does, for files that are read twice.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::{Seen, strictly};
use crate::codec::Error;

/// The kind of a JSON text and one member of it, read as strictly as `Value::from_json` reads and
/// without building a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skim {
    /// Whether the text is an object.
    pub(crate) is_map: bool,
    /// The value of the requested member, if it is text.
    pub(crate) said: Option<String>,
}

impl Skim {
    /// Reads a JSON text.
    ///
    /// # Errors
    /// As `Value::from_json`.
    pub(crate) fn of(text: &str, member: &str) -> Result<Self, Error> {
        let seen = Seen::default();
        let seed = Skimmer {
            seen: &seen,
            member: Some(member),
            keeps: false,
        };
        strictly(text, &seen, seed)
    }

    const OTHER: Self = Self {
        is_map: false,
        said: None,
    };
}

/// Goes over values, and keeps the text of one.
#[derive(Clone, Copy)]
struct Skimmer<'a> {
    seen: &'a Seen,
    /// The member whose text is kept.
    member: Option<&'a str>,
    /// Whether this is its value.
    keeps: bool,
}

impl Skimmer<'_> {
    fn within(self, keeps: bool) -> Self {
        Self {
            member: None,
            keeps,
            ..self
        }
    }
}

impl<'de> DeserializeSeed<'de> for Skimmer<'_> {
    type Value = Skim;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Skim, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Skimmer<'_> {
    type Value = Skim;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Skim, E> {
        Ok(Skim::OTHER)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Skim, E> {
        Ok(Skim::OTHER)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Skim, E> {
        Ok(Skim::OTHER)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Skim, E> {
        Ok(Skim::OTHER)
    }

    fn visit_f64<E>(self, float: f64) -> Result<Skim, E> {
        self.seen.float(float);
        Ok(Skim::OTHER)
    }

    fn visit_str<E>(self, text: &str) -> Result<Skim, E> {
        Ok(Skim {
            is_map: false,
            said: self.keeps.then(|| text.to_owned()),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Skim, A::Error> {
        while seq.next_element_seed(self.within(false))?.is_some() {
            self.seen.part()?;
        }
        Ok(Skim::OTHER)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Skim, A::Error> {
        let mut names: Vec<Cow<'de, str>> = Vec::new();
        let mut said = None;
        while let Some(name) = members.next_key_seed(Name)? {
            let is_meant = self.member.is_some_and(|member| member == name);
            self.seen.part()?;
            self.seen.part()?;
            let value = members.next_value_seed(self.within(is_meant))?;
            said = said.or(value.said);
            names.push(name);
        }
        if !names.is_sorted_by(|a, b| a < b) {
            names.sort_unstable();
            let twice = names.windows(2).find_map(|pair| match pair {
                [a, b] if a == b => Some(a),
                _ => None,
            });
            if let Some(name) = twice {
                return Err(self.seen.duplicate(name));
            }
        }
        Ok(Skim { is_map: true, said })
    }
}

/// The name of a member, where it stands if nothing in it is escaped.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codec::Value;

    fn compare(text: &str) {
        let skim = Skim::of(text, "k").map_err(|error| error.to_string());
        let value = Value::from_json(text).map_err(|error| error.to_string());
        let expected = value.map(|value| Skim {
            is_map: value.as_map().is_some(),
            said: value
                .as_map()
                .and_then(|map| Some(map.get("k")?.as_text()?.to_owned())),
        });
        assert_eq!(skim, expected, "{text}");
    }

    #[test]
    fn a_sketch_says_what_the_value_is() {
        for text in [
            "{\"k\": \"x\", \"a\": {\"k\": \"y\"}}",
            "{\"a\": {\"k\": \"y\"}, \"\\u006b\": \"\\n\"}",
            "{\"a\": 1, \"b\": {\"c\": 1, \"\\u0063\": 2}}",
            "{\"k\": 1}",
            "{\"k\": {\"k\": \"x\"}}",
            "[18446744073709551616]",
            "[1e20, null, true, -3]",
            "{\"k\": \"\\ud800\"}",
            "{\"k\": \"a\"} {}",
            "",
        ] {
            compare(text);
        }
        compare(&"[".repeat(500));
    }

    proptest! {
        #[test]
        fn a_sketch_is_as_strict_as_a_value(
            text in "[{\\[]([\\[\\]{},:\"\\\\ 1ken]|\"k\":|\"a\":|\"x\"|,){0,14}[}\\]]",
        ) {
            compare(&text);
        }
    }
}
