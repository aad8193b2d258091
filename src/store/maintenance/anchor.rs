//! A check that is on record, and compared with a note that was kept elsewhere.

use crate::crypto::Note;
use crate::store::audit::{audit, record_check};
use crate::store::records::CheckedRecord;
use crate::store::{Access, Error};

use super::check::{check, check_structure};
use super::report::{Report, Severity};

/// See [`Maintenance::check_on_record`](crate::Maintenance::check_on_record).
pub(crate) fn check_on_record(
    store: &Access,
    is_deep: bool,
    since: Option<&Note>,
) -> Result<Report, Error> {
    let mut report = match is_deep {
        true => check(store)?,
        false => check_structure(store)?,
    };
    if let Some(note) = since {
        match audit(store).extends(note) {
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
        store.engine(),
        CheckedRecord {
            is_deep,
            warnings: count(Severity::Warning),
            damage: count(Severity::Damage),
            anchor: report.anchor,
        },
    )?;
    Ok(report)
}
