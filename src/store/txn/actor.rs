//! The ledger entry that names the actor of a narrowed handle, and the changes of the owner.

use crate::ledger::EntryId;
use crate::policy::Capability;
use crate::store::instance::{Caller, Inner};
use crate::store::records::{ActorRecord, Record};
use crate::store::{Admin, Error};

use super::transaction::Transaction;

impl Inner {
    /// Returns the entry that names the actor of a handle, and writes it if this is the first time;
    /// `None` for the owner's. The empty text names the narrowed handles without an author.
    ///
    /// Called before the right to write is taken: an entry names only entries before it.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn actor(&self, handle: Option<&Capability>) -> Result<Option<EntryId>, Error> {
        let Some(actor) = handle.map(ActorRecord::of) else {
            return Ok(None);
        };
        let known = || self.state().actors().entry_of(&actor);
        if let Some(row) = known() {
            return Ok(Some(row));
        }
        let mut txn = Transaction::begin(self, Caller::default())?;
        if let Some(row) = known() {
            return Ok(Some(row));
        }
        txn.record(&Record::Actor(actor))?;
        Ok(Some(txn.commit()?.start))
    }
}

impl Admin<'_> {
    /// Begins a change of the owner, on behalf of whom it acts for.
    ///
    /// # Errors
    /// As [`Transaction::begin`].
    pub(in crate::store) fn begin(&self) -> Result<Transaction<'_>, Error> {
        Transaction::begin(self.inner(), self.caller())
    }
}
