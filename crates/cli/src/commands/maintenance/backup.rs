//! `grainstore backup`: an incremental copy of the store.
//!
//! The first backup into a directory copies the whole store, later ones the difference.

use std::path::PathBuf;

use clap::Args;
use grainstore::ErrorCode;
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
        let backup = store.maintenance()?.backup(&self.to);
        drop(spinner);
        let backup = backup.map_err(|error| match error.code() {
            ErrorCode::NotAStore => CliError::of(&error).at(self.to.display()).advising(TO),
            _ => CliError::of(&error).in_store(&self.to),
        })?;
        let persons = store.admin()?.vault().status()?.persons;
        if persons > 0 {
            let message =
                "note: a backup holds no keys of sealed persons; `vault escrow` copies the root";
            session.out.note(message);
        }
        if session.out.is_json() {
            session.out.json(&json!({
                "path": path.to_string(),
                "entries": backup.entries,
                "head": hex::encode(&backup.head),
                "segments": backup.segments,
                "kept": backup.kept,
                "bytes": backup.bytes,
            }))?;
            return Ok(Exit::Done);
        }
        let noun = |count: u64, one, many| if count == 1 { one } else { many };
        session.out.line(format!(
            "{path}: {} {}; {} {} copied ({}), {} kept",
            backup.entries,
            noun(backup.entries, "entry", "entries"),
            backup.segments,
            noun(backup.segments.into(), "segment", "segments"),
            BinaryBytes(backup.bytes),
            backup.kept,
        ))?;
        Ok(Exit::Done)
    }
}

const INTERRUPTED: &str =
    "interrupted: an earlier backup there is as it was; the same command goes on with this one";

const TO: &str = "give a new or empty directory, or that of an earlier backup of this store";
