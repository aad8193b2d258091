//! `grainstore undo`: takes back the last contradiction, verification or supersession of an actor.
//!
//! Nothing is unwritten: the former state is stored as a new entry. The next undo passes over a change that
//! was taken back, and the change that did it. Which changes those are is in `own_changes`.

use clap::Args;
use grainstore::grain::Verification;
use grainstore::store::{AuditEntry, AuditFilter, Justification, Version};
use grainstore::{ContentAddress, Draft, ErrorCode, Store, Type};
use serde_json::json;

use super::correct::sources;
use super::own_changes::{OwnChanges, WITHDRAW, ends, status_in, why};
use crate::args::As;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Take back the last contradiction, verification, supersession or consolidation of this actor
///
/// As a new entry: a former verification status is recorded again, and a grain that was contradicted
/// or superseded is stored again with the current time, as the newest version of its lineage. A
/// consolidation is one change: its beliefs end, and what they replaced is stored again. The
/// next undo takes back the change before that one. Without --as only what the owner did is taken
/// back, with it only what that author did. A change of a consent is not taken back: a consent is
/// given anew by who may give it. The policy of the grain is asked as for any change. Exits with 1
/// if there is nothing to take back.
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// Show the change that would be taken back, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    as_whom: As,
}

impl Undo {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = match self.dry_run {
            true => session.open_to_read()?,
            false => session.open()?,
        };
        let handle = self.as_whom.narrow(&store)?;
        let capability = self.as_whom.capability()?;
        let whose = capability.map(|_| self.as_whom.author().unwrap_or_default().to_owned());
        let changes = OwnChanges::read(&store, whose)?;
        let Some(last) = changes.last()? else {
            session.out.note("nothing is left to take back");
            return Ok(Exit::Nothing);
        };
        let Some(of) = last.addresses.first().copied() else {
            let message = format!("entry {} cannot be read", last.entry);
            return Err(CliError::new(ErrorCode::NotFound, message).into());
        };
        if let Some(run) = changes.run(last) {
            return self.take_run_back(&store, session, last, run);
        }
        let change = Change {
            handle: &handle,
            changes: &changes,
            last,
            of,
        };
        let versions = change.versions()?;
        let stored = match self.dry_run {
            true => None,
            false => change.take_back(&versions)?,
        };
        let (entry, operation) = (last.entry, last.operation);
        if session.out.is_json() {
            session.out.json(&json!({
                "entry": entry.get(),
                "operation": operation,
                "address": of.to_string(),
                "stored": stored.map(|stored| stored.to_string()),
            }))?;
            return Ok(Exit::Done);
        }
        let done = if self.dry_run {
            "would take back"
        } else {
            "took back"
        };
        session
            .out
            .line(format!("{done}  {operation} of {of} (entry {entry})"))?;
        if let Some(stored) = stored {
            session.out.line(format!("stored     {stored}"))?;
        }
        Ok(Exit::Done)
    }
}

impl Undo {
    /// Takes a consolidation back, all of it.
    fn take_run_back(
        &self,
        store: &Store,
        session: &mut Session,
        last: &AuditEntry,
        run: &str,
    ) -> anyhow::Result<Exit> {
        let ended = match self.dry_run {
            true => Vec::new(),
            false => store
                .admin()?
                .undo_consolidation(Some(run), &why(last.entry))?,
        };
        if session.out.is_json() {
            session.out.json(&json!({
                "entry": last.entry.get(),
                "operation": "consolidate",
                "run": run,
                "ended": ended.iter().map(ToString::to_string).collect::<Vec<_>>(),
            }))?;
            return Ok(Exit::Done);
        }
        let done = match self.dry_run {
            true => "would take back  a consolidation".to_owned(),
            false => format!("took back  a consolidation: {} beliefs ended", ended.len()),
        };
        session.out.line(format!("{done} (entry {})", last.entry))?;
        Ok(Exit::Done)
    }
}

/// The change that is taken back.
struct Change<'a> {
    handle: &'a Store,
    changes: &'a OwnChanges<'a>,
    last: &'a AuditEntry,
    /// The grain that was changed.
    of: ContentAddress,
}

impl Change<'_> {
    /// Returns the versions of the grain, if it is of a type whose changes are taken back.
    fn versions(&self) -> anyhow::Result<Vec<Version>> {
        if self.last.operation != WITHDRAW {
            let versions = self.handle.history(&self.of)?;
            if self.grain(&versions)?.type_() != Type::Consent {
                return Ok(versions);
            }
        }
        // OMS 8.10: who may give a consent says so anew. Taken back, a withdrawal would be one.
        let (entry, of) = (self.last.entry, self.of);
        let message = format!("entry {entry} changed the consent {of}, and is not taken back");
        let refused = CliError::new(ErrorCode::Consent, message).advising(
            "a consent is given anew by who may give it, with `grainstore put`, and no withdrawal is undone",
        );
        Err(refused.into())
    }

    fn grain<'v>(&self, versions: &'v [Version]) -> anyhow::Result<&'v grainstore::Grain> {
        let mut versions = versions.iter();
        let found = versions.find(|version| version.grain.address() == self.of);
        let missing = grainstore::store::Error::NotFound { address: self.of };
        Ok(&found.ok_or(missing)?.grain)
    }

    /// Takes the change back; returns the address of the grain that was stored for it.
    fn take_back(&self, versions: &[Version]) -> anyhow::Result<Option<ContentAddress>> {
        let why = why(self.last.entry);
        // A grain that ended without a successor is stored once more: no judgement makes it current.
        if self.last.operation == "verify" && !ends(self.last) {
            let before = self.verification_before()?;
            let grounds = Justification {
                justification: Some(&why),
                signatures: &[],
            };
            self.handle.set_verification(&self.of, before, grounds)?;
            return Ok(None);
        }
        let grain = self.grain(versions)?;
        let draft = Draft::next_version(grain);
        let sources = sources(grain, versions);
        let draft = sources.fold(draft, |draft, source| draft.push("derived_from", source));
        let by = self.last.addresses.get(1);
        Ok(Some(match by {
            // The newest version by this actor; where another replaced that, this is a conflict.
            Some(by) => {
                let newest = self.changes.newest(*by)?;
                self.handle
                    .supersede(&newest, draft.derived_from(newest), Some(&why))?
            }
            None => self.handle.put(draft.derived_from(self.of))?,
        }))
    }

    /// Returns the verification status that the grain had before.
    ///
    /// # Errors
    /// `ERR_CONFLICT` where another has judged it since.
    fn verification_before(&self) -> anyhow::Result<Verification> {
        let filter = AuditFilter {
            operation: Some("verify".into()),
            address: Some(self.of),
            ..AuditFilter::default()
        };
        let audit = self.changes.store().maintenance()?.audit();
        let entries = audit.log(&filter, None, usize::MAX)?;
        let later = entries
            .iter()
            .find(|entry| entry.entry > self.last.entry && !self.changes.is_own(entry));
        if let Some(later) = later {
            let (by, entry) = (later.by.as_deref().unwrap_or("the owner"), later.entry);
            let message = format!("{} was judged by {by} since, in entry {entry}", self.of);
            return Err(CliError::new(ErrorCode::Conflict, message).into());
        }
        let earlier = entries.iter().rev();
        let mut earlier = earlier.filter(|entry| entry.entry < self.last.entry);
        let before = earlier.next().and_then(status_in);
        Ok(before.unwrap_or_default())
    }
}
