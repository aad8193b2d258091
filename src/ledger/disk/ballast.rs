//! The ballast: an emergency free-space file, deleted when the disk is full.
//!
//! Erasure and shutdown must still be able to write then. When to release it, the store decides.

use std::io;

use crate::ledger::{Disk, Error, OpenMode};

/// The emergency free-space file of a store: a reserve that is deleted when the disk is full, so
/// that erasure and shutdown can still write.
///
/// ```
/// use grainstore::ledger::{Ballast, Disk, MemoryDisk};
///
/// let disk = MemoryDisk::default();
/// let ballast = Ballast::new("ballast", 1 << 20);
/// ballast.restore(&disk)?;
/// ballast.release(&disk)?; // there is room for a MiB now
/// assert!(disk.list("")?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballast {
    name: String,
    bytes: u64,
}

impl Ballast {
    /// Returns the ballast of this name and size. With size 0 there is no file.
    pub fn new(name: impl Into<String>, bytes: u64) -> Self {
        Self {
            name: name.into(),
            bytes,
        }
    }

    /// Creates the file, unless it exists; returns whether it exists. A disk that is too full for
    /// it is not an error.
    ///
    /// It is not synced: after a crash the next call completes it.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub fn restore(&self, disk: &dyn Disk) -> Result<bool, Error> {
        match self
            .fill(disk)
            .map_err(|source| self.failed("fill", source))
        {
            Ok(()) => Ok(true),
            Err(Error::Full { .. }) => {
                self.release(disk)?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes the file.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub fn release(&self, disk: &dyn Disk) -> Result<(), Error> {
        match disk.remove(&self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            // Some file systems free the blocks only when the removal is durable.
            outcome => outcome
                .and_then(|()| disk.sync_folder(""))
                .map_err(|source| self.failed("release", source)),
        }
    }

    fn fill(&self, disk: &dyn Disk) -> io::Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let file = match disk.open(&self.name, OpenMode::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => disk.create(&self.name)?,
            found => found?,
        };
        // Zeros are written, because a hole in a file reserves no blocks.
        let zeros = [0; 64 << 10];
        let mut at = file.len_bytes()?;
        while at < self.bytes {
            let left = usize::try_from(self.bytes - at).unwrap_or(usize::MAX);
            let part = zeros.get(..left).unwrap_or(&zeros);
            file.write_at(part, at)?;
            at += part.len() as u64;
        }
        Ok(())
    }

    fn failed(&self, action: &'static str, source: io::Error) -> Error {
        Error::io(action, &self.name, source)
    }
}
