//! Signing statements about the store: checkpoints of its ledger, and receipts for its grains.

use crate::codec::ContentAddress;
use crate::crypto::{Checkpoint, Did, Receipt, SigningKey};
use crate::grain::Time;
use crate::ledger::verify_ledger;
use crate::store::engine::Caller;
use crate::store::records::{CheckpointRecord, Record};
use crate::store::txn::Transaction;
use crate::store::{Access, Error};

use super::checkpoint::{checkpoints_in, hash};

/// See [`Maintenance::checkpoint`](crate::Maintenance::checkpoint).
pub(crate) fn checkpoint(store: &Access, key: &SigningKey, did: &Did) -> Result<Vec<u8>, Error> {
    let engine = store.engine();
    let found = verify_ledger(engine.ledger())?;
    let (Some(end), []) = (found.tree_heads.last(), found.findings.as_slice()) else {
        let reason = "it is not signed; a check says what is wrong";
        return Err(Error::damaged("the ledger", reason));
    };
    // The signed entries must not be lost afterwards, so the ledger is synced first.
    engine.sync()?;
    let mut txn = Transaction::begin(engine, Caller::default())?;
    let checkpoint = Checkpoint {
        store: engine.store_id(),
        entries: end.entries,
        head: end.head,
        root: end.root,
        time: engine.entry_time(),
        previous: checkpoints_in(engine)?.pop().map(|message| hash(&message)),
    };
    let message = checkpoint.sign(key, did)?;
    txn.record(&Record::Checkpoint(CheckpointRecord {
        message: message.clone(),
    }))?;
    txn.commit()?;
    Ok(message)
}

/// See [`Maintenance::receipt`](crate::Maintenance::receipt).
pub(crate) fn receipt(
    store: &Access,
    address: &ContentAddress,
    key: &SigningKey,
    did: &Did,
) -> Result<Vec<u8>, Error> {
    let engine = store.engine();
    let sequence = engine.as_of(&store.snapshot()).row_of(address)?;
    let header = engine.ledger().read(sequence)?.header;
    // A receipt must not be issued for an entry that a crash could still remove.
    engine.sync()?;
    let receipt = Receipt {
        store: engine.store_id(),
        grain: *address,
        sequence: sequence.get(),
        time: Time::from_ms(header.time_ms),
    };
    Ok(receipt.sign(key, did)?)
}
