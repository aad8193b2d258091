//! Reading: single entries and scans, each proven against its commitment.
//!
//! An entry that is redacted while it is read is `ERR_ERASED`, not damage.

use std::io;
use std::ops::ControlFlow;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::ledger::Ledger;
use crate::ledger::offsets::entry_offsets::EntryExtent;
use crate::ledger::segment::entry::{
    Fault, OVERHEAD, RawEntry, body_fault, commitment, declared_extent,
};
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::{Entry, EntryHeader, EntryId, Error, Kind};

impl Ledger {
    /// Reads one entry and proves it against its commitment.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, `ERR_ERASED`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn read(&self, sequence: EntryId) -> Result<Entry<'static>, Error> {
        let extent = self.locate_kept(sequence)?;
        let mut bytes = self.fetch(sequence, &extent)?;
        let context = ErrorContext::at(sequence, &extent);
        let proven = prove(&bytes, sequence, &extent).map(|entry| (entry.header, entry.hash));
        let (header, hash) = proven.map_err(|error| self.unless_erased(sequence, error))?;
        cut_body(&mut bytes).ok_or_else(|| context.short())?;
        let body = bytes.into();
        Ok(Entry { header, body, hash })
    }

    /// Reads the salt and the body of an entry, one behind the other, which open its commitment: for an
    /// entry that no erasure blanks, since the salt is what keeps a blanked one from being guessed.
    ///
    /// # Errors
    /// As [`Ledger::read`].
    pub fn opening(&self, sequence: EntryId) -> Result<Vec<u8>, Error> {
        let extent = self.locate_kept(sequence)?;
        let bytes = self.fetch(sequence, &extent)?;
        let context = ErrorContext::at(sequence, &extent);
        let proven = prove(&bytes, sequence, &extent).map(|entry| entry.body.len());
        let body_len = proven.map_err(|error| self.unless_erased(sequence, error))?;
        let opening = bytes.get(EntryHeader::LEN..OVERHEAD.saturating_add(body_len));
        Ok(opening.ok_or_else(|| context.short())?.to_vec())
    }

    /// Reads the body of an entry if it has the SHA-256 `hash`, which proves it; `None` for one with
    /// another.
    ///
    /// One read and one hash: the path of a look-up of a plain grain by its address.
    ///
    /// # Errors
    /// As [`Ledger::read`].
    pub fn read_if(&self, sequence: EntryId, hash: &[u8; 32]) -> Result<Option<Vec<u8>>, Error> {
        let extent = self.locate_kept(sequence)?;
        let mut bytes = self.fetch(sequence, &extent)?;
        let context = ErrorContext::at(sequence, &extent);
        cut_body(&mut bytes).ok_or_else(|| context.short())?;
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        // Neither is secret here: who asks knows the hash, and gets the body.
        if found == *hash {
            return Ok(Some(bytes));
        }
        // Off the common path: `read` tells a body that has changed from another body.
        self.read(sequence)?;
        Ok(None)
    }

    /// Returns whether the body of an entry has the SHA-256 `hash`. The body is not read: the
    /// commitment proves it. An erased entry has no body.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn holds(&self, sequence: EntryId, hash: &[u8; 32]) -> Result<bool, Error> {
        let extent = self.locate(sequence)?;
        if extent.erased {
            return Ok(false);
        }
        let context = ErrorContext::at(sequence, &extent);
        let mut bytes = [0; OVERHEAD];
        let file = self.open_segments.get(extent.segment)?;
        let read = file.read_at(&mut bytes, extent.offset);
        read.map_err(|source| context.unread(source))?;
        let (header, rest) = bytes.split_first_chunk().ok_or_else(|| context.short())?;
        if !extent.has(header) {
            return Err(context.because(CHANGED));
        }
        let salt = rest.first_chunk().ok_or_else(|| context.short())?;
        let stated: &[u8; 32] = header.last_chunk().ok_or_else(|| context.short())?;
        Ok(commitment(salt, hash).ct_eq(stated).into())
    }

    /// Returns the header of a grain whose body is not the one that the header commits to; `None` if
    /// that is not what is wrong with the entry.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, `ERR_ERASED`, `ERR_STORAGE_IO`.
    pub fn damaged_grain(&self, sequence: EntryId) -> Result<Option<EntryHeader>, Error> {
        let extent = self.locate_kept(sequence)?;
        let bytes = self.fetch(sequence, &extent)?;
        let Some(raw) = RawEntry::take(&mut bytes.as_slice()) else {
            return Ok(None);
        };
        let is_damaged = extent.has(raw.header) && matches!(raw.open(), Err(Fault::Body { .. }));
        let header = EntryHeader::decode(raw.header).ok();
        Ok(header.filter(|header| is_damaged && header.kind == Kind::Grain))
    }

    /// Reads the entries from `from` to the present end, in order, and proves each, until `visit`
    /// breaks. Erased entries are skipped, and so are those that another process erased after the
    /// present end.
    ///
    /// # Errors
    /// As [`Ledger::read`].
    pub fn scan(
        &self,
        from: EntryId,
        visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let len = self.len();
        let mut sequence = from;
        while sequence.get() < len {
            let segment = self.locate(sequence)?;
            let file = self.open_segments.get(segment.segment)?;
            let mut reader = ReadAhead::new(&*file, segment.end, SEQUENTIAL);
            while sequence.get() < len {
                let extent = self.locate(sequence)?;
                if extent.segment != segment.segment {
                    break;
                }
                let read = if extent.erased {
                    Err(Error::Erased { sequence })
                } else {
                    read_at(&mut reader, sequence, &extent)
                        .map_err(|error| self.unless_erased(sequence, error))
                };
                match read {
                    Ok(entry) => {
                        if visit(entry).is_break() {
                            return Ok(());
                        }
                    }
                    Err(Error::Erased { .. }) => {}
                    Err(error) => return Err(error),
                }
                sequence = sequence.next();
            }
        }
        Ok(())
    }

    /// Returns a fingerprint of the first `entries` entries: eight bytes that derived files carry, so
    /// that those of another store, or of another history of this one, are told apart. Headers
    /// commit to random salts, so that two histories with the same header are the same up to there.
    /// `None` if the ledger has fewer entries.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn fingerprint(&self, entries: u64) -> Result<Option<[u8; 8]>, Error> {
        let hash = Sha256::new().chain_update([0x08]);
        let mut hash = hash.chain_update(self.store_id.as_bytes());
        hash.update(entries.to_be_bytes());
        if let Some(last) = entries.checked_sub(1) {
            if entries > self.len() {
                return Ok(None);
            }
            let extent = self.locate(EntryId::new(last))?;
            let context = ErrorContext::at(EntryId::new(last), &extent);
            let mut header = [0; EntryHeader::LEN];
            let file = self.open_segments.get(extent.segment)?;
            let read = file.read_at(&mut header, extent.offset);
            read.map_err(|source| context.unread(source))?;
            if !extent.has(&header) {
                return Err(context.because(CHANGED));
            }
            hash.update(header);
        }
        let hash: [u8; 32] = hash.finalize().into();
        Ok(hash.first_chunk().copied())
    }

    /// Returns whether an entry is known to be erased. Of a ledger that another process writes, an
    /// erasure is known once it was followed.
    pub(crate) fn is_erased(&self, sequence: EntryId) -> bool {
        self.offsets.read().erased().contains(&sequence)
    }

    pub(in crate::ledger) fn locate(&self, sequence: EntryId) -> Result<EntryExtent, Error> {
        let offsets = self.offsets.read();
        let len = offsets.end().entries;
        offsets
            .locate(sequence)
            .ok_or(Error::NoEntry { sequence, len })
    }

    fn locate_kept(&self, sequence: EntryId) -> Result<EntryExtent, Error> {
        let extent = self.locate(sequence)?;
        if extent.erased {
            return Err(Error::Erased { sequence });
        }
        Ok(extent)
    }

    /// Reads the bytes from an entry to the next.
    pub(super) fn fetch(&self, sequence: EntryId, extent: &EntryExtent) -> Result<Vec<u8>, Error> {
        let file = self.open_segments.get(extent.segment)?;
        let mut bytes = Vec::new();
        let read = file.read_onto(&mut bytes, extent.bytes_to_next, extent.offset);
        read.map_err(|source| ErrorContext::at(sequence, extent).unread(source))?;
        Ok(bytes)
    }

    /// Returns `Erased` if the entry was redacted while it was read, else the error. Of a ledger that
    /// another process writes, the erasure may be news that was not followed yet.
    fn unless_erased(&self, sequence: EntryId, error: Error) -> Error {
        // Asked first: what it says is not yet followed may be followed a moment later.
        let is_behind = self.is_behind();
        match self.locate(sequence) {
            Ok(extent) if extent.erased || is_behind => Error::Erased { sequence },
            _ => error,
        }
    }
}

/// Reads an entry through a read-ahead and proves it.
fn read_at<'a>(
    reader: &'a mut ReadAhead<'_>,
    sequence: EntryId,
    extent: &EntryExtent,
) -> Result<Entry<'a>, Error> {
    let context = ErrorContext::at(sequence, extent);
    let header = reader.get(extent.offset, EntryHeader::LEN);
    let header = header.map_err(|source| context.unread(source))?;
    let header = header.and_then(|bytes| bytes.first_chunk());
    let body_len = header
        .and_then(declared_extent)
        .map(|(_, body_len)| body_len);
    let body_len = body_len.ok_or_else(|| context.short())?;
    let len = usize::try_from(body_len).unwrap_or(usize::MAX);
    let bytes = reader.get(extent.offset, len.saturating_add(OVERHEAD));
    let bytes = bytes.map_err(|source| context.unread(source))?;
    prove(bytes.unwrap_or_default(), sequence, extent)
}

/// Returns the entry that `bytes` begin with, if it is the one that lies at `extent`.
fn prove<'a>(
    mut bytes: &'a [u8],
    sequence: EntryId,
    extent: &EntryExtent,
) -> Result<Entry<'a>, Error> {
    let context = ErrorContext::at(sequence, extent);
    let raw = RawEntry::take(&mut bytes).ok_or_else(|| context.short())?;
    if !extent.has(raw.header) {
        return Err(context.because(CHANGED));
    }
    raw.open().map_err(|fault| context.of(fault))
}

/// Reduces the bytes of an entry, and whatever follows it, to the body; `None` if it is cut short.
fn cut_body(bytes: &mut Vec<u8>) -> Option<()> {
    let (_, body_len) = declared_extent(bytes.first_chunk()?)?;
    let len = usize::try_from(body_len).ok()?;
    let end = OVERHEAD
        .checked_add(len)
        .filter(|end| *end <= bytes.len())?;
    bytes.copy_within(OVERHEAD..end, 0);
    bytes.truncate(len);
    Some(())
}

/// The entry that an error is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct ErrorContext {
    sequence: EntryId,
    segment: u32,
    offset: u64,
}

impl ErrorContext {
    pub(in crate::ledger) const fn at(sequence: EntryId, extent: &EntryExtent) -> Self {
        Self {
            sequence,
            segment: extent.segment,
            offset: extent.offset,
        }
    }

    pub(super) const fn because(self, reason: &'static str) -> Error {
        Error::Damaged {
            segment: self.segment,
            offset: self.offset,
            sequence: self.sequence,
            reason,
        }
    }

    pub(super) fn of(self, fault: Fault) -> Error {
        match fault {
            Fault::Broken(reason) => self.because(reason),
            Fault::Body { blank } => self.because(body_fault(blank)),
            Fault::NewerKind { kind, sequence } => Error::UnknownKind { sequence, kind },
        }
    }

    const fn short(self) -> Error {
        self.because("ends inside an entry")
    }

    pub(super) fn unread(self, source: io::Error) -> Error {
        Error::Read {
            sequence: self.sequence,
            segment: self.segment,
            offset: self.offset,
            source,
        }
    }
}

pub(super) const CHANGED: &str = "header of an entry has changed";
