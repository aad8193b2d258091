//! `grainstore grain agree`: a signed agreement to an operation on one grain of one store.
//!
//! Agreements to a supersession are in `cosign`: they cover two grains.

use clap::{Args, ValueEnum};
use grainstore::ContentAddress;
use grainstore::ErrorCode;
use grainstore::crypto::Statement;
use grainstore::grain::Verification;
use serde_json::{Value, json};

use super::signer::{SignerArgs, now_sec, store_id};
use crate::args::read_document;
use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Sign an agreement to contradict a grain or to set its verification status
///
/// Prints {"signer", "auth"}, for `contradict --auth` and `status --auth`. The agreement is valid
/// for this operation on this grain in this store only.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore grain agree 3288d0d4… --to contradict --store-id 5f1c… --key ada.key")]
pub(super) struct Agree {
    /// Full address of the grain
    address: String,
    /// Operation or verification status agreed to
    #[arg(long, value_enum, value_name = "OPERATION")]
    to: OperationArg,
    /// Store id, as shown by `stats`
    #[arg(long, value_name = "HEX")]
    store_id: String,
    #[command(flatten)]
    signer: SignerArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OperationArg {
    Contradict,
    Unverified,
    Verified,
    Contested,
    Retracted,
}

impl Agree {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let address = ContentAddress::from_reference(&self.address)
            .map_err(|error| CliError::of(&error).at("the address"))?;
        let store_id = store_id(&self.store_id)?;
        let verify = |status| Statement::verify(address, status, store_id);
        let statement = match self.to {
            OperationArg::Contradict => Statement::contradict(address, store_id),
            OperationArg::Unverified => verify(Verification::Unverified),
            OperationArg::Verified => verify(Verification::Verified),
            OperationArg::Contested => verify(Verification::Contested),
            OperationArg::Retracted => verify(Verification::Retracted),
        };
        let statement = statement.map_err(|error| CliError::of(&error))?;
        let (key, did) = self.signer.read()?;
        let signature = statement.sign(&key, &did, Some(now_sec()));
        let signature = signature.map_err(|error| CliError::of(&error))?;
        session
            .out
            .json(&json!({ "signer": did.as_str(), "auth": hex::encode(&signature) }))?;
        Ok(Exit::Done)
    }
}

/// Reads one signature from each file: hexadecimal digits, or the output of `grain agree`.
pub(crate) fn read_all(files: &[String]) -> Result<Vec<Vec<u8>>, CliError> {
    let read = |file: &String| {
        let text = read_document(file)?;
        let wrong = || {
            CliError::new(
                ErrorCode::Corrupt,
                "not an agreement written by `grain agree`",
            )
            .at(file)
        };
        let digits = match text.trim().strip_prefix('{') {
            None => text.trim().to_owned(),
            Some(_) => {
                let object: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
                object["auth"].as_str().ok_or_else(wrong)?.to_owned()
            }
        };
        hex::decode(&digits).ok_or_else(wrong)
    };
    files.iter().map(read).collect()
}
