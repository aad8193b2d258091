//! The part of `doctor` that looks at the copies that this store is shipped to.

use std::path::Path;

use grainstore::Store;
use grainstore_replica::Seen;

use super::{Finding, Weight};

/// Adds how far each copy is, as far as the store knows: no network is asked.
pub(super) fn look(store: &Store, path: &Path, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let entries = store.maintenance()?.stats()?.entries;
    for seen in Seen::all(path)? {
        let url = &seen.url;
        let ship = format!("`grainstore replicate {url}` ships them");
        let behind = entries.saturating_sub(seen.entries);
        findings.push(match behind {
            0 => {
                let message = format!("the copy at {url} has all {entries} entries");
                Finding::new("replica", Weight::Note, message)
            }
            _ if seen.is_shipping => {
                let message =
                    format!("the copy at {url} is being shipped, {behind} entries behind");
                Finding::new("replica", Weight::Note, message)
            }
            _ => {
                let message = format!("the copy at {url} lacks the last {behind} ledger entries");
                Finding::new("replica-behind", Weight::Warning, message).advising(&ship)
            }
        });
        if seen.waits > 0 {
            let message = format!(
                "the copy at {url} may still hold the bytes of {} erased entries",
                seen.waits
            );
            let finding = Finding::new("replica-erasure-waits", Weight::Warning, message);
            findings.push(finding.advising("`grainstore replicate` removes them; an erasure that the copy lacks is not counted"));
        }
    }
    Ok(())
}
