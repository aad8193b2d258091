use crate::ledger::LedgerPosition;

use crate::index::engine::current::{self, CurrentFile};
use crate::index::run::{self, OpenFault, Run};
use crate::index::{Error, Index};

impl Index {
    /// Reads `CURRENT` again, and of each run what is not in a block, and returns in words what is
    /// not as it was written. Quick: no key is read.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; damage is a difference.
    pub fn check_structure(&self) -> Result<Vec<String>, Error> {
        let engine = self.engine();
        // So that no version is published meanwhile.
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

    /// Returns the last moment of the ledger that the runs on disk know of.
    pub fn ledger_position(&self) -> Option<LedgerPosition> {
        let version = self.engine().version();
        version.runs.iter().rev().find_map(|run| run.position)
    }
}
