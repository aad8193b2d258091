//! The quick check of the index: `CURRENT` and the directories of the runs.
//!
//! No key is read; `compare` does that.

use crate::index::engine::current::{self, CurrentFile};
use crate::index::run::{self, OpenFault, Run};
use crate::index::{Error, Index};

/// Reads `CURRENT` and the directory of each run again, and returns the differences in words.
/// It is quick: no key is read.
///
/// # Errors
/// `ERR_STORAGE_IO`; damage is a difference.
pub fn check_structure(index: &Index) -> Result<Vec<String>, Error> {
    let engine = index.engine();
    // No version may be published meanwhile.
    let _maintenance = engine.maintenance.lock();
    let version = engine.version();
    let mut found = Vec::new();
    let expected = CurrentFile::of(version.runs.iter().map(|run| &**run));
    let named = CurrentFile::read(&*engine.disk, &engine.store_id);
    match named.map_err(Error::io("read", current::NAME))? {
        Ok(None) if expected.runs.is_empty() => {}
        Ok(Some(named)) if named == expected => {}
        Ok(_) => found.push("CURRENT does not name the runs that are open".into()),
        Err(reason) => found.push(reason.into()),
    }
    for run in &version.runs {
        let name = run::name_of(run.number);
        match Run::open(&engine.disk, &engine.store_id, run.number) {
            Ok(again) if again.check == run.check => {}
            Ok(_) => found.push(format!("{name} is not the run that was opened")),
            Err(OpenFault::Damaged(reason)) => found.push(format!("{name} {reason}")),
            Err(OpenFault::Io(error)) => return Err(Error::io("read", &name)(error)),
        }
    }
    Ok(found)
}
