//! redb on the store's disk, so that the crash simulator covers it.

use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{Builder, Database, StorageBackend};

use crate::ledger::DiskFile;
use crate::vault::Error;
use crate::vault::error::{OrFail, guarded};

use super::DATABASE;
use super::read_backend::ReadBackend;

/// An open database.
pub(crate) struct OpenDatabase {
    /// `None` once it is being closed.
    database: Option<Database>,
    /// Ends a database that is opened to be read.
    end: Option<Arc<AtomicBool>>,
}

/// Opens the database of a file, or creates it in an empty one.
pub(crate) fn open(file: Arc<dyn DiskFile>) -> Result<OpenDatabase, Error> {
    Ok(OpenDatabase {
        database: Some(build(WriteBackend(file))?),
        end: None,
    })
}

/// Opens the database of a file to be read. The file is not changed: what redb writes to repair and
/// to close a database stays in memory.
pub(crate) fn open_to_read(file: Arc<dyn DiskFile>) -> Result<OpenDatabase, Error> {
    let end = Arc::new(AtomicBool::new(false));
    let backend = ReadBackend::new(file, Arc::clone(&end));
    let backend = backend.map_err(|source| Error::io("read", DATABASE, source))?;
    Ok(OpenDatabase {
        database: Some(build(backend)?),
        end: Some(end),
    })
}

fn build(backend: impl StorageBackend) -> Result<Database, Error> {
    let mut builder = Builder::new();
    // Rows are few and short; every value is sealed, so the cache holds no secret.
    builder.set_cache_size(CACHE_BYTES);
    builder.create_with_backend(backend).or_fail()
}

/// The header of a database: every commit changes it.
pub(crate) type Header = [u8; HEADER_LEN];

/// Reads the header; of a file that is too short the rest is zero.
///
/// # Errors
/// Storage errors.
pub(crate) fn header(file: &dyn DiskFile) -> Result<Header, Error> {
    let mut header = [0; HEADER_LEN];
    match file.read_at(&mut header, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
        read => read.map_err(|source| Error::io("read", DATABASE, source))?,
    }
    Ok(header)
}

impl Deref for OpenDatabase {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.database.as_ref().expect(OPEN)
    }
}

impl DerefMut for OpenDatabase {
    fn deref_mut(&mut self) -> &mut Database {
        self.database.as_mut().expect(OPEN)
    }
}

impl Drop for OpenDatabase {
    fn drop(&mut self) {
        // Closing reads and writes, and another process may have replaced the pages since.
        if let Some(end) = &self.end {
            end.store(true, Ordering::Release);
        }
        // redb writes to close a database, and panics on some damaged ones.
        let database = self.database.take();
        let closed = guarded(|| {
            drop(database);
            Ok(())
        });
        if let Err(error) = closed {
            tracing::warn!(%error, "the database of the vault was not closed as it should be");
        }
    }
}

/// A file of the disk as the storage of a database.
#[derive(Debug)]
struct WriteBackend(Arc<dyn DiskFile>);

impl StorageBackend for WriteBackend {
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

const CACHE_BYTES: usize = 8 << 20;

/// Only `drop` takes it.
const OPEN: &str = "a database is open until it is dropped";

/// Magic number, state, and both commit slots.
const HEADER_LEN: usize = 320;
