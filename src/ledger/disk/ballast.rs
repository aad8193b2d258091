use std::io;

use crate::ledger::{Disk, Error, OpenMode};

/// Room that a store keeps for a rainy day: a file that is given up so that erasure and closing
/// work on a full disk.
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
    /// Returns the ballast of this name and size; of size 0 there is never a file.
    pub fn new(name: impl Into<String>, bytes: u64) -> Self {
        Self {
            name: name.into(),
            bytes,
        }
    }

    /// Takes the room, unless it is taken already; returns whether it is. A disk too full for it
    /// is no error: there is nothing to keep then.
    ///
    /// Not synced: a crash costs nothing but the next call.
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

    /// Gives the room up.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub fn release(&self, disk: &dyn Disk) -> Result<(), Error> {
        match disk.remove(&self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            // Some systems give room back only when the removal is durable.
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
        // Written, not stretched: a hole takes no room.
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
