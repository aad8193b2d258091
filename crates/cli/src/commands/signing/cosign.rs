use clap::Args;
use grainstore::crypto::Statement;
use grainstore::{ContentAddress, codec};
use serde_json::{Value, json};

use super::line_by_line::{EncodingArg, draft, each_line, finish};
use super::signer::{SignerArgs, now_sec, store_id};
use crate::error::{Exit, Problem};
use crate::session::Session;

/// Agree that a grain may replace another, line by line
///
/// A line is the JSON grain that is to replace it. For each: {"signer", "supersession_auth"};
/// the latter is one element for that field of the grain. It counts in the store it was made for,
/// for these two grains, and nowhere else.
#[derive(Debug, Args)]
pub(super) struct Cosign {
    /// The address of the grain that is to be replaced
    #[arg(long, value_name = "ADDRESS")]
    old: String,
    /// The store_id of the store, from its MANIFEST
    #[arg(long, value_name = "HEX")]
    store_id: String,
    /// The file with one JSON grain per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
    #[command(flatten)]
    signer: SignerArgs,
    /// The encoding of the grain; the other one is another grain
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

impl Cosign {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let old = ContentAddress::from_reference(&self.old)
            .map_err(|error| Problem::of(&error).at("--old"))?;
        let store_id = store_id(&self.store_id)?;
        let (key, did) = self.signer.read()?;
        each_line(&self.file, session, |line| {
            let grain = finish(draft(line, self.encoding)?)?;
            let statement =
                Statement::supersede(&grain, old, store_id).map_err(|error| Problem::of(&error))?;
            let signature = statement.sign(&key, &did, Some(now_sec()));
            let signature = signature.map_err(|error| Problem::of(&error))?;
            let element = codec::Value::Bytes(signature).to_json();
            let element: Value = serde_json::from_str(&element)
                .map_err(|error| Problem::new("ERR_CORRUPT", error))?;
            Ok(json!({ "signer": did.as_str(), "supersession_auth": element }))
        })
    }
}
