//! Selective disclosure (OMS 10): a view of a grain with some fields as their hashes.
//!
//! A hash here has no salt, as the specification has it: it shows that a revealed value is the
//! original one, and hides only values that cannot be guessed (ruling S7). The view is not a second
//! original: it carries no signature, and a signature of the original proves nothing about the view
//! without the original's bytes (ruling S12).

use std::collections::BTreeSet;

use crate::codec::{Canonical, ContentAddress, Flags, Map, Profile, Value, encode_value};

use super::draft::resolve_kind;
use super::fields::{Fields, compacted_value, stored_value};
use super::grain::{header_for, write_blob};
use super::rules::{self, Origin, Warning};
use super::{Error, Grain};

impl Grain {
    /// Returns a view with these fields elided, named in full, and warnings about values that can
    /// be found by trying likely ones.
    ///
    /// The view has an address of its own and names the original's. Its header says what is left
    /// of it: without the namespace the routing hash is 0000, and without references their flags
    /// are clear (ruling S10). It keeps its sensitivity, and it is never flagged as signed.
    ///
    /// ```
    /// use grainstore::grain::{Draft, Time};
    ///
    /// let draft = Draft::belief("alice", "works_at", "ACME").confidence(1.0);
    /// let grain = draft.user("alice-123").created_at(Time::from_ms(1)).finish(Default::default())?;
    /// let (view, warnings) = grain.disclose(&["user_id"])?;
    /// assert_eq!(view.field("user_id"), None);
    /// assert_eq!(view.text("_disclosure_of"), Some(&*format!("sha256:{}", grain.address())));
    /// assert_eq!(warnings.len(), 1); // Few people have such a name.
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_SCHEMA` for a field that is not there or must not be elided (OMS 10.2, ruling S11);
    /// `ERR_EMPTY` for no field at all.
    pub fn disclose(&self, elide: &[&str]) -> Result<(Self, Vec<Warning>), Error> {
        if elide.is_empty() {
            return Err(Error::Empty {
                field: "the list of fields to elide".into(),
            });
        }
        let mut fields = self.fields().clone();
        let mut warnings = Vec::new();
        // A view of a view is a view of the same original.
        let mut hashes = match fields.remove("_elided") {
            Some(Value::Map(hashes)) => hashes,
            _ => Map::new(),
        };
        for name in BTreeSet::from_iter(elide) {
            let value = stored_value(self.type_(), self.fields(), name)?;
            let value = value.filter(|_| rules::is_elidable(name));
            let value = value.ok_or_else(|| not_elidable(name))?;
            if is_guessable(&value) {
                warnings.push(Warning {
                    field: (*name).to_owned(),
                    message: GUESSABLE.into(),
                });
            }
            hashes.insert(*name, hash_of(value.into_owned())?);
            fields.remove(name);
        }
        fields.insert("_elided", hashes);
        if !fields.contains("_disclosure_of") {
            fields.insert("_disclosure_of", format!("sha256:{}", self.address()));
        }
        let canonical = Canonical::new(fields, Profile::Extended)?;
        let fields = Fields::of(&canonical);
        rules::check(self.type_(), &fields, Origin::Foreign)?;
        let level = self.header().sensitivity();
        let header = header_for(self.type_(), &fields, self.encoding(), level);
        debug_assert!(!header.flags.contains(Flags::SIGNED), "OMS 10.4");
        let blob = write_blob(&header, &fields)?;
        let view = Self::assembled(blob, header, canonical.into_map());
        Ok((view, warnings))
    }
}

/// Returns whether a revealed value is the one that was elided as `hash` (OMS 10.1.1).
///
/// The value may be spelled as in a draft: members of nested fields in full, times as text.
///
/// ```
/// use grainstore::grain::verify_disclosed;
///
/// let hash = "sha256:48f1cf08a5b4ebe54182773c4345c19fb3a069740daeba7c4707b0e790745280";
/// assert!(verify_disclosed("user_id", "alice-123", hash)?);
/// assert!(!verify_disclosed("user_id", "alice-124", hash)?);
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
///
/// # Errors
/// `ERR_SCHEMA` for a text that is no elision hash; `ERR_CORRUPT` and `ERR_FLOAT_INVALID` for a
/// value without a canonical form.
pub fn verify_disclosed(field: &str, value: impl Into<Value>, hash: &str) -> Result<bool, Error> {
    let hash = rules::read_hash(hash).ok_or_else(|| Error::WrongKind {
        field: format!("_elided.{field}"),
        expected: "sha256: and 64 lower-case hexadecimal digits",
    })?;
    let mut value = value.into();
    resolve_kind(field, &mut value)?;
    // Ruling S9: what was hashed is the value as it sat in the payload. Whether a context was
    // compacted depends on tags that may be elided too, so either form shows the value.
    let compacted = compacted_value(field, &value);
    for candidate in [Some(value), compacted].into_iter().flatten() {
        if hash.verifies(&encode_value(candidate, Profile::Extended)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn hash_of(value: Value) -> Result<String, Error> {
    let bytes = encode_value(value, Profile::Extended)?;
    Ok(format!("sha256:{}", ContentAddress::of(&bytes)))
}

/// Whether all likely values can be tried: numbers, truth values and short texts.
fn is_guessable(value: &Value) -> bool {
    let bytes = encode_value(value.clone(), Profile::Extended);
    let is_number = matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_));
    is_number || bytes.is_ok_and(|bytes| bytes.len() < GUESSABLE_LEN)
}

fn not_elidable(name: &str) -> Error {
    let reason = match rules::is_elidable(name) {
        true => "the grain does not have it",
        false => "it cannot be elided (OMS 10.2)",
    };
    Error::NotElidable {
        field: name.to_owned(),
        reason,
    }
}

/// Below this a name, a code or a date fits, and hardly anything that is random.
const GUESSABLE_LEN: usize = 32;

const GUESSABLE: &str = "so short or plain that its hash can be found by trying likely values";
