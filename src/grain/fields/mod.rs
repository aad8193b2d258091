//! The fields of the specification: their names, their short keys and what they hold (OMS 6).
//!
//! Which fields a type requires, and which values they take, is in `rules`, not here.

mod compact;
mod later;
mod table;

pub(super) use compact::{compact, compacted_value, expand, stored_value};
#[cfg(test)]
pub(super) use table::INTEGRATION;

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
        find(&BY_NAME, name, |field| field.name)
    }

    /// Returns the field of a short key; `cnt` and `content` both mean `content` (ruling F3).
    pub fn keyed(key: &str) -> Option<&'static Self> {
        find(&BY_KEY, key, |field| field.key)
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

/// Looks a text up in one of the indexes below.
fn find(
    index: &[u8; SLOTS],
    text: &str,
    text_of: impl Fn(&'static Field) -> &'static str,
) -> Option<&'static Field> {
    let mut slot = slot_of(text.as_bytes());
    loop {
        // An empty slot points behind the table, and there are more slots than fields.
        let field = FIELDS.get(usize::from(*index.get(slot)?))?;
        if text_of(field) == text {
            return Some(field);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// Every field of every grain is looked up several times, so the table has its own index: rows by
/// a slot that follows from the length and three bytes of the text.
static BY_NAME: [u8; SLOTS] = index(false);

static BY_KEY: [u8; SLOTS] = index(true);

const fn index(by_key: bool) -> [u8; SLOTS] {
    assert!(FIELDS.len() < EMPTY as usize, "rows are numbered in a byte");
    let mut slots = [EMPTY; SLOTS];
    let mut row = 0;
    while row < FIELDS.len() {
        let field = &FIELDS[row];
        let text = if by_key { field.key } else { field.name };
        let mut slot = slot_of(text.as_bytes());
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
        {
            slots[slot] = row as u8;
        }
        row += 1;
    }
    slots
}

const fn slot_of(text: &[u8]) -> usize {
    let len = text.len();
    if len == 0 {
        return 0;
    }
    let sum = len * 131 + text[0] as usize * 7 + text[len / 2] as usize * 31;
    (sum + text[len - 1] as usize * 257) % SLOTS
}

const SLOTS: usize = 1024;

const EMPTY: u8 = u8::MAX;

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

    #[test]
    fn no_text_is_looked_for_in_many_slots() {
        for index in [&BY_NAME, &BY_KEY] {
            let runs = index.split(|row| *row == EMPTY).map(<[u8]>::len);
            assert!(runs.max() < Some(8));
        }
    }
}
