use clap::Args;
use grainstore::codec::{Map, Value};
use grainstore::store::NewGrain;
use grainstore::{ContentAddress, Draft, ErrorCode};
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
    /// A file of lines that `grain cosign` wrote: who agrees; may be given several times
    #[arg(long, value_name = "FILE")]
    auth: Vec<String>,
    #[command(flatten)]
    as_whom: As,
}

impl Supersede {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let text = read_document(&self.file)?;
        let store = session.open()?;
        let old = address::resolve(&store, &self.old)?;
        let agreed = cosigned(&self.auth)?;
        let new = new_grain(text, &old, agreed).map_err(|problem| problem.at(shown(&self.file)))?;
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

/// Reads the signatures of those who agree (OMS 23.2).
fn cosigned(files: &[String]) -> Result<Vec<Value>, Problem> {
    let mut signatures = Vec::new();
    for file in files {
        for line in read_document(file)?
            .lines()
            .filter(|line| !line.trim().is_empty())
        {
            let line = Value::from_json(line).map_err(|error| Problem::of(&error).at(file))?;
            let signature = line.as_map().and_then(|map| map.get("supersession_auth"));
            let signature = signature.ok_or_else(|| {
                Problem::new(ErrorCode::Corrupt, "not what `grain cosign` writes").at(file)
            })?;
            signatures.push(signature.clone());
        }
    }
    Ok(signatures)
}

/// Reads the new grain, and lets it name the old one, and carry who agreed, where it can still be
/// written.
fn new_grain(text: String, old: &ContentAddress, agreed: Vec<Value>) -> Result<NewGrain, Problem> {
    let value = Value::from_json(&text).map_err(|error| Problem::of(&error))?;
    let is_written = |value: &Value| {
        let map = value.as_map();
        let is_written = |map: &Map| map.contains("blob") || map.contains("envelope");
        map.is_some_and(|map| is_written(map) && !map.contains("type"))
    };
    if is_written(&value) {
        if !agreed.is_empty() {
            let message = "--auth: the grain is written already and cannot carry any more";
            return Err(Problem::new(ErrorCode::Usage, message));
        }
        let line = Line {
            number: 1,
            bytes: Some(text.into_bytes()),
        };
        return Ok(line.grain()?.into());
    }
    let draft = Draft::from_value(value).map_err(|error| Problem::of(&error))?;
    let draft = naming(draft, old);
    let add = |draft: Draft, signature| draft.push("supersession_auth", signature);
    Ok(agreed.into_iter().fold(draft, add).into())
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
