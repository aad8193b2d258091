use clap::ValueEnum;
use grainstore::codec::{Encoding, Profile};
use grainstore::{Draft, Grain};
use serde_json::{Value, json};

use crate::args::{Line, Lines, displayed};
use crate::error::{Exit, Problem};
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
    turn: impl Fn(&Line) -> Result<Value, Problem>,
) -> anyhow::Result<Exit> {
    let mut lines = Lines::open(file)?;
    let mut exit = Exit::Done;
    while let Some(line) = lines
        .next()
        .map_err(|error| Problem::of(&error).at(displayed(file)))?
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

pub(super) fn draft(line: &Line, encoding: EncodingArg) -> Result<Draft, Problem> {
    let draft = Draft::from_json(line.text()?).map_err(|error| Problem::of(&error))?;
    Ok(draft.encoding(encoding.into()))
}

pub(super) fn finish(draft: Draft) -> Result<Grain, Problem> {
    let finished = draft.finish(Profile::Extended);
    finished.map_err(|error| Problem::of(&error))
}

pub(super) fn json_of(grain: &Grain) -> Result<Value, Problem> {
    serde_json::from_str(&grain.to_json()).map_err(|error| Problem::new("ERR_CORRUPT", error))
}
