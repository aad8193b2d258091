//! redb on the store's disk, so that the crash simulator covers it.

use std::io;
use std::sync::Arc;

use redb::{Builder, Database, StorageBackend};

use crate::ledger::DiskFile;
use crate::vault::Error;
use crate::vault::error::OrFail;

/// A file of the disk as the storage of a database.
#[derive(Debug)]
struct Backend(Arc<dyn DiskFile>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.len_bytes()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(out, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_at(data, offset)
    }
}

/// Opens the database of a file, or creates it in an empty one.
pub(crate) fn open(file: Arc<dyn DiskFile>) -> Result<Database, Error> {
    let mut builder = Builder::new();
    // Rows are few and short; every value is sealed, so the cache holds no secret.
    builder.set_cache_size(CACHE_BYTES);
    builder.create_with_backend(Backend(file)).or_fail()
}

const CACHE_BYTES: usize = 8 << 20;
