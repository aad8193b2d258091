//! `grainstore import`: the records of a file stored as grains.
//!
//! Reading and validation are in `reading`, the report in `report`.

use std::path::PathBuf;

use clap::Args;
use grainstore::interchange::{Format, ReadOptions};
use grainstore::store::Summary;

use super::arrival::Arrival;
use super::format::{AUTO, Dialect, ImportFormat, import_format};
use super::reading::read;
use super::report::{report_errors, report_import, report_validation};
use crate::args::UnsealArgs;
use crate::error::Exit;
use crate::output::progress;
use crate::session::Session;

/// Import a file of another tool or store
///
/// The whole file is validated first. If any record is invalid, nothing is stored and all errors are
/// listed, unless --keep-going is given. Importing a file again changes nothing. A record that has
/// changed since supersedes its earlier version; a record that contradicts another one is stored
/// and listed by `conflicts`. Fields that grains cannot carry are counted and named.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore import --dry-run memory-store.json")]
pub(crate) struct Import {
    /// File, directory of a PAM store or of Markdown notes, export of a provider as delivered, file or
    /// directory of another memory store or agent, or - for stdin
    path: PathBuf,
    /// Tool or format that the file is of; `import --help` lists all, with where each tool keeps its memory
    #[arg(long, visible_alias = "from", value_parser = import_format(), default_value = AUTO)]
    format: ImportFormat,
    /// Store valid records and report invalid ones; exit 1 if any record is invalid
    #[arg(long)]
    keep_going: bool,
    /// Validate the file and store nothing
    #[arg(long)]
    verify_only: bool,
    /// Show the result of the import into this store, and store nothing
    #[arg(long, conflicts_with = "verify_only")]
    dry_run: bool,
    /// Report a wrong PAM checksum as a finding instead of an error
    #[arg(long)]
    accept_bad_checksum: bool,
    /// Scope of the ids of an OMI file without a namespace (default: the file itself), or owner of
    /// a PAM conversation or embeddings file without its store (default: "local"), or of a
    /// provider's export or another memory store (default: the account or user that it names)
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// User whose memory the file is, whatever account, owner or tenant it names: the accounts of one
    /// person become one user. Grains of archives and JSON lines keep theirs
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The file is a copy of a store of yours: what ended or was judged there ends here too, as far as
    /// policy permits. A file of anyone else ends nothing here
    #[arg(long)]
    own: bool,
    /// Dialect of a directory of Markdown notes (default: the one that its files show)
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
    /// Import the instructions of agents in a directory of Markdown notes too (CLAUDE.md, AGENTS.md,
    /// rules): they become memories
    #[arg(long)]
    instructions: bool,
    /// Do not verify the signature beside an AIMEM bundle; the omission is recorded
    #[arg(long)]
    skip_signature: bool,
    #[command(flatten)]
    decryption: UnsealArgs,
}

impl Import {
    /// Returns the import of a path as one format, with nothing else asked for.
    pub(super) fn of(path: PathBuf, format: Format) -> Self {
        Self {
            path,
            format: format.into(),
            keep_going: false,
            verify_only: false,
            dry_run: false,
            accept_bad_checksum: false,
            scope: None,
            user: None,
            own: false,
            dialect: None,
            instructions: false,
            skip_signature: false,
            decryption: UnsealArgs::default(),
        }
    }

    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let options = ReadOptions {
            accept_bad_checksum: self.accept_bad_checksum,
            scope: self.scope,
            user: self.user,
            skip_signature: self.skip_signature,
            dialect: self.dialect.and_then(Dialect::name),
            with_instructions: self.instructions,
            decryption: self.decryption.unseal()?,
            ..ReadOptions::default()
        };
        let mut reading = read(&self.path, self.format, &options, session)?;
        reading.is_own = self.own;
        if !reading.errors.is_empty() && !self.keep_going {
            report_errors(&reading, &self.path, &mut session.out)?;
            return Ok(Exit::Failed);
        }
        if self.verify_only {
            let refused = reading.errors.len();
            report_validation(reading, &self.path, &mut session.out)?;
            return Ok(Exit::done_if(refused == 0));
        }
        let format = reading.format;
        let arrival = Arrival::watch(&mut reading);
        let total = reading.records.len();
        if self.dry_run {
            let summary = session
                .open_to_preview()?
                .admin()?
                .preview_import(reading)?;
            report_import(&summary, format, &self.path, &mut session.out)?;
            arrival.show(&summary.loss, &mut session.out)?;
            return Ok(outcome(&summary, format, total, session));
        }
        let store = session.open_to_import()?;
        let before = store.admin()?.persons_seen()?;
        let bar = progress::storing(&session.out, total);
        let summary = store.import_with(reading, &mut |done| bar.set_position(done))?;
        drop(bar);
        let after = store.admin()?.persons_seen()?;
        if let Some(advice) = advice(&before, &after) {
            session.out.note(advice);
        }
        progress::closing(&session.out, store);
        report_import(&summary, format, &self.path, &mut session.out)?;
        arrival.show(&summary.loss, &mut session.out)?;
        Ok(outcome(&summary, format, total, session))
    }
}

/// Returns what to do where a store of one person may have got another name of theirs.
fn advice(before: &[String], after: &[String]) -> Option<String> {
    let (one, others) = match before {
        [] => after.split_first()?,
        [one] => (one, after),
        _ => return None,
    };
    let other = others.iter().find(|other| *other != one)?;
    Some(format!(
        "it has grains of {one} and of {other}: if they are one person, `user alias {one} {other}` \
         unites them, and `import --user {one}` names the next file's"
    ))
}

/// Returns the exit code of an import. An export without a conversation that can be read is reported.
fn outcome(summary: &Summary, format: Format, total: u64, session: &Session) -> Exit {
    let is_nothing = total == 0 && matches!(format, Format::Provider(_));
    if is_nothing {
        let message = "nothing in it can be read as a conversation or a memory; nothing is stored";
        session.out.note(message);
    }
    Exit::done_if(summary.is_complete() && !is_nothing)
}
