//! `grainstore merge`: the grains of another store in this one, by JSON lines between them, which carry
//! every status and hold. They are in memory only: a copy in a file would stay in plain where a signal ends the
//! command.
//!
//! A copy of a whole store is made by `backup` and `restore`.

use std::path::PathBuf;

use clap::Args;
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::Create;
use grainstore::{ErrorCode, Filter, Options, Store};

use super::report::{report_errors, report_import};
use crate::error::{CliError, Exit};
use crate::output::progress;
use crate::session::Session;

/// Add the grains of another store to this one, with their status
///
/// The other store is only read, and yours: what ended or was judged there ends here too, as far as policy
/// permits. Its legal holds are placed here too, but for those that were lifted here. Merging it again changes
/// nothing, and two stores that are merged both ways end equal. Where
/// both replaced the same grain, both versions stay current and are told (exit 1). A grain
/// that this store erased does not come back; one that may not leave the other store is not carried.
/// The keys, rules and ledger of the other store are not merged.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Directory of the other store
    other: PathBuf,
    /// Show the result of the merge, and store nothing
    #[arg(long)]
    dry_run: bool,
}

impl Merge {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let (lines, left_out) = self.write()?;
        if left_out > 0 {
            session.out.note(format!(
                "{left_out} grains stay in {}: they may not leave it, or are damaged",
                self.other.display()
            ));
        }
        let options = ReadOptions::default();
        let reading = ImportFile::of_bytes(&lines, Some(Format::Jsonl), &options);
        drop(lines);
        let mut reading = reading.map_err(|error| CliError::of(&error).in_store(&self.other))?;
        reading.verify_signatures(&*session.resolver());
        if !reading.errors.is_empty() {
            report_errors(&reading, &self.other, &mut session.out)?;
            return Ok(Exit::Failed);
        }
        // The owner of this store names the other as their own (ruling I28).
        reading.is_own = true;
        let format = reading.format;
        let summary = if self.dry_run {
            session.open_to_read()?.admin()?.preview_import(reading)?
        } else {
            let store = session.open_or(Create::IfMissing)?;
            let bar = progress::storing(&session.out, reading.records.len());
            let summary = store.import_with(reading, &mut |done| bar.set_position(done))?;
            drop(bar);
            progress::closing(&session.out, store);
            summary
        };
        report_import(&summary, format, &self.other, &mut session.out)?;
        Ok(Exit::done_if(summary.is_complete()))
    }

    /// Returns the grains of the other store as JSON lines, and how many are left out.
    fn write(&self) -> anyhow::Result<(Vec<u8>, u64)> {
        let failed = |error: &grainstore::Error| CliError::of(error).in_store(&self.other);
        let store = Store::open(&self.other, Options::default().read_only());
        let store = store.map_err(|error| {
            let is_no_store = error.code() == ErrorCode::NotAStore;
            let error = failed(&error);
            match is_no_store {
                true => error.advising("name the directory of another store or of a backup"),
                false => error,
            }
        })?;
        let everything = Filter::new()
            .with_superseded()
            .with_unreviewed()
            .with_expired();
        let options = WriteOptions {
            with_embeddings: true,
            skip_damaged: true,
            ..WriteOptions::default()
        };
        let mut lines = Vec::new();
        let exported = store
            .admin()
            .map(|admin| admin.export(Format::Jsonl, &everything, &options, &mut lines))?;
        let exported = exported.map_err(|error| CliError::of(&error).in_store(&self.other))?;
        let all = store.maintenance()?.stats()?.grains;
        Ok((lines, all.saturating_sub(exported.grains)))
    }
}
