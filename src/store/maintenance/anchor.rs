//! A check that is on record, and compared with a note that was kept elsewhere.

use crate::crypto::Note;
use crate::store::audit::record_check;
use crate::store::records::CheckedRecord;
use crate::store::{Audit, Error};

use super::report::{Report, Severity};

impl Audit<'_> {
    /// Checks the store as [`Maintenance::check`](crate::store::Maintenance::check) does, or as
    /// [`Maintenance::check_structure`](crate::store::Maintenance::check_structure), and compares
    /// its ledger with a note. The check is recorded in the ledger, unless the store was opened for
    /// reading only, or the ledger is damaged: then it stays as it was found.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("hello"))?;
    /// let audit = store.maintenance()?.audit();
    /// let note = audit.head()?;
    /// let report = audit.check(true, Some(&note))?;
    /// assert_eq!((report.findings.len(), report.anchor), (0, Some(1)));
    /// assert_eq!(audit.check(false, None)?.anchor, None);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors; damage is a finding, not an error.
    pub fn check(self, is_deep: bool, since: Option<&Note>) -> Result<Report, Error> {
        let mut report = match is_deep {
            true => self.maintenance().check()?,
            false => self.maintenance().check_structure()?,
        };
        if let Some(note) = since {
            match self.extends(note) {
                Ok(true) => report.anchor = Some(note.entries()),
                Ok(false) => {
                    let message = "the ledger does not begin with the entries of the checkpoint: it \
                                   was rolled back, or its past was rewritten";
                    report.find("checkpoint-differs", Severity::Damage, message);
                }
                Err(error @ Error::Ledger(crate::ledger::Error::Damaged { .. })) => {
                    report.find("checkpoint-differs", Severity::Damage, error);
                }
                Err(error) => return Err(error),
            }
        }
        let mut ids = report.findings.iter().map(|finding| finding.id);
        if ids.any(|id| id.starts_with("ledger-")) {
            return Ok(report);
        }
        let count = |severity| {
            let findings = report.findings.iter();
            findings.filter(|it| it.severity == severity).count() as u64
        };
        record_check(
            self.engine(),
            CheckedRecord {
                is_deep,
                warnings: count(Severity::Warning),
                damage: count(Severity::Damage),
                anchor: report.anchor,
            },
        )?;
        Ok(report)
    }
}
