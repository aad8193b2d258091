//! Checking a store: its structure, or every byte, against what was written.

use std::ops::ControlFlow;
use std::path::Path;

use crate::codec::{ContentAddress, Flags, Header, Profile};
use crate::grain::{self, Grain};
use crate::index::{self, Batch, Comparison};
use crate::ledger::{self, Entry, EntryId, FileDisk, Kind};

use super::check_lineages::Lineages;
use super::check_signatures::{self, Signatures};
use super::checkpoint::{check_checkpoints, checkpointed};
use super::report::{Report, Severity};
use crate::store::commit::embedder_statuses;
use crate::store::engine::{Engine, Reach};
#[cfg(feature = "sealing")]
use crate::store::engine::{is_vault_rotten, vault_fault};
use crate::store::records::{COPY, MANIFEST, Manifest, SealedRecord, erased_rows};
use crate::store::state::{DecodedEntry, State, index_entry};
use crate::store::{Access, Error};

/// See [`Maintenance::check_structure`](crate::Maintenance::check_structure).
pub(crate) fn check_structure(store: &Access) -> Result<Report, Error> {
    let engine = store.engine();
    let _writer = engine.exclusive(Reach::Here)?;
    let mut report = Report {
        grains: store.snapshot().grains().len(),
        ..Report::default()
    };
    report.ledger(&ledger::verify_structure(
        engine.ledger(),
        engine.index().ledger_position(),
    )?);
    if report.findings.is_empty() {
        for row in engine.damaged() {
            let message = format!("entry {row}: the grain's bytes are damaged");
            report.find("ledger-damaged", Severity::Damage, message);
        }
    }
    #[cfg(feature = "sealing")]
    check_vault(engine, false, &mut report)?;
    check_files(engine, &mut report)?;
    Ok(report)
}

/// See [`Maintenance::check`](crate::Maintenance::check).
pub(crate) fn check(store: &Access) -> Result<Report, Error> {
    let engine = store.engine();
    // Held so that the index and the ledger are compared at one moment.
    let _writer = engine.exclusive(Reach::Here)?;
    let mut report = Report::default();
    let verification = ledger::verify_at(engine.ledger(), &checkpointed(engine))?;
    report.ledger(&verification);
    if verification.findings.is_empty() {
        if verification.head != engine.ledger().head() {
            let message = "the hash chain does not end in the leaf this process knows";
            report.find("ledger-head", Severity::Damage, message);
        }
        check_checkpoints(engine, &verification, &mut report)?;
        check_entries(engine, &mut report)?;
        check_state(engine, &mut report)?;
        check_withdrawals(engine, &mut report)?;
    }
    #[cfg(feature = "sealing")]
    check_vault(engine, true, &mut report)?;
    report.note("text-damaged", Severity::Damage, engine.check_text_files());
    check_files(engine, &mut report)?;
    Ok(report)
}

/// Checks the parts other than the ledger that every check covers.
fn check_files(engine: &Engine, report: &mut Report) -> Result<(), Error> {
    for name in [MANIFEST, COPY] {
        let message = match Manifest::read_file(engine.disk(), name, Path::new("")) {
            Ok(Some(found)) if found == *engine.manifest() => continue,
            Ok(Some(_)) => format!("{name} is not the one that was opened"),
            Ok(None) => format!("{name} is missing"),
            Err(error @ Error::Ledger(_)) => return Err(error),
            Err(error) => error.to_string(),
        };
        match name {
            MANIFEST => report.find("manifest-damaged", Severity::Damage, message),
            _ => report.find("manifest-copy", Severity::Warning, message),
        }
    }
    let index = engine.check_index_files()?;
    report.note("index-damaged", Severity::Damage, index);
    if engine.text().is_behind(engine.ledger().len()) {
        let message = "the text view lags behind; the next open catches up";
        report.find("text-behind", Severity::Warning, message);
    }
    if let Some(reason) = engine.text().unavailable() {
        let message = format!("{reason}; the next search builds it anew");
        report.find("text-unavailable", Severity::Warning, message);
    }
    for model in embedder_statuses(engine) {
        if let Some(reason) = model.failed {
            let waiting = model.waiting;
            let message = format!("{reason}; {waiting} grains wait and are tried again");
            report.find("embedder-failed", Severity::Warning, message);
        }
    }
    for torn in engine.ledger().torn_files()? {
        let message = format!(
            "{torn} holds what lay behind the last whole frame: the rest of a write that a crash \
             interrupted, or of a file that was cut or damaged; `recover` brings out the entries \
             in it that are whole"
        );
        report.find("torn-tail", Severity::Warning, message);
    }
    if !engine.state().erasures().open().is_empty() {
        let message = "an erasure waits: its grains cannot be read, derived files name them and \
                       are not compared";
        report.find("erasure-waits", Severity::Warning, message);
    }
    let unsealed = engine.state().keys().unsealed().len();
    if unsealed > 0 {
        let message = format!(
            "{unsealed} persons got keys, and what was stored of them before may be in the clear: \
             its sealing was interrupted"
        );
        report.find("seal-waits", Severity::Warning, message);
    }
    Ok(())
}

fn check_entries(engine: &Engine, report: &mut Report) -> Result<(), Error> {
    let mut comparison = Comparison::of(&engine.index());
    let mut batch = engine.index().batch();
    let mut signatures = Signatures::default();
    let mut lineages = Lineages::default();
    let mut outcome = Ok(());
    engine.ledger().scan(EntryId::FIRST, &mut |entry| {
        let opened = opened_for_check(engine, &entry, report);
        let clear = opened.as_ref().unwrap_or(&entry);
        signatures.see(clear, engine.resolver(), report);
        lineages.see(clear);
        let judged = match clear.header.kind {
            Kind::Grain => check_grain(engine, &comparison, clear, report),
            _ => Ok(()),
        };
        outcome = judged.and_then(|()| check_entry(engine, &mut batch, &entry, report));
        if entry.header.sequence.get() % BATCH_LEN == BATCH_LEN - 1 {
            comparison.add(std::mem::replace(&mut batch, engine.index().batch()));
        }
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    outcome?;
    signatures.finish(report);
    lineages.finish(report);
    let later: Vec<_> = engine.state().trust().signed().copied().collect();
    let snapshot = engine.snapshot();
    for address in later {
        if let Some(row) = engine.as_of(&snapshot).locate(&address)? {
            let grain = engine.as_of(&snapshot).version_at(row)?.grain;
            check_signatures::verify(&grain, engine.resolver(), report);
        }
    }
    comparison.add(batch);
    // Its terms are in the index, and its bytes are not in the ledger any more.
    if !engine.state().erasures().open().is_empty() {
        return Ok(());
    }
    let places = |range| engine.ledger().entry_locations(&range);
    for difference in comparison.finish(&places)? {
        report.find("index-differs", Severity::Damage, difference);
    }
    Ok(())
}

/// Compares the state that was kept live with the state that a store opened afresh would have.
/// Returns a sealed entry as it is in the clear, if its person is unlocked.
fn opened_for_check(
    engine: &Engine,
    entry: &Entry<'_>,
    report: &mut Report,
) -> Option<Entry<'static>> {
    if entry.header.kind != Kind::SealedGrain {
        return None;
    }
    let row = entry.header.sequence;
    let sealed = SealedRecord::decode(&entry.body)?;
    if !engine.keyring().has(&sealed.card.uid) {
        return None;
    }
    let Some(opened) = engine.keyring().open(&sealed) else {
        let message = format!("entry {row}: the key of its person does not open it");
        report.find("sealed-damaged", Severity::Damage, message);
        return None;
    };
    Some(opened.into_entry(entry.header))
}

fn check_state(engine: &Engine, report: &mut Report) -> Result<(), Error> {
    let folded = State::recover(engine.ledger(), &engine.snapshot(), engine.keyring())?;
    if folded != *engine.state() {
        let message = "the state in memory is not the fold of the ledger; reopen the store";
        report.find("state-differs", Severity::Damage, message);
    }
    Ok(())
}

fn check_entry(
    engine: &Engine,
    batch: &mut Batch,
    entry: &Entry<'_>,
    report: &mut Report,
) -> Result<(), Error> {
    let sequence = entry.header.sequence;
    let mut resolve = |_: &Batch, address: &_| locate_before(engine, sequence, address);
    let applied = DecodedEntry::decode(entry.clone())
        .and_then(|entry| index_entry(batch, &entry.as_entry(), &mut resolve));
    match applied {
        Err(Error::Damaged { what, reason }) => {
            let message = format!("{what}: {reason}");
            report.find("entry-malformed", Severity::Damage, message);
            Ok(())
        }
        // Faults of the index are found where all of it is read.
        Err(Error::Index(index::Error::Damaged { .. })) => Ok(()),
        other => other,
    }
}

fn check_grain(
    engine: &Engine,
    comparison: &Comparison,
    entry: &Entry<'_>,
    report: &mut Report,
) -> Result<(), Error> {
    let sequence = entry.header.sequence;
    let address = ContentAddress::new(entry.hash);
    let blob = entry.body.to_vec();
    let read = match Header::read(&blob) {
        Ok(header) if header.flags.contains(Flags::SIGNED) => {
            Grain::from_foreign_signed_blob(blob, Profile::Extended)
        }
        _ => Grain::from_foreign_blob(blob, Profile::Extended),
    };
    match read {
        Ok(_) => report.grains += 1,
        // Ruling I25: stored before there was a limit, and kept.
        Err(grain::Error::Range { ref field, .. }) if field == "namespace" => {
            report.grains += 1;
            let message = format!("entry {sequence}, grain {address}: namespace is too long");
            report.find("namespace-long", Severity::Warning, message);
        }
        Err(error) => {
            let message = format!("entry {sequence}, grain {address}: {error}");
            report.find("grain-invalid", Severity::Damage, message);
        }
    }
    match comparison.finds(&address, sequence) {
        Ok(true) | Err(index::Error::Damaged { .. }) => {}
        Ok(false) => {
            let message = format!("entry {sequence}: grain {address} is not found by address");
            report.find("index-differs", Severity::Damage, message);
        }
        Err(error) => return Err(error.into()),
    }
    if locate_before(engine, sequence, &address)?.is_some() {
        let message = format!("entry {sequence}: grain {address} is stored twice");
        report.find("grain-twice", Severity::Warning, message);
    }
    Ok(())
}

/// Returns the row of a grain that was stored before an entry.
fn locate_before(
    engine: &Engine,
    row: EntryId,
    address: &ContentAddress,
) -> Result<Option<EntryId>, Error> {
    let found = engine.as_of(&engine.snapshot()).locate(address);
    match found {
        Err(Error::Index(index::Error::Damaged { .. })) => Ok(None),
        found => Ok(found?.filter(|found| *found < row)),
    }
}

/// Finds withdrawals that have no effect, because the entry of it is gone.
fn check_withdrawals(engine: &Engine, report: &mut Report) -> Result<(), Error> {
    for effect in engine.as_of(&engine.snapshot()).missing_effects()? {
        let (by, consent) = (effect.withdrawal, effect.consent);
        let message = format!(
            "grain {by} withdraws the consent {consent}, and no entry gives it effect; a repair \
             records one"
        );
        report.find("withdrawal-lost", Severity::Damage, message);
    }
    Ok(())
}

#[cfg(feature = "sealing")]
fn check_vault(engine: &Engine, all: bool, report: &mut Report) -> Result<(), Error> {
    if let Some(fault) = vault_fault(engine, all)? {
        report.find("vault-damaged", Severity::Damage, fault);
    } else if is_vault_rotten(engine) {
        let message = "vault/vault.redb is not what was written: its copy stands in for it, and takes \
                       its place at the next change of keys";
        report.find("vault-copy", Severity::Warning, message);
    }
    Ok(())
}

/// Entries compared at once.
const BATCH_LEN: u64 = 1_000;

/// See [`verify_damaged`](crate::recovery::verify_damaged).
pub(crate) fn verify_damaged(path: impl AsRef<Path>) -> Result<Report, Error> {
    let path = path.as_ref();
    let disk = FileDisk::new(path);
    let manifest = Manifest::read(&disk, path)?.ok_or_else(|| Error::NotAStore {
        path: path.to_owned(),
        reason: "it has no MANIFEST".into(),
    })?;
    let mut report = Report::default();
    report.ledger(&ledger::verify(&disk, &manifest.store_id, erased_rows)?);
    Ok(report)
}
