//! `grainstore restore`: a new store from a backup, up to a chosen point.
//!
//! Erasures later than that point are applied again, so that a restore does not undo them.

use std::path::PathBuf;

use clap::Args;
use grainstore::store::{Error, Until};
use grainstore::{Options, recovery};
use serde_json::json;

use crate::args::time_to;
#[cfg(feature = "replica")]
use crate::commands::replica::{OpenArgs, fetched, is_url};
use crate::error::{CliError, Exit};
use crate::output::progress;
use crate::session::Session;

/// Create a new store from a backup, up to a point in time
///
/// The new ledger begins with the entries of the old one, followed by an entry that records the
/// restore. Erasures that the backup contains after that point are applied again. A store can be
/// restored like a backup. The keys of sealed persons are in no backup: move the folder vault/ of the
/// lost store into DIR, before or after. BACKUP may be the place of a copy that `replicate` made: it is
/// fetched into DIR.fetched first, and verified from the first entry to the last.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// Directory of the backup, or the URL of a copy; it is not modified
    #[arg(value_name = "BACKUP")]
    from: PathBuf,
    /// Directory of the new store: new, empty but for vault/, or left by a restore that was interrupted
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Restore up to this time, or up to this number of ledger entries; batches stay whole
    #[arg(long, value_name = "TIME|SEQ", value_parser = until)]
    at: Option<Until>,
    /// Accept that the backup may lack erasures made after its end
    #[arg(long)]
    accept_lost_erasures: bool,
    #[cfg(feature = "replica")]
    #[command(flatten)]
    open: OpenArgs,
}

impl Restore {
    #[cfg(feature = "replica")]
    pub(crate) fn run(mut self, session: &mut Session) -> anyhow::Result<Exit> {
        if !is_url(&self.from) {
            return self.restore(session);
        }
        let fetched = fetched(&self.from, &self.to, &self.open, session)?;
        self.from.clone_from(&fetched.path);
        let exit = self.restore(session)?;
        fetched.remove()?;
        Ok(exit)
    }

    #[cfg(not(feature = "replica"))]
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        self.restore(session)
    }

    fn restore(self, session: &mut Session) -> anyhow::Result<Exit> {
        let path = self.to.display();
        let what = format!("restoring {} to {path}", self.from.display());
        let spinner = progress::spinner(&session.out, what, INTERRUPTED);
        let (from, to, options) = (&self.from, &self.to, Options::default());
        let until = self.at.unwrap_or(Until::End);
        let restored = match self.accept_lost_erasures {
            true => recovery::restore_accepting_lost_erasures(from, to, until, options),
            false => recovery::restore(from, to, until, options),
        };
        drop(spinner);
        let (store, restored) = restored.map_err(|error| {
            let place = match &error {
                Error::Exists { path } | Error::NotAStore { path, .. } => path,
                _ => &self.from,
            };
            let are_other = matches!(&error, Error::NotAStore { .. } | Error::Exists { .. });
            let error = CliError::of(&error).in_store(place);
            if are_other {
                error.advising(FROM)
            } else {
                error
            }
        })?;
        if restored.left == 0 {
            session
                .out
                .note("note: erasures made after this backup are not included");
        }
        if let Some(fault) = store.admin()?.vault().status()?.fault {
            session.out.note(format!("note: {fault}"));
        }
        let (entries, left, erasures) = (restored.entries, restored.left, restored.erasures);
        let damaged: Vec<u64> = restored.damaged.iter().map(|entry| entry.get()).collect();
        if session.out.is_json() {
            session.out.json(&json!({
                "path": path.to_string(),
                "entries": entries,
                "left": left,
                "erasures": erasures,
                "damaged_entries": damaged,
            }))?;
            return Ok(Exit::unless_damaged(!restored.damaged.is_empty()));
        }
        let noun = |count, one, many| if count == 1 { one } else { many };
        session.out.line(format!(
            "{path}: {entries} {} restored, {left} left; {erasures} {} applied again",
            noun(entries, "entry", "entries"),
            noun(erasures, "erasure", "erasures"),
        ))?;
        for entry in &restored.damaged {
            let message = format!("entry {entry} is damaged and blank in the new store");
            session.out.line(message)?;
        }
        Ok(Exit::unless_damaged(!restored.damaged.is_empty()))
    }
}

/// A directory with a MANIFEST is refused: it is a store.
const INTERRUPTED: &str = "interrupted: without a MANIFEST in it the new store is not complete, and the \
                           same command begins it anew";

const FROM: &str =
    "BACKUP is a directory that `grainstore backup` wrote, or a store; DIR is new or empty";

/// Parses a time, or a number of entries.
fn until(text: &str) -> Result<Until, String> {
    if let Ok(entries) = text.parse() {
        return Ok(Until::Entries(entries));
    }
    time_to(text).map(Until::Time)
}
