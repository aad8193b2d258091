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
    match entry.header.kind {
        Kind::Grain => {
            let grain = Grain::from_proven(entry.body.to_vec())
                .map_err(|_| "a grain entry holds no blob")?;
            index.apply_grain(row, &grain, entry.header.time_ms);
        }
        Kind::Status => {
            let status = StatusEntry::decode(&entry.body).ok_or("a status entry is malformed")?;
            index.apply_status(row, &status.of, &status.change);
        }
        Kind::Alias => {
            let alias = AliasEntry::decode(&entry.body).ok_or("an alias entry is malformed")?;
            index.apply_alias(row, &alias.of, alias.name());
        }
        _ => {
            if let Some(address) = subject_of(&entry.body) {
                index.apply_mention(row, &address);
            }
        }
    }
    Ok(())
}
