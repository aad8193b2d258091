//! Redaction: salt and body of an entry overwritten with zeros, in place.
//!
//! Headers and leaves stay, so the chain and the Merkle tree are still proven. Which entries may be
//! redacted, the caller decides.

use std::ops::Range;

use super::ledger::Ledger;
use super::read::{CHANGED, ErrorContext};
use crate::ledger::offsets::entry_offsets::EntryExtent;
use crate::ledger::recovery::torn_tail;
use crate::ledger::segment::blanked::BlankedFile;
use crate::ledger::segment::compacted::{self, Form, Opened};
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
        let entries: Vec<_> = sequences.iter().copied().zip(extents).collect();
        for entries in entries.chunk_by(|(_, one), (_, next)| one.segment == next.segment) {
            self.redact_in_segment(entries)?;
        }
        Ok(())
    }

    /// Redacts entries of one segment.
    fn redact_in_segment(&self, entries: &[(EntryId, EntryExtent)]) -> Result<(), Error> {
        let Some((first, extent)) = entries.first() else {
            return Ok(());
        };
        let name = segment_file::name_of(extent.segment);
        let failed = |source| Error::io("redact in", &name, source);
        let file = self.disk.open(&name, OpenMode::Write).map_err(failed)?;
        let Opened { file, form } = compacted::open(file).map_err(failed)?;
        if let Form::Packed { sampled, .. } = form
            && entries
                .iter()
                .any(|(sequence, _)| sampled.contains(sequence))
        {
            // The dictionary of the segment has words of an erased grain. Invariant: until the file is
            // another one the grain is not blank, so that an opening after a crash redacts it again.
            return match self.pack_without(&*file, entries)? {
                true => Ok(()),
                false => Err(ErrorContext::at(*first, extent).because(UNPACKED)),
            };
        }
        for (sequence, extent) in entries {
            self.blank(&*file, *sequence, extent)?;
        }
        // A failed sync leaves the outcome of earlier appends unknown too.
        let mut tail = self.tail.lock();
        file.sync().map_err(|source| {
            tail.halted = true;
            failed(source)
        })
    }

    /// Packs a segment anew, as it is with these entries blank; returns whether it did.
    fn pack_without(
        &self,
        file: &dyn DiskFile,
        entries: &[(EntryId, EntryExtent)],
    ) -> Result<bool, Error> {
        let blank = entries
            .iter()
            .map(|(sequence, extent)| self.room_of(*sequence, extent));
        let blanked = BlankedFile {
            file,
            blank: blank.collect::<Result<_, _>>()?,
        };
        let extents = self.offsets.read().extents();
        let number = entries.first().map(|(_, extent)| extent.segment);
        let Some(extent) = extents.iter().find(|extent| Some(extent.number) == number) else {
            return Ok(false);
        };
        let is_listed = |id| self.is_erased(id);
        match self.packing(&blanked, extent, true, &is_listed)? {
            Some(packing) => self.replace_packed(packing, &blanked, extent),
            None => Ok(false),
        }
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
        // Also where it reads as blank: after a failed sync that may be in the cache of the system
        // alone, and no later sync writes it.
        let room = self.room_of(sequence, extent)?;
        let len = usize::try_from(room.end - room.start).unwrap_or(usize::MAX);
        file.write_at(&vec![0; len], room.start).map_err(|source| {
            Error::io("redact in", &segment_file::name_of(extent.segment), source)
        })
    }

    /// Returns where salt and body of an entry are in its segment.
    fn room_of(&self, sequence: EntryId, extent: &EntryExtent) -> Result<Range<u64>, Error> {
        let context = ErrorContext::at(sequence, extent);
        let bytes = self.fetch(sequence, extent)?;
        let raw = RawEntry::take(&mut bytes.as_slice());
        let raw = raw.filter(|raw| extent.has(raw.header));
        let len = raw.ok_or_else(|| context.because(CHANGED))?.len();
        let begin = extent.offset.saturating_add(EntryHeader::LEN as u64);
        Ok(begin..extent.offset.saturating_add(len as u64))
    }
}

const UNPACKED: &str =
    "a frame of its packed segment does not hold, so the dictionary keeps words of it";
