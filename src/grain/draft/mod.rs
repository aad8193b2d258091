//! Drafts: the builder of a grain, before the rules are applied and the bytes are fixed.
//!
//! `Draft::finish` is the one way from fields to a valid grain.

use crate::codec::{self, Canonical, Encoding, Flags, Map, Name, Profile, Sensitivity, Value};

use super::fields::{Field, Fields, Holds, Slot, field, word};
use super::grain::{header_for, write_blob};
use super::rules::{self, Origin, Warning};
use super::{Error, Grain, Time, Type};

mod builders;

/// A grain being written: fields under their full names, not judged until [`Draft::finish`].
///
/// ```
/// use grainstore::grain::{Draft, Time};
///
/// let draft = Draft::belief("user", "prefers", "dark mode")
///     .confidence(0.9)
///     .namespace("work")
///     .tag("ui")
///     .created_at(Time::parse("2026-01-15T10:00:00Z").unwrap());
/// let grain = draft.finish(Default::default())?;
/// assert_eq!(grain.text("namespace"), Some("work"));
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    of: Type,
    fields: Map,
    encoding: Encoding,
    sensitivity: Sensitivity,
    signed: bool,
}

impl Draft {
    /// Starts a grain of a type, with no field but `type`.
    pub fn new(of: Type) -> Self {
        let draft = Self::from_fields(of, Map::with_room(FIELDS_ROOM));
        match of.name() {
            Some(name) => draft.set("type", name),
            None => draft,
        }
    }

    /// Starts the next version of a grain: its fields, encoding and sensitivity, without what says when,
    /// by whom and from what that version was made.
    ///
    /// ```
    /// use grainstore::grain::Draft;
    ///
    /// let old = Draft::belief("user", "prefers", "tea").confidence(0.9).author("did:web:a.example");
    /// let old = old.created_at_or(Default::default()).finish(Default::default())?;
    /// let new = Draft::next_version(&old).set("object", "coffee").derived_from(old.address());
    /// assert!(!new.fields().contains("author_did"));
    /// assert!(!new.fields().contains("created_at"));
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    pub fn next_version(grain: &Grain) -> Self {
        let mut fields = grain.fields().clone();
        for name in OF_ONE_VERSION {
            fields.remove(name);
        }
        // OMS 8.10: of a grant it is what this version replaced, of a withdrawal what it withdraws.
        if fields.get("is_withdrawal").and_then(Value::as_bool) != Some(true) {
            fields.remove("prior_consent");
        }
        Self::from_fields(grain.type_(), fields)
            .encoding(grain.encoding())
            .sensitivity(grain.header().sensitivity())
    }

    pub(super) const fn from_fields(of: Type, fields: Map) -> Self {
        Self {
            of,
            fields,
            encoding: Encoding::MessagePack,
            sensitivity: Sensitivity::Public,
            signed: false,
        }
    }

    /// Returns the type.
    pub const fn type_(&self) -> Type {
        self.of
    }

    /// Returns the fields set so far.
    pub const fn fields(&self) -> &Map {
        &self.fields
    }

    /// Sets a field by its full name, or an application field by a name of its own.
    #[must_use]
    pub fn set(mut self, name: impl AsRef<str> + Into<String>, value: impl Into<Value>) -> Self {
        let known = word(name.as_ref()).map(Name::Known);
        let name = known.unwrap_or_else(|| Name::Other(name.into()));
        self.fields.set(name, value.into());
        self
    }

    /// Appends one element to an array field.
    #[must_use]
    pub fn push(mut self, name: &str, element: impl Into<Value>) -> Self {
        match self.fields.get_mut(name) {
            Some(Value::Array(items)) => items.push(element.into()),
            _ => return self.set(name, vec![element.into()]),
        }
        self
    }

    /// Chooses the encoding of the payload; the other one gives another address (OMS 16.2).
    #[must_use]
    pub const fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Raises the header's sensitivity; tags may raise it further, nothing lowers it (OMS 13.4).
    #[must_use]
    pub const fn sensitivity(mut self, level: Sensitivity) -> Self {
        self.sensitivity = level;
        self
    }

    /// Declares that the grain will be signed: part of the header, so part of the address
    /// (OMS 9.2, ruling S1).
    #[must_use]
    pub const fn to_be_signed(mut self) -> Self {
        self.signed = true;
        self
    }

    /// Sets `created_at` unless it is set.
    #[must_use]
    pub fn created_at_or(self, now: Time) -> Self {
        if self.fields.contains("created_at") {
            self
        } else {
            self.created_at(now)
        }
    }

    /// Judges the fields and writes the blob (OMS 4.9).
    ///
    /// Text becomes NFC, null members go, times given as text become milliseconds, integers given
    /// for doubles become doubles; nothing else is repaired.
    ///
    /// # Errors
    /// The codes of OMS 19.1 and 19.3, in the order of ruling T15.
    pub fn finish(self, profile: Profile) -> Result<Grain, Error> {
        self.finish_with_warnings(profile).map(|(grain, _)| grain)
    }

    /// Does what [`Draft::finish`] does and returns what a reader should know besides.
    ///
    /// # Errors
    /// As [`Draft::finish`].
    pub fn finish_with_warnings(self, profile: Profile) -> Result<(Grain, Vec<Warning>), Error> {
        self.judged(profile, Origin::Local)
    }

    /// Does the same for fields that came from elsewhere: what binds only their writer is a warning.
    #[cfg(feature = "interchange")]
    pub(crate) fn finish_foreign(self, profile: Profile) -> Result<(Grain, Vec<Warning>), Error> {
        self.judged(profile, Origin::Foreign)
    }

    fn judged(mut self, profile: Profile, by: Origin) -> Result<(Grain, Vec<Warning>), Error> {
        for (name, value) in self.fields.known_mut(word) {
            if let Some(slot) = Slot::named(name) {
                resolve_field(slot.field(), value)?;
            }
        }
        let canonical = Canonical::new(self.fields, profile)?;
        let fields = Fields::of(&canonical);
        if !matches!(self.of, Type::Opaque(_)) && !fields.contains(field!("type")) {
            return Err(Error::NoType);
        }
        rules::check_lightweight(self.of, &fields, profile)?;
        let warnings = rules::check(self.of, &fields, by)?;
        rules::check_namespace(&fields)?;
        let sensitivity = self.sensitivity.max(rules::required_by_tags(&fields));
        let mut header = header_for(self.of, &fields, self.encoding, sensitivity);
        header.flags = header.flags.with_if(Flags::SIGNED, self.signed);

        let blob = write_blob(&header, &fields)?;
        if blob.len() > profile.blob_len_max() {
            return Err(Error::Codec(codec::Error::TooLong {
                len: blob.len(),
                max: profile.blob_len_max(),
            }));
        }
        let grain = Grain::assembled(blob, header, canonical.into_map());
        Ok((grain, warnings))
    }

    /// Reads a JSON object of full field names; its `type` names one of the ten types.
    ///
    /// Times may be milliseconds or RFC 3339 text; bytes are base64.
    ///
    /// ```
    /// use grainstore::grain::Draft;
    ///
    /// let draft = Draft::from_json(r#"{"type": "event", "content": "hello",
    ///     "created_at": "2026-01-15T10:00:00Z"}"#)?;
    /// assert_eq!(draft.finish(Default::default())?.created_at().ms(), 1_768_471_200_000);
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_JSON` for text that is not strict JSON, `ERR_CORRUPT` for a member that is there twice, `ERR_NOT_MAP`, `ERR_NO_TYPE`,
    /// `ERR_UNKNOWN_TYPE`.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Self::from_value(Value::from_json_knowing(text, word)?)
    }

    /// Takes a map of full field names.
    ///
    /// # Errors
    /// `ERR_NOT_MAP`, `ERR_NO_TYPE`, `ERR_UNKNOWN_TYPE`.
    pub fn from_value(value: Value) -> Result<Self, Error> {
        let Value::Map(fields) = value else {
            return Err(Error::Codec(codec::Error::NotMap));
        };
        let name = match fields.get("type") {
            Some(Value::Text(name)) => name,
            Some(Value::Nil) | None => return Err(Error::NoType),
            Some(_) => {
                return Err(Error::WrongKind {
                    field: "type".into(),
                    expected: "text",
                });
            }
        };
        let of = Type::named(name).ok_or_else(|| Error::UnknownType { name: name.clone() })?;
        Ok(Self::from_fields(of, fields))
    }
}

/// As many fields as most grains have: to grow costs a copy of all of them.
const FIELDS_ROOM: usize = 12;

/// Fields that say when, by whom and from what one version of a grain was made.
const OF_ONE_VERSION: [&str; 11] = [
    "created_at",
    "derived_from",
    "author_did",
    "system_valid_from",
    "system_valid_to",
    "supersession_justification",
    "supersession_auth",
    "invalidation_type",
    "invalidation_reason",
    "invalidation_initiator",
    "trusted_timestamp",
];

/// Turns the spelling of one field's value in a draft into the kind of blobs: times, doubles, base64
/// (OMS 4.8, F8).
pub(super) fn resolve_kind(name: &str, value: &mut Value) -> Result<(), Error> {
    Field::named(name).map_or(Ok(()), |field| resolve_field(field, value))
}

fn resolve_field(field: &Field, value: &mut Value) -> Result<(), Error> {
    resolve(field.name, field.holds, value)?;
    match value {
        Value::Map(entry) => resolve_members(field.name, entry)?,
        Value::Array(items) => {
            for item in items {
                if let Value::Map(entry) = item {
                    resolve_members(field.name, entry)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn resolve_members(field: &str, entry: &mut Map) -> Result<(), Error> {
    for (member, holds) in rules::members_of(field) {
        if let Some(value) = entry.get_mut(member) {
            resolve(member, *holds, value)?;
        }
    }
    Ok(())
}

fn resolve(name: &str, holds: Holds, value: &mut Value) -> Result<(), Error> {
    match (holds, &mut *value) {
        (Holds::Time, _) => super::time::resolve(name, value)?,
        (Holds::Float | Holds::Unit, Value::Int(int)) => *value = Value::Float(int.to_f64()),
        (Holds::Binary, value) => resolve_base64(value),
        (Holds::Signatures, Value::Array(items)) => items.iter_mut().for_each(resolve_base64),
        _ => {}
    }
    Ok(())
}

/// JSON has no bytes, so they come as base64 text; anything else is left for the rules to refuse.
fn resolve_base64(value: &mut Value) {
    if let Value::Text(text) = value
        && let Ok(bytes) = data_encoding::BASE64.decode(text.as_bytes())
    {
        *value = Value::Bytes(bytes);
    }
}
