use std::io;
use std::ops::ControlFlow;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::ledger::Ledger;
use crate::ledger::offsets::entry_offsets::Location;
use crate::ledger::segment::entry::{Fault, OVERHEAD, RawEntry, body_fault, commitment, extent};
use crate::ledger::segment::read_ahead::{SEQUENTIAL, Window};
use crate::ledger::{Entry, Error, Header};

impl Ledger {
    /// Reads one entry and proves it.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, `ERR_ERASED`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn read(&self, sequence: u64) -> Result<Entry<'static>, Error> {
        let place = self.locate_kept(sequence)?;
        let mut bytes = self.fetch(sequence, &place)?;
        let damage = Damage::at(sequence, &place);
        let proven = prove(&bytes, sequence, &place).map(|entry| entry.header);
        let header = proven.map_err(|error| self.unless_erased(sequence, error))?;
        cut_body(&mut bytes).ok_or_else(|| damage.short())?;
        Ok(Entry {
            header,
            body: bytes.into(),
        })
    }

    /// Reads the body of an entry that has the SHA-256 `hash`, and proves by it that it does.
    ///
    /// One read, one hash: what looking up a plain grain by its address takes.
    ///
    /// # Errors
    /// As [`Ledger::read`]; a body with another hash is `ERR_STORAGE_DAMAGED`.
    pub fn read_as(&self, sequence: u64, hash: &[u8; 32]) -> Result<Vec<u8>, Error> {
        let place = self.locate_kept(sequence)?;
        let mut bytes = self.fetch(sequence, &place)?;
        let damage = Damage::at(sequence, &place);
        cut_body(&mut bytes).ok_or_else(|| damage.short())?;
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        if bool::from(found.ct_eq(hash)) {
            return Ok(bytes);
        }
        // Off the common path: another body than was asked for, or one that has changed?
        self.read(sequence)?;
        Err(damage.because("the entry is not the one that was asked for"))
    }

    /// Returns whether the body of an entry has the SHA-256 `hash`. The body is not read: the
    /// commitment proves it. An erased entry has no body.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn holds(&self, sequence: u64, hash: &[u8; 32]) -> Result<bool, Error> {
        let place = self.locate(sequence)?;
        if place.erased {
            return Ok(false);
        }
        let damage = Damage::at(sequence, &place);
        let mut bytes = [0; OVERHEAD];
        let file = self.handles.get(place.segment)?;
        let read = file.read_at(&mut bytes, place.offset);
        read.map_err(|source| damage.unread(source))?;
        let (header, rest) = bytes.split_first_chunk().ok_or_else(|| damage.short())?;
        if !place.has(header) {
            return Err(damage.because(CHANGED));
        }
        let salt = rest.first_chunk().ok_or_else(|| damage.short())?;
        let stated: &[u8; 32] = header.last_chunk().ok_or_else(|| damage.short())?;
        Ok(commitment(salt, hash).ct_eq(stated).into())
    }

    /// Reads the entries from `from` to the end there is now, in order, and proves each, until
    /// `visit` breaks off. Erased entries are passed over.
    ///
    /// # Errors
    /// As [`Ledger::read`].
    pub fn scan(
        &self,
        from: u64,
        visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let len = self.len();
        let mut sequence = from;
        while sequence < len {
            let segment = self.locate(sequence)?;
            let file = self.handles.get(segment.segment)?;
            let mut window = Window::new(&*file, segment.end, SEQUENTIAL);
            while sequence < len {
                let place = self.locate(sequence)?;
                if place.segment != segment.segment {
                    break;
                }
                let read = if place.erased {
                    Err(Error::Erased { sequence })
                } else {
                    read_at(&mut window, sequence, &place)
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
                sequence += 1;
            }
        }
        Ok(())
    }

    pub(in crate::ledger) fn locate(&self, sequence: u64) -> Result<Location, Error> {
        let table = self.table.read();
        let len = table.end().len;
        table
            .locate(sequence)
            .ok_or(Error::NoEntry { sequence, len })
    }

    fn locate_kept(&self, sequence: u64) -> Result<Location, Error> {
        let place = self.locate(sequence)?;
        if place.erased {
            return Err(Error::Erased { sequence });
        }
        Ok(place)
    }

    /// Reads the bytes from an entry to the next.
    pub(super) fn fetch(&self, sequence: u64, place: &Location) -> Result<Vec<u8>, Error> {
        let file = self.handles.get(place.segment)?;
        let mut bytes = vec![0; place.room];
        let read = file.read_at(&mut bytes, place.offset);
        read.map_err(|source| Damage::at(sequence, place).unread(source))?;
        Ok(bytes)
    }

    /// An entry may be redacted while it is read.
    fn unless_erased(&self, sequence: u64, error: Error) -> Error {
        match self.locate(sequence) {
            Ok(place) if place.erased => Error::Erased { sequence },
            _ => error,
        }
    }
}

/// Cuts an entry out of a window and proves it.
fn read_at<'a>(
    window: &'a mut Window<'_>,
    sequence: u64,
    place: &Location,
) -> Result<Entry<'a>, Error> {
    let damage = Damage::at(sequence, place);
    let header = window.get(place.offset, Header::LEN);
    let header = header.map_err(|source| damage.unread(source))?;
    let header = header.and_then(|bytes| bytes.first_chunk());
    let body_len = header.and_then(extent).map(|(_, body_len)| body_len);
    let body_len = body_len.ok_or_else(|| damage.short())?;
    let len = usize::try_from(body_len).unwrap_or(usize::MAX);
    let bytes = window.get(place.offset, len.saturating_add(OVERHEAD));
    let bytes = bytes.map_err(|source| damage.unread(source))?;
    prove(bytes.unwrap_or_default(), sequence, place)
}

/// Returns the entry that `bytes` begin with, if it is the one that lies at `place`.
fn prove<'a>(mut bytes: &'a [u8], sequence: u64, place: &Location) -> Result<Entry<'a>, Error> {
    let damage = Damage::at(sequence, place);
    let raw = RawEntry::take(&mut bytes).ok_or_else(|| damage.short())?;
    if !place.has(raw.header) {
        return Err(damage.because(CHANGED));
    }
    raw.open().map_err(|fault| match fault {
        Fault::Broken(reason) => damage.because(reason),
        Fault::Body { blank } => damage.because(body_fault(blank)),
        Fault::NewerKind { kind, sequence } => Error::UnknownKind { sequence, kind },
    })
}

/// Leaves of the bytes of an entry, and what may follow it, the body; none if it is cut short.
fn cut_body(bytes: &mut Vec<u8>) -> Option<()> {
    let (_, body_len) = extent(bytes.first_chunk()?)?;
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
pub(super) struct Damage {
    sequence: u64,
    segment: u32,
    offset: u64,
}

impl Damage {
    pub(in crate::ledger) const fn at(sequence: u64, place: &Location) -> Self {
        Self {
            sequence,
            segment: place.segment,
            offset: place.offset,
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

    const fn short(self) -> Error {
        self.because("ends inside an entry")
    }

    fn unread(self, source: io::Error) -> Error {
        Error::Read {
            sequence: self.sequence,
            segment: self.segment,
            offset: self.offset,
            source,
        }
    }
}

pub(super) const CHANGED: &str = "header of an entry has changed";
