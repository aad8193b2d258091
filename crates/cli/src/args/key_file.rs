//! Files of signing keys: PKCS#8 in PEM, readable by their owner only.
//!
//! A key that other users can read is refused, as ssh does, since it may be known already.

use grainstore::ErrorCode;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use clap::Args;
use grainstore::crypto::SigningKey;
use zeroize::Zeroizing;

use crate::error::CliError;

/// The source of a signing key; never an argument, which other users can see.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct KeySource {
    /// Key file: PKCS#8 in PEM, readable by its owner only, as written by `did new` or openssl
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// Read the key from this open file descriptor
    #[arg(long, value_name = "N")]
    key_fd: Option<u32>,
}

impl KeySource {
    /// Reads the key.
    ///
    /// # Errors
    /// `ERR_KEY`, `ERR_IO`.
    pub(crate) fn read(&self) -> Result<SigningKey, CliError> {
        match (&self.key, self.key_fd) {
            (Some(name), _) => read_key(name),
            (None, number) => {
                let name = format!("/dev/fd/{}", number.unwrap_or_default());
                read_from(&name, open(&name)?)
            }
        }
    }
}

/// Reads a key file that only its owner can read.
///
/// # Errors
/// `ERR_KEY` if other users can read it; `ERR_IO`.
pub(crate) fn read_key(name: &str) -> Result<SigningKey, CliError> {
    let file = open(name)?;
    let is_open = is_open_to_others(&file).map_err(|error| CliError::of(&error).at(name))?;
    if is_open {
        let message = "the key file is accessible to other users";
        return Err(CliError::new(ErrorCode::Key, message).at(name));
    }
    read_from(name, file)
}

/// Writes a new key file that only its owner can read; an existing file is an error.
pub(crate) fn write_key(name: &str, key: &SigningKey) -> Result<(), CliError> {
    let pem = key
        .to_pem()
        .map_err(|error| CliError::of(&error).at(name))?;
    let write = || {
        let mut file = create_private(Path::new(name))?;
        file.write_all(pem.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| CliError::of(&error).at(name))
}

fn open(name: &str) -> Result<File, CliError> {
    File::open(name).map_err(|error| CliError::of(&error).at(name))
}

fn read_from(name: &str, file: File) -> Result<SigningKey, CliError> {
    // Allocated once: a buffer that grows leaves copies of the secret in freed memory.
    let mut pem = Zeroizing::new(String::with_capacity(PEM_LEN_MAX));
    let limit = u64::try_from(PEM_LEN_MAX).unwrap_or(u64::MAX);
    let read = file.take(limit).read_to_string(&mut pem);
    read.map_err(|error| CliError::of(&error).at(name))?;
    SigningKey::from_pem(&pem).map_err(|error| CliError::of(&error).at(name))
}

#[cfg(unix)]
pub(super) fn is_open_to_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Creates a new file that only its owner can read; an existing file is an error.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Several times the length of the longest supported key.
const PEM_LEN_MAX: usize = 4096;
