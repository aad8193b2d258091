//! Reading headers alone: what leaves and proofs are made of. Redaction leaves them as they are.

use std::ops::Range;

use super::ledger::Ledger;
use super::read::{CHANGED, ErrorContext};
use crate::ledger::segment::read_ahead::ReadAhead;
use crate::ledger::{EntryHeader, EntryId, Error};

impl Ledger {
    /// Passes the headers of some entries to `visit`, in order, those of erased entries included.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end; `ERR_STORAGE_DAMAGED` for a header that is not the one this process
    /// knows; `ERR_STORAGE_IO`.
    pub(in crate::ledger) fn headers(
        &self,
        rows: Range<EntryId>,
        visit: &mut dyn FnMut(&[u8; EntryHeader::LEN]),
    ) -> Result<(), Error> {
        let mut sequence = rows.start;
        while sequence < rows.end {
            let segment = self.locate(sequence)?;
            let file = self.open_segments.get(segment.segment)?;
            let mut reader = ReadAhead::new(&*file, segment.end, WINDOW);
            while sequence < rows.end {
                let extent = self.locate(sequence)?;
                if extent.segment != segment.segment {
                    break;
                }
                let context = ErrorContext::at(sequence, &extent);
                let header = reader.get(extent.offset, EntryHeader::LEN);
                let header = header.map_err(|source| context.unread(source))?;
                let header = header.and_then(|bytes| bytes.first_chunk());
                let header = header.filter(|header| extent.has(header));
                visit(header.ok_or_else(|| context.because(CHANGED))?);
                sequence = sequence.next();
            }
        }
        Ok(())
    }

    /// Returns the header of an entry, of an erased one too.
    ///
    /// # Errors
    /// As [`Ledger::read`], but for `ERR_ERASED`.
    pub(crate) fn header(&self, sequence: EntryId) -> Result<[u8; EntryHeader::LEN], Error> {
        let extent = self.locate(sequence)?;
        let context = ErrorContext::at(sequence, &extent);
        let mut header = [0; EntryHeader::LEN];
        let file = self.open_segments.get(extent.segment)?;
        let read = file.read_at(&mut header, extent.offset);
        read.map_err(|source| context.unread(source))?;
        if !extent.has(&header) {
            return Err(context.because(CHANGED));
        }
        Ok(header)
    }

    /// Returns what the header of an entry states, of an erased one too.
    ///
    /// # Errors
    /// As [`Ledger::header`].
    pub(crate) fn stated(&self, sequence: EntryId) -> Result<EntryHeader, Error> {
        let context = ErrorContext::at(sequence, &self.locate(sequence)?);
        let header = EntryHeader::decode(&self.header(sequence)?);
        header.map_err(|fault| context.of(fault))
    }

    /// Returns the error for leaves that do not end in the head.
    pub(in crate::ledger) fn unlike(&self, entries: u64) -> Error {
        let end = self.position();
        Error::Damaged {
            segment: end.segment,
            offset: end.offset,
            sequence: EntryId::new(entries),
            reason: "the leaves do not end in the head that this process knows",
        }
    }
}

/// The length of one read in bytes: many headers of small entries, and little of a large one.
const WINDOW: usize = 64 << 10;
