//! The signer of a statement: a key, and the DID that it signs under.
//!
//! Shared by the subcommands of `grain` that sign.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::crypto::{Did, SigningKey};
use grainstore::store::{Clock, SystemClock};

use crate::args::KeySource;
use crate::error::CliError;
use crate::hex;

/// A key and the DID it signs under.
#[derive(Debug, Args)]
pub(super) struct SignerArgs {
    #[command(flatten)]
    key: KeySource,
    /// Sign under this did:web instead of the key's own DID
    #[arg(long, value_name = "DID")]
    did: Option<String>,
}

impl SignerArgs {
    /// Reads the key. Whether a named DID lists the key is for the verifier, who resolves it.
    ///
    /// # Errors
    /// `ERR_KEY`, `ERR_IO`, `ERR_DID`.
    pub(super) fn read(&self) -> Result<(SigningKey, Did), CliError> {
        let key = self.key.read()?;
        let did = match &self.did {
            Some(text) => text
                .parse()
                .map_err(|error| CliError::of(&error).at(text))?,
            None => key.did(),
        };
        Ok((key, did))
    }
}

/// Reads the store_id of a store.
///
/// # Errors
/// `ERR_USAGE`.
pub(super) fn store_id(digits: &str) -> Result<[u8; 16], CliError> {
    let bytes = hex::decode(digits).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| CliError::new(ErrorCode::Usage, "--store-id: not 32 hexadecimal digits"))
}

/// Returns the time of a signature, in seconds since 1970.
pub(super) fn now_sec() -> i64 {
    SystemClock.now().ms().div_euclid(1000)
}
