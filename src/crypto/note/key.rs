//! The public keys of notes, as other implementations spell them: `NAME+ID+KEY`.

use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest, Sha256};

use crate::crypto::{Algorithm, Error, VerifyingKey};

/// The key of a log or of a witness under the name that it signs notes with: always Ed25519.
///
/// ```
/// use grainstore::crypto::NoteKey;
///
/// // The example of C2SP `signed-note`.
/// let text = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
/// let key: NoteKey = text.parse()?;
/// assert_eq!((key.name(), key.to_string().as_str()), ("PeterNeumann", text));
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteKey {
    name: String,
    kind: Kind,
    key: VerifyingKey,
}

/// The type byte of a key: what a signature under it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// The text is signed.
    Log = 0x01,
    /// The text and a time are signed: the witness saw the log grow to here.
    Witness = 0x04,
}

impl NoteKey {
    /// Returns the key of a log, whose name is the origin of its checkpoints.
    ///
    /// # Errors
    /// `ERR_KEY` for a key that is not Ed25519, and for a name with a space or a plus sign.
    pub fn log(name: impl Into<String>, key: VerifyingKey) -> Result<Self, Error> {
        Self::new(name.into(), Kind::Log, key)
    }

    /// Returns the key of a witness, which signs `cosignature/v1`.
    ///
    /// # Errors
    /// As [`NoteKey::log`].
    pub fn witness(name: impl Into<String>, key: VerifyingKey) -> Result<Self, Error> {
        Self::new(name.into(), Kind::Witness, key)
    }

    fn new(name: String, kind: Kind, key: VerifyingKey) -> Result<Self, Error> {
        if key.algorithm() != Algorithm::Ed25519 {
            let reason = "notes are signed with Ed25519";
            return Err(Error::Key { reason });
        }
        if !is_name(&name) {
            return Err(NOT_ONE);
        }
        Ok(Self { name, kind, key })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) const fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Returns the first four bytes of SHA-256(name ‖ 0x0A ‖ type ‖ key).
    pub(super) fn id(&self) -> [u8; 4] {
        let hash = Sha256::new().chain_update(self.name.as_bytes());
        let hash = hash.chain_update([b'\n', self.kind as u8]);
        let hash: [u8; 32] = hash.chain_update(self.key.to_bytes()).finalize().into();
        hash.first_chunk().copied().unwrap_or_default()
    }
}

impl FromStr for NoteKey {
    type Err = Error;

    /// Reads a key.
    ///
    /// # Errors
    /// `ERR_KEY` for another form, another algorithm, and an id that is not that of name and key.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts = text.trim_end().splitn(3, '+');
        let mut part = || parts.next().ok_or(NOT_ONE);
        let (name, id, key) = (part()?, part()?, part()?);
        let bytes = BASE64.decode(key.as_bytes()).map_err(|_| NOT_ONE)?;
        let (kind, bytes) = match bytes.split_first() {
            Some((0x01, bytes)) => (Kind::Log, bytes),
            Some((0x04, bytes)) => (Kind::Witness, bytes),
            _ => return Err(NOT_ONE),
        };
        let key = VerifyingKey::new(Algorithm::Ed25519, bytes)?;
        let key = Self::new(name.to_owned(), kind, key)?;
        match id == HEXLOWER.encode(&key.id()) {
            true => Ok(key),
            false => Err(NOT_ONE),
        }
    }
}

impl fmt::Display for NoteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![self.kind as u8];
        bytes.extend(self.key.to_bytes());
        let (id, key) = (HEXLOWER.encode(&self.id()), BASE64.encode(&bytes));
        write!(f, "{}+{id}+{key}", self.name)
    }
}

/// Whether a text can be the name of a key: not empty, without spaces and plus signs.
pub(super) fn is_name(text: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    !text.is_empty() && !text.contains(is_odd)
}

const NOT_ONE: Error = Error::Key {
    reason: "not a key of notes, which is NAME+ID+KEY",
};
