//! Sealed persons in a build without `sealing`: no key is ever here, so each of them is locked.

use crate::index::{RowSet, Snapshot};
use crate::store::instance::Inner;
use crate::store::records::{Frame, SealedEntries};
use crate::store::{Error, Store};

impl Store {
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with `sealing`"
    )]
    pub(crate) fn held(&self, _snapshot: &Snapshot) -> Result<RowSet, Error> {
        Ok(RowSet::default())
    }

    /// Returns the number of persons whose grains no answer has: all of them.
    pub(crate) fn locked_persons(&self) -> u64 {
        self.inner.state().keys().persons()
    }
}

impl Inner {
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with `sealing`"
    )]
    pub(crate) const fn rekey_due_in_passing(&self) -> Result<(), Error> {
        Ok(())
    }

    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with `sealing`"
    )]
    pub(crate) fn seal_frame(&self, _frame: &Frame) -> Result<SealedEntries, Error> {
        Ok(SealedEntries::default())
    }
}
