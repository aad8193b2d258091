//! A file that is read past the sectors that its disk cannot read: they are zeros, which prove
//! nothing.

use std::io;
use std::sync::Arc;

use crate::ledger::DiskFile;

/// A file of which a part may be unreadable.
#[derive(Debug)]
pub(super) struct Unreadable(Arc<dyn DiskFile>);

impl Unreadable {
    pub(super) fn new(file: Arc<dyn DiskFile>) -> Self {
        Self(file)
    }
}

impl DiskFile for Unreadable {
    fn len_bytes(&self) -> io::Result<u64> {
        self.0.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if self.0.read_at(buffer, offset).is_ok() {
            return Ok(());
        }
        let mut offset = offset;
        for sector in buffer.chunks_mut(SECTOR_BYTES) {
            if let Err(error) = self.0.read_at(sector, offset) {
                tracing::warn!(%error, offset, "a sector cannot be read");
                sector.fill(0);
            }
            offset = offset.saturating_add(sector.len() as u64);
        }
        Ok(())
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The smallest part that a disk fails to read.
const SECTOR_BYTES: usize = 512;
