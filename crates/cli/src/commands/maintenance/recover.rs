//! `grainstore recover`: a new store from all of a damaged one that still proves itself.
//!
//! The report names every part that does not come out, by file, bytes and entries.

use std::path::{Path, PathBuf};

use clap::Args;
use grainstore::Options;
use grainstore::store::{Error, Lost, Recovered};
use serde_json::{Value, json};

use crate::error::{CliError, Exit};
use crate::output::progress;
use crate::session::Session;

/// Create a new store from everything in a damaged one that still proves itself
///
/// Every grain whose bytes are those that were written comes out, with its status and what else is
/// recorded about it; it works whichever file of the store is damaged or missing. Each part that does
/// not come out is named with its file, bytes and ledger entries. Erased grains stay erased. The
/// damaged store is only read. The keys of sealed persons are not copied: move the folder vault/ of
/// the damaged store into NEW. Exits with 4 if anything is lost.
#[derive(Debug, Args)]
pub(crate) struct Recover {
    /// Directory of the damaged store; it is not modified
    #[arg(value_name = "DIR")]
    from: PathBuf,
    /// Directory of the new store: new, or empty but for vault/
    #[arg(value_name = "NEW", required_unless_present = "dry_run")]
    to: Option<PathBuf>,
    /// Report what would come out, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Recover {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let from = self.from.display();
        let what = format!("reading {from}");
        let spinner = progress::spinner(&session.out, what, INTERRUPTED);
        let recovered = match self.to.as_deref().filter(|_| !self.dry_run) {
            Some(to) => grainstore::recovery::recover(&self.from, to, Options::default())
                .map(|(_, report)| report),
            None => grainstore::recovery::recoverable(&self.from, &Options::default()),
        };
        drop(spinner);
        let recovered = recovered.map_err(|error| {
            let place: &Path = match &error {
                Error::Exists { path } | Error::NotAStore { path, .. } => path,
                _ => &self.from,
            };
            let are_other = matches!(&error, Error::NotAStore { .. } | Error::Exists { .. });
            let error = CliError::of(&error).in_store(place);
            if are_other {
                error.advising(DIRECTORIES)
            } else {
                error
            }
        })?;
        let path = self.to.filter(|_| !self.dry_run);
        let path = path.map(|path| path.display().to_string());
        if session.out.is_json() {
            session.out.json(&to_json(&recovered, path.as_deref()))?;
        } else {
            for line in to_lines(&recovered, path.as_deref()) {
                session.out.line(line)?;
            }
        }
        Ok(Exit::unless_damaged(!recovered.lost.is_empty()))
    }
}

const INTERRUPTED: &str = "interrupted: the damaged store is as it was; remove the new directory, or \
                           choose another, and run the command again";

/// Says in one line what would come out of a store that does not open; `None` if its ledger is large,
/// so that reading it would take long.
pub(crate) fn what_would_come_out(store: &Path) -> Option<String> {
    let segments = store.join("ledger").read_dir().ok()?;
    let sizes = segments.map(|segment| segment.ok()?.metadata().ok());
    let bytes: u64 = sizes.flatten().map(|found| found.len()).sum();
    if bytes > LOOKED_AT_MAX {
        return None;
    }
    let found = grainstore::recovery::recoverable(store, &Options::default()).ok()?;
    Some(format!(
        "note: `grainstore recover {} NEW` would bring out {} and {}; {} lost",
        store.display(),
        counted(found.grains, "grain", "grains"),
        counted(found.records, "other entry", "other entries"),
        counted(found.lost_entries(), "entry is", "entries are"),
    ))
}

fn to_lines(recovered: &Recovered, path: Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(fault) = &recovered.manifest {
        lines.push(format!("{fault}; {}", identity(recovered)));
    }
    for lost in &recovered.lost {
        lines.push(describe(lost));
    }
    let place = path.unwrap_or("nothing written");
    lines.push(format!(
        "{place}: {} and {} recovered, {} lost of {}",
        counted(recovered.grains, "grain", "grains"),
        counted(recovered.records, "other entry", "other entries"),
        recovered.lost_entries(),
        counted(recovered.entries, "entry", "entries"),
    ));
    lines
}

const fn identity(recovered: &Recovered) -> &'static str {
    if recovered.is_new_identity {
        "the new store has a new identity: what was sealed is lost, and what was erased may be put again"
    } else {
        "the identity of the store is known from elsewhere"
    }
}

fn describe(lost: &Lost) -> String {
    let Lost {
        file,
        bytes,
        entries,
        reason,
        ..
    } = lost;
    let (first, end) = (entries.start.get(), entries.end.get());
    let kind = lost.kind.map_or(String::new(), |kind| format!(" ({kind})"));
    let held = match end - first {
        0 => "no entry".to_owned(),
        1 => format!("entry {first}{kind}"),
        _ => format!("entries {first} to {}", end - 1),
    };
    let address = lost.address.map(|address| format!(", grain {address}"));
    let address = address.unwrap_or_default();
    let place = match bytes.is_empty() {
        true => file.clone(),
        false => format!("{file}, bytes {} to {}", bytes.start, bytes.end - 1),
    };
    format!("lost: {place}: {held}{address}: {reason}")
}

fn to_json(recovered: &Recovered, path: Option<&str>) -> Value {
    let lost = recovered.lost.iter().map(|lost| {
        json!({
            "file": lost.file,
            "from": lost.bytes.start,
            "to": lost.bytes.end,
            "first_entry": lost.entries.start.get(),
            "entries": lost.entries.end.get() - lost.entries.start.get(),
            "kind": lost.kind,
            "address": lost.address.map(|address| address.to_string()),
            "reason": lost.reason,
        })
    });
    json!({
        "path": path,
        "entries": recovered.entries,
        "grains": recovered.grains,
        "records": recovered.records,
        "erased": recovered.erased,
        "manifest": recovered.manifest,
        "new_identity": recovered.is_new_identity,
        "lost_entries": recovered.lost_entries(),
        "lost": lost.collect::<Vec<_>>(),
    })
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

const DIRECTORIES: &str =
    "DIR is the directory of a damaged store, which has a folder ledger/; NEW is new or empty";

/// The size of a ledger that is read to say what would come out of it, in bytes.
const LOOKED_AT_MAX: u64 = 64 << 20;
