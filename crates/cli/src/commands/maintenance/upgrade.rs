//! `grainstore upgrade`: brings the files of an older store to the form of this version.
//!
//! Opening a store does that; this says what it did, and when there was nothing to do.

use clap::Args;
use serde_json::json;

use crate::error::Exit;
use crate::output::progress;
use crate::session::Session;

/// Bring the files of an older store to the form of this version, and say what was done
///
/// The ledger of every earlier version is read as it is. An index or a text index in an older form
/// is built anew from it, as every command that opens the store does. Make a backup first: an earlier
/// version can open that.
#[derive(Debug, Args)]
pub(crate) struct Upgrade {}

impl Upgrade {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let Self {} = self;
        let store = session.open()?;
        let maintenance = store.maintenance()?;
        let opened = maintenance.recovery_report().clone();
        // A text index that could not be built on opening is built by a search.
        let unavailable = maintenance.stats()?.text_unavailable;
        let closing = "closing the text index".to_owned();
        let spinner = progress::spinner(&session.out, closing, progress::NOTHING_LOST);
        drop(store);
        drop(spinner);
        let path = session.store_path().display().to_string();
        let out = &mut session.out;
        if out.is_json() {
            out.json(&json!({
                "path": path,
                "index_rebuilt": opened.index_rebuilt,
                "text_rebuilt": opened.text_rebuilt,
                "text_unavailable": unavailable,
            }))?;
            return Ok(Exit::done_if(unavailable.is_none()));
        }
        let done = [
            ("index", &opened.index_rebuilt),
            ("text index", &opened.text_rebuilt),
        ];
        let mut is_done = false;
        for (what, reason) in done {
            if let Some(reason) = reason {
                out.line(format!("{path}: {what} built anew: {reason}"))?;
                is_done = true;
            }
        }
        if !is_done {
            out.line(format!(
                "{path}: nothing to do, its files are those of this version"
            ))?;
        }
        Ok(Exit::done_if(unavailable.is_none()))
    }
}
