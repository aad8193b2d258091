//! Encrypted files in a build without the feature `encryption`: they are recognised and refused,
//! and none is written.
//!
//! The types are those of `encryption`, so that a program need not ask which build it uses.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Read, Write};
use std::marker::PhantomData;

use zeroize::Zeroizing;

use super::ENCRYPTED;
use crate::code::ErrorCode;
use crate::interchange::{Error, Place};

/// The recipients of an exported file: none, in a build without the feature `encryption`.
///
/// ```
/// use grainstore::interchange::Encryption;
///
/// let refused = Encryption::to(&["age1anybody"]).unwrap_err();
/// assert_eq!(refused.code(), "ERR_UNSUPPORTED");
/// ```
#[derive(Clone)]
pub struct Encryption(());

impl Encryption {
    /// Refuses: this build writes no encrypted files.
    ///
    /// # Errors
    /// `ERR_UNSUPPORTED`.
    pub fn to(_: &[impl AsRef<str>]) -> Result<Self, Error> {
        Err(unsupported())
    }

    /// Forgets the passphrase; an export with the result is `ERR_UNSUPPORTED`.
    pub fn with_passphrase(passphrase: String) -> Self {
        drop(Zeroizing::new(passphrase));
        Self(())
    }

    #[expect(clippy::unused_self, reason = "the other build encrypts with it")]
    pub(crate) fn wrap<W: Write>(&self, _: W) -> Result<EncryptedWriter<W>, Error> {
        Err(unsupported())
    }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encryption")
    }
}

/// An encrypted file that is being written: there is none.
pub(crate) struct EncryptedWriter<W: Write>(Infallible, PhantomData<W>);

impl<W: Write> EncryptedWriter<W> {
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self.0 {}
    }
}

impl<W: Write> Write for EncryptedWriter<W> {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// The secret that decrypts a file: of no use in a build without the feature `encryption`.
///
/// ```
/// use grainstore::interchange::Decryption;
///
/// let secret = Decryption::with_passphrase("correct horse".into());
/// assert_eq!(format!("{secret:?}"), "Decryption");
/// ```
#[derive(Clone)]
pub struct Decryption(());

impl Decryption {
    /// Forgets the keys; reading an encrypted file is `ERR_UNSUPPORTED`.
    pub fn with_identities(file: String) -> Self {
        drop(Zeroizing::new(file));
        Self(())
    }

    /// Forgets the passphrase; reading an encrypted file is `ERR_UNSUPPORTED`.
    pub fn with_passphrase(passphrase: String) -> Self {
        Self::with_identities(passphrase)
    }
}

impl fmt::Debug for Decryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decryption")
    }
}

/// Returns `None` for a file that is not encrypted.
///
/// # Errors
/// `ERR_UNSUPPORTED` for one that is; `ERR_IO`.
pub(crate) fn open(file: impl Read, _: Option<&Decryption>) -> Result<Option<Vec<u8>>, Error> {
    let mut begin = Vec::new();
    let len = u64::try_from(ENCRYPTED.len()).unwrap_or_default();
    file.take(len).read_to_end(&mut begin)?;
    match begin == ENCRYPTED {
        true => Err(unsupported()),
        false => Ok(None),
    }
}

fn unsupported() -> Error {
    let message = "encrypted files need a build with the feature `encryption`";
    Error::format(ErrorCode::Unsupported, Place::File, message.to_owned())
}
