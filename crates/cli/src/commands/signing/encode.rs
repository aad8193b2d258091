//! `grainstore grain encode` and `decode`: JSON grains to blobs and back.
//!
//! Both validate the grain, so that each blob that is printed can be stored.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::codec::{Encoding, Profile};
use grainstore::grain::Warning;
use grainstore::interchange::{ReadOptions, Record, jsonl};
use grainstore::{Draft, Grain};
use serde_json::{Value, json};

use super::line_by_line::{EncodingArg, each_line};
use crate::args::Line;
use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Encode JSON grains as blobs, line by line
///
/// Prints {"address": …, "blob": "HEX"} per line, with "warnings" if there are any, or
/// {"error": {"code", "message", "line", …}}.
/// created_at is required, so that the line alone determines the bytes. Exits with 1 if any line
/// failed.
#[derive(Debug, Args)]
pub(super) struct Encode {
    /// File with one JSON grain per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
    /// Payload encoding; it is part of the address
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

/// Decode blobs to JSON grains, line by line
///
/// Each line is a blob in hexadecimal digits, or an object written by `grain encode`, whose address
/// is verified. Prints {"address": …, "header": …, "grain": …} per line, or
/// {"error": {"code", "message", "line", …}}. Exits with 1 if any line failed.
#[derive(Debug, Args)]
pub(super) struct Decode {
    /// File with one blob per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
}

impl Encode {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let encoding = self.encoding.into();
        each_line(&self.file, session, |line| encode(line, encoding))
    }
}

impl Decode {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        each_line(&self.file, session, decode)
    }
}

fn encode(line: &Line, encoding: Encoding) -> Result<Value, CliError> {
    let draft = Draft::from_json(line.text()?);
    let finish = |draft: Draft| {
        draft
            .encoding(encoding)
            .finish_with_warnings(Profile::Extended)
    };
    let finished = draft.and_then(finish);
    let (grain, warnings) = finished.map_err(|error| CliError::of(&error))?;
    let document =
        json!({ "address": grain.address().to_string(), "blob": hex::encode(grain.blob()) });
    Ok(with_warnings(document, &warnings))
}

fn decode(line: &Line) -> Result<Value, CliError> {
    let text = line.text()?.trim();
    let is_hex = text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_object = text.starts_with('{');
    if !is_hex && !is_object {
        let message = "neither hexadecimal digits nor a JSON object with a blob";
        return Err(CliError::new(ErrorCode::JsonlBlob, message));
    }
    let object = if is_object {
        text.to_owned()
    } else {
        format!("{{\"blob\":\"{text}\"}}")
    };
    let record = jsonl::Reader::new(object.as_bytes(), &ReadOptions::default()).next();
    match record {
        Some(Ok(record)) => {
            decoded(&record).map_err(|error| CliError::new(ErrorCode::Corrupt, error))
        }
        Some(Err(error)) => Err(CliError::of(&error)),
        None => Err(CliError::new(ErrorCode::JsonlBlob, "no blob")),
    }
}

fn decoded(record: &Record) -> serde_json::Result<Value> {
    let grain = &record.grain;
    let document = json!({
        "address": grain.address().to_string(),
        "header": header_json(grain),
        "grain": grain,
    });
    Ok(with_warnings(document, &record.warnings))
}

/// Adds the warnings about a grain, if there are any.
fn with_warnings(mut document: Value, warnings: &[Warning]) -> Value {
    if !warnings.is_empty() {
        let warnings = warnings.iter().map(ToString::to_string);
        document["warnings"] = warnings.collect::<Vec<_>>().into();
    }
    document
}

fn header_json(grain: &Grain) -> Value {
    let header = grain.header();
    let [version, ..] = header.to_bytes();
    json!({
        "version": version,
        "flags": header.flags.bits(),
        "type": header.type_byte,
        "namespace_hash": hex::encode(&header.namespace_hash),
        "created_at_sec": header.created_at_sec,
        "sensitivity": header.sensitivity().name(),
    })
}
