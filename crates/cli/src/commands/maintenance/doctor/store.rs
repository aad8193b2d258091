//! The part of `doctor` that asks the store: about its opening, the clock, holds, erasures, and a backup.

use std::path::Path;

use grainstore::ledger::EntryId;
use grainstore::store::{AuditEntry, AuditFilter, Create};
use grainstore::{Options, Store};

use super::{Finding, Weight, failed};
use crate::commands::policy::suspicion;

/// Adds what the store says about itself.
pub(super) fn look(store: &Store, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let opened = store.maintenance()?.recovery_report();
    let rebuilt = [
        ("index-rebuilt", "the index", &opened.index_rebuilt),
        ("text-rebuilt", "the text index", &opened.text_rebuilt),
    ];
    for (id, what, reason) in rebuilt {
        if let Some(reason) = reason {
            let message = format!("{what} was built anew on opening: {reason}");
            findings.push(Finding::new(id, Weight::Note, message));
        }
    }
    let admin = store.admin()?;
    if let Some(suspicion) = suspicion(&admin.clock_state()) {
        let message = format!("the clock is {suspicion}");
        findings.push(Finding::new("clock-doubted", Weight::Warning, message));
    }
    let pending = admin.pending_erasures()?;
    if !pending.is_empty() {
        let message = format!("grains that rest on withdrawn consents: {}", pending.len());
        let finding = Finding::new("erasures-due", Weight::Warning, message);
        findings.push(finding.advising("`grainstore consent run` erases them"));
    }
    let waiting = admin.waiting_persons()?.len();
    if waiting > 0 {
        let message =
            format!("locked persons of whom grains may rest on withdrawn consents: {waiting}");
        let finding = Finding::new("erasures-due-locked", Weight::Warning, message);
        findings.push(finding.advising(
            "`grainstore consent due` names them; `consent run` erases with the master key, and else \
             when they are unlocked",
        ));
    }
    let holds = admin.holds();
    if let Some(oldest) = holds.iter().map(|hold| hold.since).min() {
        let message = format!("legal holds in force: {}, since {oldest}", holds.len());
        let finding = Finding::new("holds", Weight::Note, message);
        findings.push(finding.advising("`grainstore hold list` shows them, `hold lift` ends one"));
    }
    Ok(())
}

/// Returns whether the entries from one on record checks of the store and nothing else, up to some number.
fn only_checks(store: &Store, from: u64) -> anyhow::Result<bool> {
    let Some(before) = from.checked_sub(1).map(EntryId::new) else {
        return Ok(false);
    };
    let audit = store.maintenance()?;
    let audit = audit.audit();
    let entries = audit.log(&AuditFilter::default(), Some(before), CHECKS_MAX + 1)?;
    let is_check = |entry: &AuditEntry| entry.operation == "check";
    Ok(entries.len() <= CHECKS_MAX && entries.iter().all(is_check))
}

/// After more of them a backup is due all the same.
const CHECKS_MAX: usize = 1_000;

/// Compares the store with its backup.
pub(super) fn backup(store: &Store, path: &Path, backup: Option<&Path>) -> anyhow::Result<Finding> {
    let Some(backup) = backup else {
        let message = "whether there is a backup is not known here";
        return Ok(Finding::new("backup-unknown", Weight::Note, message)
            .advising("pass --backup DIR, or name it as `backup` in grainstore.toml"));
    };
    let shown = backup.display();
    let make = format!(
        "`grainstore --store {} backup {shown}` makes one",
        path.display()
    );
    let options = Options {
        create: Create::Never,
        text: None,
        ..Options::default()
    };
    let copy = match Store::open(backup, options.read_only()) {
        Ok(copy) => copy,
        Err(error) => return Ok(failed("backup-missing", &error).advising(make)),
    };
    let (here, there) = (store.maintenance()?.stats()?, copy.maintenance()?.stats()?);
    let behind = here.entries.saturating_sub(there.entries);
    let finding = if here.store_id != there.store_id {
        let message = format!("{shown} is no backup of this store");
        Finding::new("backup-missing", Weight::Warning, message).advising(make)
    } else if behind > 0 && only_checks(store, there.entries)? {
        let message = format!("the backup in {shown} has all but {behind} records of checks");
        Finding::new("backup", Weight::Note, message)
    } else if here.entries != there.entries {
        let message = format!("the backup in {shown} lacks the last {behind} ledger entries");
        Finding::new("backup-behind", Weight::Warning, message).advising(make)
    } else {
        let message = format!("the backup in {shown} has all {} entries", there.entries);
        Finding::new("backup", Weight::Note, message)
    };
    Ok(finding)
}
