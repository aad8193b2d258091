//! Grains: a blob, its address and its fields, in agreement with each other.
//!
//! A value of this type has passed the rules. Signatures and status are not part of it.

use std::sync::{Arc, OnceLock};

use crate::codec::{ContentAddress, Encoding, Flags, Header, Map, Profile, Sensitivity, Value};

use super::fields::{Fields, compact, field};
use super::payload::fields_of;
use super::rules::{self, Origin, Warning};
use super::{Error, Type};

/// An immutable grain: its blob, the address of the blob, and its fields under their full names.
///
/// A grain is made by [`Draft::finish`](super::Draft::finish) or read from a blob. The fields are
/// decoded when the first one is asked for.
///
/// ```
/// use grainstore::codec::Profile;
/// use grainstore::grain::{Draft, Grain, Time};
///
/// let grain = Draft::belief("user", "prefers", "dark mode")
///     .confidence(0.9)
///     .created_at(Time::from_ms(1_768_471_200_000))
///     .finish(Profile::Extended)?;
/// let copy = Grain::from_blob(grain.blob().to_vec(), Profile::Extended)?;
/// assert_eq!(copy.address(), grain.address());
/// assert_eq!(copy.text("object"), Some("dark mode"));
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Clone)]
pub struct Grain {
    blob: Vec<u8>,
    address: ContentAddress,
    header: Header,
    /// Shared by copies: a grain does not change.
    fields: OnceLock<Arc<Map>>,
    /// The signature around the blob, without the blob; the crypto room reads and writes it.
    envelope: Option<Box<[u8]>>,
}

impl Grain {
    /// Reads a blob as a store accepts it: canonical, valid, and with a header that fits.
    ///
    /// # Errors
    /// The codes of OMS 19.1 and 19.3, in the order of ruling T15; `ERR_CORRUPT` for anything not
    /// canonical and for a header that does not match (rulings F12, F16); `ERR_SIGNED_MISMATCH`
    /// for a blob flagged as signed, which travels only inside its signature (ruling S1).
    pub fn from_blob(blob: Vec<u8>, profile: Profile) -> Result<Self, Error> {
        Self::read(blob, profile, Origin::Local, Delivery::Bare).map(|(grain, _)| grain)
    }

    /// Reads a blob that another implementation wrote: rules that only bind its writer become
    /// warnings, so that its bytes and its address can be kept (rulings F12, I2, T13, T16).
    ///
    /// # Errors
    /// As [`Grain::from_blob`], less those rules.
    pub fn from_foreign_blob(
        blob: Vec<u8>,
        profile: Profile,
    ) -> Result<(Self, Vec<Warning>), Error> {
        Self::read(blob, profile, Origin::Foreign, Delivery::Bare)
    }

    /// Reads a blob that came in an envelope, whose signature has been checked: as
    /// [`Grain::from_blob`], for a blob that is flagged as signed and for no other (OMS 9.2).
    ///
    /// # Errors
    /// As [`Grain::from_blob`].
    pub fn from_signed_blob(blob: Vec<u8>, profile: Profile) -> Result<Self, Error> {
        Self::read(blob, profile, Origin::Local, Delivery::Wrapped).map(|(grain, _)| grain)
    }

    /// Reads a blob of another implementation that came in an envelope, whose signature has been
    /// checked.
    ///
    /// # Errors
    /// As [`Grain::from_foreign_blob`], for a blob that is flagged as signed and for no other.
    pub fn from_foreign_signed_blob(
        blob: Vec<u8>,
        profile: Profile,
    ) -> Result<(Self, Vec<Warning>), Error> {
        Self::read(blob, profile, Origin::Foreign, Delivery::Wrapped)
    }

    /// Judges the grain as one that is written here, whatever excused it where it was read; its
    /// signature goes on with it and is not looked at.
    pub(crate) fn judged_again(self, profile: Profile) -> Result<Self, Error> {
        let delivery = match self.envelope {
            Some(_) => Delivery::Wrapped,
            None => Delivery::Bare,
        };
        let (judged, _) = Self::read(self.blob, profile, Origin::Local, delivery)?;
        Ok(Self {
            envelope: self.envelope,
            ..judged
        })
    }

    /// Takes a blob that was accepted before and comes back from storage: its address is checked,
    /// in constant time, and nothing else.
    ///
    /// # Errors
    /// `ERR_INTEGRITY` when the bytes do not have the address.
    pub fn from_stored(blob: Vec<u8>, address: ContentAddress) -> Result<Self, Error> {
        if !address.verifies(&blob) {
            return Err(Error::Integrity { address });
        }
        Self::from_verified(blob, address)
    }

    /// Takes a blob that storage has found under this address, by hashing it just now.
    pub(crate) fn from_verified(blob: Vec<u8>, address: ContentAddress) -> Result<Self, Error> {
        let header = Header::read(&blob)?;
        Ok(Self {
            blob,
            address,
            header,
            fields: OnceLock::new(),
            envelope: None,
        })
    }

    /// Takes a blob that storage has proven otherwise, and computes its address.
    ///
    /// # Errors
    /// `ERR_TOO_SHORT`, `ERR_VERSION`.
    pub fn from_proven(blob: Vec<u8>) -> Result<Self, Error> {
        let header = Header::read(&blob)?;
        Ok(Self {
            address: ContentAddress::of(&blob),
            blob,
            header,
            fields: OnceLock::new(),
            envelope: None,
        })
    }

    pub(super) fn assembled(blob: Vec<u8>, header: Header, fields: Map) -> Self {
        let address = ContentAddress::of(&blob);
        Self {
            blob,
            address,
            header,
            fields: OnceLock::from(Arc::new(fields)),
            envelope: None,
        }
    }

    fn read(
        blob: Vec<u8>,
        profile: Profile,
        origin: Origin,
        delivery: Delivery,
    ) -> Result<(Self, Vec<Warning>), Error> {
        if blob.len() > profile.blob_len_max() {
            return Err(Error::Codec(crate::codec::Error::TooLong {
                len: blob.len(),
                max: profile.blob_len_max(),
            }));
        }
        let header = Header::read(&blob)?;
        if header.flags.contains(Flags::SIGNED) != (delivery == Delivery::Wrapped) {
            return Err(Error::SignedMismatch);
        }
        let of = Type::from_byte(header.type_byte);
        if header.flags.contains(Flags::ENCRYPTED) {
            return Self::encrypted(blob, header, origin);
        }
        let map = fields_of(&blob, &header, profile)?;
        let fields = Fields::of(&map);
        check_type(of, &fields)?;
        rules::check_lightweight(of, &fields, profile)?;
        let mut warnings = rules::check(of, &fields, origin)?;
        rules::check_namespace(&fields)?;
        check_sensitivity(&header, &fields)?;
        if let Err(mismatch) = check_header(&header, of, &fields) {
            match origin {
                Origin::Local => return Err(mismatch),
                Origin::Foreign => warnings.push(Warning {
                    field: "header".into(),
                    message: "does not match the payload".into(),
                }),
            }
        }
        Ok((Self::assembled(blob, header, map), warnings))
    }

    /// Ruling P4: kept as it came and never interpreted. It is written elsewhere only, since no rule
    /// can be held to a payload that nothing here reads.
    fn encrypted(
        blob: Vec<u8>,
        header: Header,
        origin: Origin,
    ) -> Result<(Self, Vec<Warning>), Error> {
        if origin == Origin::Local {
            return Err(Error::Codec(crate::codec::Error::NotCanonical {
                reason: "payload is encrypted",
            }));
        }
        if header.type_byte == 0 {
            return Err(Error::NoType);
        }
        let warning = Warning {
            field: "payload".into(),
            message: "is encrypted: kept, and not interpreted".into(),
        };
        Ok((Self::assembled(blob, header, Map::new()), vec![warning]))
    }

    /// Returns whether the payload is encrypted: then the grain has no fields here, and is listed and
    /// exported as it came (ruling P4).
    pub const fn is_encrypted(&self) -> bool {
        self.header.flags.contains(Flags::ENCRYPTED)
    }

    /// Returns the complete blob: header and payload.
    pub fn blob(&self) -> &[u8] {
        &self.blob
    }

    /// Returns the blob as it would be without one field, under the same header otherwise: what
    /// is signed before the signatures are added (ruling I10).
    ///
    /// ```
    /// # use grainstore::grain::{Draft, Time};
    /// let draft = Draft::event("hello").created_at(Time::from_ms(1));
    /// let plain = draft.clone().finish(Default::default())?;
    /// let marked = draft.set("app_mark", 7).finish(Default::default())?;
    /// assert_eq!(marked.blob_without("app_mark")?, plain.blob());
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_CORRUPT` for a grain of a later type that keeps fields under names of its own, and for a
    /// payload that is encrypted or compressed.
    pub fn blob_without(&self, name: &str) -> Result<Vec<u8>, Error> {
        if self.is_encrypted() || self.header.flags.contains(Flags::COMPRESSED) {
            return Err(Error::Codec(crate::codec::Error::NotCanonical {
                reason: "payload is encrypted or compressed",
            }));
        }
        let mut fields = self.fields().clone();
        fields.remove(name);
        write_blob(&self.header, &Fields::of(&fields))
    }

    /// Returns whether the header says that the grain is signed: then it travels inside its
    /// signature and never without (OMS 9.2).
    pub const fn is_signed(&self) -> bool {
        self.header.flags.contains(Flags::SIGNED)
    }

    /// Returns the signature message that came around the blob, without the blob; none of a
    /// grain that is not signed, or not yet. That it is here proves nothing:
    /// `Grain::verify_signature` does.
    pub fn envelope(&self) -> Option<&[u8]> {
        self.envelope.as_deref()
    }

    pub(crate) fn with_envelope(mut self, detached: Vec<u8>) -> Self {
        self.envelope = Some(detached.into());
        self
    }

    /// Returns the blob and gives up the grain.
    pub fn into_blob(self) -> Vec<u8> {
        self.blob
    }

    /// Returns the content address.
    pub const fn address(&self) -> ContentAddress {
        self.address
    }

    /// Returns the header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the type of the header byte.
    pub const fn type_(&self) -> Type {
        Type::from_byte(self.header.type_byte)
    }

    /// Returns the encoding of the payload.
    pub const fn encoding(&self) -> Encoding {
        self.header.encoding()
    }

    /// Returns the fields under their full names.
    ///
    /// Of a stored blob that cannot be decoded there are none: blobs are judged before they are
    /// stored, so that takes a writer who changed the store's files and recomputed every hash.
    pub fn fields(&self) -> &Map {
        self.fields.get_or_init(|| {
            Arc::new(fields_of(&self.blob, &self.header, Profile::Extended).unwrap_or_default())
        })
    }

    /// Returns a field by its full name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields().get(name)
    }

    /// Returns the text of a field by its full name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.field(name).and_then(Value::as_text)
    }

    /// Returns the creation time of the payload; the header's is only a hint (OMS 3.1.1).
    pub fn created_at(&self) -> super::Time {
        let ms = self.field("created_at").and_then(Value::as_i64);
        super::Time::from_ms(ms.unwrap_or_default())
    }

    /// Returns the time of the event: `timestamp_ms`, else `created_at` (ruling P5).
    ///
    /// ```
    /// # use grainstore::grain::{Draft, Time};
    /// let draft = Draft::event("hello").set("timestamp_ms", 1).created_at(Time::from_ms(9));
    /// assert_eq!(draft.finish(Default::default())?.event_time(), Time::from_ms(1));
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    pub fn event_time(&self) -> super::Time {
        let ms = self.field("timestamp_ms").and_then(Value::as_i64);
        ms.map_or_else(|| self.created_at(), super::Time::from_ms)
    }

    /// Returns a field of a profile that stands at the top level and in `context` with two values, of
    /// which neither is stricter (ruling P3): only a grain from elsewhere has one.
    pub(crate) fn conflicting_profile_field(&self) -> Option<&str> {
        rules::conflict(self.fields())
    }

    /// Returns what a reader should know about the grain although it is valid.
    pub fn warnings(&self) -> Vec<Warning> {
        let fields = Fields::of(self.fields());
        rules::check(self.type_(), &fields, Origin::Foreign).unwrap_or_default()
    }

    /// Returns the grain as a JSON object under full names.
    ///
    /// ```
    /// # use grainstore::grain::{Draft, Time};
    /// # let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
    /// assert_eq!(grain.to_json(), r#"{"content":"hello","created_at":1,"type":"event"}"#);
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        Value::Map(self.fields().clone()).to_json()
    }
}

/// As [`Grain::to_json`] writes it.
impl serde::Serialize for Grain {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields().serialize(serializer)
    }
}

impl PartialEq for Grain {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl Eq for Grain {}

impl std::fmt::Debug for Grain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grain")
            .field("address", &self.address)
            .field("header", &self.header)
            .field("fields", self.fields())
            .finish()
    }
}

/// Rulings F1, F2: the header byte decides, and `type` must be one of its names.
fn check_type(of: Type, fields: &Fields<'_>) -> Result<(), Error> {
    let name = match fields.get(field!("type")) {
        Some(Value::Text(name)) => name,
        Some(_) => {
            return Err(Error::WrongKind {
                field: "type".into(),
                expected: "text",
            });
        }
        None if matches!(of, Type::Opaque(_)) && of.byte() != 0 => return Ok(()),
        None => return Err(Error::NoType),
    };
    let fits = match of {
        Type::Opaque(byte) => byte != 0,
        standard => Type::named(name) == Some(standard),
    };
    if fits {
        Ok(())
    } else {
        Err(Error::UnknownType { name: name.clone() })
    }
}

/// OMS 13.4: lower than the tags say is a fault or an attempt to slip past access control.
fn check_sensitivity(header: &Header, fields: &Fields<'_>) -> Result<(), Error> {
    let required = rules::required_by_tags(fields);
    if header.sensitivity() < required {
        return Err(Error::SensitivityMismatch {
            header: header.sensitivity().name(),
            required: required.name(),
        });
    }
    Ok(())
}

/// Ruling F12: everything in the header but the sensitivity follows from the payload.
fn check_header(header: &Header, of: Type, fields: &Fields<'_>) -> Result<(), Error> {
    let mut expected = header_for(of, fields, header.encoding(), header.sensitivity());
    // Whether it is signed stands in no field; the delivery has shown it (OMS 9.2). Whether it is
    // compressed neither; that it was decompressed has shown it.
    for flag in [Flags::SIGNED, Flags::COMPRESSED] {
        expected.flags = expected.flags.with_if(flag, header.flags.contains(flag));
    }
    let part = if header.namespace_hash != expected.namespace_hash {
        "namespace hash"
    } else if header.created_at_sec != expected.created_at_sec {
        "created_at"
    } else if header.flags != expected.flags {
        "flags"
    } else {
        return Ok(());
    };
    Err(Error::HeaderMismatch { part })
}

/// How a blob came here (OMS 9.2).
#[derive(Clone, Copy, PartialEq)]
enum Delivery {
    Bare,
    Wrapped,
}

/// The room for most blobs, and for what most have beside their texts: to grow costs a copy.
const BLOB_LEN: usize = 512;
const BESIDE_TEXTS_LEN: usize = 256;

/// Writes a blob: header and canonical payload (OMS 4.9). The fields have a canonical form.
pub(super) fn write_blob(header: &Header, fields: &Fields<'_>) -> Result<Vec<u8>, Error> {
    let room = fields.texts_len().saturating_add(BESIDE_TEXTS_LEN);
    let mut blob = Vec::with_capacity(room.max(BLOB_LEN));
    blob.extend_from_slice(&header.to_bytes());
    let mut entries = compact(Type::from_byte(header.type_byte), fields)?;
    header.encoding().write_entries(&mut blob, &mut entries);
    Ok(blob)
}

/// Returns the header that fields call for (OMS 4.9 step 9).
pub(super) fn header_for(
    of: Type,
    fields: &Fields<'_>,
    encoding: Encoding,
    sensitivity: Sensitivity,
) -> Header {
    let has_entries = |slot| {
        let entries = fields.get(slot).and_then(Value::as_array);
        entries.is_some_and(|entries| !entries.is_empty())
    };
    let created_at = fields.get(field!("created_at")).and_then(Value::as_i64);
    Header {
        flags: Flags::sensitivity(sensitivity)
            .with_if(Flags::CONTENT_REFS, has_entries(field!("content_refs")))
            .with_if(Flags::EMBEDDING_REFS, has_entries(field!("embedding_refs")))
            .with_if(Flags::CBOR, encoding == Encoding::Cbor),
        type_byte: of.byte(),
        namespace_hash: Header::hash_namespace(fields.text(field!("namespace"))),
        created_at_sec: Header::seconds(created_at.unwrap_or_default()),
    }
}
