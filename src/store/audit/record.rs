//! Entries about operations that change no grain: exports and checks.

use crate::store::Error;
use crate::store::engine::{Caller, Engine};
use crate::store::records::{CheckedRecord, PolicyRecord, Record};
use crate::store::txn::Transaction;
#[cfg(feature = "interchange")]
use crate::{
    code::ErrorCode,
    store::{Owner, records::ExportRecord},
};

/// Records an export: its format, the names of the conditions, the number of grains and files,
/// and of facts that the files do not have. A handle that only reads can record nothing; where
/// a regime asks for reads to be recorded, it has refused the export before. The file is complete
/// by now: one that finds other processes writing for longer than
/// [`Options::lock_wait`](crate::store::Options::lock_wait) is not recorded, and no error.
///
/// # Errors
/// Storage errors.
#[cfg(feature = "interchange")]
pub(crate) fn record_export(
    owner: Owner<'_>,
    format: &str,
    scope: &[&str],
    [grains, files, withheld]: [u64; 3],
) -> Result<(), Error> {
    let record = Record::Export(ExportRecord {
        format: format.to_owned(),
        scope: scope.iter().map(|&name| name.to_owned()).collect(),
        grains,
        files,
        withheld,
    });
    match record_observation(owner.engine(), owner.caller(), &record) {
        Err(error) if error.code() == ErrorCode::StoreLocked => {
            tracing::warn!(%error, "an export is not recorded");
            Ok(())
        }
        recorded => recorded,
    }
}

/// Records a check.
///
/// # Errors
/// Storage errors.
pub(crate) fn record_check(engine: &Engine, check: CheckedRecord) -> Result<(), Error> {
    record_observation(
        engine,
        Ok(Caller::default()),
        &Record::Policy(PolicyRecord::Checked(check)),
    )
}

fn record_observation(
    engine: &Engine,
    caller: Result<Caller<'_>, Error>,
    record: &Record,
) -> Result<(), Error> {
    let recorded = caller.and_then(|caller| {
        let mut txn = Transaction::begin(engine, caller)?;
        txn.record(record)?;
        txn.commit()
    });
    match recorded {
        Ok(_) | Err(Error::OpenedReadOnly) => Ok(()),
        Err(error) => Err(error),
    }
}
