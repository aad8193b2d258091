//! Encrypted files (PAM 21.1), in the format of age.

use crate::code::ErrorCode;
use std::fmt;
use std::io::{self, Read, Write};

use age::secrecy::{ExposeSecret, SecretString};

use super::ENCRYPTED;
use crate::interchange::{Error, Place};

/// The recipients of an exported file.
///
/// ```
/// use grainstore::interchange::Encryption;
///
/// assert_eq!(Encryption::to(&["nobody"]).unwrap_err().code(), "ERR_RECIPIENT");
/// ```
#[derive(Clone)]
pub struct Encryption(Whom);

#[derive(Clone)]
enum Whom {
    Holders(Vec<age::x25519::Recipient>),
    Knowers(SecretString),
}

impl Encryption {
    /// Encrypts for the holders of keys, named by their public halves: `age1…`.
    ///
    /// # Errors
    /// `ERR_RECIPIENT` for text that is no recipient, and for an empty list.
    pub fn to(recipients: &[impl AsRef<str>]) -> Result<Self, Error> {
        let read = |text: &str| {
            text.parse::<age::x25519::Recipient>().map_err(|reason| {
                // The text may be the secret half by mistake, so it is not repeated.
                refuse(
                    ErrorCode::Recipient,
                    format!("not a recipient (age1…): {reason}"),
                )
            })
        };
        let recipients = recipients.iter().map(|text| read(text.as_ref()));
        let recipients: Vec<_> = recipients.collect::<Result<_, _>>()?;
        if recipients.is_empty() {
            return Err(refuse(ErrorCode::Recipient, "nobody could read it".into()));
        }
        Ok(Self(Whom::Holders(recipients)))
    }

    /// Encrypts with a passphrase.
    pub fn with_passphrase(passphrase: String) -> Self {
        Self(Whom::Knowers(passphrase.into()))
    }

    /// Starts an encrypted file.
    pub(crate) fn wrap<W: Write>(&self, out: W) -> Result<EncryptedWriter<W>, Error> {
        let encryptor = match &self.0 {
            Whom::Holders(recipients) => {
                let recipients = recipients.iter().map(|it| it as &dyn age::Recipient);
                age::Encryptor::with_recipients(recipients)
                    .map_err(|error| refuse(ErrorCode::Recipient, error.to_string()))?
            }
            Whom::Knowers(passphrase) => age::Encryptor::with_user_passphrase(passphrase.clone()),
        };
        encryptor
            .wrap_output(out)
            .map(EncryptedWriter)
            .map_err(Error::from)
    }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encryption")
    }
}

/// An encrypted file that is being written; it is not whole before it is finished.
pub(crate) struct EncryptedWriter<W: Write>(age::stream::StreamWriter<W>);

impl<W: Write> EncryptedWriter<W> {
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.0.finish().map(drop).map_err(Error::from)
    }
}

impl<W: Write> Write for EncryptedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The secret that decrypts a file.
///
/// ```
/// use grainstore::interchange::Decryption;
///
/// let secret = Decryption::with_passphrase("correct horse".into());
/// assert_eq!(format!("{secret:?}"), "Decryption");
/// ```
#[derive(Clone)]
pub struct Decryption(With);

#[derive(Clone)]
enum With {
    Identities(SecretString),
    Passphrase(SecretString),
}

impl Decryption {
    /// Decrypts with the keys of an identity file, as `age-keygen` writes it.
    pub fn with_identities(file: String) -> Self {
        Self(With::Identities(file.into()))
    }

    /// Decrypts with a passphrase.
    pub fn with_passphrase(passphrase: String) -> Self {
        Self(With::Passphrase(passphrase.into()))
    }

    fn identities(&self) -> Result<Vec<Box<dyn age::Identity>>, Error> {
        match &self.0 {
            With::Passphrase(passphrase) => {
                let identity = age::scrypt::Identity::new(passphrase.clone());
                Ok(vec![Box::new(identity)])
            }
            With::Identities(file) => {
                // Nothing of a secret is repeated.
                let wrong = || refuse(ErrorCode::Identity, "not a file of age identities".into());
                let file = age::IdentityFile::from_buffer(file.expose_secret().as_bytes());
                let identities = file.map_err(|_| wrong())?.into_identities();
                let identities = identities.map_err(|_| wrong())?.into_iter();
                Ok(identities.map(|it| it as Box<dyn age::Identity>).collect())
            }
        }
    }
}

impl fmt::Debug for Decryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decryption")
    }
}

/// Returns the content of an encrypted file, in memory alone; `None` for a file that is not
/// encrypted.
///
/// # Errors
/// `ERR_SEALED` without a secret, or with a wrong one; `ERR_IDENTITY`; `ERR_IO`.
pub(crate) fn open(
    mut file: impl Read,
    unseal: Option<&Decryption>,
) -> Result<Option<Vec<u8>>, Error> {
    let mut magic = Vec::new();
    let len = u64::try_from(ENCRYPTED.len()).unwrap_or_default();
    (&mut file).take(len).read_to_end(&mut magic)?;
    if magic != ENCRYPTED {
        return Ok(None);
    }
    let Some(unseal) = unseal else {
        return Err(refuse(ErrorCode::Sealed, "the file is encrypted".into()));
    };
    let identities = unseal.identities()?;
    let input = io::BufReader::new(io::Cursor::new(magic).chain(file));
    let wrong = |reason: &dyn fmt::Display| refuse(ErrorCode::Sealed, reason.to_string());
    let opened = age::Decryptor::new_buffered(input).and_then(|decryptor| {
        decryptor.decrypt(identities.iter().map(|it| &**it as &dyn age::Identity))
    });
    let mut bytes = Vec::new();
    opened
        .map_err(|error| wrong(&error))?
        .read_to_end(&mut bytes)
        .map_err(|error| wrong(&error))?;
    Ok(Some(bytes))
}

fn refuse(code: ErrorCode, message: String) -> Error {
    Error::format(code, Place::File, message)
}
