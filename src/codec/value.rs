//! The values of a payload: what both encodings and JSON have in common.
//!
//! A value of this module need not be canonical; `Canonical` is the type that promises it.

use std::fmt;

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

/// Values by unique name, kept in the order of the names' bytes (OMS 4.1).
#[derive(Clone, Default)]
pub struct Map {
    pairs: Vec<(String, Value)>,
    /// The [marks](mark) of all names, and perhaps of others: most names that are asked for are in
    /// no map, and the rules of a grain ask for a hundred.
    marks: u64,
}

impl Map {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self {
            pairs: Vec::new(),
            marks: 0,
        }
    }

    /// Returns the value of `name`.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Value> {
        if self.marks & mark(name) == 0 {
            return None;
        }
        let at = self.find(name)?;
        self.pairs.get(at).map(|(_, value)| value)
    }

    /// Returns the value of `name` for changing.
    #[inline]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        if self.marks & mark(name) == 0 {
            return None;
        }
        let at = self.find(name)?;
        self.pairs.get_mut(at).map(|(_, value)| value)
    }

    /// Sets `name` and returns the value it had.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (name, value) = (name.into(), value.into());
        match self.position(&name) {
            Ok(at) => {
                let slot = self.pairs.get_mut(at)?;
                Some(std::mem::replace(&mut slot.1, value))
            }
            Err(at) => {
                self.marks |= mark(&name);
                self.pairs.insert(at, (name, value));
                None
            }
        }
    }

    /// Takes pairs whose names are unique and in order; the caller knows that they are.
    pub(super) fn from_sorted(pairs: Vec<(String, Value)>) -> Self {
        debug_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0));
        let marks = pairs.iter().fold(0, |marks, (name, _)| marks | mark(name));
        Self { pairs, marks }
    }

    /// Builds a map from pairs in any order; returns the first name that comes twice as the error.
    ///
    /// # Errors
    /// The duplicate name.
    pub fn from_pairs(mut pairs: Vec<(String, Value)>) -> Result<Self, String> {
        if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            let twice = pairs.windows(2).find_map(|pair| match pair {
                [a, b] if a.0 == b.0 => Some(a.0.clone()),
                _ => None,
            });
            if let Some(name) = twice {
                return Err(name);
            }
        }
        Ok(Self::from_sorted(pairs))
    }

    /// Removes `name` and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.position(name).ok()?;
        Some(self.pairs.remove(at).1)
    }

    /// Returns whether `name` is present.
    #[inline]
    pub fn contains(&self, name: &str) -> bool {
        self.marks & mark(name) != 0 && self.find(name).is_some()
    }

    /// Returns the entries in the order of the names' bytes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the entries with their values for changing.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value)> {
        self.pairs
            .iter_mut()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the pairs, of which the caller keeps order and names.
    pub(super) const fn pairs_mut(&mut self) -> &mut Vec<(String, Value)> {
        &mut self.pairs
    }

    /// Returns the number of entries.
    pub const fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether there are no entries.
    pub const fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.pairs
            .binary_search_by(|(key, _)| key.as_str().cmp(name))
    }

    /// Returns where `name` is: in a short map most names are told apart by their length alone.
    fn find(&self, name: &str) -> Option<usize> {
        if self.pairs.len() <= SHORT {
            self.pairs.iter().position(|(key, _)| key == name)
        } else {
            self.position(name).ok()
        }
    }
}

/// How many entries are walked rather than searched.
const SHORT: usize = 24;

/// Returns one bit that follows from the length, the first and the last byte of a name. Of a name
/// in the program the compiler computes it.
#[inline]
const fn mark(name: &str) -> u64 {
    match name.as_bytes() {
        [] => 1,
        [only] => 1 << (*only % 64),
        [first, .., last] => {
            let first = (*first as usize).wrapping_mul(5);
            let last = (*last as usize).wrapping_mul(3);
            let len = name.len().wrapping_mul(11);
            1 << (len.wrapping_add(first).wrapping_add(last) % 64)
        }
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.pairs == other.pairs
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.into_iter()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Map {
    /// Of a name that comes twice the last value stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut map = Self::new();
        for (name, value) in pairs {
            map.insert(name, value);
        }
        map
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
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
    super::ContentAddress => |it| Self::Text(it.to_string()),
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
