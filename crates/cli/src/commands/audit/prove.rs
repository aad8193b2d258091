//! `grainstore audit prove`: the proof of an entry, or of the growth between two sizes.

use clap::{ArgGroup, Args};
use grainstore::ErrorCode;
use grainstore::ledger::EntryId;
use grainstore::store::AuditFilter;
use serde_json::json;

use crate::args::address;
use crate::error::{CliError, Exit};
use crate::hex;
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
        let hashes =
            |path: &[[u8; 32]]| -> Vec<_> { path.iter().map(|it| hex::encode(it)).collect() };
        let root = hex::encode(&note.root());
        let origin = note.origin();
        let document = if let Some(first) = self.from {
            let path = audit.prove_growth(first, note.entries())?;
            json!({
                "proof": "consistency",
                "origin": origin,
                "first": first,
                "first_root": hex::encode(&audit.head_after(first)?.root()),
                "entries": note.entries(),
                "root": root,
                "path": hashes(&path),
            })
        } else {
            let text = self.entry.unwrap_or_default();
            let entry = match text.parse() {
                Ok(entry) if text.len() < SHORTEST_ADDRESS => EntryId::new(entry),
                _ => {
                    let filter = AuditFilter {
                        address: Some(address::resolve(&store, &text)?),
                        operation: Some("store".to_owned()),
                        ..AuditFilter::default()
                    };
                    let found = audit.log(&filter, None, 1)?.pop();
                    let missing = || CliError::new(ErrorCode::NotFound, "no entry stored it");
                    found.ok_or_else(missing)?.entry
                }
            };
            let proof = audit.prove(entry, note.entries())?;
            json!({
                "proof": "inclusion",
                "origin": origin,
                "entry": entry.get(),
                "header": hex::encode(&proof.header),
                "before": hex::encode(&proof.before),
                "entries": note.entries(),
                "root": root,
                "path": hashes(&proof.path),
            })
        };
        session.out.json(&document)?;
        Ok(Exit::Done)
    }
}

/// From this many digits on a number is the beginning of an address.
const SHORTEST_ADDRESS: usize = 8;
