use clap::{Args, ValueEnum};
use grainstore::ContentAddress;
use grainstore::crypto::Statement;
use grainstore::grain::Verification;
use serde_json::{Value, json};

use super::signer::{SignerArgs, now_sec, store_id};
use crate::args::read_document;
use crate::error::{Exit, Problem};
use crate::hex;
use crate::session::Session;

/// Agree that a grain may be contradicted or judged
///
/// Writes {"signer", "auth"}, for `contradict --auth` and `status --auth`. It counts for this grain
/// in this store, for this and nothing else.
///
/// Example: grainstore grain agree 3288d0d4… --to contradict --store-id 5f1c… --key ada.key
#[derive(Debug, Args)]
pub(super) struct Agree {
    /// The whole address of the grain
    address: String,
    /// What is agreed to
    #[arg(long, value_enum, value_name = "WHAT")]
    to: Deed,
    /// The store_id of the store, from its MANIFEST
    #[arg(long, value_name = "HEX")]
    store_id: String,
    #[command(flatten)]
    signer: SignerArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Deed {
    Contradict,
    Unverified,
    Verified,
    Contested,
    Retracted,
}

impl Agree {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let address = ContentAddress::from_reference(&self.address)
            .map_err(|error| Problem::of(&error).at("the address"))?;
        let store_id = store_id(&self.store_id)?;
        let verify = |status| Statement::verify(address, status, store_id);
        let statement = match self.to {
            Deed::Contradict => Statement::contradict(address, store_id),
            Deed::Unverified => verify(Verification::Unverified),
            Deed::Verified => verify(Verification::Verified),
            Deed::Contested => verify(Verification::Contested),
            Deed::Retracted => verify(Verification::Retracted),
        };
        let statement = statement.map_err(|error| Problem::of(&error))?;
        let (key, did) = self.signer.read()?;
        let signature = statement.sign(&key, &did, Some(now_sec()));
        let signature = signature.map_err(|error| Problem::of(&error))?;
        session
            .out
            .json(&json!({ "signer": did.as_str(), "auth": hex::encode(&signature) }))?;
        Ok(Exit::Done)
    }
}

/// Reads the signatures of several files: hexadecimal digits, or what `grain agree` wrote.
pub(crate) fn read_all(files: &[String]) -> Result<Vec<Vec<u8>>, Problem> {
    let read = |file: &String| {
        let text = read_document(file)?;
        let wrong =
            || Problem::new("ERR_CORRUPT", "no agreement that `grain agree` wrote").at(file);
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
