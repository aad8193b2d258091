use crate::grain::Grain;
use crate::index::Index;
use crate::ledger::{Entry, Kind};

use super::entry::{AliasEntry, StatusEntry, subject_of};

/// Applies one ledger entry to an index: the fold that every derived file is.
///
/// Returns what is wrong with an entry that cannot be applied; the ledger has proven its bytes,
/// so that takes a writer with a fault.
pub(super) fn apply(index: &Index, entry: &Entry<'_>) -> Result<(), &'static str> {
    let row = entry.header.sequence;
    if entry.header.kind != Kind::Grain {
        return apply_record(index, row, entry.header.kind, &entry.body);
    }
    let grain = Grain::from_proven(entry.body.to_vec()).map_err(|_| "a grain has no header")?;
    index.apply_grain(row, &grain, entry.header.time_ms);
    Ok(())
}

/// Applies an entry that says something about grains.
pub(super) fn apply_record(
    index: &Index,
    row: u64,
    kind: Kind,
    body: &[u8],
) -> Result<(), &'static str> {
    match kind {
        Kind::Status => {
            let status = StatusEntry::decode(body).ok_or("a status entry is malformed")?;
            index.apply_status(row, &status.of, &status.change);
        }
        Kind::Alias => {
            let alias = AliasEntry::decode(body).ok_or("an alias entry is malformed")?;
            index.apply_alias(row, &alias.of, alias.name());
        }
        _ => {
            if let Some(address) = subject_of(body) {
                index.apply_mention(row, &address);
            }
        }
    }
    Ok(())
}
