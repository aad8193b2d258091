//! Signing statements about the store: checkpoints of its ledger, and receipts for its grains.

use crate::codec::ContentAddress;
use crate::crypto::{Checkpoint, Did, Receipt, SigningKey};
use crate::grain::Time;
use crate::store::engine::Caller;
use crate::store::records::{CheckpointRecord, Record};
use crate::store::txn::Transaction;
use crate::store::{Error, Maintenance};

use super::checkpoint::{checkpoints, hash};

impl Maintenance<'_> {
    /// Signs the head of the ledger, writes the statement into the ledger, and returns the message,
    /// which is to be kept outside the store. Every byte of the ledger is read and verified first;
    /// writing continues meanwhile.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for a damaged ledger; `ERR_KEY`; storage errors.
    pub fn checkpoint(self, key: &SigningKey, did: &Did) -> Result<Vec<u8>, Error> {
        let engine = self.engine();
        let found = engine.ledger().verify()?;
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
            previous: checkpoints(engine)?.pop().map(|message| hash(&message)),
        };
        let message = checkpoint.sign(key, did)?;
        txn.record(&Record::Checkpoint(CheckpointRecord {
            message: message.clone(),
        }))?;
        txn.commit()?;
        Ok(message)
    }

    /// Signs a receipt for a grain in the store: its address, its place in the ledger, and its
    /// time.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_KEY`; storage errors.
    pub fn receipt(
        self,
        address: &ContentAddress,
        key: &SigningKey,
        did: &Did,
    ) -> Result<Vec<u8>, Error> {
        let engine = self.engine();
        let sequence = engine.as_of(&self.store().snapshot()).row_of(address)?;
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
}
