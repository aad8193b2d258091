//! Redaction: salt and body of an entry overwritten with zeros, in place.
//!
//! Headers and leaves stay, so the chain and the Merkle tree are still proven. Which entries may be
//! redacted, the caller decides.

use super::ledger::Ledger;
use super::read::{CHANGED, ErrorContext};
use crate::ledger::offsets::entry_offsets::EntryExtent;
use crate::ledger::recovery::torn_tail;
use crate::ledger::segment::entry::RawEntry;
use crate::ledger::segment::{replacement, segment_file};
use crate::ledger::{DiskFile, EntryHeader, EntryId, Error, OpenMode};

impl Ledger {
    /// Overwrites salt and body of entries with zeros, in place, and makes that durable. Headers,
    /// leaves and offsets stay, so everything else is still proven.
    ///
    /// From here on a read of one is `ERR_ERASED`. The caller has appended an entry of kind
    /// [`Erasing`](crate::ledger::Kind::Erasing) that lists them, because recovery treats an
    /// unlisted blank entry as damage. Blank entries are blanked again, so a retry completes it.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, before anything is changed; `ERR_STORAGE_DAMAGED`;
    /// `ERR_STORAGE_IO`, after which some may be blank and a retry is safe.
    pub fn redact(&self, sequences: &[EntryId]) -> Result<(), Error> {
        let mut sequences = sequences.to_vec();
        sequences.sort_unstable();
        sequences.dedup();
        let extents = sequences.iter().map(|sequence| self.locate(*sequence));
        let extents: Vec<EntryExtent> = extents.collect::<Result<_, _>>()?;
        // Invariant: the entry that lists them is durable before the first is blanked.
        self.sync()?;
        self.offsets.write().erase(sequences.iter().copied());
        let mut entries = sequences.iter().zip(&extents).peekable();
        while let Some((_, extent)) = entries.peek() {
            let number = extent.segment;
            let name = segment_file::name_of(number);
            let failed = |source| Error::io("redact in", &name, source);
            let file = segment_file::open(&*self.disk, &name, OpenMode::Write).map_err(failed)?;
            while let Some((sequence, extent)) =
                entries.next_if(|(_, extent)| extent.segment == number)
            {
                self.blank(&*file, *sequence, extent)?;
            }
            // A failed sync leaves the outcome of earlier appends unknown too.
            let mut tail = self.tail.lock();
            file.sync().map_err(|source| {
                tail.halted = true;
                failed(source)
            })?;
        }
        Ok(())
    }

    /// Returns the names of the files that hold torn tails, relative to the store.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub fn torn_files(&self) -> Result<Vec<String>, Error> {
        torn_tail::names(&*self.disk)
    }

    /// Deletes the files that hold torn tails, and segments that were not written to their end: they
    /// may hold what an erased entry said, and nothing in them was acknowledged.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub fn remove_torn_files(&self) -> Result<(), Error> {
        replacement::discard(&*self.disk)?;
        let names = self.torn_files()?;
        for name in &names {
            let removed = self.disk.remove(name);
            removed.map_err(|source| Error::io("remove", name, source))?;
        }
        if !names.is_empty() {
            let synced = self.disk.sync_folder(segment_file::FOLDER);
            synced.map_err(|source| Error::io("sync", segment_file::FOLDER, source))?;
        }
        Ok(())
    }

    fn blank(
        &self,
        file: &dyn DiskFile,
        sequence: EntryId,
        extent: &EntryExtent,
    ) -> Result<(), Error> {
        let context = ErrorContext::at(sequence, extent);
        let bytes = self.fetch(sequence, extent)?;
        let raw = RawEntry::take(&mut bytes.as_slice());
        let raw = raw.filter(|raw| extent.has(raw.header));
        let raw = raw.ok_or_else(|| context.because(CHANGED))?;
        // Also where it reads as blank: after a failed sync that may be in the cache of the system
        // alone, and no later sync writes it.
        let from = extent.offset.saturating_add(EntryHeader::LEN as u64);
        let zeros = vec![0; raw.len() - EntryHeader::LEN];
        file.write_at(&zeros, from).map_err(|source| {
            Error::io("redact in", &segment_file::name_of(extent.segment), source)
        })
    }
}
