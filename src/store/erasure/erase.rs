//! Erasure: an entry that begins it, blanked bytes, rewritten derived files, an entry that completes
//! it. A crash at any point leaves an erasure that the next open completes.

use std::collections::BTreeSet;

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::index::{Family, Snapshot};
use crate::ledger::{self, EntryId, Kind, Ledger};
use crate::policy::Authorization;
use crate::store::Error;
use crate::store::engine::{
    Caller, Engine, Reach, blank_shared, erase_text, leave_expunged, remove_text_files,
    take_expunged,
};
use crate::store::erasure::person::destroy_keys;
use crate::store::erasure::protections::protections_left_by;
use crate::store::read::forget_reads;
use crate::store::records::{ErasedRecord, ErasingRecord, Record, SealedRecord, Uid};
#[cfg(feature = "sealing")]
use crate::store::rules::Deed;
use crate::store::rules::{Permit, Turn};
use crate::store::txn::{AdmittedFrame, Transaction};

/// Commits a frame whose sealed entries stand for entries in the clear, and erases these.
///
/// # Errors
/// Storage errors.
#[cfg(feature = "sealing")]
pub(crate) fn erase_replaced(
    engine: &Engine,
    txn: &mut Transaction<'_>,
    mut frame: AdmittedFrame,
    rows: &[EntryId],
) -> Result<(), Error> {
    let erasing = Record::Erasing(ErasingRecord {
        rows: rows.to_vec(),
        reason: "sealed under the key of the person".to_owned(),
        authority: "the owner".to_owned(),
        ..ErasingRecord::default()
    });
    frame.change(&Permit::of(Deed::Seal), &erasing)?;
    let written = with_room(engine, || txn.append(&frame))?;
    let begun: Vec<EntryId> = EntryId::all(&written).rev().take(1).collect();
    complete_erasure(engine, txn, &begun, rows, true)
}

/// Completes the erasures that a crash, an error or a full disk interrupted, and those that
/// processes began which do not keep the derived files.
///
/// # Errors
/// Storage errors.
pub(crate) fn resume_erasures(engine: &Engine) -> Result<(), Error> {
    if engine.state().erasures().open().is_empty() {
        return Ok(());
    }
    resume_erasures_as(engine, &mut Transaction::begin(engine, Caller::default())?)
}

/// Completes them for the thread that writes.
///
/// # Errors
/// Storage errors.
pub(crate) fn resume_erasures_as(engine: &Engine, txn: &mut Transaction<'_>) -> Result<(), Error> {
    let open = engine.state().erasures().open().clone();
    if open.is_empty() {
        return Ok(());
    }
    let begun: Vec<EntryId> = open.keys().copied().collect();
    let rows: Vec<EntryId> = open.into_values().flatten().collect();
    // The first attempt may have hidden the rows before the state was recovered.
    complete_erasure(engine, txn, &begun, &rows, true)
}

/// Begins and completes the erasure of grains that may be deleted, each with its row: one frame
/// begins it, so that a crash leaves all of it or nothing, and the files are rewritten once.
/// Returns the entries that began it, and the number of entries that it blanked.
///
/// # Errors
/// Storage errors.
pub(super) fn erase(
    engine: &Engine,
    txn: &mut Transaction<'_>,
    permit: &Permit,
    snapshot: &Snapshot,
    targets: &[(EntryId, ContentAddress)],
    persons: &ErasedPersons,
    authorization: Authorization<'_>,
) -> Result<(Vec<EntryId>, usize), Error> {
    let mut frame = txn.take_frame();
    let mut records =
        erasing_records(engine, permit, snapshot, targets, &mut frame, authorization)?;
    if let Some(first) = records.first_mut() {
        let sealed = targets.iter();
        let sealed = sealed.filter_map(|(row, _)| snapshot.overlay_of(*row));
        let residue: BTreeSet<Uid> = sealed.filter(|uid| !persons.uids.contains(uid)).collect();
        first.residue.extend(residue);
    }
    add_persons(engine, snapshot, &mut records, persons, authorization)?;
    let rows = records
        .iter()
        .flat_map(|record| record.rows.iter().copied());
    let rows: Vec<EntryId> = rows.collect();
    let count = records.len();
    for record in records {
        frame.change(permit, &Record::Erasing(record))?;
    }
    let is_of_state = engine.state().rests_on(&rows, snapshot)?;
    let written = with_room(engine, || txn.append(&frame))?;
    // The erasing entries are the last of their frame.
    let mut begun: Vec<EntryId> = EntryId::all(&written).rev().take(count).collect();
    begun.reverse();
    complete_erasure(engine, txn, &begun, &rows, is_of_state)?;
    Ok((begun, rows.len()))
}

/// Runs a step of an erasure, which a full disk must not prevent: the ballast makes room for it,
/// then the text view, which is derived.
fn with_room<T>(engine: &Engine, mut step: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let mut outcome = step();
    let makes_room: &[MakesRoom] = match engine.is_keeper() {
        true => &[release_ballast, remove_text_files],
        false => &[release_ballast],
    };
    for makes_room in makes_room {
        outcome = match outcome {
            Err(error) if error.code() == ErrorCode::StorageFull => {
                makes_room(engine, &error)?;
                match step() {
                    // The first error tells more: the write may have happened.
                    Err(halted) if halted.code() == ErrorCode::StorageHalted => Err(error),
                    outcome => outcome,
                }
            }
            outcome => return outcome,
        };
    }
    outcome
}

/// Carries out erasures that the ledger holds as the entries `begun`. Every step can be repeated.
fn complete_erasure(
    engine: &Engine,
    txn: &mut Transaction<'_>,
    begun: &[EntryId],
    rows: &[EntryId],
    is_of_state: bool,
) -> Result<(), Error> {
    // Of a sealed person, before anything else: their key. Without the master key the rest is
    // done, and the erasure waits for it.
    let destroyed = destroy_keys(engine, txn);
    // So that no snapshot shows it from here on, however old.
    engine.index().erase(rows.iter().copied());
    engine.caches().forget(rows);
    engine.ledger().redact(rows)?;
    blank_shared(engine, rows)?;
    if is_of_state {
        engine.recover_state()?;
    }
    engine.ledger().remove_torn_files()?;
    // The files that hold the rest are another process's to write.
    if !engine.is_keeper() {
        return destroyed;
    }
    expunge(engine, rows)?;
    destroyed?;
    let mut frame = AdmittedFrame::default();
    for begun in begun.iter().copied() {
        frame.record(&Record::Erased(ErasedRecord { begun }))?;
    }
    with_room(engine, || txn.append(&frame))?;
    if let Err(error) = engine.ballast().restore(engine.disk()) {
        tracing::warn!(%error, "no room is kept for erasing on a full disk");
    }
    Ok(())
}

/// Removes entries from the derived files, which this process keeps.
fn expunge(engine: &Engine, rows: &[EntryId]) -> Result<(), Error> {
    with_room(engine, || Ok(engine.index().expunge()?))?;
    erase_text(engine, rows)?;
    if let Some(counts) = engine.retrievals() {
        with_room(engine, || Ok(counts.forget(rows)?))?;
    }
    Ok(())
}

/// Removes from the derived files of this machine the entries that another machine erased.
///
/// # Errors
/// Storage errors; the entries stay hidden, and the next attempt removes them.
pub(crate) fn expunge_followed(engine: &Engine) -> Result<(), Error> {
    let rows = take_expunged(engine);
    if rows.is_empty() {
        return Ok(());
    }
    let _writer = engine.exclusive(Reach::Here)?;
    engine.ledger().remove_torn_files()?;
    expunge(engine, &rows).inspect_err(|_| leave_expunged(engine, &rows))
}

/// Adds the persons whose keys go to the first of the records, with every entry that is sealed
/// for them and is not about a grain that is held.
fn add_persons(
    engine: &Engine,
    snapshot: &Snapshot,
    records: &mut Vec<ErasingRecord>,
    persons: &ErasedPersons,
    authorization: Authorization<'_>,
) -> Result<(), Error> {
    if persons.uids.is_empty() {
        return Ok(());
    }
    if records.is_empty() {
        records.push(ErasingRecord {
            reason: authorization.reason.to_owned(),
            authority: authorization.authority.to_owned(),
            ..ErasingRecord::default()
        });
    }
    let mut skipped: BTreeSet<EntryId> = records
        .iter()
        .flat_map(|record| record.rows.iter().copied())
        .collect();
    let Some(first) = records.first_mut() else {
        return Ok(());
    };
    first.persons.extend(&persons.uids);
    for held in &persons.held {
        skipped.insert(held.row);
        for family in [Family::Mentions, Family::Read] {
            skipped.extend(snapshot.pointing_at(family, &held.address).rows()?.iter());
        }
        if !first.held.contains(&held.uid) {
            first.held.push(held.uid);
        }
    }
    for uid in &persons.uids {
        for row in snapshot.sealed_for(uid).rows()?.iter() {
            if !skipped.contains(&row) && is_sealed_for(engine.ledger(), row, uid)? {
                first.rows.push(row);
            }
        }
    }
    Ok(())
}

fn release_ballast(engine: &Engine, _full: &dyn std::error::Error) -> Result<(), Error> {
    Ok(engine.ballast().release(engine.disk())?)
}

/// Returns the records that begin the erasure: every entry that names one of the grains, and
/// the tombstones of the grains. The parts of such an entry about other grains are written
/// again.
fn erasing_records(
    engine: &Engine,
    permit: &Permit,
    snapshot: &Snapshot,
    targets: &[(EntryId, ContentAddress)],
    frame: &mut AdmittedFrame,
    authorization: Authorization<'_>,
) -> Result<Vec<ErasingRecord>, Error> {
    let all: BTreeSet<ContentAddress> = targets.iter().map(|(_, address)| *address).collect();
    // An entry may name two of them, and is listed once.
    let mut listed = BTreeSet::new();
    let mut reads = forget_reads(engine, snapshot, &all, frame)?;
    let mut records = Vec::with_capacity(targets.len().div_ceil(LISTED_AT_ONCE));
    for targets in targets.chunks(LISTED_AT_ONCE) {
        let mut rows = std::mem::take(&mut reads);
        let tombstones = erasure_plan(engine, permit, snapshot, targets, &all, &mut rows, frame)?;
        rows.retain(|row| listed.insert(*row));
        records.push(ErasingRecord {
            rows: rows.into_iter().collect(),
            tombstones,
            protections: protections_left_by(engine, snapshot, targets)?,
            persons: Vec::new(),
            held: Vec::new(),
            residue: Vec::new(),
            reason: authorization.reason.to_owned(),
            authority: authorization.authority.to_owned(),
        });
    }
    Ok(records)
}

/// Adds the entries that name one of `targets`, which are of `all` that are erased, to `rows`,
/// and returns the tombstones.
fn erasure_plan(
    engine: &Engine,
    permit: &Permit,
    snapshot: &Snapshot,
    targets: &[(EntryId, ContentAddress)],
    all: &BTreeSet<ContentAddress>,
    rows: &mut BTreeSet<EntryId>,
    frame: &mut AdmittedFrame,
) -> Result<Vec<[u8; 32]>, Error> {
    // OMS 28.4: the same mark for a sealed grain, since it must outlive the key of the person.
    let key = engine.manifest().tombstone_key();
    let mut tombstones = Vec::with_capacity(targets.len());
    for (row, address) in targets {
        rows.insert(*row);
        tombstones.push(key.of_address(address));
        tombstones.extend(turn_mark(engine, *row, address)?);
        let mentions = snapshot.pointing_at(Family::Mentions, address).rows()?;
        for entry in mentions.iter() {
            match engine.record_at(entry)? {
                Record::Status(status) if status.of != *address => {
                    if status.change.superseded_by != Some(*address) {
                        continue;
                    }
                    if !all.contains(&status.of) {
                        let time_ms = engine.ledger().read(entry)?.header.time_ms;
                        let kept = status.without_successor(entry, Time::from_ms(time_ms));
                        frame.change(permit, &Record::Status(kept))?;
                    }
                }
                // The index holds hashes of addresses.
                record if record.about() != Some(*address) => continue,
                Record::Alias(alias) => tombstones.push(key.of_foreign_id(&alias.id)),
                _ => {}
            }
            rows.insert(entry);
        }
    }
    Ok(tombstones)
}

/// Returns the mark of the turn that a grain says. Bytes that cannot be read say none, and are erased all the
/// same.
fn turn_mark(
    engine: &Engine,
    row: EntryId,
    address: &ContentAddress,
) -> Result<Option<[u8; 32]>, Error> {
    let key = engine.manifest().tombstone_key();
    match engine.grain_at(row, address) {
        Ok(grain) => Ok(Turn::of(&grain).map(|turn| turn.mark(&key))),
        Err(error) => match error.code() {
            ErrorCode::StorageDamaged
            | ErrorCode::Integrity
            | ErrorCode::Corrupt
            | ErrorCode::Locked => Ok(None),
            _ => Err(error),
        },
    }
}

/// Returns whether an entry is sealed for a person: the index holds a hash of the pseudonym.
fn is_sealed_for(ledger: &Ledger, row: EntryId, uid: &Uid) -> Result<bool, Error> {
    let entry = match ledger.read(row) {
        Err(ledger::Error::Erased { .. }) => return Ok(false),
        entry => entry?,
    };
    let sealed = SealedRecord::decode(&entry.body);
    Ok(entry.header.kind == Kind::SealedGrain
        && sealed.is_some_and(|sealed| sealed.card.uid == *uid))
}

/// The sealed persons whose keys an erasure destroys; none for a deletion.
#[derive(Debug, Default)]
pub(super) struct ErasedPersons {
    pub(super) uids: Vec<Uid>,
    /// Their grains that stay, under a hold key.
    pub(super) held: Vec<HeldGrain>,
}

/// A grain that stays when its person is erased.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldGrain {
    pub(super) uid: Uid,
    pub(super) row: EntryId,
    pub(super) address: ContentAddress,
}

/// A way to free space on the disk.
type MakesRoom = fn(&Engine, &dyn std::error::Error) -> Result<(), Error>;

/// Grains of one erasing entry: a look-up of a tombstone reads the whole entry.
const LISTED_AT_ONCE: usize = 1_000;
