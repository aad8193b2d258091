//! The values of a payload: what both encodings and JSON have in common.
//!
//! A value of this module need not be canonical; `Canonical` is the type that promises it.

mod json;
mod map;
mod name;

use std::fmt;

pub use map::Map;
pub(crate) use name::{Name, Vocabulary, Word};

/// A value of a grain: what MessagePack, CBOR and JSON have in common, and bytes.
///
/// ```
/// use grainstore::codec::{Map, Value};
///
/// let mut map = Map::new();
/// map.insert("confidence", 0.9);
/// map.insert("tags", Value::Array(vec!["ui".into(), "theme".into()]));
/// assert_eq!(map.get("confidence"), Some(&Value::Float(0.9)));
/// ```
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Null: kept inside arrays, omitted from maps (OMS 4.5, ruling F14).
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer from −2^63 to 2^64 − 1 (ruling F7).
    Int(Int),
    /// A double; only finite ones have a canonical form (OMS 4.3).
    Float(f64),
    /// Text; canonical text is NFC and free of byte-order marks (OMS 4.4).
    Text(String),
    /// Raw bytes, which only timestamp tokens and signatures may hold (ruling F13).
    Bytes(Vec<u8>),
    /// Values in the order given (OMS 4.6).
    Array(Vec<Self>),
    /// Values by unique name.
    Map(Map),
}

impl Value {
    /// Returns the text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the integer, if this is one that fits 64 signed bits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(int) => int.as_i64(),
            _ => None,
        }
    }

    /// Returns the double, if this is one.
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Float(float) => Some(*float),
            _ => None,
        }
    }

    /// Returns the boolean, if this is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Returns the elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the map, if this is one.
    pub const fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the bytes, if these are bytes.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the texts of an array, passing over elements that are not text.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.as_array()
            .unwrap_or_default()
            .iter()
            .filter_map(Self::as_text)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("null"),
            Self::Bool(flag) => flag.fmt(f),
            Self::Int(int) => int.fmt(f),
            Self::Float(float) => float.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Bytes(bytes) => write!(f, "0x{}", data_encoding::HEXLOWER.encode(bytes)),
            Self::Array(items) => f.debug_list().entries(items).finish(),
            Self::Map(map) => map.fmt(f),
        }
    }
}

/// An integer from −2^63 to 2^64 − 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Int(Repr);

// `Large` holds only what does not fit an i64, so that equal numbers are equal values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repr {
    Small(i64),
    Large(u64),
}

impl Int {
    /// Returns the number if it fits 64 signed bits.
    pub const fn as_i64(self) -> Option<i64> {
        match self.0 {
            Repr::Small(small) => Some(small),
            Repr::Large(_) => None,
        }
    }

    /// Returns the number if it is not negative.
    pub fn as_u64(self) -> Option<u64> {
        match self.0 {
            Repr::Small(small) => u64::try_from(small).ok(),
            Repr::Large(large) => Some(large),
        }
    }

    /// Returns the nearest double.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest double is what is asked for"
    )]
    pub const fn to_f64(self) -> f64 {
        match self.0 {
            Repr::Small(small) => small as f64,
            Repr::Large(large) => large as f64,
        }
    }
}

impl From<i64> for Int {
    fn from(small: i64) -> Self {
        Self(Repr::Small(small))
    }
}

impl From<u64> for Int {
    fn from(number: u64) -> Self {
        Self(i64::try_from(number).map_or(Repr::Large(number), Repr::Small))
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Small(small) => small.fmt(f),
            Repr::Large(large) => large.fmt(f),
        }
    }
}

macro_rules! value_from {
    ($($from:ty => |$it:ident| $to:expr),+ $(,)?) => {$(
        impl From<$from> for Value {
            fn from($it: $from) -> Self {
                $to
            }
        }
    )+};
}

value_from! {
    bool => |it| Self::Bool(it),
    i32 => |it| Self::Int(i64::from(it).into()),
    i64 => |it| Self::Int(it.into()),
    u8 => |it| Self::Int(u64::from(it).into()),
    u32 => |it| Self::Int(u64::from(it).into()),
    u64 => |it| Self::Int(it.into()),
    f64 => |it| Self::Float(it),
    &str => |it| Self::Text(it.to_owned()),
    String => |it| Self::Text(it),
    Vec<u8> => |it| Self::Bytes(it),
    Vec<Self> => |it| Self::Array(it),
    Map => |it| Self::Map(it),
    crate::codec::ContentAddress => |it| Self::Text(it.to_string()),
}

impl From<Vec<&str>> for Value {
    fn from(texts: Vec<&str>) -> Self {
        Self::Array(texts.into_iter().map(Self::from).collect())
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Self {
        Self::Array(texts.into_iter().map(Self::from).collect())
    }
}
