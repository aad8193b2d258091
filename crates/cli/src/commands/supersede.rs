use clap::Args;
use grainstore::codec::Value;
use grainstore::store::NewGrain;
use grainstore::{ContentAddress, Draft};
use serde_json::json;

use crate::address;
use crate::door::As;
use crate::exit::Exit;
use crate::lines::{Line, read_document, shown};
use crate::problem::Problem;
use crate::session::Session;

/// Replace a grain with a newer one, and keep the old one
///
/// The new grain is one JSON object. It names the old one in derived_from; where it does not,
/// that is added. Exit 3 if the old grain's invalidation_policy forbids it, and the attempt is
/// recorded.
#[derive(Debug, Args)]
pub(crate) struct Supersede {
    /// The address of the grain to replace, whole or its first 8 to 16 digits
    old: String,
    /// The file with the new grain, or - for stdin
    file: String,
    /// Why; kept with the change
    #[arg(long, value_name = "TEXT")]
    justification: Option<String>,
    #[command(flatten)]
    as_whom: As,
}

impl Supersede {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let text = read_document(&self.file)?;
        let store = session.open()?;
        let old = address::resolve(&store, &self.old)?;
        let new = new_grain(text, &old).map_err(|problem| problem.at(shown(&self.file)))?;
        let door = self.as_whom.door(&store)?;
        let new = door.supersede(&old, new, self.justification.as_deref())?;
        if session.out.is_json() {
            session.out.json(&json!({
                "address": new.to_string(),
                "supersedes": old.to_string(),
            }))?;
        } else {
            session.out.line(new)?;
        }
        Ok(Exit::Done)
    }
}

/// Reads the new grain, and lets it name the old one where it can still be written.
fn new_grain(text: String, old: &ContentAddress) -> Result<NewGrain, Problem> {
    let value = Value::from_json(&text).map_err(|error| Problem::of(&error))?;
    let is_blob = |value: &Value| {
        let map = value.as_map();
        map.is_some_and(|map| map.contains("blob") && !map.contains("type"))
    };
    if is_blob(&value) {
        let line = Line {
            number: 1,
            bytes: Some(text.into_bytes()),
        };
        return Ok(line.grain()?.into());
    }
    let draft = Draft::from_value(value).map_err(|error| Problem::of(&error))?;
    Ok(naming(draft, old).into())
}

/// OMS 23.1: a superseding grain says what it supersedes.
fn naming(draft: Draft, old: &ContentAddress) -> Draft {
    let names = |field: &str| {
        let mut texts = draft.fields().get(field).into_iter().flat_map(Value::texts);
        texts.any(|text| ContentAddress::from_reference(text).is_ok_and(|named| named == *old))
    };
    if names("derived_from") || names("prior_consent") {
        return draft;
    }
    match draft.fields().get("derived_from") {
        None | Some(Value::Nil | Value::Array(_)) => draft.derived_from(*old),
        // Something else: for the store to refuse, not for us to overwrite.
        Some(_) => draft,
    }
}
