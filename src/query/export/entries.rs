//! The grains of an export: chosen as a writer first reads them, and read again as it writes them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use crate::code::ErrorCode;
use crate::codec::{ContentAddress, Flags};
use crate::grain::{Grain, Status};
use crate::index::Snapshot;
use crate::interchange::{
    Entries, Entry, Loss, StoredVector, WriteOptions, each, is_link, mg, surveyed,
};
use crate::ledger::EntryId;
use crate::policy::RecordedAuthorization;
use crate::process::{Mutex, MutexGuard};
use crate::store::governance::holds_on;
use crate::store::read::{
    is_still_there, read_recorder, rows_changed_from, sound_version_at, stored_vector,
    unindexed_damage, vector_rows,
};
use crate::store::{Access, Owner, ReadRecorder, governance, read};

use super::filter::ExportFilter;
use super::{Error, Filter, exportable_rows};

/// The grains that pass a filter and may leave the store, in the order of storage: eight bytes each.
///
/// Whether a grain may leave is decided as it is first read. Grains that must not, and links to them
/// in a file for others, keep their numbers and read as `None` from then on.
pub(super) struct StoreEntries<'a> {
    store: &'a Access,
    snapshot: Snapshot,
    rows: Vec<EntryId>,
    filter: ExportFilter<'a>,
    first: Mutex<FirstReading<'a>>,
    /// Whether any clause requires reads to be recorded.
    is_watched: bool,
    kept: Mutex<Kept>,
    /// The numbers of the grains that are left out, after the first reading, and of the links to them.
    withheld: OnceLock<Vec<u32>>,
    severed: OnceLock<Vec<u32>>,
    /// The newest vector of each grain that has one, by number.
    vectors: Vec<(u32, EntryId)>,
    with_vectors: bool,
    /// Whether the file is for others, or an actor asked for it.
    is_shareable: bool,
    skip_damaged: bool,
}

/// Grains of the first reading that are kept for the next, with their statuses in the store: those
/// of a small export, or some of a large one.
#[derive(Default)]
struct Kept {
    entries: HashMap<u32, Entry>,
    blobs_len: usize,
}

/// The findings of the first reading.
struct FirstReading<'a> {
    withheld: BTreeMap<u32, ContentAddress>,
    /// Those with an operator's hold, and those of them whose holds are written.
    held: BTreeSet<ContentAddress>,
    carried: BTreeSet<ContentAddress>,
    recorder: Option<ReadRecorder<'a>>,
    damaged: BTreeSet<u64>,
    loss: Loss,
}

/// Chooses the grains that may leave the store, in a file for others: without what their owners
/// do not share, and the links to it.
pub(super) fn entries<'a>(
    owner: Owner<'a>,
    filter: &Filter,
    options: &WriteOptions,
) -> Result<StoreEntries<'a>, Error> {
    let snapshot = owner.store().snapshot();
    let export_filter =
        ExportFilter::by_policy(owner.store(), options.purpose).and_by_owner(&snapshot)?;
    chosen(owner, snapshot, filter, export_filter, options)
}

/// Chooses the grains of an archive or JSON lines, which are copies and hold what owners do not
/// share, unless they are for others.
pub(crate) fn copied<'a>(
    owner: Owner<'a>,
    filter: &Filter,
    options: &WriteOptions,
) -> Result<StoreEntries<'a>, Error> {
    if options.shareable {
        return entries(owner, filter, options);
    }
    let export_filter = ExportFilter::by_policy(owner.store(), options.purpose);
    chosen(
        owner,
        owner.store().snapshot(),
        filter,
        export_filter,
        options,
    )
}

fn chosen<'a>(
    owner: Owner<'a>,
    snapshot: Snapshot,
    filter: &Filter,
    export_filter: ExportFilter<'a>,
    options: &WriteOptions,
) -> Result<StoreEntries<'a>, Error> {
    let store = owner.store();
    let mut loss = Loss::default();
    let rows = exportable_rows(store, &snapshot, filter, &mut loss)?;
    let rows: Vec<EntryId> = match options.changed_from {
        None => rows.iter().collect(),
        Some(from) => {
            let changed = rows_changed_from(store, &snapshot, EntryId::new(from))?;
            rows.iter().filter(|row| changed.contains(row)).collect()
        }
    };
    let recorder = read_recorder(store, "export");
    // No filter knows the damaged ones that the index does not have.
    let damaged: BTreeSet<u64> = unindexed_damage(store).collect();
    if let (Some(row), false) = (damaged.first(), options.skip_damaged) {
        return Err(damage_at(*row));
    }
    let first = FirstReading {
        withheld: BTreeMap::new(),
        held: BTreeSet::new(),
        carried: BTreeSet::new(),
        recorder: recorder.is_watched().then_some(recorder),
        damaged,
        loss,
    };
    let mut entries = StoreEntries {
        store,
        rows,
        filter: export_filter,
        is_watched: first.recorder.is_some(),
        first: Mutex::new(first),
        kept: Mutex::default(),
        withheld: OnceLock::new(),
        severed: OnceLock::new(),
        vectors: Vec::new(),
        with_vectors: options.with_embeddings,
        is_shareable: options.shareable || owner.within().is_some(),
        skip_damaged: options.skip_damaged,
        snapshot,
    };
    entries.find_vectors()?;
    Ok(entries)
}

impl<'a> StoreEntries<'a> {
    fn first(&self) -> MutexGuard<'_, FirstReading<'a>> {
        self.first.lock()
    }

    /// Returns what was left out, once everything is written.
    pub(super) fn loss(&self) -> Loss {
        let first = self.first();
        let mut loss = first.loss.clone();
        first.damaged.iter().for_each(|row| loss.add_damaged(*row));
        let lost = first.held.difference(&first.carried);
        lost.for_each(|_| loss.count("hold"));
        loss
    }

    /// Decides whether a grain may leave, as it is read for the first time.
    fn may_leave(&self, number: u32, grain: &Grain) -> bool {
        let reason = self.filter.reason(grain);
        let is_held = reason.is_none() && !holds_on(self.store, &grain.address()).is_empty();
        if reason.is_none() && !self.is_watched && !is_held {
            return true;
        }
        let mut first = self.first();
        if is_held {
            first.held.insert(grain.address());
        }
        match reason {
            Some(reason) => {
                // A survey may read a grain twice.
                if first.withheld.insert(number, grain.address()).is_none() {
                    first.loss.count(&reason);
                }
                false
            }
            None => {
                if let Some(recorder) = &mut first.recorder {
                    recorder.add(grain);
                }
                true
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }

    /// Keeps a grain that was read for the first time, as long as those that are kept are few. A
    /// compressed one is not kept: its length does not tell how much memory it takes.
    fn keep(&self, number: u32, row: EntryId, (grain, status): (&Grain, Status)) {
        let is_compressed = grain.header().flags.contains(Flags::COMPRESSED);
        let mut kept = self.kept();
        let len = kept.blobs_len.saturating_add(grain.blob().len());
        if len <= KEPT_LEN_MAX && !is_compressed && is_still_there(self.store, row) {
            kept.blobs_len = len;
            kept.entries.insert(number, (grain.clone(), status));
        }
    }

    /// Finds the links to withheld grains, which are left out of a file for others, and counts the
    /// other references to them.
    fn severed(&self) -> Result<Vec<u32>, Error> {
        let mut severed = Vec::new();
        let leaves_out = self.filter.is_for_others();
        let make = |number: u32, (grain, _): Entry| {
            let mut loss = Loss::default();
            let is_severed = leaves_out && is_link(&grain) && self.filter.names(&grain);
            if is_severed {
                loss.count("link to what is withheld");
            } else {
                self.filter.count_dangling(&grain, &mut loss);
            }
            Ok((is_severed.then_some(number), loss))
        };
        each(self, 0..self.count(), make, |(number, lost)| {
            self.first().loss.merge(&lost);
            severed.extend(number);
            Ok::<(), Error>(())
        })?;
        Ok(severed)
    }

    fn is_left_out(&self, number: u32) -> bool {
        let numbers = [self.withheld.get(), self.severed.get()];
        let mut numbers = numbers.into_iter().flatten();
        numbers.any(|numbers| numbers.binary_search(&number).is_ok())
    }

    fn find_vectors(&mut self) -> Result<(), Error> {
        let (rows, vectors) = (&self.rows, &mut self.vectors);
        vector_rows(self.store, &self.snapshot, &mut |of, row| {
            let number = rows.binary_search(&of).ok();
            let number = number.and_then(|number| u32::try_from(number).ok());
            vectors.extend(number.map(|number| (number, row)));
        })?;
        // The newest of each comes first, and stays.
        vectors.sort_unstable_by_key(|(number, row)| (*number, std::cmp::Reverse(*row)));
        vectors.dedup_by_key(|(number, _)| *number);
        Ok(())
    }

    /// Describes the grains by time, and those of the same time in the order of storage.
    pub(super) fn by_time(&self) -> Result<Vec<mg::Entry>, Error> {
        let mut list = surveyed(self, || {
            let mut list = Vec::with_capacity(self.rows.len());
            let make = |_, (grain, status): Entry| Ok(mg::Entry::of(&grain, &status));
            each(self, 0..self.count(), make, |entry| {
                list.push(entry);
                Ok::<(), Error>(())
            })?;
            Ok(list)
        })?;
        // Stable: grains of the same time keep their order.
        list.sort_by_key(mg::Entry::created_at);
        Ok(list)
    }

    /// Returns whether the export is to have any vector.
    pub(super) fn has_vectors(&self) -> bool {
        let mut numbers = self.vectors.iter().map(|(number, _)| *number);
        self.with_vectors && numbers.any(|number| !self.is_left_out(number))
    }

    /// Reads a grain that was described.
    pub(super) fn fetch(&self, address: &ContentAddress) -> Result<Grain, Error> {
        let found = self.find(address)?.map(|number| self.read(number));
        let found = found.transpose()?.flatten();
        found
            .map(|(grain, _)| grain)
            .ok_or(Error::NotFound { address: *address })
    }

    /// Counts the vectors of grains that a format does not write.
    pub(super) fn count_vectors(
        &self,
        is_written: impl Fn(&Grain) -> bool,
        loss: &mut Loss,
    ) -> Result<(), Error> {
        for (number, _) in &self.vectors {
            let found = self.read(*number)?;
            if found.is_some_and(|(grain, _)| !is_written(&grain)) {
                loss.count("embedding");
            }
        }
        Ok(())
    }
}

fn damage_at(row: u64) -> Error {
    let reason = "its bytes are not what was written, and nothing is exported";
    Error::damaged(format!("entry {row}"), reason)
}

fn row_of(rows: &[EntryId], number: u32) -> Option<EntryId> {
    rows.get(usize::try_from(number).ok()?).copied()
}

impl Entries for StoreEntries<'_> {
    type Error = Error;

    fn person(&self, user: &str) -> Result<String, Error> {
        governance::person(self.store, &self.snapshot, user)
    }

    fn count(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    fn read(&self, number: u32) -> Result<Option<Entry>, Error> {
        let row = row_of(&self.rows, number).filter(|_| !self.is_left_out(number));
        let Some(row) = row else {
            return Ok(None);
        };
        let kept = self.kept().entries.get(&number).cloned();
        if let Some((grain, status)) = kept.filter(|_| is_still_there(self.store, row)) {
            return Ok(Some((grain, self.filter.unnamed(status))));
        }
        match sound_version_at(self.store, &self.snapshot, row) {
            // Since the snapshot, by this process or another: no snapshot has it any more.
            Err(error) if error.code() == ErrorCode::Erased => Ok(None),
            Err(error) => Err(error),
            Ok(Some(version)) => {
                if self.withheld.get().is_none() {
                    if !self.may_leave(number, &version.grain) {
                        return Ok(None);
                    }
                    self.keep(number, row, (&version.grain, version.status));
                }
                let status = self.filter.unnamed(version.status);
                Ok(Some((version.grain, status)))
            }
            Ok(None) if !self.skip_damaged => Err(damage_at(row.get())),
            Ok(None) => {
                self.first().damaged.insert(row.get());
                Ok(None)
            }
        }
    }

    fn find(&self, address: &ContentAddress) -> Result<Option<u32>, Error> {
        let row = read::row_of(self.store, &self.snapshot, address)?;
        let number = row.and_then(|row| self.rows.binary_search(&row).ok());
        let number = number.and_then(|number| u32::try_from(number).ok());
        Ok(number.filter(|number| !self.is_left_out(*number)))
    }

    fn holds(&self, of: &ContentAddress) -> Vec<RecordedAuthorization> {
        // Why a grain is held is for those who hold it.
        if self.is_shareable {
            return Vec::new();
        }
        let holds = holds_on(self.store, of);
        if !holds.is_empty() {
            self.first().carried.insert(*of);
        }
        holds.into_iter().collect()
    }

    fn is_settled(&self) -> Result<bool, Error> {
        if self.withheld.get().is_some() {
            return Ok(true);
        }
        let (withheld, recorder) = {
            let mut first = self.first();
            (std::mem::take(&mut first.withheld), first.recorder.take())
        };
        let numbers = withheld.keys().copied().collect();
        let is_settled = withheld.is_empty();
        self.filter.hold(withheld.into_values());
        drop(self.withheld.set(numbers));
        if let Some(recorder) = recorder {
            recorder.record()?;
        }
        if !is_settled {
            drop(self.severed.set(self.severed()?));
        }
        Ok(is_settled)
    }

    fn vector(&self, number: u32) -> Result<Option<StoredVector>, Error> {
        let at = self
            .vectors
            .binary_search_by_key(&number, |(number, _)| *number);
        let vector = at.ok().and_then(|at| self.vectors.get(at));
        match vector {
            Some((_, row)) if self.with_vectors => Ok(Some(stored_vector(self.store, *row)?)),
            _ => Ok(None),
        }
    }
}

/// The most bytes of grains that are kept. In memory they take several times as much, or thirty times
/// if they consist of the smallest values.
const KEPT_LEN_MAX: usize = 2 * 1024 * 1024;
