use std::cell::Cell;

use clap::Args;
use grainstore::codec;
use grainstore::grain::verify_disclosed;
use serde_json::json;

use super::line_by_line::{EncodingArg, draft, each_line, finish, json_of};
use crate::args::read_document;
use crate::error::{Exit, Problem};
use crate::hex;
use crate::session::Session;

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
        let hashes = hashes_of(&text).map_err(|problem| problem.at(&self.view))?;
        let is_false = Cell::new(false);
        let exit = each_line(&self.file, session, |line| {
            let mut shown = serde_json::Map::new();
            for (field, value) in revealed(line.text()?)?.iter() {
                let hash = hashes.get(field).and_then(codec::Value::as_text);
                let hash = hash.ok_or_else(|| {
                    Problem::new("ERR_SCHEMA", format!("{field} is not elided in the view"))
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
        .ok_or_else(|| Problem::new("ERR_SCHEMA", "not a view: it elides nothing"))
}

fn revealed(text: &str) -> Result<codec::Map, Problem> {
    let value = codec::Value::from_json(text).map_err(|error| Problem::of(&error))?;
    match value {
        codec::Value::Map(map) => Ok(map),
        _ => Err(Problem::new("ERR_NOT_MAP", "not a JSON object")),
    }
}
