//! The entries that tell of changes of the vault.

use crate::store::Error;
use crate::store::engine::Engine;
use crate::store::records::{KeyEventRecord, Record};
use crate::store::txn::{AdmittedFrame, Transaction};
use crate::vault::Vault;

/// Records a key event.
pub(crate) fn tell(txn: &mut Transaction<'_>, event: KeyEventRecord) -> Result<(), Error> {
    let mut frame = AdmittedFrame::default();
    frame.record(&Record::KeyEvent(event))?;
    txn.append(&frame)?;
    Ok(())
}

/// Records a swap of the root that a crash kept from the ledger.
pub(crate) fn tell_missed_swap(
    engine: &Engine,
    txn: &mut Transaction<'_>,
    vault: &Vault,
) -> Result<(), Error> {
    let (epoch, told) = (vault.epoch()?, engine.state().keys().epoch());
    match told > 0 && epoch > told {
        true => tell(txn, KeyEventRecord::RootRotated { epoch }),
        false => Ok(()),
    }
}
