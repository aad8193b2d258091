//! `grainstore supersede`: replaces a grain with a newer version.
//!
//! Cosignatures that a quorum policy requires are added to the new grain here (OMS 23.2).

use clap::Args;
use grainstore::codec::{Map, Value};
use grainstore::{ContentAddress, Draft, ErrorCode, Grain};
use serde_json::json;

use crate::args::As;
use crate::args::{Line, address, display_name, read_document};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Replace a grain with a newer version; the old version is kept
///
/// The new grain is one JSON object. The address of the old grain is added to derived_from, of a
/// consent to prior_consent, if it is missing there. Exits with 3 if the invalidation_policy of the old grain denies it. A denied
/// attempt is recorded in the ledger.
#[derive(Debug, Args)]
pub(crate) struct Supersede {
    /// Address of the grain to replace, or its first digits, 4 or more
    old: String,
    /// File with the new grain, or - for stdin
    file: String,
    /// Reason for the change; recorded with it
    #[arg(long, value_name = "TEXT")]
    justification: Option<String>,
    /// File of lines written by `grain cosign`; may be repeated
    #[arg(long, value_name = "FILE")]
    auth: Vec<String>,
    /// Let the signature of an authorized DID replace a locked grain, and an owner correct an
    /// ownership grain (OMS 23.2, 12.5.3)
    #[arg(long)]
    amend_locked: bool,
    #[command(flatten)]
    as_whom: As,
}

impl Supersede {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let text = read_document(&self.file)?;
        let store = session.open_to_supersede(self.amend_locked)?;
        let old = address::resolve(&store, &self.old)?;
        let agreed = cosigned(&self.auth)?;
        let handle = self.as_whom.narrow(&store)?;
        let grain = self.new_grain(text, &old, agreed);
        let grain = grain.map_err(|error| error.at(display_name(&self.file)))?;
        let new = handle.supersede(&old, grain.clone(), self.justification.as_deref())?;
        let warnings = handle.warnings(&grain)?;
        let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        warnings.iter().for_each(|it| session.out.note(it));
        if session.out.is_json() {
            let mut document = json!({ "address": new.to_string(), "supersedes": old.to_string() });
            if !warnings.is_empty() {
                document["warnings"] = warnings.into();
            }
            session.out.json(&document)?;
        } else {
            session.out.line(new)?;
        }
        Ok(Exit::Done)
    }

    /// Reads the new grain. A draft gets the reference to the old grain, the cosignatures, and what it
    /// lacks of the caller; a blob or an envelope is final and is taken as it is.
    fn new_grain(
        &self,
        text: String,
        old: &ContentAddress,
        agreed: Vec<Value>,
    ) -> Result<Grain, CliError> {
        let value = Value::from_json(&text).map_err(|error| CliError::of(&error))?;
        let is_written = |value: &Value| {
            let map = value.as_map();
            let is_written = |map: &Map| map.contains("blob") || map.contains("envelope");
            map.is_some_and(|map| is_written(map) && !map.contains("type"))
        };
        if is_written(&value) {
            if !agreed.is_empty() {
                let message = "--auth: cosignatures cannot be added to an encoded grain";
                return Err(CliError::new(ErrorCode::Usage, message));
            }
            let line = Line {
                number: 1,
                bytes: Some(text.into_bytes()),
            };
            return line.grain();
        }
        let draft = Draft::from_value(value).map_err(|error| CliError::of(&error))?;
        let draft = draft.replacing(*old);
        let add = |draft: Draft, signature| draft.push("supersession_auth", signature);
        self.as_whom.finish(agreed.into_iter().fold(draft, add))
    }
}

/// Reads the signatures of the cosigners (OMS 23.2).
fn cosigned(files: &[String]) -> Result<Vec<Value>, CliError> {
    let mut signatures = Vec::new();
    for file in files {
        for line in read_document(file)?
            .lines()
            .filter(|line| !line.trim().is_empty())
        {
            let line = Value::from_json(line).map_err(|error| CliError::of(&error).at(file))?;
            let signature = line.as_map().and_then(|map| map.get("supersession_auth"));
            let signature = signature.ok_or_else(|| {
                CliError::new(ErrorCode::Corrupt, "not a line written by `grain cosign`").at(file)
            })?;
            signatures.push(signature.clone());
        }
    }
    Ok(signatures)
}
