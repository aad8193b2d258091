use std::path::PathBuf;

use clap::Args;
use grainstore::interchange::ReadOptions;
use grainstore::store::Create;

use super::format::ImportFormat;
use super::reading::read;
use super::report::{report, report_errors, report_reading};
use crate::args::UnsealArgs;
use crate::error::Exit;
use crate::output::progress;
use crate::session::Session;

/// Bring in a file of another tool or store
///
/// The whole file is read and judged first. If anything in it is wrong, nothing is stored and
/// all of it is listed, unless --keep-going takes the rest. Importing a file again changes
/// nothing; a record that has changed since replaces what it was, and what contradicts another is
/// kept for `conflicts`. What grains cannot carry is counted and named.
///
/// Example: grainstore import --dry-run memory-store.json
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file, the directory of a PAM store, or what a provider exports as it came
    path: PathBuf,
    /// What the file is
    #[arg(long, value_enum, default_value_t = ImportFormat::Auto)]
    format: ImportFormat,
    /// Store what is right and report what is not; exit 1 if there was any
    #[arg(long)]
    keep_going: bool,
    /// Read and judge the file alone, and store nothing
    #[arg(long)]
    verify_only: bool,
    /// Say what an import would come to in this store, and store nothing
    #[arg(long, conflicts_with = "verify_only")]
    dry_run: bool,
    /// Take a wrong PAM checksum for a finding instead of an error
    #[arg(long)]
    accept_bad_checksum: bool,
    /// What the ids of an OMI file that names no namespace are unique in; else the file itself.
    /// Whose a PAM conversation or embeddings file is that comes without its store; else "local"
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// Pass over the signature beside an AIMEM bundle; that is recorded
    #[arg(long)]
    skip_signature: bool,
    #[command(flatten)]
    unseal: UnsealArgs,
}

impl Import {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let options = ReadOptions {
            accept_bad_checksum: self.accept_bad_checksum,
            scope: self.scope,
            skip_signature: self.skip_signature,
            unseal: self.unseal.unseal()?,
            ..ReadOptions::default()
        };
        let reading = read(&self.path, self.format, &options, &session.out)?;
        if !reading.errors.is_empty() && !self.keep_going {
            report_errors(&reading, &self.path, &mut session.out)?;
            return Ok(Exit::Failed);
        }
        if self.verify_only {
            let refused = reading.errors.len();
            report_reading(&reading, &self.path, &mut session.out)?;
            return Ok(Exit::done_if(refused == 0));
        }
        let format = reading.format;
        if self.dry_run {
            let summary = session.open()?.preview_import(reading)?;
            report(&summary, format, &self.path, &mut session.out)?;
            return Ok(Exit::done_if(summary.is_complete()));
        }
        let store = session.open_or(Create::IfMissing)?;
        let total = reading.records.len();
        let bar = progress::bar(&session.out, "storing", total);
        let summary = store.import_with(reading, &mut |done| bar.set_position(done))?;
        bar.finish_and_clear();
        report(&summary, format, &self.path, &mut session.out)?;
        Ok(Exit::done_if(summary.is_complete()))
    }
}
