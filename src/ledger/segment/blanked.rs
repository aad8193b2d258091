//! A segment as it is read once some of its entries are blank.

use std::io;
use std::ops::Range;

use crate::ledger::DiskFile;

/// A file of which some ranges read as zeros. It takes no changes.
#[derive(Debug)]
pub(in crate::ledger) struct BlankedFile<'a> {
    pub(in crate::ledger) file: &'a dyn DiskFile,
    pub(in crate::ledger) blank: Vec<Range<u64>>,
}

impl DiskFile for BlankedFile<'_> {
    fn len_bytes(&self) -> io::Result<u64> {
        self.file.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_at(buffer, offset)?;
        let place = |at: u64| usize::try_from(at.saturating_sub(offset)).unwrap_or(usize::MAX);
        for range in &self.blank {
            let end = place(range.end).min(buffer.len());
            let part = buffer.get_mut(place(range.start)..end);
            part.unwrap_or_default().fill(0);
        }
        Ok(())
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
