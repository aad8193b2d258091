//! A file as the storage of a database that is only read: redb writes when it opens, repairs and
//! closes one, and those pages stay in memory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::StorageBackend;

use crate::ledger::DiskFile;
use crate::process::Mutex;

#[derive(Debug)]
pub(super) struct ReadBackend {
    file: Arc<dyn DiskFile>,
    changes: Mutex<Changes>,
    /// Whether every further operation fails: the file may have changed since.
    end: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Changes {
    len: u64,
    /// How many bytes of the file were never cut off.
    of_file: u64,
    pages: HashMap<u64, Vec<u8>>,
}

/// A part of a range of bytes that lies in one page.
struct Part {
    page: u64,
    within: std::ops::Range<usize>,
    of_range: std::ops::Range<usize>,
}

impl ReadBackend {
    pub(super) fn new(file: Arc<dyn DiskFile>, end: Arc<AtomicBool>) -> io::Result<Self> {
        let len = file.len_bytes()?;
        Ok(Self {
            file,
            changes: Mutex::new(Changes {
                len,
                of_file: len,
                pages: HashMap::new(),
            }),
            end,
        })
    }

    fn check(&self) -> io::Result<()> {
        match self.end.load(Ordering::Acquire) {
            true => Err(io::Error::other("the database was closed")),
            false => Ok(()),
        }
    }

    /// Reads a page of the file; behind its end it is zero.
    fn page(&self, number: u64, of_file: u64) -> io::Result<Vec<u8>> {
        let mut page = vec![0; PAGE_LEN];
        let start = number.saturating_mul(PAGE_LEN as u64);
        let rest = usize::try_from(of_file.saturating_sub(start)).unwrap_or(PAGE_LEN);
        if let Some(part) = page
            .get_mut(..rest.min(PAGE_LEN))
            .filter(|it| !it.is_empty())
        {
            self.file.read_at(part, start)?;
        }
        Ok(page)
    }
}

fn parts(offset: u64, len: usize) -> impl Iterator<Item = Part> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset.saturating_add(done as u64);
        let start = usize::try_from(at % PAGE_LEN as u64).unwrap_or(0);
        let part = (PAGE_LEN - start).min(len - done);
        let of_range = done..done + part;
        done += part;
        (part > 0).then_some(Part {
            page: at / PAGE_LEN as u64,
            within: start..start + part,
            of_range,
        })
    })
}

fn copy(from: Option<&[u8]>, to: Option<&mut [u8]>) {
    if let (Some(from), Some(to)) = (from, to) {
        to.copy_from_slice(from);
    }
}

impl StorageBackend for ReadBackend {
    fn len(&self) -> io::Result<u64> {
        self.check()?;
        Ok(self.changes.lock().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.check()?;
        let changes = self.changes.lock();
        let end = offset.saturating_add(out.len() as u64);
        if end > changes.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if changes.pages.is_empty() && end <= changes.of_file {
            return self.file.read_at(out, offset);
        }
        for part in parts(offset, out.len()) {
            let to = out.get_mut(part.of_range);
            match changes.pages.get(&part.page) {
                Some(page) => copy(page.get(part.within), to),
                None => copy(self.page(part.page, changes.of_file)?.get(part.within), to),
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check()?;
        let changes = &mut *self.changes.lock();
        changes.len = len;
        changes.of_file = changes.of_file.min(len);
        changes
            .pages
            .retain(|page, _| page.saturating_mul(PAGE_LEN as u64) < len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check()?;
        let changes = &mut *self.changes.lock();
        for part in parts(offset, data.len()) {
            let page = match changes.pages.entry(part.page) {
                Entry::Occupied(page) => page.into_mut(),
                Entry::Vacant(place) => place.insert(self.page(part.page, changes.of_file)?),
            };
            copy(data.get(part.of_range), page.get_mut(part.within));
        }
        changes.len = changes.len.max(offset.saturating_add(data.len() as u64));
        Ok(())
    }
}

/// redb writes whole pages of this size, but for its header.
const PAGE_LEN: usize = 4096;
