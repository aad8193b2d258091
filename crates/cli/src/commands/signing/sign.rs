//! The verbs of `grain` that sign, check signatures and disclose: pure, line by line.

use clap::Args;
use grainstore::Grain;
use grainstore::codec::Profile;
use grainstore::crypto::{Envelope, Offline};
use serde_json::{Value, json};

use super::line_by_line::{EncodingArg, draft, each_line, finish, json_of};
use super::signer::{SignerArgs, now_sec};
use crate::args::Line;
use crate::error::{Exit, Problem};
use crate::hex;
use crate::session::Session;

/// Turn JSON grains into signed ones, line by line
///
/// For each line: {"address": …, "envelope": "HEX"}, or {"error": …}. That a grain is signed is
/// part of its address, so it is decided here and not later. created_at is required.
#[derive(Debug, Args)]
pub(super) struct Sign {
    /// The file with one JSON grain per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
    #[command(flatten)]
    signer: SignerArgs,
    /// The encoding of the payload; the other one gives another address
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

/// Check signed grains, line by line
///
/// A line is an envelope in hexadecimal digits, or the object that `grain sign` writes. For each:
/// {"address", "signer", "is_author", "iat", "grain"}, or {"error": …}. A signature says who
/// signed; whether to believe him is for you to say. iat is not protected by it. Signers named by
/// did:web are not looked up. Exit 1 if any line failed.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The file with one envelope per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
}

impl Sign {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let (key, did) = self.signer.read()?;
        each_line(&self.file, session, |line| {
            let grain = finish(draft(line, self.encoding)?.to_be_signed())?;
            let envelope = Envelope::sign(grain.blob(), &key, &did, Some(now_sec()));
            let envelope = envelope.map_err(|error| Problem::of(&error))?;
            Ok(
                json!({ "address": grain.address().to_string(), "envelope": hex::encode(&envelope) }),
            )
        })
    }
}

impl Verify {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        each_line(&self.file, session, verify)
    }
}

fn verify(line: &Line) -> Result<Value, Problem> {
    let (bytes, address) = envelope_of(line.text()?.trim())?;
    let envelope = Envelope::parse(&bytes).map_err(|error| Problem::of(&error))?;
    let signer = envelope
        .verify(&Offline)
        .map_err(|error| Problem::of(&error))?;
    let blob = envelope.blob().to_vec();
    let (grain, _) = Grain::from_foreign_signed_blob(blob, Profile::Extended)
        .map_err(|error| Problem::of(&error))?;
    if address.is_some_and(|address| address != grain.address().to_string()) {
        let message = "the envelope holds another grain than the line says";
        return Err(Problem::new("ERR_INTEGRITY", message));
    }
    Ok(json!({
        "address": grain.address().to_string(),
        "signer": signer.did.as_str(),
        "is_author": signer.is_author_of(&grain),
        "iat": envelope.iat(),
        "grain": json_of(&grain)?,
    }))
}

/// Reads an envelope, and the address that stands beside it.
fn envelope_of(text: &str) -> Result<(Vec<u8>, Option<String>), Problem> {
    let wrong = || Problem::new("ERR_CORRUPT", "neither hexadecimal digits nor an envelope");
    let (digits, address) = if text.starts_with('{') {
        let object: Value = serde_json::from_str(text).map_err(|_| wrong())?;
        let member = |name: &str| object[name].as_str().map(str::to_owned);
        (member("envelope").ok_or_else(wrong)?, member("address"))
    } else {
        (text.to_owned(), None)
    };
    Ok((hex::decode(&digits).ok_or_else(wrong)?, address))
}
