use std::path::PathBuf;

use clap::Args;
use grainstore::grain::Time;
use grainstore::store::{Error, Until};
use grainstore::{Options, Store};
use serde_json::json;

use crate::error::{Exit, Problem};
use crate::output::progress;
use crate::session::Session;

/// Make a new store of a backup, or of a store, as it was at a moment
///
/// The new ledger begins as the old one, and then says that it was restored. Erasures that the
/// backup has behind that moment are applied again.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The directory of the backup; it is not changed
    #[arg(value_name = "BACKUP")]
    from: PathBuf,
    /// The directory of the new store: a new or empty one
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Up to this time, or this number of ledger entries; a batch is taken whole or not at all
    #[arg(long, value_name = "TIME|SEQ", value_parser = until)]
    at: Option<Until>,
    /// Restore to a moment at which the backup ends, though what was erased after it is not known
    #[arg(long)]
    accept_lost_erasures: bool,
}

impl Restore {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let path = self.to.display();
        let what = format!("restoring {} to {path}", self.from.display());
        let spinner = progress::spinner(&session.out, what);
        let restored = Store::restore(
            &self.from,
            &self.to,
            self.at.unwrap_or(Until::End),
            self.accept_lost_erasures,
            Options::default(),
        );
        spinner.finish_and_clear();
        let (_, restored) = restored.map_err(|error| {
            let place = match &error {
                Error::Exists { path } | Error::NotAStore { path, .. } => path,
                _ => &self.from,
            };
            Problem::of(&error).in_store(place)
        })?;
        if restored.left == 0 {
            session
                .out
                .note("note: erasures made after this backup was taken are not in it");
        }
        let (entries, left, erasures) = (restored.entries, restored.left, restored.erasures);
        if session.out.is_json() {
            session.out.json(&json!({
                "path": path.to_string(),
                "entries": entries,
                "left": left,
                "erasures": erasures,
            }))?;
            return Ok(Exit::Done);
        }
        let noun = |count, one, many| if count == 1 { one } else { many };
        session.out.line(format!(
            "{path}: {entries} {} restored, {left} left; {erasures} {} applied again",
            noun(entries, "entry", "entries"),
            noun(erasures, "erasure", "erasures"),
        ))?;
        Ok(Exit::Done)
    }
}

/// Reads a time, or a number of entries.
fn until(text: &str) -> Result<Until, String> {
    if let Ok(entries) = text.parse() {
        return Ok(Until::Entries(entries));
    }
    Time::parse(text).map(Until::Time)
}
