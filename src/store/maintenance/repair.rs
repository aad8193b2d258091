//! Repair: the derived files are rebuilt from the ledger. The ledger itself is not repaired, but for
//! the effects of withdrawals that it lacks, which are recorded.

use std::path::Path;

use crate::store::engine::{Caller, Engine};
use crate::store::opening;
use crate::store::records::Record;
use crate::store::txn::Transaction;
use crate::store::{Access, Create, Error, Options};

use super::compact::compact;

/// See [`repair`](crate::recovery::repair).
pub(crate) fn repair(path: impl AsRef<Path>, options: Options) -> Result<Access, Error> {
    let options = Options {
        create: Create::Never,
        ..options
    };
    let store = opening::open_folder(path.as_ref(), options, true)?;
    record_lost_effects(&store.engine)?;
    compact(&store, false)?;
    Ok(store)
}

/// Records the effects of stored withdrawals of which damage took the entry (OMS 8.10).
fn record_lost_effects(engine: &Engine) -> Result<(), Error> {
    let mut txn = Transaction::begin(engine, Caller::default())?;
    for effect in txn.view().missing_effects()? {
        txn.record(&Record::ConsentEffect(effect))?;
    }
    txn.commit()?;
    Ok(())
}
