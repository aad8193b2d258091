//! JSON in and out of values: strict when it is read, compact when it is written.
//!
//! RFC 8785, which checksums are computed over, is in `jcs`; reading without making a value is in
//! `skim`.

mod jcs;
#[cfg(feature = "interchange")]
mod skim;

#[cfg(feature = "interchange")]
pub(in crate::codec) use jcs::is_canonical;
pub(in crate::codec) use jcs::to_jcs;
#[cfg(feature = "interchange")]
pub(crate) use skim::Skim;

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::{Error, Map, Name, Value, Vocabulary};

pub(in crate::codec) fn from_json(text: &str, vocabulary: Vocabulary) -> Result<Value, Error> {
    let seen = Seen::default();
    let strict = Strict {
        seen: &seen,
        vocabulary,
    };
    strictly(text, &seen, strict)
}

pub(in crate::codec) fn to_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Appends the JSON of a value.
pub(crate) fn write(value: &Value, out: &mut String) {
    match value {
        Value::Nil => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Int(int) => match (int.as_i64(), int.as_u64()) {
            (Some(small), _) => out.push_str(&small.to_string()),
            (None, large) => out.push_str(&large.unwrap_or_default().to_string()),
        },
        Value::Float(float) => out.push_str(&float_text(*float)),
        Value::Text(text) => write_text(text, out),
        Value::Bytes(bytes) => write_text(&data_encoding::BASE64.encode(bytes), out),
        Value::Array(items) => write_items(items, out, write),
        Value::Map(map) => write_members(map.iter(), out, write),
    }
}

fn write_items(items: &[Value], out: &mut String, write: fn(&Value, &mut String)) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}

fn write_members<'a>(
    members: impl Iterator<Item = (&'a str, &'a Value)>,
    out: &mut String,
    write: fn(&Value, &mut String),
) {
    out.push('{');
    for (at, (name, value)) in members.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_text(name, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

/// Appends the JSON of a text. Most need no escape, which is found out many bytes at a time.
pub(crate) fn write_text(text: &str, out: &mut String) {
    let is_escaped = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let mut blocks = text.as_bytes().chunks(64);
    if blocks.any(|block| block.iter().fold(false, |any, byte| any | is_escaped(byte))) {
        // Serialising a text to a string cannot fail.
        return out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
    out.reserve(text.len().saturating_add(2));
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// Returns a number as text; a number that JSON has none for is null.
fn float_text(float: f64) -> String {
    serde_json::to_string(&float).unwrap_or_default()
}

/// Findings of a seed that the errors of the parser cannot carry.
#[derive(Default)]
pub(super) struct Seen {
    /// A number so large that it may have been a rounded integer.
    wide: Cell<bool>,
    /// A second member of the same name.
    duplicate: Cell<bool>,
    /// The values and names so far.
    parts: Cell<usize>,
    /// The members of the objects that are being read, the innermost last: how many one has is known at its
    /// end, and then it takes as much room as it needs.
    members: RefCell<Vec<(Name, Value)>>,
    /// The items of the arrays that are being read, in the same way.
    items: RefCell<Vec<Value>>,
}

impl Seen {
    pub(super) fn float(&self, float: f64) {
        if float.abs() >= TWO_TO_63 {
            self.wide.set(true);
        }
    }

    /// Counts a value or the name of a member.
    pub(super) fn part<E: serde::de::Error>(&self) -> Result<(), E> {
        let parts = self.parts.get().saturating_add(1);
        self.parts.set(parts);
        if parts > PARTS_MAX {
            return Err(E::custom("holds more than 524288 values and names"));
        }
        Ok(())
    }

    pub(super) fn duplicate<E: serde::de::Error>(&self, name: &str) -> E {
        self.duplicate.set(true);
        E::custom(format_args!("duplicate member \"{name}\""))
    }
}

/// Reads one JSON text with a seed, which reports to `seen`.
pub(super) fn strictly<'t, S: DeserializeSeed<'t>>(
    text: &'t str,
    seen: &Seen,
    seed: S,
) -> Result<S::Value, Error> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = seed
        .deserialize(&mut parser)
        .and_then(|value| parser.end().map(|()| value))
        .map_err(|error| {
            let message = error.to_string();
            match seen.duplicate.get() {
                true => Error::DuplicateMember { message },
                false => Error::Json { message },
            }
        })?;
    // A parser hands an integer past 64 bits over as a rounded double: look at the text.
    if seen.wide.get() && has_wide_integer(text) {
        return Err(Error::Json {
            message: "an integer does not fit 64 bits".into(),
        });
    }
    Ok(value)
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nil => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Int(int) => match (int.as_i64(), int.as_u64()) {
                (Some(small), _) => serializer.serialize_i64(small),
                (None, large) => serializer.serialize_u64(large.unwrap_or_default()),
            },
            Self::Float(float) => serializer.serialize_f64(*float),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_str(&data_encoding::BASE64.encode(bytes)),
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Self::Map(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self.iter() {
            members.serialize_entry(name, value)?;
        }
        members.end()
    }
}

/// Builds values and refuses what a lenient reader would lose in silence.
#[derive(Clone, Copy)]
struct Strict<'a> {
    seen: &'a Seen,
    vocabulary: Vocabulary,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Int(number.into()))
    }

    fn visit_f64<E>(self, float: f64) -> Result<Value, E> {
        self.seen.float(float);
        Ok(Value::Float(float))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let open = self.seen.items.borrow().len();
        while let Some(item) = seq.next_element_seed(self)? {
            self.seen.part()?;
            self.seen.items.borrow_mut().push(item);
        }
        let items = self.seen.items.borrow_mut().drain(open..).collect();
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let open = self.seen.members.borrow().len();
        while let Some(name) = members.next_key_seed(MemberName(self.vocabulary))? {
            self.seen.part()?;
            self.seen.part()?;
            let value = members.next_value_seed(self)?;
            self.seen.members.borrow_mut().push((name, value));
        }
        let pairs = self.seen.members.borrow_mut().drain(open..).collect();
        // A second member of the same name would silently replace the first.
        Map::from_named(pairs)
            .map(Value::Map)
            .map_err(|name| self.seen.duplicate(name.as_str()))
    }
}

/// Reads the name of a member, of which no copy is kept if it is of the vocabulary.
struct MemberName(Vocabulary);

impl<'de> DeserializeSeed<'de> for MemberName {
    type Value = Name;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for MemberName {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, text: &str) -> Result<Name, E> {
        Ok(Name::of(text, self.0))
    }
}

/// Returns whether a text known to be JSON holds an integer literal that no 64 bits can.
fn has_wide_integer(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let (_, found) = rest.split_at(at);
        if let Some(string) = found.strip_prefix('"') {
            rest = after_string(string);
            continue;
        }
        let end = found
            .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
            .unwrap_or(found.len());
        let (number, after) = found.split_at(end);
        let is_integer = !number.contains(['.', 'e', 'E']);
        if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
            return true;
        }
        rest = after;
    }
    false
}

fn after_string(mut rest: &str) -> &str {
    while let Some(at) = rest.find(['"', '\\']) {
        let (_, found) = rest.split_at(at);
        let mut chars = found.chars();
        if chars.next() == Some('"') {
            return chars.as_str();
        }
        chars.next();
        rest = chars.as_str();
    }
    ""
}

/// Two bytes of text may be a value of 32 bytes in an array of its own: a bound on memory.
const PARTS_MAX: usize = 1 << 19;
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_past_64_bits_is_refused_and_a_double_of_that_size_is_not() {
        assert!(Value::from_json("[18446744073709551616]").is_err());
        assert!(Value::from_json(r#"{"a\"9": -9223372036854775809}"#).is_err());
        assert_eq!(
            Value::from_json(r#"["\\99999999999999999999", 1e20]"#)
                .unwrap()
                .to_json(),
            r#"["\\99999999999999999999",1e+20]"#
        );
        assert!(Value::from_json("18446744073709551615").is_ok());
    }
}
