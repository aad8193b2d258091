//! The records that a dry run has read: none is stored, so of each batch only hashes are kept. A file of
//! any size is previewed in the memory of one batch and 16 bytes a record.

use crate::codec::ContentAddress;
use crate::interchange::{CompactTable, ForeignId};

/// The records of the batches before, in a dry run.
#[derive(Default)]
pub(super) struct Preview {
    grains: CompactTable<()>,
    /// The identifiers that were assigned to them.
    ids: CompactTable<()>,
}

impl Preview {
    pub(super) fn add(&mut self, grain: &ContentAddress) {
        self.grains.add(self.grains.key(grain));
    }

    pub(super) fn name(&mut self, id: &ForeignId) {
        self.ids.add(self.ids.key(id));
    }

    pub(super) fn has(&self, grain: &ContentAddress) -> bool {
        self.grains.get(self.grains.key(grain)).is_some()
    }

    pub(super) fn is_named(&self, id: &ForeignId) -> bool {
        self.ids.get(self.ids.key(id)).is_some()
    }
}
