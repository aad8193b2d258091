//! Retrieval counters: how often each grain was retrieved, and when last (OMS 22.10).
//!
//! The one file of a store that a crash may lose in part. Nothing else depends on it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::grain::Time;
use crate::ledger::{self, Disk, EntryId, StoreId};
use crate::process::Mutex;

use crate::index::Error;
use crate::index::run::{FOLDER, Reader};

/// The retrieval counters of grains (OMS 22.10): counted in memory, and written at intervals to a
/// file of their own.
///
/// They are the only data that a store may lose: a crash takes the counts since the last write, and
/// a damaged file counts as none.
#[derive(Debug)]
pub(crate) struct RetrievalCounters {
    disk: Arc<dyn Disk>,
    store_id: StoreId,
    /// The age at which counts are written.
    staleness: Duration,
    /// The counters, sharded by row.
    parts: Vec<Mutex<BTreeMap<EntryId, RetrievalCount>>>,
    written: Mutex<Written>,
}

/// The number of retrievals of a grain, and the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrievalCount {
    /// The number of retrievals.
    pub count: u64,
    /// The time of the last.
    pub last: Time,
}

#[derive(Debug, Default)]
struct Written {
    /// The time of the oldest count that is not written.
    since: Option<Time>,
}

impl RetrievalCounters {
    /// Reads the counters that were written, of rows before `rows_end`: later rows a crash may have
    /// taken from the ledger.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        store_id: StoreId,
        staleness: Duration,
        rows_end: u64,
    ) -> Result<Self, Error> {
        let counters = Self {
            disk: Arc::clone(disk),
            store_id,
            staleness,
            parts: std::iter::repeat_with(Mutex::default).take(PARTS).collect(),
            written: Mutex::default(),
        };
        let bytes = read(&**disk, rows_end).map_err(Error::io("read", NAME))?;
        match bytes.map(|bytes| counters.known_in(&bytes)) {
            None => {}
            Some(None) => tracing::warn!("{NAME} is damaged: retrievals are counted anew"),
            Some(Some(known)) => {
                for (row, counted) in known.into_iter().filter(|(row, _)| row.get() < rows_end) {
                    if let Some(part) = counters.part(row) {
                        part.lock().insert(row, counted);
                    }
                }
            }
        }
        Ok(counters)
    }

    /// Returns the count of a row; `None` if it was never retrieved.
    pub(crate) fn of(&self, row: EntryId) -> Option<RetrievalCount> {
        self.part(row)?.lock().get(&row).copied()
    }

    /// Counts a retrieval of each row, and writes the counters if the oldest count has reached the
    /// age.
    pub(crate) fn record(&self, rows: impl IntoIterator<Item = EntryId>, now: Time) {
        let mut any = false;
        for row in rows {
            if let Some(part) = self.part(row) {
                let mut part = part.lock();
                let counted = part.entry(row).or_insert(RetrievalCount {
                    count: 0,
                    last: now,
                });
                counted.count = counted.count.saturating_add(1);
                counted.last = counted.last.max(now);
                any = true;
            }
        }
        // A reader that finds the lock taken leaves the write to its holder: reads never wait.
        let Some(mut written) = self.written.try_lock().filter(|_| any) else {
            return;
        };
        let since = *written.since.get_or_insert(now);
        let waited = now.ms().saturating_sub(since.ms());
        if u128::try_from(waited).unwrap_or(0) >= self.staleness.as_millis()
            && let Err(error) = self.write(&mut written)
        {
            tracing::warn!(%error, "retrievals were counted and not written");
        }
    }

    /// Removes rows, from the file too.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub(crate) fn forget(&self, rows: &[EntryId]) -> Result<(), Error> {
        let mut written = self.written.lock();
        for row in rows {
            if let Some(part) = self.part(*row) {
                part.lock().remove(row);
            }
        }
        self.write(&mut written)
    }

    /// Writes the counters, if any was not written.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub(crate) fn flush(&self) -> Result<(), Error> {
        let mut written = self.written.lock();
        if written.since.is_none() {
            return Ok(());
        }
        self.write(&mut written)
    }

    fn write(&self, written: &mut Written) -> Result<(), Error> {
        // Counts from here on belong to the next write, even if this one includes them.
        written.since = None;
        let failed = || Error::io("write", TEMPORARY);
        match self.disk.remove(TEMPORARY) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed()(error)),
            _ => {}
        }
        let file = self.disk.create(TEMPORARY).map_err(failed())?;
        file.write_at(&self.to_bytes(), 0).map_err(failed())?;
        file.sync().map_err(failed())?;
        self.disk.rename(TEMPORARY, NAME).map_err(failed())?;
        let synced = self.disk.sync_folder(FOLDER);
        synced.map_err(Error::io("sync", FOLDER))
    }

    fn part(&self, row: EntryId) -> Option<&Mutex<BTreeMap<EntryId, RetrievalCount>>> {
        self.parts
            .get(usize::try_from(row.get() % PARTS as u64).ok()?)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for part in &self.parts {
            for (row, counted) in &*part.lock() {
                bytes.extend_from_slice(&row.get().to_be_bytes());
                bytes.extend_from_slice(&counted.count.to_be_bytes());
                bytes.extend_from_slice(&counted.last.ms().to_be_bytes());
            }
        }
        let check = self.check_of(&bytes);
        bytes.extend_from_slice(&check);
        bytes
    }

    fn known_in(&self, bytes: &[u8]) -> Option<Vec<(EntryId, RetrievalCount)>> {
        let (said, check) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
        if check != self.check_of(said) {
            return None;
        }
        let mut reader = Reader(said.strip_prefix(MAGIC)?);
        let mut known = Vec::new();
        while !reader.0.is_empty() {
            let (row, count) = (EntryId::new(reader.u64()?), reader.u64()?);
            let last = Time::from_ms(i64::from_be_bytes(reader.array()?));
            known.push((row, RetrievalCount { count, last }));
        }
        Some(known)
    }

    fn check_of(&self, bytes: &[u8]) -> [u8; 8] {
        let mut hash = Sha256::new();
        hash.update([0x07]);
        hash.update(self.store_id.as_bytes());
        hash.update(bytes);
        let hash: [u8; 32] = hash.finalize().into();
        hash.first_chunk().copied().unwrap_or_default()
    }
}

/// Returns the bytes of the file; none, which is damage, of one that is longer than the counters of
/// so many rows twice, or that is no regular file.
fn read(disk: &dyn Disk, rows: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match disk.open(NAME, ledger::OpenMode::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Some(Vec::new())),
        Err(error) => return Err(error),
    };
    let len = file.len_bytes()?;
    // A crash may have taken rows from the ledger whose counters are here; a planted file of holes
    // is longer than that.
    if len > LEN_MIN.saturating_add(rows.saturating_mul(2 * ROW_LEN)) {
        return Ok(Some(Vec::new()));
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_at(&mut bytes, 0)?;
    Ok(Some(bytes))
}

const NAME: &str = "index/accesses";

/// The temporary name until the file is whole.
const TEMPORARY: &str = "index/accesses.new";

/// The name of the format, and its version.
const MAGIC: &[u8] = b"GRAINACC\x00\x01\x00\x00";

/// The bytes of one row.
const ROW_LEN: u64 = 24;

/// A length that is read however few rows there are.
const LEN_MIN: u64 = 1 << 20;

/// The number of shards, each with a lock of its own.
const PARTS: usize = 16;
