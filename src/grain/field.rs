use std::collections::HashMap;
use std::sync::LazyLock;

use super::table::FIELDS;

/// A field of the specification: its name, the short key it is stored under, and what it holds.
///
/// ```
/// use grainstore::grain::Field;
///
/// let field = Field::named("confidence").expect("OMS 6.1 lists it");
/// assert_eq!(field.key, "c");
/// assert_eq!(Field::keyed("c").map(|field| field.name), Some("confidence"));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// The full name (OMS 6).
    pub name: &'static str,
    /// The short key (OMS 6, Appendix C).
    pub key: &'static str,
    /// What values it holds.
    pub holds: Holds,
}

/// What a field holds; a value of another kind is `ERR_SCHEMA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holds {
    /// Text.
    Text,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// An integer that is not negative, else `ERR_RANGE`.
    Count,
    /// An integer from 0 to 255, else `ERR_RANGE`.
    Byte,
    /// A double; an integer given for it becomes one (ruling F8).
    Float,
    /// A double from 0 to 1, else `ERR_RANGE`.
    Unit,
    /// Milliseconds since 1970.
    Time,
    /// A map.
    Map,
    /// Any value.
    Any,
    /// An array of texts.
    Texts,
    /// An array of integers from 0 to 255.
    Bytes,
    /// An array of maps.
    Maps,
    /// An array of texts and citation maps (OMS 27.5, ruling T10).
    Sources,
    /// Raw bytes; base64 in JSON (ruling F13).
    Binary,
    /// An array of raw bytes, each a signature (ruling F13).
    Signatures,
}

impl Field {
    /// Returns the field of a full name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BY_NAME.get(name).copied()
    }

    /// Returns the field of a short key; `cnt` and `content` both mean `content` (ruling F3).
    pub fn keyed(key: &str) -> Option<&'static Self> {
        BY_KEY.get(key).copied()
    }

    /// Returns every field of the table.
    pub const fn all() -> &'static [Self] {
        FIELDS
    }

    /// Returns whether the store keeps this field outside blobs (OMS 5.6, 28.3, ruling I1).
    pub fn is_index_layer(name: &str) -> bool {
        matches!(
            name,
            "superseded_by"
                | "system_valid_to"
                | "verification_status"
                | "access_count"
                | "last_accessed_at"
                | "contradicted"
                | "rec_status"
        )
    }
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static Field>> =
    LazyLock::new(|| FIELDS.iter().map(|field| (field.name, field)).collect());

static BY_KEY: LazyLock<HashMap<&'static str, &'static Field>> =
    LazyLock::new(|| FIELDS.iter().map(|field| (field.key, field)).collect());
