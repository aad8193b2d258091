//! `grainstore backup`: an incremental copy of the store.
//!
//! The first backup into a directory copies the whole store, later ones the difference.

use std::path::PathBuf;

use clap::Args;
use grainstore::store::Error;
use grainstore::{ErrorCode, ledger};
use indicatif::BinaryBytes;
use serde_json::json;

use crate::error::{CliError, Exit};
use crate::hex;
use crate::output::progress;
use crate::session::Session;

/// Back up the store to a directory, incrementally
///
/// A later backup into the same directory copies only new data. A backup is a store, which
/// --store DIR opens; `restore` creates a new store from it, up to any point in time. Grains that
/// are erased after a backup remain in it until the next backup into the same directory. The keys of
/// sealed persons (`vault/`) are in no backup: their grains open beside the current vault alone, which
/// keeps a backup from bringing an erased person back.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// Backup directory: new, empty, or that of an earlier backup of this store
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Copy a damaged store too, into a new or empty directory; exits with 4
    #[arg(long)]
    damaged: bool,
}

impl Backup {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let is_there = |path: &std::path::Path| path.canonicalize().ok();
        if is_there(&self.to).is_some_and(|to| is_there(session.store_path()) == Some(to)) {
            let error = CliError::new(ErrorCode::Usage, "this is the store itself");
            return Err(error.at(self.to.display()).advising(TO).into());
        }
        let store = session.open_to_read()?;
        let path = self.to.display();
        let what = format!("copying to {path}");
        let spinner = progress::spinner(&session.out, what, INTERRUPTED);
        let maintenance = store.maintenance()?;
        let backup = match self.damaged {
            true => maintenance.backup_damaged(&self.to),
            false => maintenance.backup(&self.to),
        };
        drop(spinner);
        let backup = backup.map_err(|error| match error.code() {
            _ if is_of_backup(&error) => CliError::of(&error).in_store(&self.to),
            ErrorCode::StorageDamaged if self.damaged => CliError::of(&error).advising(EMPTY),
            ErrorCode::StorageDamaged => CliError::of(&error).advising(DAMAGED),
            ErrorCode::NotAStore => CliError::of(&error).at(self.to.display()).advising(TO),
            _ => CliError::of(&error).in_store(&self.to),
        })?;
        let persons = store.admin()?.vault().status()?.persons;
        if persons > 0 {
            let message =
                "note: a backup holds no keys of sealed persons; `vault escrow` copies the root";
            session.out.note(message);
        }
        let exit = Exit::unless_damaged(backup.damaged > 0);
        if session.out.is_json() {
            session.out.json(&json!({
                "path": path.to_string(),
                "entries": backup.entries,
                "head": hex::encode(&backup.head),
                "segments": backup.segments,
                "kept": backup.kept,
                "bytes": backup.bytes,
                "damaged": backup.damaged,
            }))?;
            return Ok(exit);
        }
        session.out.line(format!(
            "{path}: {} {}; {} {} copied ({}), {} kept",
            backup.entries,
            noun(backup.entries, "entry", "entries"),
            backup.segments,
            noun(backup.segments.into(), "segment", "segments"),
            BinaryBytes(backup.bytes),
            backup.kept,
        ))?;
        if backup.damaged > 0 {
            let (parts, are) = noun(backup.damaged, ("part", "is"), ("parts", "are"));
            let message = format!(
                "{} {parts} of the ledger {are} damaged: `grainstore recover {path} NEW` makes a sound store",
                backup.damaged
            );
            session.out.line(message)?;
        }
        Ok(exit)
    }
}

/// Returns whether the damage is in the earlier backup.
const fn is_of_backup(error: &Error) -> bool {
    matches!(error, Error::Ledger(ledger::Error::CopyDamaged { .. }))
}

const INTERRUPTED: &str =
    "interrupted: an earlier backup there is as it was; the same command goes on with this one";

const TO: &str = "give a new or empty directory, or that of an earlier backup of this store";

const DAMAGED: &str = "an earlier backup stays as it is; `grainstore check --deep` lists the damage, \
                       `grainstore recover DIR NEW` makes a sound store, and --damaged copies this one \
                       into a new directory as it is";

const EMPTY: &str = "a damaged store is copied into a new or empty directory alone; an earlier backup \
                     stays as it is";

fn noun<T>(count: u64, one: T, many: T) -> T {
    if count == 1 { one } else { many }
}
