//! `grainstore sync`: a directory of Markdown notes and the store in step.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use grainstore::interchange::{ReadOptions, WriteOptions};
use grainstore::ledger::EntryId;
use grainstore::store::{Authorization, Create, Summary};
use grainstore::{ContentAddress, ErrorCode, Store};

use super::format::Dialect;
use super::report::{Written, report_step};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Keep a directory of Markdown notes and the store in step
///
/// An edit of the tree comes in as with `import`, and what changed in the store is written to the tree, file
/// by file: nothing else of a file changes, and nothing outside DIR. A line that changed on both
/// sides is a conflict: both are kept, and `conflicts` lists them. A line or a file that was removed ends
/// and stays in the history; what is erased in the store leaves the tree, and an older copy does not
/// bring it back. A file with text that did not come in stays as it is. Exits with 1 if there is one, or a
/// conflict.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Example, the notes of an editor and the memory of agents:
  grainstore sync --watch --dialect obsidian ~/notes"
)]
pub(crate) struct Sync {
    /// Directory of the notes; it is created if it is missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Dialect of a directory that is new (default: the one that its files show, else okf)
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
    /// Name of the tree in the store, for one that moved (default: the path of the directory)
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// Keep the instructions of agents in step too (CLAUDE.md, AGENTS.md, rules): they become memories
    #[arg(long)]
    instructions: bool,
    /// Go on whenever the tree or the store changes, until the command is ended
    #[arg(long)]
    watch: bool,
    /// Erase what was removed from the tree, with its history, instead of ending it
    #[arg(long, requires_all = ["reason", "authority"])]
    erase: bool,
    /// Reason for the erasures; recorded permanently, so it must not quote the notes
    #[arg(long, value_name = "TEXT", requires = "erase")]
    reason: Option<String>,
    /// Authority for the erasures: a person, an office or a DID; recorded permanently
    #[arg(long, value_name = "NAME", requires = "erase")]
    authority: Option<String>,
}

impl Sync {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_or(Create::IfMissing)?;
        // Taken before a step, so that an edit during it is not missed; the step after one that wrote
        // files finds its own and says nothing.
        let mut before = stamp(&self.directory);
        let exit = self.step(&store, session, true)?;
        if !self.watch {
            return Ok(exit);
        }
        loop {
            session.out.flush()?;
            self.wait_for_change(&store, before)?;
            before = stamp(&self.directory);
            self.step(&store, session, false)?;
        }
    }

    /// Brings both in step once, and says what came of it, if anything did or it always does.
    fn step(&self, store: &Store, session: &mut Session, always: bool) -> anyhow::Result<Exit> {
        let reading = ReadOptions {
            scope: self.scope.clone(),
            dialect: self.dialect.and_then(Dialect::name),
            with_instructions: self.instructions,
            ..ReadOptions::default()
        };
        let writing = WriteOptions::default();
        let admin = store.admin()?;
        let stepped = admin.sync_tree(&self.directory, &reading, &writing);
        let (summary, exported) = stepped.map_err(|error| {
            let error = CliError::of(&error);
            match error.code() {
                ErrorCode::Io => error.at(self.directory.display()),
                _ => error,
            }
        })?;
        let written = Written {
            files: exported.files,
            erased: self.erase_ended(store, &summary)?,
        };
        let counts = [summary.inserted, summary.updated, summary.corrected];
        let is_same = counts == [0; 3] && summary.ended.is_empty() && summary.erased.is_empty();
        if always || !is_same || written.files > 0 || !summary.findings.is_empty() {
            report_step(&summary, written, &self.directory, &mut session.out)?;
        }
        // Text that was erased before and has left the tree again is in step.
        let is_complete =
            summary.conflicts.is_empty() && summary.refused.is_empty() && summary.denied.is_empty();
        Ok(Exit::done_if(is_complete))
    }

    /// Erases what ended because the tree has it no more, with its earlier versions.
    fn erase_ended(&self, store: &Store, summary: &Summary) -> anyhow::Result<u64> {
        let (Some(reason), Some(authority)) = (&self.reason, &self.authority) else {
            return Ok(0);
        };
        let mut addresses: Vec<ContentAddress> = Vec::new();
        for ended in &summary.ended {
            let versions = store.history(ended)?;
            addresses.extend(versions.iter().map(|version| version.grain.address()));
        }
        let asked = Authorization { reason, authority };
        let mut erased = 0;
        for outcome in store.admin()?.delete_batch(&addresses, asked)? {
            outcome?;
            erased += 1;
        }
        Ok(erased)
    }

    /// Waits until the tree or the store is another one than now, and the tree is at rest: a file that is
    /// being written is not read by halves.
    fn wait_for_change(&self, store: &Store, before: u64) -> anyhow::Result<()> {
        let entries = store.maintenance()?.stats()?.entries;
        let mut changes = store.changes(EntryId::new(entries));
        let (mut last, mut is_told) = (before, false);
        loop {
            changes.wait(PAUSE);
            let now = stamp(&self.directory);
            is_told |= changes.next().is_some();
            if (is_told || now != before) && now == last {
                return Ok(());
            }
            last = now;
        }
    }
}

/// Returns what the names, lengths and times of the notes below a directory come to.
fn stamp(folder: &Path) -> u64 {
    let mut sum = 0_u64;
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((at, depth)) = folders.pop() {
        for entry in fs::read_dir(at).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(found) = path.symlink_metadata() else {
                continue;
            };
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            if found.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if path.extension().is_some_and(|it| it == "md") {
                let mut hasher = DefaultHasher::new();
                (path, found.len(), found.modified().ok()).hash(&mut hasher);
                // The order of a directory is that of its disk.
                sum = sum.wrapping_add(hasher.finish());
            }
        }
    }
    sum
}

/// As deep as a tree is read.
const DEPTH_MAX: usize = 8;

/// How long a tree is at rest before it is read.
const PAUSE: Duration = Duration::from_millis(500);
