use std::fs::File;
use std::io::Read;

use grainstore::ErrorCode;
use grainstore::interchange::{Format, Seal, Unseal};

use crate::problem::Problem;

/// How an exported file is encrypted: never by an argument that holds a secret, which other users
/// can see.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Encryption (age)")]
pub(crate) struct SealArgs {
    /// Encrypt for the holder of this key (age1…); may be given several times
    #[arg(long, value_name = "RECIPIENT", conflicts_with = "passphrase_fd")]
    encrypt_to: Vec<String>,
    /// Encrypt with a passphrase, read from an open file descriptor
    #[arg(long, value_name = "N")]
    passphrase_fd: Option<u32>,
    /// Write a PAM store in the clear, for its reader alone (0600)
    #[arg(long, conflicts_with_all = ["encrypt_to", "passphrase_fd"])]
    plain: bool,
}

impl SealArgs {
    /// Returns how to encrypt a file of a format, if that is asked for.
    ///
    /// # Errors
    /// `ERR_USAGE` for a PAM store of which nobody said that it may stay in the clear (PAM 21.1).
    pub(crate) fn seal_for(&self, format: Format) -> Result<Option<Seal>, Problem> {
        let seal = self.seal()?;
        if format == Format::Pam && seal.is_none() && !self.plain {
            let message = "say who may read it: --encrypt-to, --passphrase-fd, or --plain";
            return Err(Problem::new(ErrorCode::Usage, message));
        }
        Ok(seal)
    }

    fn seal(&self) -> Result<Option<Seal>, Problem> {
        if let Some(number) = self.passphrase_fd {
            return Ok(Some(Seal::with_passphrase(passphrase(number)?)));
        }
        if self.encrypt_to.is_empty() {
            return Ok(None);
        }
        let seal = Seal::to(&self.encrypt_to);
        seal.map(Some).map_err(|error| Problem::of(&error))
    }
}

/// What opens an encrypted file.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct UnsealArgs {
    /// Decrypt with the keys of an age identity file
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd")]
    identity: Option<String>,
    /// Decrypt with a passphrase, read from an open file descriptor
    #[arg(long, value_name = "N")]
    passphrase_fd: Option<u32>,
}

impl UnsealArgs {
    pub(crate) fn unseal(&self) -> Result<Option<Unseal>, Problem> {
        if let Some(number) = self.passphrase_fd {
            return Ok(Some(Unseal::with_passphrase(passphrase(number)?)));
        }
        let identity = self.identity.as_ref();
        let read = identity.map(|name| read(name).map(Unseal::with_identities));
        read.transpose()
    }
}

/// Reads one line of a descriptor.
fn passphrase(number: u32) -> Result<String, Problem> {
    let name = format!("/dev/fd/{number}");
    let text = read(&name)?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        return Err(Problem::new(ErrorCode::Passphrase, "the passphrase is empty").at(name));
    }
    Ok(line.to_owned())
}

fn read(name: &str) -> Result<String, Problem> {
    // Room for all of it at once: a text that grows leaves copies behind.
    let mut text = String::with_capacity(LEN_MAX);
    let file = File::open(name).map_err(|error| Problem::of(&error).at(name))?;
    let limit = u64::try_from(LEN_MAX).unwrap_or(u64::MAX);
    let read = file.take(limit).read_to_string(&mut text);
    read.map_err(|error| Problem::of(&error).at(name))?;
    Ok(text)
}

const LEN_MAX: usize = 64 * 1024;
