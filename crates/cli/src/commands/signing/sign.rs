//! `grainstore grain sign` and `verify`: signed grains as COSE_Sign1 envelopes.
//!
//! A valid signature proves who signed; trust in signers is in `trust`.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::Grain;
use grainstore::codec::Profile;
use grainstore::crypto::{DidDocuments, Envelope};
use serde_json::{Value, json};

use super::line_by_line::{EncodingArg, draft, each_line, finish, json_of};
use super::signer::{SignerArgs, now_sec};
use crate::args::Line;
use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Sign JSON grains, line by line
///
/// Prints {"address": …, "envelope": "HEX"} per line, or {"error": …}. The address of a grain
/// depends on whether it is signed, so a grain cannot be signed after it is stored. created_at is
/// required.
#[derive(Debug, Args)]
pub(super) struct Sign {
    /// File with one JSON grain per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
    #[command(flatten)]
    signer: SignerArgs,
    /// Payload encoding; it is part of the address
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

/// Verify signed grains, line by line
///
/// Each line is an envelope in hexadecimal digits, or an object written by `grain sign`. Prints
/// {"address", "signer", "is_author", "iat", "grain"} per line, or {"error": …}. A valid signature
/// identifies the signer; it does not say that the signer is trusted (see `grainstore trust`). iat
/// is not covered by the signature. The keys of a did:web signer come from --did-document. Exits with 1
/// if any line failed.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// File with one envelope per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
}

impl Sign {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let (key, did) = self.signer.read()?;
        each_line(&self.file, session, |line| {
            let grain = finish(draft(line, self.encoding)?.to_be_signed())?;
            let envelope = Envelope::sign(grain.blob(), &key, &did, Some(now_sec()));
            let envelope = envelope.map_err(|error| CliError::of(&error))?;
            Ok(
                json!({ "address": grain.address().to_string(), "envelope": hex::encode(&envelope) }),
            )
        })
    }
}

impl Verify {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let resolver = session.resolver();
        each_line(&self.file, session, |line| verify(line, &resolver))
    }
}

fn verify(line: &Line, resolver: &DidDocuments) -> Result<Value, CliError> {
    let (bytes, address) = envelope_of(line.text()?.trim())?;
    let envelope = Envelope::parse(&bytes).map_err(|error| CliError::of(&error))?;
    let signer = envelope
        .verify(resolver)
        .map_err(|error| CliError::of(&error))?;
    let blob = envelope.blob().to_vec();
    let (grain, _) = Grain::from_foreign_signed_blob(blob, Profile::Extended)
        .map_err(|error| CliError::of(&error))?;
    if address.is_some_and(|address| address != grain.address().to_string()) {
        let message = "the address of the line is not the address of the grain in the envelope";
        return Err(CliError::new(ErrorCode::Integrity, message));
    }
    Ok(json!({
        "address": grain.address().to_string(),
        "signer": signer.did.as_str(),
        "is_author": signer.is_author_of(&grain),
        "iat": envelope.iat(),
        "grain": json_of(&grain)?,
    }))
}

/// Reads an envelope, and the address given with it.
fn envelope_of(text: &str) -> Result<(Vec<u8>, Option<String>), CliError> {
    let wrong = || {
        CliError::new(
            ErrorCode::Corrupt,
            "neither hexadecimal digits nor an envelope",
        )
    };
    let (digits, address) = if text.starts_with('{') {
        let object: Value = serde_json::from_str(text).map_err(|_| wrong())?;
        let member = |name: &str| object[name].as_str().map(str::to_owned);
        (member("envelope").ok_or_else(wrong)?, member("address"))
    } else {
        (text.to_owned(), None)
    };
    Ok((hex::decode(&digits).ok_or_else(wrong)?, address))
}
