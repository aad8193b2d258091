//! Encrypted files (PAM 21.1), in the format of age. The encryption itself is in `cipher`.

use std::fmt;
use std::io::{self, Read, Write};

#[cfg(feature = "encryption")]
use super::cipher;
#[cfg(not(feature = "encryption"))]
use super::no_cipher as cipher;
use super::source_file::SharedSource;
use crate::code::ErrorCode;
use crate::interchange::{Error, Place};

pub(crate) use cipher::EncryptedWriter;

/// The recipients of an exported file. In a build without the feature `encryption` none can be
/// named, and an export for them is `ERR_UNSUPPORTED`.
///
/// ```
/// use grainstore::interchange::Encryption;
///
/// assert!(Encryption::to(&["nobody"]).is_err());
/// ```
#[derive(Clone)]
pub struct Encryption(cipher::Recipients);

impl Encryption {
    /// Encrypts for the holders of keys, named by their public halves: `age1…`.
    ///
    /// # Errors
    /// `ERR_RECIPIENT` for text that is no recipient, and for an empty list; `ERR_UNSUPPORTED`.
    pub fn to(recipients: &[impl AsRef<str>]) -> Result<Self, Error> {
        cipher::Recipients::of(recipients).map(Self)
    }

    /// Encrypts with a passphrase.
    pub fn with_passphrase(passphrase: String) -> Self {
        Self(cipher::Recipients::knowing(passphrase))
    }

    /// Starts an encrypted file.
    pub(crate) fn wrap<W: Write>(&self, out: W) -> Result<EncryptedWriter<W>, Error> {
        self.0.wrap(out)
    }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encryption")
    }
}

/// The secret that decrypts a file. In a build without the feature `encryption` an encrypted file is
/// `ERR_UNSUPPORTED` with it and without.
///
/// ```
/// use grainstore::interchange::Decryption;
///
/// let secret = Decryption::with_passphrase("correct horse".into());
/// assert_eq!(format!("{secret:?}"), "Decryption");
/// ```
#[derive(Clone)]
pub struct Decryption(cipher::Secret);

impl Decryption {
    /// Decrypts with the keys of an identity file, as `age-keygen` writes it.
    pub fn with_identities(file: String) -> Self {
        Self(cipher::Secret::identities_of(file))
    }

    /// Decrypts with a passphrase.
    pub fn with_passphrase(passphrase: String) -> Self {
        Self(cipher::Secret::passphrase(passphrase))
    }
}

impl fmt::Debug for Decryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decryption")
    }
}

/// Returns an encrypted file in the clear, which is decrypted while it is read and nowhere written;
/// `None` for a file that is not encrypted.
///
/// # Errors
/// `ERR_SEALED` without a secret, with a wrong one, and for a file that was changed or cut;
/// `ERR_IDENTITY`; `ERR_UNSUPPORTED`; `ERR_IO`.
pub(crate) fn open(
    file: &SharedSource,
    unseal: Option<&Decryption>,
) -> Result<Option<SharedSource>, Error> {
    let mut head = Vec::new();
    file.clone().take(HEADER_LEN_MAX).read_to_end(&mut head)?;
    if !head.starts_with(MAGIC) {
        return Ok(None);
    }
    // A header is held whole, and parsed anew for each of its lines. A build that decrypts nothing
    // says so, whatever the header is.
    let mut parts = head.windows(END_OF_HEADER.len());
    if cfg!(feature = "encryption") && !parts.any(|part| part == END_OF_HEADER) {
        let message = format!("its header has no end in {} KiB", HEADER_LEN_MAX >> 10);
        return Err(refuse(ErrorCode::Sealed, message));
    }
    let clear = cipher::decrypt(file.clone(), unseal.map(|unseal| &unseal.0))?;
    let clear = SharedSource::decrypted(clear);
    let wrong = |error: io::Error| refuse(ErrorCode::Sealed, error.to_string());
    clear.map(Some).map_err(wrong)
}

pub(super) fn refuse(code: ErrorCode, message: String) -> Error {
    Error::format(code, Place::File, message)
}

/// Returns the content of a short encrypted file; `None` for a file that is not encrypted.
///
/// # Errors
/// As [`open`].
#[cfg(feature = "sealing")]
pub(crate) fn open_short(
    file: impl Read,
    unseal: Option<&Decryption>,
) -> Result<Option<zeroize::Zeroizing<Vec<u8>>>, Error> {
    let file = SharedSource::held(file, HEADER_LEN_MAX)?;
    let Some(clear) = open(&file, unseal)? else {
        return Ok(None);
    };
    let mut content = zeroize::Zeroizing::new(Vec::new());
    clear.take(HEADER_LEN_MAX).read_to_end(&mut content)?;
    Ok(Some(content))
}

const MAGIC: &[u8] = b"age-encryption.org/v1\n";
const END_OF_HEADER: &[u8] = b"\n--- ";
/// The recipients of a file take 100 bytes each.
const HEADER_LEN_MAX: u64 = 64 * 1024;
