//! The ledger entry that names the actor of a narrowed handle, and the changes of the owner.

use crate::ledger::EntryId;
use crate::policy::Capability;
use crate::store::Error;
use crate::store::engine::{Caller, Engine};
use crate::store::records::{ActorRecord, Record};

use super::transaction::Transaction;

/// Returns the entry that names the actor of a handle, and writes it if this is the first time;
/// `None` for the owner's. The empty text names the narrowed handles without an author.
///
/// Called before the right to write is taken: an entry names only entries before it.
///
/// # Errors
/// Storage errors.
pub(crate) fn actor(
    engine: &Engine,
    handle: Option<&Capability>,
) -> Result<Option<EntryId>, Error> {
    let Some(actor) = handle.map(ActorRecord::of) else {
        return Ok(None);
    };
    let known = || engine.state().actors().entry_of(&actor);
    if let Some(row) = known() {
        return Ok(Some(row));
    }
    let mut txn = Transaction::begin(engine, Caller::default())?;
    if let Some(row) = known() {
        return Ok(Some(row));
    }
    txn.record(&Record::Actor(actor))?;
    Ok(Some(txn.commit()?.start))
}
