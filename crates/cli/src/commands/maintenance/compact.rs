//! `grainstore compact`: merges the files of the index and of the text index, and gives the room of
//! erased grains back.

use clap::Args;
use grainstore::store::Sizes;
use indicatif::BinaryBytes;
use serde_json::{Value, json};

use crate::error::Exit;
use crate::output::progress;
use crate::session::Session;

/// Merge the files of the index and of the text index, and give the room of erased grains back
///
/// Safe to interrupt. Segments of the ledger of which a quarter or more is erased are written again
/// without it; chain and proofs stay as they are.
#[derive(Debug, Args)]
pub(crate) struct Compact {
    /// Compress the grains too, to about half, in segments of 4 MiB or more: reading one takes a
    /// microsecond more
    #[arg(long)]
    compress: bool,
}

impl Compact {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let what = format!("compacting {}", session.store_path().display());
        let spinner = progress::spinner(&session.out, what, progress::NOTHING_LOST);
        let maintenance = store.maintenance()?;
        let compacted = match self.compress {
            true => maintenance.compress(),
            false => maintenance.compact(),
        };
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
        let (ledger, was) = (after.ledger_bytes, before.ledger_bytes);
        out.line(format!(
            "ledger {}, was {}",
            BinaryBytes(ledger),
            BinaryBytes(was)
        ))?;
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
        "ledger_bytes": sizes.ledger_bytes,
        "index_runs": sizes.index_runs,
        "index_bytes": sizes.index_bytes,
        "text_segments": sizes.text_segments,
        "text_bytes": sizes.text_bytes,
    })
}
