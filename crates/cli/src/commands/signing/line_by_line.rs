//! Line-by-line processing for the subcommands of `grain`: one line in, one JSON document out.
//!
//! A line that fails is reported in its place, and the lines after it are still processed.

use clap::ValueEnum;
use grainstore::ErrorCode;
use grainstore::codec::{Encoding, Profile};
use grainstore::{Draft, Grain};
use serde_json::{Value, json};

use crate::args::{Line, Lines, display_name};
use crate::error::{CliError, Exit};
use crate::session::Session;

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

pub(super) fn each_line(
    file: &str,
    session: &mut Session,
    turn: impl Fn(&Line) -> Result<Value, CliError>,
) -> anyhow::Result<Exit> {
    let mut lines = Lines::open(file)?;
    let mut exit = Exit::Done;
    while let Some(line) = lines
        .next()
        .map_err(|error| CliError::of(&error).at(display_name(file)))?
    {
        let document = turn(&line).unwrap_or_else(|error| {
            exit = Exit::Nothing;
            let mut error = error.at_line(line.number).to_json();
            error["line"] = json!(line.number);
            json!({ "error": error })
        });
        for warning in document["warnings"].as_array().into_iter().flatten() {
            let warning = warning.as_str().unwrap_or_default();
            session.out.note(format!("line {}: {warning}", line.number));
        }
        session.out.json(&document)?;
        // A writer that waits for each result before its next line must not block.
        if !lines.has_next() {
            session.out.flush()?;
        }
    }
    Ok(exit)
}

pub(super) fn draft(line: &Line, encoding: EncodingArg) -> Result<Draft, CliError> {
    let draft = Draft::from_json(line.text()?).map_err(|error| CliError::of(&error))?;
    Ok(draft.encoding(encoding.into()))
}

pub(super) fn finish(draft: Draft) -> Result<Grain, CliError> {
    let finished = draft.finish(Profile::Extended);
    finished.map_err(|error| CliError::of(&error))
}

pub(super) fn json_of(grain: &Grain) -> Result<Value, CliError> {
    serde_json::to_value(grain).map_err(|error| CliError::new(ErrorCode::Corrupt, error))
}
