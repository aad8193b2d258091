//! `grainstore grain cosign`: a signed agreement to a supersession (OMS 23.2).
//!
//! `grainstore supersede --auth` adds the agreements to the new grain.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::crypto::Statement;
use grainstore::{ContentAddress, codec};
use serde_json::{Value, json};

use super::line_by_line::{EncodingArg, draft, each_line, finish};
use super::signer::{SignerArgs, now_sec, store_id};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Sign an agreement to supersede a grain, line by line
///
/// Each line is the JSON grain that is to replace the old one. Prints {"signer",
/// "supersession_auth"} per line; the latter is one element for the field of that name in the new
/// grain. The agreement is valid for these two grains in this store only.
#[derive(Debug, Args)]
pub(super) struct Cosign {
    /// Full address of the grain to be replaced
    #[arg(long, value_name = "ADDRESS")]
    old: String,
    /// Store id, as shown by `stats`
    #[arg(long, value_name = "HEX")]
    store_id: String,
    /// File with one JSON grain per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
    #[command(flatten)]
    signer: SignerArgs,
    /// Payload encoding of the grain; it is part of the address
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

impl Cosign {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let old = ContentAddress::from_reference(&self.old)
            .map_err(|error| CliError::of(&error).at("--old"))?;
        let store_id = store_id(&self.store_id)?;
        let (key, did) = self.signer.read()?;
        each_line(&self.file, session, |line| {
            let grain = finish(draft(line, self.encoding)?)?;
            let statement = Statement::supersede(&grain, old, store_id)
                .map_err(|error| CliError::of(&error))?;
            let signature = statement.sign(&key, &did, Some(now_sec()));
            let signature = signature.map_err(|error| CliError::of(&error))?;
            let element = codec::Value::Bytes(signature).to_json();
            let element: Value = serde_json::from_str(&element)
                .map_err(|error| CliError::new(ErrorCode::Corrupt, error))?;
            Ok(json!({ "signer": did.as_str(), "supersession_auth": element }))
        })
    }
}
