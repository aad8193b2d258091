//! `grainstore audit prove`: the proof of an entry, or of the growth between two sizes.

use clap::{ArgGroup, Args};
use grainstore::ledger::EntryId;

use crate::args::address;
use crate::error::Exit;
use crate::proof::Proof;
use crate::session::Session;

/// Prove that an entry is in the ledger, or that the ledger grew without a change
///
/// Prints a proof of RFC 9162 for `audit verify` and tools/verify_audit.py. A proof has the header
/// of the entry and no content, and stays valid when the content is erased.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("subject").required(true).args(["entry", "from"]))]
#[command(after_long_help = "Example:
  grainstore audit prove 42 > proof.json
  grainstore audit verify proof.json --note note.txt")]
pub(super) struct Prove {
    /// Number of the entry, or address of a grain, which means the entry that stored it
    entry: Option<String>,
    /// Prove that the ledger begins with its first N entries
    #[arg(long, value_name = "N")]
    from: Option<u64>,
    /// Prove it under the root of the first N entries (default: all)
    #[arg(long, value_name = "N")]
    entries: Option<u64>,
}

impl Prove {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let audit = store.maintenance()?.audit();
        let note = match self.entries {
            Some(entries) => audit.head_after(entries)?,
            None => audit.head()?,
        };
        let text = self.entry.unwrap_or_default();
        let proof = match (self.from, text.parse()) {
            (Some(first), _) => Proof::of_growth(audit, first, &note)?,
            (None, Ok(entry)) if text.len() < SHORTEST_ADDRESS => {
                Proof::of_entry(audit, EntryId::new(entry), &note)?
            }
            (None, _) => Proof::of_grain(audit, address::resolve(&store, &text)?, &note)?,
        };
        session.out.json(&proof.to_json())?;
        Ok(Exit::Done)
    }
}

/// From this many digits on a number is the beginning of an address.
const SHORTEST_ADDRESS: usize = 8;
