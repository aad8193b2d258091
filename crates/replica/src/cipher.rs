//! Objects encrypted for a recipient, in the format of age. Lists and manifests, which hold numbers
//! and hashes, stay readable: the process that ships cannot decrypt what it has shipped.

use std::fmt;
use std::io::{Read, Write};

use crate::Error;

/// Those who can read an encrypted copy.
///
/// ```
/// assert!(grainstore_replica::Recipients::parse(&["nobody"]).is_err());
/// ```
#[derive(Clone)]
pub struct Recipients(Vec<age::x25519::Recipient>);

impl Recipients {
    /// Reads public keys: `age1…`.
    ///
    /// # Errors
    /// `ERR_RECIPIENT`.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<Self, Error> {
        // The text may be the secret half by mistake, so it is not repeated.
        let read = |text: &str| {
            text.parse()
                .map_err(|error: &str| Error::Recipient(error.into()))
        };
        let read = texts.iter().map(|text| read(text.as_ref()));
        read.collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn encrypt(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let recipients = self.0.iter().map(|it| it as &dyn age::Recipient);
        let encryptor = age::Encryptor::with_recipients(recipients);
        let encryptor = encryptor.map_err(|error| Error::Recipient(error.to_string()))?;
        let mut sealed = Vec::with_capacity(bytes.len() + OVERHEAD);
        let write = || {
            let mut writer = encryptor.wrap_output(&mut sealed)?;
            writer.write_all(bytes)?;
            writer.finish().map(drop)
        };
        write().map_err(|error| Error::Sealed(error.to_string()))?;
        Ok(sealed)
    }
}

impl fmt::Debug for Recipients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recipients")
    }
}

/// The keys that open an encrypted copy.
///
/// ```
/// assert!(grainstore_replica::Identities::parse("no key").is_err());
/// ```
pub struct Identities(Vec<Box<dyn age::Identity + Send + Sync>>);

impl Identities {
    /// Reads a file of keys, as `age-keygen` writes it.
    ///
    /// # Errors
    /// `ERR_IDENTITY`.
    pub fn parse(file: &str) -> Result<Self, Error> {
        // Nothing of a secret is repeated.
        let file = age::IdentityFile::from_buffer(file.as_bytes()).map_err(|_| Error::Identity)?;
        let found = file.into_identities().map_err(|_| Error::Identity)?;
        Ok(Self(found))
    }

    pub(crate) fn decrypt(&self, name: &str, sealed: &[u8], max: u64) -> Result<Vec<u8>, Error> {
        let wrong = |reason: &dyn fmt::Display| Error::Sealed(format!("{name}: {reason}"));
        let decryptor = age::Decryptor::new_buffered(sealed);
        let keys = self.0.iter().map(|it| &**it as &dyn age::Identity);
        let opened = decryptor.and_then(|decryptor| decryptor.decrypt(keys));
        let mut bytes = Vec::new();
        let opened = opened.map_err(|error| wrong(&error))?;
        let read = opened.take(max.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| wrong(&error))?;
        Ok(bytes)
    }
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identities")
    }
}

/// The bytes that age adds: its header, and a tag for each 64 KiB.
pub(crate) const OVERHEAD: usize = 16 << 10;
