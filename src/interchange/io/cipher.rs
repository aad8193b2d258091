//! The encryption of files, by the crate `age`.
//!
//! `no_cipher` stands for it in a build without the feature `encryption`.

use std::fmt;
use std::io::{self, Write};

use age::secrecy::{ExposeSecret, SecretString};

use super::encryption::refuse;
use super::source_file::{ReadSeek, SharedSource};
use crate::code::ErrorCode;
use crate::interchange::Error;

/// Those who can decrypt a file.
#[derive(Clone)]
pub(super) enum Recipients {
    Holders(Vec<age::x25519::Recipient>),
    Knowers(SecretString),
}

impl Recipients {
    pub(super) fn of(recipients: &[impl AsRef<str>]) -> Result<Self, Error> {
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
        Ok(Self::Holders(recipients))
    }

    pub(super) fn knowing(passphrase: String) -> Self {
        Self::Knowers(passphrase.into())
    }

    pub(super) fn wrap<W: Write>(&self, out: W) -> Result<EncryptedWriter<W>, Error> {
        let encryptor = match self {
            Self::Holders(recipients) => {
                let recipients = recipients.iter().map(|it| it as &dyn age::Recipient);
                age::Encryptor::with_recipients(recipients)
                    .map_err(|error| refuse(ErrorCode::Recipient, error.to_string()))?
            }
            Self::Knowers(passphrase) => {
                let mut recipient = age::scrypt::Recipient::new(passphrase.clone());
                recipient.set_work_factor(WORK_WRITTEN);
                let recipient: &dyn age::Recipient = &recipient;
                age::Encryptor::with_recipients(std::iter::once(recipient))
                    .map_err(|error| refuse(ErrorCode::Recipient, error.to_string()))?
            }
        };
        encryptor
            .wrap_output(out)
            .map(EncryptedWriter)
            .map_err(Error::from)
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

/// A secret that decrypts a file.
#[derive(Clone)]
pub(super) enum Secret {
    Identities(SecretString),
    Passphrase(SecretString),
}

impl Secret {
    pub(super) fn identities_of(file: String) -> Self {
        Self::Identities(file.into())
    }

    pub(super) fn passphrase(passphrase: String) -> Self {
        Self::Passphrase(passphrase.into())
    }

    fn identities(&self) -> Result<Vec<Box<dyn age::Identity>>, Error> {
        match self {
            Self::Passphrase(passphrase) => {
                let mut identity = age::scrypt::Identity::new(passphrase.clone());
                identity.set_max_work_factor(WORK_MAX);
                Ok(vec![Box::new(identity)])
            }
            Self::Identities(file) => {
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

/// Starts to decrypt a file.
pub(super) fn decrypt(
    file: SharedSource,
    secret: Option<&Secret>,
) -> Result<Box<dyn ReadSeek>, Error> {
    let Some(secret) = secret else {
        return Err(refuse(ErrorCode::Sealed, "the file is encrypted".into()));
    };
    let identities = secret.identities()?;
    let wrong = |reason: &dyn fmt::Display| refuse(ErrorCode::Sealed, reason.to_string());
    let input = io::BufReader::new(file);
    let opened = age::Decryptor::new_buffered(input).and_then(|decryptor| {
        decryptor.decrypt(identities.iter().map(|it| &**it as &dyn age::Identity))
    });
    Ok(Box::new(opened.map_err(|error| wrong(&error))?))
}

/// The logarithm of the work that makes a key of a passphrase, in KiB of memory: 256 MiB, as `age`
/// has it.
const WORK_WRITTEN: u8 = 18;
/// The most that is read: a file with more could fill the memory before its passphrase is known to
/// be wrong.
const WORK_MAX: u8 = 20;
