//! `grainstore undo`: takes back the last contradiction, verification or supersession of an actor.
//!
//! Nothing is unwritten: the former state is stored as a new entry.

use clap::Args;
use grainstore::codec::Value;
use grainstore::grain::Verification;
use grainstore::store::{AuditEntry, AuditFilter, Justification};
use grainstore::{ContentAddress, Draft, ErrorCode, Store};
use serde_json::json;

use super::correct::{fields_to_correct, sources};
use crate::args::As;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Take back the last contradiction, verification or supersession of this actor
///
/// As a new entry: a former verification status is recorded again, and a grain that was contradicted
/// or superseded is stored again with the current time, as the newest version of its lineage. A
/// second undo takes back the first. The policy of the grain is asked as for any change. Exits with
/// 1 if there is nothing to take back.
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// Show the change that would be taken back, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    as_whom: As,
}

/// The operations that can be taken back, as the audit log names them.
const OPERATIONS: [&str; 3] = ["contradict", "verify", "supersede"];

impl Undo {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = match self.dry_run {
            true => session.open_to_read()?,
            false => session.open()?,
        };
        let handle = self.as_whom.narrow(&store)?;
        let author = self.as_whom.author().unwrap_or_default();
        let Some(last) = last_change(&store, author)? else {
            session.out.note("nothing to take back");
            return Ok(Exit::Nothing);
        };
        let Some(of) = last.addresses.first().copied() else {
            let message = format!("entry {} cannot be read", last.entry);
            return Err(CliError::new(ErrorCode::NotFound, message).into());
        };
        let stored = match self.dry_run {
            true => None,
            false => take_back(&store, &handle, &last, &of)?,
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

/// Returns the last change of an author that can be taken back; the empty text is the owner.
fn last_change(store: &Store, author: &str) -> anyhow::Result<Option<AuditEntry>> {
    let filter = AuditFilter {
        by: Some(author.to_owned()),
        ..AuditFilter::default()
    };
    let (mut last, mut after) = (None, None);
    loop {
        let page = store.maintenance()?.audit().log(&filter, after, PAGE_LEN)?;
        let Some(end) = page.last() else {
            return Ok(last);
        };
        after = Some(end.entry);
        let mut changes = page.into_iter().rev();
        last = changes
            .find(|entry| OPERATIONS.contains(&entry.operation))
            .or(last);
    }
}

/// Takes a change back; returns the address of the grain that was stored for it.
fn take_back(
    store: &Store,
    handle: &Store,
    last: &AuditEntry,
    of: &ContentAddress,
) -> anyhow::Result<Option<ContentAddress>> {
    let why = format!("undo of entry {}", last.entry);
    if last.operation == "verify" {
        let before = verification_before(store, last, of)?;
        let grounds = Justification {
            justification: Some(&why),
            signatures: &[],
        };
        handle.set_verification(of, before, grounds)?;
        return Ok(None);
    }
    let versions = handle.history(of)?;
    let found = versions
        .iter()
        .find(|version| version.grain.address() == *of);
    let grain = &found
        .ok_or(grainstore::store::Error::NotFound { address: *of })?
        .grain;
    let draft = Draft::from_value(Value::Map(fields_to_correct(grain)))?;
    let draft = draft
        .encoding(grain.encoding())
        .sensitivity(grain.header().sensitivity());
    let draft =
        sources(grain, &versions).fold(draft, |draft, source| draft.push("derived_from", source));
    let stored = match last
        .addresses
        .get(1)
        .filter(|_| last.operation == "supersede")
    {
        Some(by) => handle.supersede(by, draft.derived_from(*by), Some(&why))?,
        None => handle.put(draft.derived_from(*of))?,
    };
    Ok(Some(stored))
}

/// Returns the verification status that a grain had before a change of it.
fn verification_before(
    store: &Store,
    last: &AuditEntry,
    of: &ContentAddress,
) -> anyhow::Result<Verification> {
    let filter = AuditFilter {
        operation: Some("verify".into()),
        address: Some(*of),
        ..AuditFilter::default()
    };
    let entries = store
        .maintenance()?
        .audit()
        .log(&filter, None, usize::MAX)?;
    let mut earlier = entries
        .iter()
        .rev()
        .filter(|entry| entry.entry < last.entry);
    let word = earlier.next().and_then(|entry| {
        // The status comes first, the justification after it.
        entry.detail.split([',', ':', ' ']).next()
    });
    Ok(word.and_then(Verification::named).unwrap_or_default())
}

const PAGE_LEN: usize = 4096;
