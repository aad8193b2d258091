//! `grainstore correct`: replaces a grain with a corrected version of itself.
//!
//! A replacement that is a grain of its own is stored by `supersede`.

use clap::Args;
use grainstore::codec::{Map, Value};
use grainstore::grain::Warning;
use grainstore::store::Version;
use grainstore::{ContentAddress, Draft, ErrorCode, Grain, also_believed};
use serde_json::json;

use super::assignment::assign;
use super::editor;
use super::remember::note_also_believed;
use crate::args::As;
use crate::args::address;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Replace a grain with a corrected version of it; the old version is kept
///
/// Without --set and --unset the fields are opened in $VISUAL or $EDITOR, as JSON. The new version
/// has the current time as created_at and names the old one in derived_from, beside the sources that
/// the old one had; a consent names it in prior_consent. Author, signature and justification are those of the correction, and not those
/// of the old version. Exits with 1 if nothing is changed, with 3 if the policy of the grain denies
/// it.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  grainstore correct 9f31 --set object=coffee --set confidence=0.8
  grainstore correct 9f31 --unset valid_to --justification \"it never ended\"
  grainstore correct 9f31")]
pub(crate) struct Correct {
    /// Address of the grain, or its first digits, 4 or more
    address: String,
    /// Set a field; may be repeated. `grainstore schema TYPE` lists the fields
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<String>,
    /// Remove a field; may be repeated
    #[arg(long, value_name = "FIELD")]
    unset: Vec<String>,
    /// Reason for the change; recorded with it
    #[arg(long, value_name = "TEXT")]
    justification: Option<String>,
    #[command(flatten)]
    as_whom: As,
}

impl Correct {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let handle = self.as_whom.narrow(&store)?;
        let address = address::resolve(&handle, &self.address)?;
        let versions = handle.history(&address)?;
        let found = versions.iter().find(|it| it.grain.address() == address);
        let version = found.ok_or(grainstore::store::Error::NotFound { address })?;
        check_current(version)?;
        let grain = &version.grain;
        let before = fields_to_correct(grain);
        let mut after = before.clone();
        if self.set.is_empty() && self.unset.is_empty() {
            // The store stays open, so that nothing changes it under the editor's feet.
            after = editor::edit(&Value::Map(after))?;
        } else {
            for name in &self.unset {
                if after.remove(name).is_none() {
                    let message = format!("--unset {name}: the grain has no such field");
                    return Err(CliError::new(ErrorCode::Usage, message).into());
                }
            }
            assign(&mut after, grain.type_(), &self.set)?;
        }
        if after == before {
            session
                .out
                .note("nothing changed; the grain stays as it is");
            return Ok(Exit::Nothing);
        }
        let draft = Draft::from_value(Value::Map(after))?;
        let mut draft = sources(grain, &versions)
            .fold(draft, |draft, source| draft.push("derived_from", source));
        draft = draft.replacing(address);
        // The encoding and the sensitivity of the header are no fields (OMS 3.1, 13.1).
        draft = draft
            .encoding(grain.encoding())
            .sensitivity(grain.header().sensitivity());
        let corrected = self.as_whom.finish(draft)?;
        self.refuse_misspelt(&handle.warnings(&corrected)?)?;
        let new = handle.supersede(&address, corrected.clone(), self.justification.as_deref())?;
        if grain.is_signed() {
            session
                .out
                .note("the old version is signed; the correction is not");
        }
        for warning in handle.warnings(&corrected)? {
            session.out.note(warning);
        }
        let others = also_believed(&handle, &corrected)?;
        note_also_believed(&session.out, &others, "`grainstore correct` replaces one");
        if session.out.is_json() {
            session.out.json(&json!({
                "address": new.to_string(),
                "supersedes": address.to_string(),
            }))?;
        } else {
            session.out.line(new)?;
        }
        Ok(Exit::Done)
    }
}

impl Correct {
    /// Refuses a name of `--set` that is spelt like a field and is none: the field would stay as it was.
    fn refuse_misspelt(&self, warnings: &[Warning]) -> Result<(), CliError> {
        let is_set = |name: &str| {
            let mut names = self.set.iter().filter_map(|set| set.split_once('='));
            names.any(|(set, _)| set.trim() == name)
        };
        let mut warnings = warnings.iter();
        let found = warnings.find(|it| is_set(&it.field) && it.message.contains("did you mean"));
        match found {
            Some(warning) => Err(CliError::new(ErrorCode::Usage, format!("--set {warning}"))
                .advising("nothing was changed; a name of your own begins with x-")),
            None => Ok(()),
        }
    }
}

/// Refuses a grain that is no longer current before an editor is opened on it.
fn check_current(version: &Version) -> Result<(), CliError> {
    let address = version.grain.address();
    let error = match version.status.superseded_by {
        Some(by) => grainstore::store::Error::Conflict { address, by },
        None if !version.status.is_current() => grainstore::store::Error::NotCurrent { address },
        None => return Ok(()),
    };
    Err(CliError::of(&error))
}

/// Returns the fields that a correction carries on: those that say something, and not those that
/// say when, by whom and from where this version was made.
pub(super) fn fields_to_correct(grain: &Grain) -> Map {
    Draft::next_version(grain).fields().clone()
}

/// Returns the sources of a grain that are no versions of it: a new version that names the version
/// before last would be a fork of the lineage.
pub(super) fn sources<'a>(
    grain: &'a Grain,
    versions: &'a [Version],
) -> impl Iterator<Item = Value> + 'a {
    let is_version = |text: &str| {
        ContentAddress::from_reference(text).is_ok_and(|source| {
            let mut versions = versions.iter();
            versions.any(|version| version.grain.address() == source)
        })
    };
    let sources = grain.field("derived_from").and_then(Value::as_array);
    let sources = sources.unwrap_or_default().iter();
    sources
        .filter(move |source| !source.as_text().is_some_and(is_version))
        .cloned()
}
