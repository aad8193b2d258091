//! The file `CURRENT`: the runs of the version on disk.
//!
//! It is replaced by a rename, so a crash leaves the version before or after. Integers are
//! big-endian:
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 8 | magic `GRAINCUR` |
//! | 8 | 2 | format version, 1 |
//! | 10 | 2 | reserved, 0 |
//! | 12 | 4 | number of runs |
//! | 16 | 8 | watermark: the number of ledger entries the runs cover |
//! | 24 | 16 each | for each run, in the order of their rows: its number (8), the check of its footer (8) |
//! | – | 8 | check: SHA-256(0x06 ‖ store id ‖ all before)[..8] |
//!
//! The first run begins with entry 0, each with the entry at which the one before ends, and the
//! last ends at the watermark.

use std::io;

use sha2::{Digest, Sha256};

use crate::ledger::{Disk, OpenMode, StoreId};

use crate::index::Error;
use crate::index::run::{FOLDER, Reader, Run};

/// One run as `CURRENT` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) struct RunRef {
    pub(in crate::index) number: u64,
    pub(in crate::index) check: [u8; 8],
}

/// The contents of `CURRENT`: the runs of the version on disk, in the order of their rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::index) struct CurrentFile {
    /// The number of ledger entries that the runs cover.
    pub(in crate::index) watermark: u64,
    pub(in crate::index) runs: Vec<RunRef>,
}

impl CurrentFile {
    pub(in crate::index) fn of<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Self {
        let mut version = Self::default();
        for run in runs {
            version.watermark = run.rows.end;
            version.runs.push(RunRef {
                number: run.number,
                check: run.check,
            });
        }
        version
    }

    /// Replaces `CURRENT` atomically and durably.
    pub(in crate::index) fn publish(
        &self,
        disk: &dyn Disk,
        store_id: &StoreId,
    ) -> Result<(), Error> {
        let failed = || Error::io("write", TEMPORARY);
        match disk.remove(TEMPORARY) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed()(error)),
            _ => {}
        }
        let file = disk.create(TEMPORARY).map_err(failed())?;
        file.write_at(&self.to_bytes(store_id), 0)
            .map_err(failed())?;
        file.sync().map_err(failed())?;
        disk.rename(TEMPORARY, NAME).map_err(failed())?;
        disk.sync_folder(FOLDER).map_err(Error::io("sync", FOLDER))
    }

    /// Reads `CURRENT`; `None` if no version was ever published.
    ///
    /// # Errors
    /// The outer error is the system's; the inner one is the fault of a damaged file.
    pub(in crate::index) fn read(
        disk: &dyn Disk,
        store_id: &StoreId,
    ) -> io::Result<Result<Option<Self>, &'static str>> {
        let file = match disk.open(NAME, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(None)),
            Err(error) => return Err(error),
        };
        let len = file.len_bytes()?;
        if len > LEN_MAX {
            return Ok(Err("CURRENT is too long"));
        }
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        file.read_at(&mut bytes, 0)?;
        let version = Self::from_bytes(&bytes, store_id);
        Ok(version.map(Some).ok_or("CURRENT is damaged"))
    }

    fn to_bytes(&self, store_id: &StoreId) -> Vec<u8> {
        let mut bytes = b"GRAINCUR".to_vec();
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        bytes.extend_from_slice(&[0; 2]);
        let runs = u32::try_from(self.runs.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&runs.to_be_bytes());
        bytes.extend_from_slice(&self.watermark.to_be_bytes());
        for run in &self.runs {
            bytes.extend_from_slice(&run.number.to_be_bytes());
            bytes.extend_from_slice(&run.check);
        }
        let check = check_of(store_id, &bytes);
        bytes.extend_from_slice(&check);
        bytes
    }

    fn from_bytes(bytes: &[u8], store_id: &StoreId) -> Option<Self> {
        let fields = bytes.get(16..bytes.len().checked_sub(8)?)?;
        let mut reader = Reader(fields);
        let mut version = Self {
            watermark: reader.u64()?,
            runs: Vec::new(),
        };
        while !reader.0.is_empty() {
            version.runs.push(RunRef {
                number: reader.u64()?,
                check: reader.array()?,
            });
        }
        (version.to_bytes(store_id) == bytes).then_some(version)
    }
}

fn check_of(store_id: &StoreId, bytes: &[u8]) -> [u8; 8] {
    let mut hash = Sha256::new();
    hash.update([0x06]);
    hash.update(store_id.as_bytes());
    hash.update(bytes);
    let hash: [u8; 32] = hash.finalize().into();
    hash.first_chunk().copied().unwrap_or_default()
}

/// The file that names the runs.
pub(in crate::index) const NAME: &str = "index/CURRENT";

/// The temporary name until the file is whole.
pub(in crate::index) const TEMPORARY: &str = "index/CURRENT.new";

/// The most that is read, in bytes: far more runs than merging leaves.
const LEN_MAX: u64 = 1 << 20;

const VERSION: u16 = 1;
