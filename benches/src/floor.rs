//! The unavoidable costs: an append and a sync; a lookup in a map, a read and a hash.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use grainstore::ContentAddress;

use crate::Result;
use crate::facts::prefix_of;

/// Appends blobs to a file, each with a sync of its own, and returns how long it took.
pub fn append_and_sync(folder: &Path, blobs: &[Vec<u8>]) -> Result<Duration> {
    let options = File::options().create_new(true).append(true).clone();
    let mut file = options.open(folder.join("raw"))?;
    // The file and its folder exist for good, as those of a store do.
    file.sync_all()?;
    let start = Instant::now();
    for blob in blobs {
        file.write_all(blob)?;
        file.sync_data()?;
    }
    Ok(start.elapsed())
}

/// Blobs in one file, and a map in memory that says where.
#[derive(Debug)]
pub struct Floor {
    file: File,
    end: u64,
    places: HashMap<u64, (u64, u32), BuildHasherDefault<Prefix>>,
}

/// Addresses are evenly spread, so their first bytes are a hash already.
#[derive(Debug, Default)]
pub struct Prefix(u64);

impl Hasher for Prefix {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only u64 is hashed")
    }

    fn write_u64(&mut self, prefix: u64) {
        self.0 = prefix;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Floor {
    /// Creates the file in a folder.
    pub fn create(folder: &Path) -> Result<Self> {
        let mut options = File::options();
        options.create_new(true).read(true).write(true);
        Ok(Self {
            file: options.open(folder.join("blobs"))?,
            end: 0,
            places: HashMap::default(),
        })
    }

    /// Appends blobs.
    pub fn add(&mut self, addresses: &[ContentAddress], blobs: &[Vec<u8>]) -> Result<()> {
        let together = blobs.concat();
        self.file.write_all_at(&together, self.end)?;
        for (address, blob) in addresses.iter().zip(blobs) {
            let len = u32::try_from(blob.len())?;
            self.places.insert(prefix_of(address), (self.end, len));
            self.end += u64::from(len);
        }
        Ok(())
    }

    /// Looks an address up, reads its blob, and computes the address of what was read.
    pub fn get(&self, address: &ContentAddress) -> Result<Option<Vec<u8>>> {
        let Some((offset, len)) = self.places.get(&prefix_of(address)) else {
            return Ok(None);
        };
        let mut blob = vec![0; usize::try_from(*len)?];
        self.file.read_exact_at(&mut blob, *offset)?;
        crate::peer::verified(blob, address).map(Some)
    }
}
