//! Whose grains are sealed: those with the `user_id` of a person who has a key, but for the grains
//! that the store must enforce while the person is locked.

use crate::index::{RowSet, Snapshot};
use crate::store::{Error, Store};

impl Store {
    /// Returns the entries that are held of erased persons, which answer to no user id.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn held(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        let mut rows = RowSet::default();
        for uid in self.inner.state().keys().holds() {
            rows.unite(&snapshot.sealed_for(uid).set()?);
        }
        Ok(rows)
    }
}
