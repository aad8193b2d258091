//! The verbs of `grain` that sign, check signatures and disclose: pure, line by line.

use std::cell::Cell;

use clap::Args;
use grainstore::codec::{self, Profile};
use grainstore::crypto::{Did, Envelope, Offline, SigningKey, Statement};
use grainstore::grain::verify_disclosed;
use grainstore::store::{Clock, SystemClock};
use grainstore::{ContentAddress, Draft, ErrorCode, Grain};
use serde_json::{Value, json};

use super::grain::{EncodingArg, each_line, hex};
use crate::exit::Exit;
use crate::key_file::KeySource;
use crate::lines::{Line, read_document};
use crate::problem::Problem;
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
    key: KeySource,
    /// Sign under this did:web instead of the key's own DID
    #[arg(long, value_name = "DID")]
    did: Option<String>,
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
    key: KeySource,
    /// Sign under this did:web instead of the key's own DID
    #[arg(long, value_name = "DID")]
    did: Option<String>,
    /// The encoding of the grain; the other one is another grain
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

/// Turn JSON grains into views with some fields as their hashes, line by line
///
/// For each line: {"address", "blob", "grain", "warnings"}, or {"error": …}. A hash hides only
/// what nobody can guess: names, dates and small numbers are found by trying.
#[derive(Debug, Args)]
pub(super) struct Disclose {
    /// The fields to elide, by their full names
    #[arg(long, required = true, value_delimiter = ',', value_name = "FIELDS")]
    elide: Vec<String>,
    /// The file with one JSON grain per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
    /// The encoding of the original
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

/// Check values that were revealed later against a view, line by line
///
/// A line is the JSON object {"field": value, …}. For each: {"FIELD": true or false, …}, or
/// {"error": …} for a field that the view does not elide. Exit 1 if any is not the original value.
/// A value fits because nobody finds another one with its hash; whose view it is, the view does not
/// say.
#[derive(Debug, Args)]
pub(super) struct VerifyDisclosure {
    /// The file with the view: its JSON, or the line that `grain disclose` wrote
    view: String,
    /// The file with one object of revealed values per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
}

impl Sign {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let key = self.key.read()?;
        let did = signer(self.did.as_deref(), &key)?;
        each_line(&self.file, session, |line| {
            let grain = finish(draft(line, self.encoding)?.to_be_signed())?;
            let envelope = Envelope::sign(grain.blob(), &key, &did, Some(now_sec()));
            let envelope = envelope.map_err(|error| Problem::of(&error))?;
            Ok(json!({ "address": grain.address().to_string(), "envelope": hex(&envelope) }))
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
        return Err(Problem::new(ErrorCode::Integrity, message));
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
    let wrong = || {
        Problem::new(
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
    Ok((unhex(&digits).ok_or_else(wrong)?, address))
}

impl Cosign {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let old = ContentAddress::from_reference(&self.old)
            .map_err(|error| Problem::of(&error).at("--old"))?;
        let store_id = unhex(&self.store_id).and_then(|bytes| bytes.try_into().ok());
        let store_id: [u8; 16] = store_id.ok_or_else(|| {
            Problem::new(ErrorCode::Usage, "--store-id: not 32 hexadecimal digits")
        })?;
        let key = self.key.read()?;
        let did = signer(self.did.as_deref(), &key)?;
        each_line(&self.file, session, |line| {
            let grain = finish(draft(line, self.encoding)?)?;
            let statement =
                Statement::supersede(&grain, old, store_id).map_err(|error| Problem::of(&error))?;
            let signature = statement.sign(&key, &did, Some(now_sec()));
            let signature = signature.map_err(|error| Problem::of(&error))?;
            let element = codec::Value::Bytes(signature).to_json();
            let element: Value = serde_json::from_str(&element)
                .map_err(|error| Problem::new(ErrorCode::Corrupt, error))?;
            Ok(json!({ "signer": did.as_str(), "supersession_auth": element }))
        })
    }
}

impl Disclose {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let elide: Vec<&str> = self.elide.iter().map(String::as_str).collect();
        each_line(&self.file, session, |line| {
            let grain = finish(draft(line, self.encoding)?)?;
            let disclosed = grain.disclose(&elide);
            let (view, warnings) = disclosed.map_err(|error| Problem::of(&error))?;
            let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
            Ok(json!({
                "address": view.address().to_string(),
                "blob": hex(view.blob()),
                "grain": json_of(&view)?,
                "warnings": warnings,
            }))
        })
    }
}

impl VerifyDisclosure {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let text = read_document(&self.view)?;
        let hashes = hashes_of(&text).map_err(|problem| problem.at(&self.view))?;
        let is_false = Cell::new(false);
        let exit = each_line(&self.file, session, |line| {
            let mut shown = serde_json::Map::new();
            for (field, value) in revealed(line.text()?)?.iter() {
                let hash = hashes.get(field).and_then(codec::Value::as_text);
                let hash = hash.ok_or_else(|| {
                    Problem::new(
                        ErrorCode::Schema,
                        format!("{field} is not elided in the view"),
                    )
                })?;
                let fits = verify_disclosed(field, value.clone(), hash)
                    .map_err(|error| Problem::of(&error))?;
                is_false.set(is_false.get() || !fits);
                shown.insert(field.to_owned(), fits.into());
            }
            Ok(shown.into())
        })?;
        Ok(match exit {
            Exit::Done => Exit::done_if(!is_false.get()),
            other => other,
        })
    }
}

/// Returns the hashes of a view.
fn hashes_of(text: &str) -> Result<codec::Map, Problem> {
    let view = revealed(text)?;
    let view = match view.get("grain").and_then(codec::Value::as_map) {
        Some(view) => view,
        None => &view,
    };
    let hashes = view.get("_elided").and_then(codec::Value::as_map);
    let hashes = hashes.filter(|_| view.contains("_disclosure_of"));
    hashes
        .cloned()
        .ok_or_else(|| Problem::new(ErrorCode::Schema, "not a view: it elides nothing"))
}

fn revealed(text: &str) -> Result<codec::Map, Problem> {
    let value = codec::Value::from_json(text).map_err(|error| Problem::of(&error))?;
    match value {
        codec::Value::Map(map) => Ok(map),
        _ => Err(Problem::new(ErrorCode::NotMap, "not a JSON object")),
    }
}

/// Returns whom a key signs as; that it may is for whoever resolves the DID to say.
pub(super) fn signer(named: Option<&str>, key: &SigningKey) -> Result<Did, Problem> {
    match named {
        Some(text) => text.parse().map_err(|error| Problem::of(&error).at(text)),
        None => Ok(key.did()),
    }
}

fn draft(line: &Line, encoding: EncodingArg) -> Result<Draft, Problem> {
    let draft = Draft::from_json(line.text()?).map_err(|error| Problem::of(&error))?;
    Ok(draft.encoding(encoding.into()))
}

fn finish(draft: Draft) -> Result<Grain, Problem> {
    let finished = draft.finish(Profile::Extended);
    finished.map_err(|error| Problem::of(&error))
}

fn json_of(grain: &Grain) -> Result<Value, Problem> {
    serde_json::from_str(&grain.to_json()).map_err(|error| Problem::new(ErrorCode::Corrupt, error))
}

pub(super) fn now_sec() -> i64 {
    SystemClock.now().ms().div_euclid(1000)
}

pub(super) fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let (pairs, []) = digits.as_chunks::<2>() else {
        return None;
    };
    let byte = |pair: &[u8; 2]| {
        let text = std::str::from_utf8(pair).ok()?;
        let is_hex = pair.iter().all(u8::is_ascii_hexdigit);
        u8::from_str_radix(text, 16).ok().filter(|_| is_hex)
    };
    pairs.iter().map(byte).collect()
}
