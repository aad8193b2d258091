//! Sealed persons, as answers see them: grains that are held of erased persons, and how many persons are
//! locked.

use crate::index::{RowSet, Snapshot};
use crate::store::{Access, Error};

/// Returns the entries that are held of erased persons, which answer to no user id.
///
/// # Errors
/// Storage errors.
pub(crate) fn held(store: &Access, snapshot: &Snapshot) -> Result<RowSet, Error> {
    let mut rows = RowSet::default();
    for uid in store.engine.state().keys().holds() {
        rows.unite(&snapshot.sealed_for(uid).set()?);
    }
    Ok(rows)
}

/// Returns the number of persons whose grains no answer has: those who are locked in this process.
pub(crate) fn locked_persons(store: &Access) -> u64 {
    let state = store.engine.state();
    let keys = state.keys();
    #[cfg(feature = "sealing")]
    let unlocked = {
        let unlocked = store.engine.keyring().uids();
        unlocked.iter().filter(|uid| keys.has(uid)).count() as u64
    };
    // No key is ever here.
    #[cfg(not(feature = "sealing"))]
    let unlocked = 0;
    let all = keys.persons().saturating_sub(keys.holds().len() as u64);
    all.saturating_sub(unlocked)
}
