//! The fields of the specification: their names, their short keys and what they hold (OMS 6).
//!
//! Which fields a type requires, and which values they take, is in `rules`, not here.

mod compact;
mod later;
mod slots;
mod table;
mod words;

pub(super) use compact::{compact, compacted_value, expand, stored_value};
pub(super) use slots::{Fields, Slot, field, fields};
#[cfg(test)]
pub(super) use table::INTEGRATION;
pub(crate) use words::word;

use table::FIELDS;

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
    /// The kind of value that it holds.
    pub holds: Holds,
}

/// The kind of value that a field holds; a value of another kind is `ERR_SCHEMA`.
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
        let number = words::named(word(name)?)?;
        FIELDS.get(usize::from(number))
    }

    /// Returns the field of a short key.
    pub fn keyed(key: &str) -> Option<&'static Self> {
        let number = words::keyed(word(key)?)?;
        FIELDS.get(usize::from(number))
    }

    /// Returns every field of the table.
    pub const fn all() -> &'static [Self] {
        FIELDS
    }

    /// Returns whether the store keeps this field outside blobs (OMS 5.6, 28.3, ruling I1).
    pub fn is_index_layer(name: &str) -> bool {
        INDEX_LAYER.iter().any(|slot| slot.name() == name)
    }
}

/// The fields that the store keeps outside blobs, in the order of their names.
pub(super) const INDEX_LAYER: &[Slot] = fields![
    "access_count",
    "contradicted",
    "last_accessed_at",
    "rec_status",
    "superseded_by",
    "system_valid_to",
    "verification_status",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_found_by_its_name_and_by_its_key_and_nothing_else_is() {
        for field in FIELDS {
            assert_eq!(Field::named(field.name), Some(field));
            assert_eq!(Field::keyed(field.key), Some(field));
            for text in [field.name, field.key] {
                for other in [&text[1..], &format!("{text}x"), &text.to_uppercase()] {
                    let named = Field::named(other).is_none_or(|field| field.name == other);
                    let keyed = Field::keyed(other).is_none_or(|field| field.key == other);
                    assert!(named && keyed, "{other}");
                }
            }
        }
        assert!(Field::named("").is_none() && Field::keyed("").is_none());
    }
}
