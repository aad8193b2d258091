use clap::{Args, ValueEnum};
use grainstore::crypto::Statement;
use grainstore::grain::Verification;
use grainstore::{ContentAddress, ErrorCode};
use serde_json::{Value, json};

use super::grain::hex;
use super::signing::{now_sec, signer, unhex};
use crate::exit::Exit;
use crate::key_file::KeySource;
use crate::lines::read_document;
use crate::problem::Problem;
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
    key: KeySource,
    /// Sign under this did:web instead of the key's own DID
    #[arg(long, value_name = "DID")]
    did: Option<String>,
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
        let store_id = unhex(&self.store_id).and_then(|bytes| bytes.try_into().ok());
        let store_id: [u8; 16] = store_id.ok_or_else(|| {
            Problem::new(ErrorCode::Usage, "--store-id: not 32 hexadecimal digits")
        })?;
        let verify = |status| Statement::verify(address, status, store_id);
        let statement = match self.to {
            Deed::Contradict => Statement::contradict(address, store_id),
            Deed::Unverified => verify(Verification::Unverified),
            Deed::Verified => verify(Verification::Verified),
            Deed::Contested => verify(Verification::Contested),
            Deed::Retracted => verify(Verification::Retracted),
        };
        let statement = statement.map_err(|error| Problem::of(&error))?;
        let key = self.key.read()?;
        let did = signer(self.did.as_deref(), &key)?;
        let signature = statement.sign(&key, &did, Some(now_sec()));
        let signature = signature.map_err(|error| Problem::of(&error))?;
        session
            .out
            .json(&json!({ "signer": did.as_str(), "auth": hex(&signature) }))?;
        Ok(Exit::Done)
    }
}

/// Reads the signatures of several files: hexadecimal digits, or what `grain agree` wrote.
pub(super) fn read_all(files: &[String]) -> Result<Vec<Vec<u8>>, Problem> {
    let read = |file: &String| {
        let text = read_document(file)?;
        let wrong =
            || Problem::new(ErrorCode::Corrupt, "no agreement that `grain agree` wrote").at(file);
        let digits = match text.trim().strip_prefix('{') {
            None => text.trim().to_owned(),
            Some(_) => {
                let object: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
                object["auth"].as_str().ok_or_else(wrong)?.to_owned()
            }
        };
        unhex(&digits).ok_or_else(wrong)
    };
    files.iter().map(read).collect()
}
