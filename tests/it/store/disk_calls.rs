//! How often an operation calls the disk: each call is one of the system, and of a small operation
//! they are a good part of what it costs.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use grainstore::ledger::{Disk, DiskFile, Lock, MemoryDisk, OpenMode};
use grainstore::{Draft, Options, Store, index};

/// The calls of each kind.
type Calls = BTreeMap<&'static str, usize>;

/// A disk that counts its operations, and fails every change after a given number of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Counting {
    pub(super) below: MemoryDisk,
    calls: Arc<Mutex<Calls>>,
    /// How many writes and syncs it lives; `None` for all of them.
    pub(super) lives: Option<Arc<AtomicUsize>>,
}

#[derive(Debug)]
struct CountingFile {
    below: Arc<dyn DiskFile>,
    disk: Counting,
}

fn count(calls: &Mutex<Calls>, kind: &'static str) {
    *calls.lock().unwrap().entry(kind).or_default() += 1;
}

impl Counting {
    fn file(&self, opened: io::Result<Arc<dyn DiskFile>>) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(CountingFile {
            below: opened?,
            disk: self.clone(),
        }))
    }

    /// Lets a change pass, unless it died.
    fn change(&self) -> io::Result<()> {
        let Some(lives) = &self.lives else {
            return Ok(());
        };
        let less = |left: usize| left.checked_sub(1);
        match lives.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other("the disk died")),
        }
    }

    /// Returns the calls of an operation.
    fn of(&self, operation: impl FnOnce()) -> Calls {
        self.calls.lock().unwrap().clear();
        operation();
        self.calls.lock().unwrap().clone()
    }
}

impl Disk for Counting {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        count(&self.calls, "open");
        self.file(self.below.open(name, mode))
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        count(&self.calls, "exists");
        self.below.exists(name)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        count(&self.calls, "create");
        self.file(self.below.create(name))
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.below.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.below.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.below.remove(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        count(&self.calls, "list");
        self.below.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        count(&self.calls, "sync a folder");
        self.below.sync_folder(folder)
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.below.lock(name)
    }
}

impl DiskFile for CountingFile {
    fn len_bytes(&self) -> io::Result<u64> {
        count(&self.disk.calls, "length");
        self.below.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        count(&self.disk.calls, "read");
        self.below.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        count(&self.disk.calls, "write");
        self.disk.change()?;
        self.below.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        count(&self.disk.calls, "set the length");
        self.disk.change()?;
        self.below.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        count(&self.disk.calls, "sync");
        self.disk.change()?;
        self.below.sync()
    }

    fn try_lock(&self) -> io::Result<bool> {
        count(&self.disk.calls, "lock");
        self.below.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        count(&self.disk.calls, "unlock");
        self.below.unlock()
    }

    fn is_in_place(&self) -> bool {
        count(&self.disk.calls, "in place");
        self.below.is_in_place()
    }
}

#[test]
fn a_put_and_a_get_call_the_disk_as_often_as_they_must() {
    let disk = Counting::default();
    let options = Options {
        index: index::IndexOptions {
            background: false,
            ..index::IndexOptions::default()
        },
        text: None,
        ..Options::default()
    };
    let store = Store::open_on(Arc::new(disk.clone()), options).unwrap();
    let note = |text: &str| Draft::belief("ada", "notes", text).confidence(0.5);
    let first = store.put(note("basalt")).unwrap();
    let put = disk.of(|| {
        store.put(note("granite")).unwrap();
    });
    let expected = [
        ("exists", 1),
        ("in place", 3),
        ("length", 1),
        ("lock", 2),
        ("read", 2),
        ("sync", 1),
        ("unlock", 2),
        ("write", 2),
    ];
    assert_eq!(put, Calls::from(expected));
    // The first read of a segment opens it.
    drop(store.get(&first).unwrap());
    let get = disk.of(|| drop(store.get(&first).unwrap().unwrap()));
    assert_eq!(get, Calls::from([("read", 2)]));
}
