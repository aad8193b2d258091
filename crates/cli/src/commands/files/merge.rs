//! `grainstore merge`: the grains of another store in this one, by a file of JSON lines between them, which
//! carries every status.
//!
//! A copy of a whole store is made by `backup` and `restore`.

use std::path::{Path, PathBuf};

use clap::Args;
use grainstore::interchange::{Format, ReadOptions, WriteOptions};
use grainstore::store::{Authorization, Create, Hold};
use grainstore::{Filter, Options, Store};

use super::format::ImportFormat;
use super::reading::read;
use super::report::{report_errors, report_import};
use crate::error::{CliError, Exit};
use crate::output::progress;
use crate::session::Session;

/// Add the grains of another store to this one, with their status
///
/// The other store is only read, and yours: what ended or was judged there ends here too, as far as policy
/// permits. Its legal holds are placed here too. Merging it again changes nothing, and two stores that are merged both ways end equal. Where
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
        let folder = Folder::create()?;
        let archive = folder.0.join("grains.jsonl");
        let (left_out, holds) = self.write(&archive)?;
        if left_out > 0 {
            session.out.note(format!(
                "{left_out} grains stay in {}: they may not leave it, or are damaged",
                self.other.display()
            ));
        }
        let mut reading = read(
            &archive,
            ImportFormat::Jsonl,
            &ReadOptions::default(),
            session,
        )?;
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
            hold(&store, &holds)?;
            progress::closing(&session.out, store);
            summary
        };
        report_import(&summary, format, &self.other, &mut session.out)?;
        Ok(Exit::done_if(summary.is_complete()))
    }

    /// Writes the grains of the other store to a file; returns how many are left out, and its holds.
    fn write(&self, archive: &Path) -> anyhow::Result<(u64, Vec<Hold>)> {
        let failed = |error: &grainstore::Error| CliError::of(error).in_store(&self.other);
        let store = Store::open_read_only(&self.other, Options::default());
        let store = store.map_err(|error| failed(&error))?;
        let everything = Filter::new()
            .with_superseded()
            .with_unreviewed()
            .with_expired();
        let options = WriteOptions {
            with_embeddings: true,
            skip_damaged: true,
            ..WriteOptions::default()
        };
        let exported = store
            .admin()
            .map(|admin| admin.export_file(Format::Jsonl, &everything, &options, archive))?;
        let exported = exported.map_err(|error| CliError::of(&error).in_store(&self.other))?;
        let all = store.maintenance()?.stats()?.grains;
        let left_out = all.saturating_sub(exported.grains);
        Ok((left_out, store.admin()?.holds()))
    }
}

/// Places the holds of the other store on the grains that are here without one.
fn hold(store: &Store, holds: &[Hold]) -> anyhow::Result<()> {
    let here = store.admin()?.holds();
    for hold in holds {
        let is_held = here.iter().any(|it| it.address == hold.address);
        if !is_held && store.exists(&hold.address)? {
            let authorization = Authorization {
                reason: &hold.authorization.reason,
                authority: &hold.authorization.authority,
            };
            store.admin()?.place_hold(&hold.address, authorization)?;
        }
    }
    Ok(())
}

/// A directory of its own for the archive, removed with it.
struct Folder(PathBuf);

impl Folder {
    /// Creates a directory that only its owner may enter: the archive holds all grains in plain.
    fn create() -> Result<Self, CliError> {
        let process = std::process::id();
        let path = std::env::temp_dir().join(format!("grainstore-merge-{process}"));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let created = builder.create(&path);
        created.map_err(|error| CliError::of(&error).at(path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A directory that cannot be removed is left to the cleaning of temporary files.
        drop(std::fs::remove_dir_all(&self.0));
    }
}
