//! Canonical values: the one form that is encoded (OMS 4.3 to 4.5, 4.10).
//!
//! NFC, the normal form that all text is compared in, is here too; those of search are not.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::{Error, Map, Value};

/// A map that has a canonical form: NFC text, finite floats, no null members, bounded depth.
///
/// Only values of this type are encoded, so encoding cannot fail (OMS 4.3–4.5, 4.10).
///
/// ```
/// use grainstore::codec::{Canonical, Encoding, Map, Profile};
///
/// let mut map = Map::new();
/// map.insert("name", "Cafe\u{301}");
/// let canonical = Canonical::new(map, Profile::Extended)?;
/// assert_eq!(canonical.get("name").and_then(|name| name.as_text()), Some("Café"));
/// assert_eq!(Encoding::MessagePack.encode(&canonical)[0], 0x81);
/// # Ok::<(), grainstore::codec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Canonical(Map);

impl Canonical {
    /// Normalises text, drops null members and checks the rest.
    ///
    /// # Errors
    /// `ERR_FLOAT_INVALID` for NaN and infinities; `ERR_CORRUPT` for a byte-order mark, names that
    /// normalise to one, and nesting past the profile's depth.
    pub fn new(mut map: Map, profile: super::Profile) -> Result<Self, Error> {
        make_map_canonical(&mut map, profile.depth_max())?;
        Ok(Self(map))
    }

    /// Takes a map that a strict decoder has just checked.
    pub(super) const fn decoded(map: Map) -> Self {
        Self(map)
    }

    /// Returns the map without the promise.
    pub fn into_map(self) -> Map {
        self.0
    }
}

impl std::ops::Deref for Canonical {
    type Target = Map;

    fn deref(&self) -> &Map {
        &self.0
    }
}

/// Returns the canonical form of a single value, as elision hashes need it (OMS 10.1.1).
///
/// # Errors
/// As [`Canonical::new`].
pub(super) fn canonical_value(mut value: Value, profile: super::Profile) -> Result<Value, Error> {
    make_canonical(&mut value, profile.depth_max())?;
    Ok(value)
}

/// Returns text as canonical text spells it, for comparing with stored text (OMS 4.4).
///
/// ```
/// assert_eq!(grainstore::codec::nfc("Cafe\u{301}"), "Café");
/// ```
pub fn nfc(text: &str) -> Cow<'_, str> {
    if is_nfc(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

fn make_canonical(value: &mut Value, depth_left: usize) -> Result<(), Error> {
    match value {
        Value::Float(float) if !float.is_finite() => Err(Error::FloatInvalid),
        Value::Text(text) => make_text_canonical(text).map(drop),
        Value::Array(items) => {
            let below = descend(depth_left)?;
            items
                .iter_mut()
                .try_for_each(|item| make_canonical(item, below))
        }
        Value::Map(map) => make_map_canonical(map, depth_left),
        _ => Ok(()),
    }
}

fn make_map_canonical(map: &mut Map, depth_left: usize) -> Result<(), Error> {
    let below = descend(depth_left)?;
    let pairs = map.pairs_mut();
    // OMS 4.5: null is omitted from maps and (ruling F14) kept in arrays.
    pairs.retain(|(_, value)| !matches!(value, Value::Nil));
    let mut is_renamed = false;
    for (name, value) in pairs.iter_mut() {
        is_renamed |= make_text_canonical(name)?;
        make_canonical(value, below)?;
    }
    if is_renamed {
        let pairs = std::mem::take(pairs);
        *map = Map::from_pairs(pairs).map_err(|_| Error::NotCanonical {
            reason: "two names of one map are equal after NFC",
        })?;
    }
    Ok(())
}

/// Returns whether the text was another before.
fn make_text_canonical(text: &mut String) -> Result<bool, Error> {
    if text.is_ascii() {
        return Ok(false);
    }
    if text.contains(BOM) {
        return Err(Error::NotCanonical {
            reason: "text contains a byte-order mark (U+FEFF)",
        });
    }
    if is_nfc(text) {
        return Ok(false);
    }
    *text = text.nfc().collect();
    Ok(true)
}

/// Checks text found in bytes: canonical text needs no change.
pub(super) fn is_canonical_text(text: &str) -> bool {
    text.is_ascii() || (!text.contains(BOM) && is_nfc(text))
}

fn descend(depth_left: usize) -> Result<usize, Error> {
    depth_left.checked_sub(1).ok_or(Error::NotCanonical {
        reason: "nesting is deeper than the profile allows",
    })
}

/// Ruling F15: refused anywhere in text, not only in front.
const BOM: char = '\u{feff}';
