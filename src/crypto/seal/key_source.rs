//! Where a master key comes from. It is never an argument of a command, which other users can see.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use data_encoding::HEXLOWER_PERMISSIVE;
use zeroize::Zeroizing;

use crate::crypto::Error;

use super::master::MasterKey;
use super::passphrase::PassphraseParams;
use super::secret::Secret;

/// Returns the 32 bytes of a key, or the reason why there is none: a KMS, a keychain, a TPM.
type Callback = Box<dyn Fn() -> Result<Zeroizing<Vec<u8>>, String> + Send + Sync>;

/// The source of a master key of 32 bytes, given as they are or as 64 hexadecimal digits (OMS 20.3).
///
/// ```
/// use grainstore::crypto::KeySource;
///
/// let source = KeySource::File("master.key".into());
/// assert_eq!(format!("{source:?}"), "File");
/// ```
pub enum KeySource {
    /// A file; an open file descriptor is `/dev/fd/3`.
    File(PathBuf),
    /// An environment variable that holds the digits.
    Environment(String),
    /// A passphrase, from which the key is derived by argon2id.
    Passphrase(Zeroizing<String>),
    /// The program that keeps the key.
    Callback(Callback),
}

impl KeySource {
    /// Returns whether the key is derived with parameters that the vault keeps.
    pub(crate) const fn is_passphrase(&self) -> bool {
        matches!(self, Self::Passphrase(_))
    }

    /// Returns the key; `params` are those of the vault, if a passphrase made its key.
    ///
    /// # Errors
    /// `ERR_KEY` if the source holds no key, or is of another sort than the vault's.
    pub(crate) fn master_key(&self, params: Option<&PassphraseParams>) -> Result<MasterKey, Error> {
        let secret = match self {
            Self::File(path) => read(path)?,
            Self::Environment(name) => parse(variable(name)?.as_bytes())?,
            Self::Passphrase(passphrase) => {
                let reason = "the vault has a key that no passphrase made";
                let params = params.ok_or(Error::Key { reason })?;
                params.derive(passphrase.as_bytes())?
            }
            Self::Callback(ask) => {
                let bytes = ask().map_err(|reason| Error::KeySource { reason })?;
                parse(&bytes)?
            }
        };
        Ok(MasterKey::new(secret))
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Environment(_) => "Environment",
            Self::Passphrase(_) => "Passphrase",
            Self::Callback(_) => "Callback",
        })
    }
}

fn read(path: &PathBuf) -> Result<Secret, Error> {
    let failed = |error: std::io::Error| Error::KeySource {
        reason: format!("{}: {error}", path.display()),
    };
    let file = File::open(path).map_err(failed)?;
    // Room for the digits, so that the buffer does not grow and leave a copy behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(FILE_LEN_MAX));
    let mut part = file.take(FILE_LEN_MAX as u64);
    let mut block = Zeroizing::new([0; FILE_LEN_MAX]);
    loop {
        let len = part.read(&mut *block).map_err(failed)?;
        let Some(read @ [_, ..]) = block.get(..len) else {
            break;
        };
        bytes.extend_from_slice(read);
    }
    parse(&bytes)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the caller names the variable that holds the key"
)]
fn variable(name: &str) -> Result<Zeroizing<String>, Error> {
    let found = std::env::var(name).map(Zeroizing::new);
    found.map_err(|_| Error::KeySource {
        reason: format!("the environment variable {name} is not set"),
    })
}

/// Reads 32 bytes, or 64 digits with white space around them.
fn parse(bytes: &[u8]) -> Result<Secret, Error> {
    if let Some(secret) = Secret::copied(bytes) {
        return Ok(secret);
    }
    let mut decoded = Zeroizing::new([0; 33]);
    let digits = bytes.trim_ascii();
    let len = match digits.len() {
        64 => HEXLOWER_PERMISSIVE.decode_mut(digits, decoded.split_at_mut(32).0),
        _ => return Err(NOT_A_KEY),
    };
    let len = len.map_err(|_| NOT_A_KEY)?;
    decoded.get(..len).and_then(Secret::copied).ok_or(NOT_A_KEY)
}

const NOT_A_KEY: Error = Error::Key {
    reason: "a master key has 32 bytes, or 64 hexadecimal digits",
};

const FILE_LEN_MAX: usize = 128;
