//! `grainstore grain disclose` and `verify-disclosure`: views of grains with some fields replaced by
//! their hashes, and the check of values that are revealed later.

use grainstore::ErrorCode;
use std::cell::Cell;

use clap::Args;
use grainstore::codec;
use grainstore::grain::verify_disclosed;
use serde_json::json;

use super::line_by_line::{EncodingArg, draft, each_line, finish, json_of};
use crate::args::read_document;
use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Make views of JSON grains with some fields replaced by hashes, line by line
///
/// Prints {"address", "blob", "grain", "warnings"} per line, or {"error": …}. A hash hides only
/// values that cannot be guessed: names, dates and small numbers can be found by trial.
#[derive(Debug, Args)]
pub(super) struct Disclose {
    /// Fields to elide, by full name, separated by commas
    #[arg(long, required = true, value_delimiter = ',', value_name = "FIELDS")]
    elide: Vec<String>,
    /// File with one JSON grain per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
    /// Payload encoding of the original grain
    #[arg(long, value_enum, default_value_t = EncodingArg::Msgpack)]
    encoding: EncodingArg,
}

/// Verify revealed values against a view, line by line
///
/// Each line is a JSON object {"field": value, …}. Prints {"FIELD": true or false, …} per line, or
/// {"error": …} for a field that the view does not elide. Exits with 1 if a value differs from the
/// original. The check proves that a value has the hash in the view; it does not prove who made the
/// view.
#[derive(Debug, Args)]
pub(super) struct VerifyDisclosure {
    /// File with the view: its JSON, or a line written by `grain disclose`
    view: String,
    /// File with one object of revealed values per line, or - for stdin
    #[arg(default_value = "-")]
    file: String,
}

impl Disclose {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let elide: Vec<&str> = self.elide.iter().map(String::as_str).collect();
        each_line(&self.file, session, |line| {
            let grain = finish(draft(line, self.encoding)?)?;
            let disclosed = grain.disclose(&elide);
            let (view, warnings) = disclosed.map_err(|error| CliError::of(&error))?;
            let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
            Ok(json!({
                "address": view.address().to_string(),
                "blob": hex::encode(view.blob()),
                "grain": json_of(&view)?,
                "warnings": warnings,
            }))
        })
    }
}

impl VerifyDisclosure {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let text = read_document(&self.view)?;
        let hashes = hashes_of(&text).map_err(|error| error.at(&self.view))?;
        let any_differs = Cell::new(false);
        let exit = each_line(&self.file, session, |line| {
            let mut shown = serde_json::Map::new();
            for (field, value) in revealed(line.text()?)?.iter() {
                let hash = hashes.get(field).and_then(codec::Value::as_text);
                let hash = hash.ok_or_else(|| {
                    CliError::new(
                        ErrorCode::Schema,
                        format!("{field} is not elided in the view"),
                    )
                })?;
                let fits = verify_disclosed(field, value.clone(), hash)
                    .map_err(|error| CliError::of(&error))?;
                any_differs.set(any_differs.get() || !fits);
                shown.insert(field.to_owned(), fits.into());
            }
            Ok(shown.into())
        })?;
        Ok(match exit {
            Exit::Done => Exit::done_if(!any_differs.get()),
            other => other,
        })
    }
}

/// Returns the hashes of the elided fields of a view.
fn hashes_of(text: &str) -> Result<codec::Map, CliError> {
    let view = revealed(text)?;
    let view = match view.get("grain").and_then(codec::Value::as_map) {
        Some(view) => view,
        None => &view,
    };
    let hashes = view.get("_elided").and_then(codec::Value::as_map);
    let hashes = hashes.filter(|_| view.contains("_disclosure_of"));
    hashes
        .cloned()
        .ok_or_else(|| CliError::new(ErrorCode::Schema, "not a view: no field is elided"))
}

fn revealed(text: &str) -> Result<codec::Map, CliError> {
    let value = codec::Value::from_json(text).map_err(|error| CliError::of(&error))?;
    match value {
        codec::Value::Map(map) => Ok(map),
        _ => Err(CliError::new(ErrorCode::NotMap, "not a JSON object")),
    }
}
