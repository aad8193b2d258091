//! The grains of an export: chosen once, and read as a writer asks for them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::index::Snapshot;
use crate::interchange::{Entries, Entry, Loss, StoredVector, WriteOptions, each, is_link, mg};
use crate::ledger::EntryId;
use crate::store::Store;

use super::filter::ExportFilter;
use super::{Error, Filter};

/// The grains that pass a filter and may leave the store, in the order of storage: eight bytes each.
pub(super) struct StoreEntries<'a> {
    store: &'a Store,
    snapshot: Snapshot,
    rows: Vec<EntryId>,
    filter: ExportFilter<'a>,
    /// The newest vector of each grain that has one, by number.
    vectors: Vec<(u32, EntryId)>,
    with_vectors: bool,
    damaged: Mutex<Vec<u64>>,
}

impl Store {
    /// Chooses the grains that may leave the store, in a file for others: without what their owners
    /// do not share, and the links to it.
    pub(super) fn entries(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        loss: &mut Loss,
    ) -> Result<StoreEntries<'_>, Error> {
        let snapshot = self.snapshot();
        let export_filter =
            ExportFilter::by_policy(self, options.purpose).and_by_owner(&snapshot)?;
        let mut entries = self.chosen(snapshot, filter, export_filter, options, loss)?;
        entries.sever(true, loss)?;
        entries.find_vectors(options)?;
        Ok(entries)
    }

    /// Chooses the grains of an archive or JSON lines, which are copies and hold what owners do not
    /// share, unless they are for others.
    pub(super) fn copied(
        &self,
        filter: &Filter,
        options: &WriteOptions,
        loss: &mut Loss,
    ) -> Result<StoreEntries<'_>, Error> {
        if options.shareable {
            return self.entries(filter, options, loss);
        }
        let export_filter = ExportFilter::by_policy(self, options.purpose);
        let mut entries = self.chosen(self.snapshot(), filter, export_filter, options, loss)?;
        entries.sever(false, loss)?;
        entries.find_vectors(options)?;
        Ok(entries)
    }

    fn chosen<'a>(
        &'a self,
        snapshot: Snapshot,
        filter: &Filter,
        export_filter: ExportFilter<'a>,
        options: &WriteOptions,
        loss: &mut Loss,
    ) -> Result<StoreEntries<'a>, Error> {
        let rows = self.exportable_rows(&snapshot, filter, loss)?;
        let mut entries = StoreEntries {
            store: self,
            snapshot,
            rows: rows.iter().collect(),
            filter: export_filter,
            vectors: Vec::new(),
            with_vectors: false,
            damaged: Mutex::default(),
        };
        let (mut kept, mut held) = (Vec::new(), Vec::new());
        let mut recorder = self.read_recorder("export");
        let is_watched = recorder.is_watched();
        let (rows, filter) = (&entries.rows, &entries.filter);
        let make = |number: u32, (grain, _): Entry| {
            let reason = filter.reason(&grain);
            let address = grain.address();
            Ok((number, reason, address, is_watched.then_some(grain)))
        };
        each(
            &entries,
            0..entries.count(),
            make,
            |(number, reason, address, grain)| {
                match reason {
                    Some(reason) => {
                        loss.count(&reason);
                        held.push(address);
                    }
                    None => {
                        if let Some(grain) = &grain {
                            recorder.add(grain);
                        }
                        kept.extend(row_of(rows, number));
                    }
                }
                Ok::<(), Error>(())
            },
        )?;
        entries.rows = kept;
        entries.filter.hold(held);
        entries.leave_damaged(options, loss)?;
        recorder.record()?;
        Ok(entries)
    }
}

impl StoreEntries<'_> {
    /// Notes the grains whose bytes are damaged, which are left out if the caller says so.
    fn leave_damaged(&mut self, options: &WriteOptions, loss: &mut Loss) -> Result<(), Error> {
        let damaged = self.damaged.get_mut();
        let damaged = std::mem::take(damaged.unwrap_or_else(PoisonError::into_inner));
        let mut damaged: BTreeSet<u64> = damaged.into_iter().collect();
        // No filter knows those that the index does not have.
        damaged.extend(self.store.unindexed_damage());
        if let (Some(row), false) = (damaged.first(), options.skip_damaged) {
            let reason = "its bytes are not what was written, and nothing is exported";
            return Err(Error::damaged(format!("entry {row}"), reason));
        }
        damaged.into_iter().for_each(|row| loss.add_damaged(row));
        Ok(())
    }

    /// Counts the references to withheld grains, and leaves out the links to them if the file is
    /// for others.
    fn sever(&mut self, leaves_out: bool, loss: &mut Loss) -> Result<(), Error> {
        if self.filter.is_empty() {
            return Ok(());
        }
        let mut kept = Vec::new();
        let (rows, filter) = (&self.rows, &self.filter);
        let make = |number: u32, (grain, _): Entry| {
            let mut loss = Loss::default();
            let is_severed = leaves_out && is_link(&grain) && filter.names(&grain);
            if is_severed {
                loss.count("link to what is withheld");
            } else {
                filter.count_dangling(&grain, &mut loss);
            }
            Ok((number, is_severed, loss))
        };
        each(
            &*self,
            0..self.count(),
            make,
            |(number, is_severed, lost)| {
                loss.merge(&lost);
                kept.extend(row_of(rows, number).filter(|_| !is_severed));
                Ok::<(), Error>(())
            },
        )?;
        self.rows = kept;
        Ok(())
    }

    fn find_vectors(&mut self, options: &WriteOptions) -> Result<(), Error> {
        self.with_vectors = options.with_embeddings;
        let (rows, vectors) = (&self.rows, &mut self.vectors);
        self.store.vector_rows(&self.snapshot, &mut |of, row| {
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
        let mut list = Vec::with_capacity(self.rows.len());
        let make = |_, (grain, status): Entry| Ok(mg::Entry::of(&grain, &status));
        each(self, 0..self.count(), make, |entry| {
            list.push(entry);
            Ok::<(), Error>(())
        })?;
        // Stable: grains of the same time keep their order.
        list.sort_by_key(mg::Entry::created_at);
        Ok(list)
    }

    /// Returns whether the export is to have any vector.
    pub(super) const fn has_vectors(&self) -> bool {
        self.with_vectors && !self.vectors.is_empty()
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

fn row_of(rows: &[EntryId], number: u32) -> Option<EntryId> {
    rows.get(usize::try_from(number).ok()?).copied()
}

impl Entries for StoreEntries<'_> {
    type Error = Error;

    fn count(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    fn read(&self, number: u32) -> Result<Option<Entry>, Error> {
        let Some(row) = row_of(&self.rows, number) else {
            return Ok(None);
        };
        match self.store.sound_version_at(&self.snapshot, row) {
            // Since the snapshot, by this process or another: no snapshot has it any more.
            Err(error) if error.code() == ErrorCode::Erased => Ok(None),
            Err(error) => Err(error),
            Ok(Some(version)) => {
                let status = self.filter.unnamed(version.status);
                Ok(Some((version.grain, status)))
            }
            Ok(None) => {
                let damaged = self.damaged.lock();
                let mut damaged = damaged.unwrap_or_else(PoisonError::into_inner);
                damaged.push(row.get());
                Ok(None)
            }
        }
    }

    fn find(&self, address: &ContentAddress) -> Result<Option<u32>, Error> {
        let row = self.store.row_of(&self.snapshot, address)?;
        let number = row.and_then(|row| self.rows.binary_search(&row).ok());
        Ok(number.and_then(|number| u32::try_from(number).ok()))
    }

    fn vector(&self, number: u32) -> Result<Option<StoredVector>, Error> {
        let at = self
            .vectors
            .binary_search_by_key(&number, |(number, _)| *number);
        let vector = at.ok().and_then(|at| self.vectors.get(at));
        match vector {
            Some((_, row)) if self.with_vectors => Ok(Some(self.store.stored_vector(*row)?)),
            _ => Ok(None),
        }
    }
}
