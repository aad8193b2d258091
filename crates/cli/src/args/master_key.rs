//! The master key of a store's vault: from a file, an open descriptor or a passphrase, never from an
//! argument, which other users can see.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use grainstore::ErrorCode;
use grainstore::crypto::KeySource;
use zeroize::Zeroizing;

use super::encryption::passphrase;
use super::key_file::is_open_to_others;
use crate::error::CliError;

/// The source of the master key.
#[derive(Debug, Args)]
pub(crate) struct MasterKeyArgs {
    /// File with the master key of sealed persons, or /dev/fd/N
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "GRAINSTORE_KEY_FILE",
        hide_env = true,
        display_order = 104
    )]
    key_file: Option<PathBuf>,
    /// Read a passphrase from this descriptor instead
    #[arg(
        long,
        global = true,
        value_name = "N",
        conflicts_with = "key_file",
        hide = true,
        display_order = 104
    )]
    key_passphrase_fd: Option<u32>,
    /// Unlock a sealed person for this command; repeatable
    #[arg(long, global = true, value_name = "USER", display_order = 105)]
    unlock: Vec<String>,
}

impl MasterKeyArgs {
    /// Returns the persons to unlock.
    pub(crate) fn persons(&self) -> &[String] {
        &self.unlock
    }

    /// Returns the source; `None` if no key was given.
    ///
    /// # Errors
    /// `ERR_KEY` if other users can read the file; `ERR_PASSPHRASE`, `ERR_IO`.
    pub(crate) fn source(&self) -> Result<Option<KeySource>, CliError> {
        if let Some(number) = self.key_passphrase_fd {
            return Ok(Some(KeySource::Passphrase(passphrase(number)?.into())));
        }
        self.key_file.as_deref().map(key_in).transpose()
    }
}

/// Returns the key in a file that only its owner can read. A pipe is read now, since it can be read
/// once; a file is read when the key is needed.
///
/// # Errors
/// `ERR_KEY` if other users can read the file; `ERR_IO`.
pub(crate) fn key_in(path: &Path) -> Result<KeySource, CliError> {
    let failed = |error: std::io::Error| CliError::of(&error).at(path.display());
    let file = match File::open(path) {
        // A command that needs no key runs without it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(KeySource::File(path.to_owned()));
        }
        opened => opened.map_err(failed)?,
    };
    if file.metadata().map_err(failed)?.is_file() {
        if is_open_to_others(&file).map_err(failed)? {
            let message = "the key file is accessible to other users";
            return Err(CliError::new(ErrorCode::Key, message).at(path.display()));
        }
        return Ok(KeySource::File(path.to_owned()));
    }
    // Room for the digits, so that the buffer does not grow and leave a copy behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_LEN_MAX));
    let mut file = file.take(KEY_LEN_MAX as u64);
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(KeySource::Callback(Box::new(move || Ok(bytes.clone()))))
}

/// Longer than the digits of a key, with white space around them.
const KEY_LEN_MAX: usize = 128;
