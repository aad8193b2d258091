//! `grainstore compact`: merges the files of the index and of the text index.
//!
//! Both are derived from the ledger, which is not modified.

use clap::Args;
use grainstore::store::Sizes;
use indicatif::BinaryBytes;
use serde_json::{Value, json};

use crate::error::Exit;
use crate::output::progress;
use crate::session::Session;

/// Merge the files of the index and of the text index, for faster queries
///
/// Safe to interrupt. The ledger is not modified.
#[derive(Debug, Args)]
pub(crate) struct Compact {}

impl Compact {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let Self {} = self;
        let store = session.open()?;
        let what = format!("merging the indexes of {}", session.store_path().display());
        let spinner = progress::spinner(&session.out, what, progress::NOTHING_LOST);
        let compacted = store.maintenance()?.compact();
        drop(spinner);
        let compacted = compacted?;
        let (before, after) = (compacted.before, compacted.after);
        if session.out.is_json() {
            let document = json!({ "before": document(&before), "after": document(&after) });
            session.out.json(&document)?;
            return Ok(Exit::Done);
        }
        let runs = |sizes: &Sizes| part(sizes.index_runs, "run", sizes.index_bytes);
        let segments = |sizes: &Sizes| part(sizes.text_segments, "segment", sizes.text_bytes);
        let out = &mut session.out;
        out.line(format!("index  {}, was {}", runs(&after), runs(&before)))?;
        out.line(format!(
            "text   {}, was {}",
            segments(&after),
            segments(&before)
        ))?;
        Ok(Exit::Done)
    }
}

fn part(count: usize, noun: &str, bytes: u64) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural} of {}", BinaryBytes(bytes))
}

fn document(sizes: &Sizes) -> Value {
    json!({
        "index_runs": sizes.index_runs,
        "index_bytes": sizes.index_bytes,
        "text_segments": sizes.text_segments,
        "text_bytes": sizes.text_bytes,
    })
}
