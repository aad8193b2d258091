//! A value as JSON.

use crate::codec::{Error, json};

use super::{Value, Vocabulary};

impl Value {
    /// Reads a JSON text strictly: one value, no duplicate members, no lone surrogates, no
    /// integer that 64 bits cannot hold.
    ///
    /// ```
    /// use grainstore::codec::Value;
    ///
    /// assert_eq!(Value::from_json(r#"[1, 1.0, "a"]"#)?.to_json(), r#"[1,1.0,"a"]"#);
    /// assert!(Value::from_json(r#"{"a": 1, "a": 2}"#).is_err());
    /// # Ok::<(), grainstore::codec::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_JSON` with what is wrong and where; for more than 524,288 values and names too, which would
    /// take thirty times the memory of their text. `ERR_CORRUPT` for a member that is there twice.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Self::from_json_knowing(text, |_| None)
    }

    /// Reads a JSON text as [`Value::from_json`] does, and keeps no copy of the names of a vocabulary.
    pub(crate) fn from_json_knowing(text: &str, vocabulary: Vocabulary) -> Result<Self, Error> {
        json::from_json(text, vocabulary)
    }

    /// Returns the value as compact JSON; bytes become base64, members keep the order of names.
    pub fn to_json(&self) -> String {
        json::to_json(self)
    }

    /// Returns the value as canonical JSON (RFC 8785), which foreign checksums are computed over.
    ///
    /// Integers past ±(2^53 − 1) have no exact form there: a reader that
    /// checks a checksum refuses them first.
    pub fn to_jcs(&self) -> Vec<u8> {
        json::to_jcs(self)
    }

    /// Returns whether [`Value::to_json`] is the canonical text: it differs in some numbers, and in
    /// the order of some names.
    #[cfg(feature = "interchange")]
    pub(crate) fn is_canonical(&self) -> bool {
        json::is_canonical(self)
    }
}
