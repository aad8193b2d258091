//! A file that is read front to back a window at a time, for merges.
//!
//! A merge reads each of its segments once. Through a mapping all that it read would count as memory of the
//! process until the merge ends, up to the largest size of a segment.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

use crate::ledger::DiskFile;
use crate::process::Mutex;

/// A file of which one window is in memory, and what a reader holds of others.
pub(in crate::text) struct WindowedFile {
    file: Arc<dyn DiskFile>,
    len: usize,
    /// Where the window begins, and its bytes.
    window: Mutex<(usize, OwnedBytes)>,
}

impl WindowedFile {
    pub(in crate::text) fn new(file: Arc<dyn DiskFile>) -> io::Result<Self> {
        let len = usize::try_from(file.len_bytes()?).map_err(io::Error::other)?;
        Ok(Self {
            file,
            len,
            window: Mutex::new((0, OwnedBytes::empty())),
        })
    }

    fn read(&self, from: usize, len: usize) -> io::Result<OwnedBytes> {
        let mut bytes = vec![0; len];
        self.file.read_at(&mut bytes, from as u64)?;
        Ok(OwnedBytes::new(bytes))
    }
}

impl FileHandle for WindowedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let len = range.end.saturating_sub(range.start);
        if range.end > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if len >= WINDOW_BYTES {
            return self.read(range.start, len);
        }
        let mut window = self.window.lock();
        let held = |window: &(usize, OwnedBytes)| {
            let from = range.start.checked_sub(window.0)?;
            let to = from.saturating_add(len);
            (to <= window.1.len()).then(|| window.1.slice(from..to))
        };
        if let Some(bytes) = held(&window) {
            return Ok(bytes);
        }
        let left = self.len.saturating_sub(range.start);
        *window = (range.start, self.read(range.start, left.min(WINDOW_BYTES))?);
        Ok(window.1.slice(0..len))
    }
}

impl HasLen for WindowedFile {
    fn len(&self) -> usize {
        self.len
    }
}

impl fmt::Debug for WindowedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowedFile")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// Read at once: many postings, and a small part of a segment.
const WINDOW_BYTES: usize = if cfg!(test) { 16 } else { 128 << 10 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Disk, MemoryDisk};

    #[test]
    fn any_range_is_read_as_it_stands() {
        let disk = MemoryDisk::default();
        let file = disk.create("text").unwrap();
        let bytes: Vec<u8> = (0..100).collect();
        file.write_at(&bytes, 0).unwrap();
        let file = WindowedFile::new(file).unwrap();
        assert_eq!(file.len(), 100);
        for (from, to) in [
            (0, 4),
            (4, 16),
            (14, 18),
            (90, 100),
            (0, 100),
            (3, 3),
            (2, 5),
        ] {
            let read = file.read_bytes(from..to).unwrap();
            assert_eq!(read.as_slice(), &bytes[from..to]);
        }
        assert!(file.read_bytes(90..101).is_err());
    }
}
