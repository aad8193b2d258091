//! The two encodings of a payload behind one type (OMS 16).
//!
//! The bytes of each are written and read in `msgpack` and `cbor`.

use super::canonical::Canonical;
use super::value::Value;
use super::{Error, Profile, cbor, msgpack};

/// How a payload is written (OMS 16). The same grain has another address in the other encoding.
///
/// ```
/// use grainstore::codec::{Encoding, Profile};
///
/// let map = Encoding::MessagePack.decode(&[0x81, 0xa1, b'a', 0x01], Profile::Extended)?;
/// assert_eq!(Encoding::Cbor.encode(&map), [0xa1, 0x61, b'a', 0x01]);
/// // Keys out of order are refused, never repaired.
/// let unsorted = [0x82, 0xa1, b'b', 0x01, 0xa1, b'a', 0x01];
/// assert!(Encoding::MessagePack.decode(&unsorted, Profile::Extended).is_err());
/// # Ok::<(), grainstore::codec::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Canonical MessagePack, the default (OMS 16.1).
    #[default]
    MessagePack,
    /// Deterministic CBOR (OMS 16.2).
    Cbor,
}

impl Encoding {
    /// Returns the canonical bytes of a map.
    pub fn encode(self, map: &Canonical) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_into(&mut out, map);
        out
    }

    /// Appends the canonical bytes of a map.
    pub fn encode_into(self, out: &mut Vec<u8>, map: &Canonical) {
        let mut entries: Vec<_> = map.iter().collect();
        self.write_entries(out, &mut entries);
    }

    /// Appends a map of canonical entries given in any order; names must differ.
    pub(crate) fn write_entries(self, out: &mut Vec<u8>, entries: &mut [(&str, &Value)]) {
        match self {
            Self::MessagePack => {
                entries.sort_unstable_by_key(|(name, _)| *name);
                msgpack::write_map(out, entries.len(), entries.iter().copied());
            }
            Self::Cbor => {
                entries.sort_unstable_by_key(|(name, _)| (name.len(), *name));
                cbor::write_map_len(out, entries.len());
                for (name, value) in entries {
                    cbor::write_text(out, name);
                    cbor::write(out, value);
                }
            }
        }
    }

    /// Reads a map that is the whole of `bytes`, and canonical.
    ///
    /// # Errors
    /// `ERR_CORRUPT` with the offset for anything malformed or not canonical, `ERR_NOT_MAP`,
    /// `ERR_FLOAT_INVALID`.
    pub fn decode(self, bytes: &[u8], profile: Profile) -> Result<Canonical, Error> {
        let value = match self {
            Self::MessagePack => msgpack::decode(bytes, profile),
            Self::Cbor => cbor::decode(bytes, profile),
        }?;
        map_of(value)
    }

    /// Reads a map from the front of `bytes` and returns how many bytes it took.
    ///
    /// # Errors
    /// As [`Encoding::decode`], except that bytes may follow.
    pub fn decode_prefix(
        self,
        bytes: &[u8],
        profile: Profile,
    ) -> Result<(Canonical, usize), Error> {
        let (value, len) = match self {
            Self::MessagePack => msgpack::decode_prefix(bytes, profile),
            Self::Cbor => cbor::decode_prefix(bytes, profile),
        }?;
        Ok((map_of(value)?, len))
    }
}

/// Returns the canonical MessagePack of one value, as elision hashes need it (OMS 10.1.1).
///
/// # Errors
/// As [`Canonical::new`].
pub fn encode_value(value: Value, profile: Profile) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    msgpack::write_value(
        &mut out,
        &super::canonical::canonical_value(value, profile)?,
    );
    Ok(out)
}

fn map_of(value: Value) -> Result<Canonical, Error> {
    match value {
        Value::Map(map) => Ok(Canonical::decoded(map)),
        _ => Err(Error::NotMap),
    }
}
