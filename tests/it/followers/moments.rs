//! A grain is erased at each moment of another process's question: between any two reads of its
//! files.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use grainstore::ledger::{Disk, DiskFile, Lock, MemoryDisk, OpenMode};
use grainstore::{ContentAddress, Filter, Options, Store};

use super::{OFFICE, note};

/// A disk on which something is done before the n-th read, counted down.
#[derive(Clone)]
struct Interrupted {
    disk: MemoryDisk,
    left: Arc<AtomicUsize>,
    then: Arc<dyn Fn() + Send + Sync>,
}

struct InterruptedFile(Arc<dyn DiskFile>, Interrupted);

impl fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupted")
    }
}

impl fmt::Debug for InterruptedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InterruptedFile")
    }
}

impl Interrupted {
    fn step(&self) {
        let before = self.left.fetch_sub(1, Ordering::AcqRel);
        if before == 1 {
            (self.then)();
        }
    }
}

impl Disk for Interrupted {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.open(name, mode)?;
        Ok(Arc::new(InterruptedFile(file, self.clone())))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.create(name)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.disk.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.disk.sync_folder(folder)
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.disk.lock(name)
    }
}

impl DiskFile for InterruptedFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.0.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.1.step();
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn is_in_place(&self) -> bool {
        self.0.is_in_place()
    }
}

/// A store with a grain that another one replaced.
struct World {
    disk: MemoryDisk,
    keeper: Arc<Store>,
}

impl World {
    fn new() -> Self {
        let disk = MemoryDisk::default();
        let keeper = Store::open_on(Arc::new(disk.clone()), Options::default()).unwrap();
        Self {
            disk,
            keeper: Arc::new(keeper),
        }
    }

    /// Stores a grain and its successor.
    fn replace(&self) -> [ContentAddress; 2] {
        let old = self.keeper.put(note("granite")).unwrap();
        let successor = note("basalt").derived_from(old);
        let new = self.keeper.supersede(&old, successor, None).unwrap();
        [old, new]
    }

    /// Returns a disk on which the grain at `address` is erased before the n-th read.
    fn erasing(
        &self,
        address: &Arc<OnceLock<ContentAddress>>,
        left: &Arc<AtomicUsize>,
    ) -> Arc<dyn Disk> {
        let (keeper, address) = (Arc::clone(&self.keeper), Arc::clone(address));
        Arc::new(Interrupted {
            disk: self.disk.clone(),
            left: Arc::clone(left),
            then: Arc::new(move || {
                let address = address.get().unwrap();
                keeper.admin().unwrap().delete(address, OFFICE).unwrap();
            }),
        })
    }
}

fn current(store: &Store) -> Vec<ContentAddress> {
    let page = store.query(&Filter::new(), 10, None).unwrap();
    page.results.iter().map(|found| found.address).collect()
}

#[test]
fn whenever_a_successor_is_erased_by_another_process_its_predecessor_stays_replaced_and_no_file_has_it()
 {
    for (is_open, is_compact) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut moments = 0;
        loop {
            let world = World::new();
            let left = Arc::new(AtomicUsize::new(usize::MAX));
            let address = Arc::new(OnceLock::new());
            let disk = world.erasing(&address, &left);
            let open =
                || Store::open_on(Arc::clone(&disk), Options::default().read_only()).unwrap();
            let opened = is_open.then(open);
            let [old, new] = world.replace();
            if is_compact {
                world.keeper.maintenance().unwrap().compact().unwrap();
            }
            address.set(new).unwrap();
            left.store(moments + 1, Ordering::Release);
            let reader = opened.unwrap_or_else(open);
            let found = current(&reader);
            assert!(!found.contains(&old), "before read {moments}, {is_open}");
            if world.keeper.exists(&new).unwrap() {
                // There were fewer reads.
                assert_eq!(found, [new]);
                break;
            }
            // The answer may be from before the erasure.
            let report = reader.maintenance().unwrap().check().unwrap();
            assert_eq!(report.findings, [], "before read {moments}, {is_open}");
            assert_eq!(current(&reader), []);
            moments += 1;
        }
        assert!(moments > 3, "{moments}");
    }
}
