use clap::{Args, Subcommand, ValueEnum};
use grainstore::codec::{Encoding, Profile};
use grainstore::interchange::{Record, jsonl};
use grainstore::{Draft, ErrorCode, Grain};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::lines::{Line, Lines, shown};
use crate::problem::Problem;
use crate::session::Session;

use super::agreement::Agree;
use super::signing::{Cosign, Disclose, Sign, Verify, VerifyDisclosure};

/// Encode, decode, sign and disclose single grains
#[derive(Debug, Args)]
pub(crate) struct GrainTool {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Encode(Encode),
    Decode(Decode),
    Sign(Sign),
    Verify(Verify),
    Cosign(Cosign),
    Agree(Agree),
    Disclose(Disclose),
    VerifyDisclosure(VerifyDisclosure),
}

/// Turn JSON grains into blobs, line by line
///
/// For each line: {"address": …, "blob": "HEX"}, or {"error": {"code", "message", "line", …}}.
/// created_at is required: nothing but the line decides the bytes. Exit 1 if any line failed.
#[derive(Debug, Args)]
struct Encode {
    /// The file with one JSON grain per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
    /// The encoding of the payload; the other one gives another address
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

/// Turn blobs into JSON grains, line by line
///
/// A line is a blob in hexadecimal digits, or the object that `grain encode` writes, whose
/// address is then checked. For each line: {"address": …, "header": …, "grain": …}, or
/// {"error": {"code", "message", "line", …}}. Exit 1 if any line failed.
#[derive(Debug, Args)]
struct Decode {
    /// The file with one blob per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum EncodingArg {
    /// MessagePack
    Msgpack,
    /// CBOR
    Cbor,
}

impl From<EncodingArg> for Encoding {
    fn from(encoding: EncodingArg) -> Self {
        match encoding {
            EncodingArg::Msgpack => Self::MessagePack,
            EncodingArg::Cbor => Self::Cbor,
        }
    }
}

impl GrainTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.verb {
            Verb::Encode(Encode { file, encoding }) => {
                each_line(&file, session, |line| encode(line, encoding.into()))
            }
            Verb::Decode(Decode { file }) => each_line(&file, session, decode),
            Verb::Sign(verb) => verb.run(session),
            Verb::Verify(verb) => verb.run(session),
            Verb::Cosign(verb) => verb.run(session),
            Verb::Agree(verb) => verb.run(session),
            Verb::Disclose(verb) => verb.run(session),
            Verb::VerifyDisclosure(verb) => verb.run(session),
        }
    }
}

pub(super) fn each_line(
    file: &str,
    session: &mut Session,
    turn: impl Fn(&Line) -> Result<Value, Problem>,
) -> anyhow::Result<Exit> {
    let mut lines = Lines::open(file)?;
    let mut exit = Exit::Done;
    while let Some(line) = lines
        .next()
        .map_err(|error| Problem::of(&error).at(shown(file)))?
    {
        let document = turn(&line).unwrap_or_else(|problem| {
            exit = Exit::Nothing;
            let mut error = problem.at_line(line.number).to_json();
            error["line"] = json!(line.number);
            json!({ "error": error })
        });
        session.out.json(&document)?;
        // Whoever sends line after line and waits for each answer gets it.
        if !lines.has_next() {
            session.out.flush()?;
        }
    }
    Ok(exit)
}

fn encode(line: &Line, encoding: Encoding) -> Result<Value, Problem> {
    let draft = Draft::from_json(line.text()?);
    let grain = draft.and_then(|draft| draft.encoding(encoding).finish(Profile::Extended));
    let grain = grain.map_err(|error| Problem::of(&error))?;
    Ok(json!({ "address": grain.address().to_string(), "blob": hex(grain.blob()) }))
}

fn decode(line: &Line) -> Result<Value, Problem> {
    let text = line.text()?.trim();
    let is_hex = text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_object = text.starts_with('{');
    if !is_hex && !is_object {
        let message = "neither hexadecimal digits nor a JSON object with a blob";
        return Err(Problem::new(ErrorCode::JsonlBlob, message));
    }
    let object = if is_object {
        text.to_owned()
    } else {
        format!("{{\"blob\":\"{text}\"}}")
    };
    let record = jsonl::Reader::new(object.as_bytes(), jsonl::Options::default()).next();
    match record {
        Some(Ok(record)) => {
            decoded(&record).map_err(|error| Problem::new(ErrorCode::Corrupt, error))
        }
        Some(Err(error)) => Err(Problem::of(&error)),
        None => Err(Problem::new(ErrorCode::JsonlBlob, "no blob")),
    }
}

fn decoded(record: &Record) -> serde_json::Result<Value> {
    let grain = &record.grain;
    let mut document = json!({
        "address": grain.address().to_string(),
        "header": header_json(grain),
        "grain": serde_json::from_str::<Value>(&grain.to_json())?,
    });
    if !record.warnings.is_empty() {
        let warnings = record.warnings.iter().map(ToString::to_string);
        document["warnings"] = warnings.collect::<Vec<_>>().into();
    }
    Ok(document)
}

fn header_json(grain: &Grain) -> Value {
    let header = grain.header();
    let [version, ..] = header.to_bytes();
    json!({
        "version": version,
        "flags": header.flags.bits(),
        "type": header.type_byte,
        "namespace_hash": hex(&header.namespace_hash),
        "created_at_sec": header.created_at_sec,
        "sensitivity": header.sensitivity().name(),
    })
}

/// Returns bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
