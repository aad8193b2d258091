//! Encryption of exported files and decryption of imported ones, with age.
//!
//! Secrets come from a file or an open descriptor, never from an argument, which other users can see.

use grainstore::ErrorCode;
use std::fs::File;
use std::io::Read;

use grainstore::interchange::{Decryption, Encryption, Format};

use crate::error::CliError;

/// Encryption of an exported file.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Encryption (age)")]
pub(crate) struct SealArgs {
    /// Encrypt to this public key (age1…); may be repeated
    #[arg(long, value_name = "RECIPIENT", conflicts_with = "passphrase_fd")]
    encrypt_to: Vec<String>,
    /// Encrypt with a passphrase read from this open file descriptor
    #[arg(long, value_name = "N")]
    passphrase_fd: Option<u32>,
    /// Write a PAM store unencrypted, with permissions 0600
    #[arg(long, conflicts_with_all = ["encrypt_to", "passphrase_fd"])]
    plain: bool,
}

impl SealArgs {
    /// Returns the encryption of a file of this format; `None` for an unencrypted file.
    ///
    /// # Errors
    /// `ERR_USAGE` for a PAM store with neither encryption nor `--plain` (PAM 21.1).
    pub(crate) fn seal_for(&self, format: Format) -> Result<Option<Encryption>, CliError> {
        let seal = self.seal()?;
        if format == Format::Pam && seal.is_none() && !self.plain {
            let message = "a PAM store requires --encrypt-to, --passphrase-fd or --plain";
            return Err(CliError::new(ErrorCode::Usage, message));
        }
        Ok(seal)
    }

    fn seal(&self) -> Result<Option<Encryption>, CliError> {
        if let Some(number) = self.passphrase_fd {
            return Ok(Some(Encryption::with_passphrase(passphrase(number)?)));
        }
        if self.encrypt_to.is_empty() {
            return Ok(None);
        }
        let seal = Encryption::to(&self.encrypt_to);
        seal.map(Some).map_err(|error| CliError::of(&error))
    }
}

/// Decryption of an input file.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct UnsealArgs {
    /// Decrypt with the keys in this age identity file
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd")]
    identity: Option<String>,
    /// Decrypt with a passphrase read from this open file descriptor
    #[arg(long, value_name = "N")]
    passphrase_fd: Option<u32>,
}

impl UnsealArgs {
    pub(crate) fn unseal(&self) -> Result<Option<Decryption>, CliError> {
        if let Some(number) = self.passphrase_fd {
            return Ok(Some(Decryption::with_passphrase(passphrase(number)?)));
        }
        let identity = self.identity.as_ref();
        let read = identity.map(|name| read(name).map(Decryption::with_identities));
        read.transpose()
    }
}

/// Reads one line from an open descriptor.
pub(super) fn passphrase(number: u32) -> Result<String, CliError> {
    let name = format!("/dev/fd/{number}");
    let text = read(&name)?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        return Err(CliError::new(ErrorCode::Passphrase, "the passphrase is empty").at(name));
    }
    Ok(line.to_owned())
}

fn read(name: &str) -> Result<String, CliError> {
    // Allocated once: a buffer that grows leaves copies of the secret in freed memory.
    let mut text = String::with_capacity(LEN_MAX);
    let file = File::open(name).map_err(|error| CliError::of(&error).at(name))?;
    let limit = u64::try_from(LEN_MAX).unwrap_or(u64::MAX);
    let read = file.take(limit).read_to_string(&mut text);
    read.map_err(|error| CliError::of(&error).at(name))?;
    Ok(text)
}

const LEN_MAX: usize = 64 * 1024;
