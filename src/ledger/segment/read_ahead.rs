//! Read-ahead over a file: small sequential reads share one large read.
//!
//! A declared length never allocates more than the file holds. It caches one range and no more.

use std::io;

use crate::ledger::DiskFile;

/// A read-ahead view of a file up to a fixed end.
#[derive(Debug)]
pub(in crate::ledger) struct ReadAhead<'a> {
    file: &'a dyn DiskFile,
    end: u64,
    read_ahead: usize,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> ReadAhead<'a> {
    /// Returns a view of the first `end` bytes that reads at least `read_ahead` bytes at a time.
    pub(in crate::ledger) fn new(file: &'a dyn DiskFile, end: u64, read_ahead: usize) -> Self {
        Self {
            file,
            end,
            read_ahead,
            start: 0,
            bytes: Vec::new(),
        }
    }

    /// Returns where the view ends.
    pub(in crate::ledger) const fn end(&self) -> u64 {
        self.end
    }

    /// Returns `len` bytes from `offset`; `None` if the end comes first, so a hostile length
    /// allocates no more than the file holds.
    pub(in crate::ledger) fn get(&mut self, offset: u64, len: usize) -> io::Result<Option<&[u8]>> {
        let left = self.end.saturating_sub(offset);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        if len > left {
            return Ok(None);
        }
        if self.cached(offset, len).is_none() {
            let wanted = len.max(self.read_ahead.min(left));
            self.bytes.resize(wanted, 0);
            self.start = offset;
            if let Err(error) = self.file.read_at(&mut self.bytes, offset) {
                self.bytes.clear();
                return Err(error);
            }
        }
        Ok(self.cached(offset, len))
    }

    /// Returns the buffered bytes from `offset` on: at least `len`, or all that are left.
    pub(in crate::ledger) fn ahead(&mut self, offset: u64, len: usize) -> io::Result<&[u8]> {
        let left = usize::try_from(self.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        self.get(offset, len.min(left))?;
        let from = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        Ok(self.bytes.get(from..).unwrap_or_default())
    }

    fn cached(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..from.checked_add(len)?)
    }
}

/// The length of one read of a sequential pass, in bytes.
pub(in crate::ledger) const SEQUENTIAL: usize = 1 << 20;
