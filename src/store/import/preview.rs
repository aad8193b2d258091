//! The records that a dry run has read: none is stored, so of each batch only hashes are kept. A file of
//! any size is previewed in the memory of one batch and 16 bytes a record.

use crate::codec::ContentAddress;
use crate::interchange::{CompactTable, ForeignId, Record};
use crate::store::Error;
use crate::store::import::batch::Importer;
use crate::store::txn::{AdmittedFrame, Transaction};

/// The records of the batches before, in a dry run.
#[derive(Default)]
pub(super) struct Preview {
    grains: CompactTable<()>,
    /// The identifiers that were assigned to them.
    ids: CompactTable<()>,
}

impl Preview {
    fn add(&mut self, grain: &ContentAddress) {
        self.grains.add(self.grains.key(grain));
    }

    fn name(&mut self, id: &ForeignId) {
        self.ids.add(self.ids.key(id));
    }

    fn has(&self, grain: &ContentAddress) -> bool {
        self.grains.get(self.grains.key(grain)).is_some()
    }

    fn is_named(&self, id: &ForeignId) -> bool {
        self.ids.get(self.ids.key(id)).is_some()
    }
}

impl Importer<'_> {
    /// Ends a batch: its frame is written, or in a dry run forgotten but for its hashes.
    pub(super) fn end_batch(&mut self, txn: &mut Transaction<'_>) -> Result<(), Error> {
        if self.preview.is_some() {
            self.warn_of_unresolved()?;
        }
        let Some(preview) = &mut self.preview else {
            return self.flush(txn);
        };
        self.frame = AdmittedFrame::by(self.caller.actor);
        self.pending.drain().for_each(|(it, _)| preview.add(&it));
        self.names.drain().for_each(|(id, _)| preview.name(&id));
        Ok(())
    }

    /// Returns whether the file brought a grain that is not stored yet.
    pub(super) fn is_of_file(&self, address: &ContentAddress) -> bool {
        let is_forgotten = |preview: &Preview| preview.has(address);
        self.pending.contains_key(address) || self.preview.as_ref().is_some_and(is_forgotten)
    }

    /// Counts a record of a dry run whose identifier came in an earlier batch; returns whether it is one. The
    /// two cannot be compared, so a record that differs counts as an update.
    pub(super) fn count_again(&mut self, record: &Record) -> Result<bool, Error> {
        let (Some(preview), Some(id)) = (&self.preview, &record.foreign_id) else {
            return Ok(false);
        };
        if !preview.is_named(id) {
            return Ok(false);
        }
        let read = record.grain.address();
        if self.renamed.get(&read).is_some() || self.is_here(&read)? {
            self.summary.unchanged += 1;
        } else {
            self.summary.updated += 1;
            self.preview.iter_mut().for_each(|it| it.add(&read));
        }
        Ok(true)
    }
}
