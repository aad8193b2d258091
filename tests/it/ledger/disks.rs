//! The disks keep the same promises.

use std::io::ErrorKind;

use grainstore::ledger::{Access, Disk, FileDisk, Lock, MemoryDisk};

use super::*;

#[test]
fn files_and_memory_keep_the_same_promises() {
    let home = tempfile::tempdir().unwrap();
    let disks: [Box<dyn Disk>; 2] = [
        Box::new(FileDisk::new(home.path())),
        Box::new(MemoryDisk::default()),
    ];
    for disk in disks {
        let fails = |outcome: std::io::Result<()>, kind| {
            assert_eq!(outcome.unwrap_err().kind(), kind, "{disk:?}");
        };
        fails(
            disk.open("one", Access::Read).map(drop),
            ErrorKind::NotFound,
        );
        fails(disk.create("no/one").map(drop), ErrorKind::NotFound);
        fails(disk.list("no").map(drop), ErrorKind::NotFound);
        fails(disk.remove("one"), ErrorKind::NotFound);
        fails(disk.rename("one", "two"), ErrorKind::NotFound);
        fails(disk.create("../one").map(drop), ErrorKind::InvalidInput);
        fails(disk.create_folder("a/b"), ErrorKind::InvalidInput);

        disk.create_folder("a").unwrap();
        disk.create_folder("a").unwrap();
        let file = disk.create("a/one").unwrap();
        fails(disk.create("a/one").map(drop), ErrorKind::AlreadyExists);
        file.write_at(b"later", 5).unwrap();
        file.write_at(b"first", 0).unwrap();
        file.sync().unwrap();
        assert_eq!(bytes_of(&*disk, "a/one"), b"firstlater");
        file.set_len(3).unwrap();
        file.set_len(5).unwrap();
        assert_eq!(bytes_of(&*disk, "a/one"), b"fir\0\0");
        fails(file.read_at(&mut [0; 6], 0), ErrorKind::UnexpectedEof);
        fails(file.read_at(&mut [0; 1], 9), ErrorKind::UnexpectedEof);
        let reader = disk.open("a/one", Access::Read).unwrap();
        assert!(reader.write_at(b"x", 0).is_err());

        disk.create("b").unwrap();
        disk.rename("a/one", "b").unwrap();
        assert_eq!(disk.list("a").unwrap(), [""; 0]);
        assert_eq!(disk.list("").unwrap(), ["b"]);
        assert_eq!(bytes_of(&*disk, "b"), b"fir\0\0");
        disk.sync_folder("a").unwrap();
        disk.sync_folder("").unwrap();
        disk.remove("b").unwrap();
        assert_eq!(disk.list("").unwrap(), [""; 0]);

        let held = Lock::take(&*disk, "LOCK").unwrap();
        let code = Lock::take(&*disk, "LOCK").unwrap_err().code();
        assert_eq!(code, "ERR_STORE_LOCKED");
        drop(held);
        assert!(Lock::take(&*disk, "LOCK").is_ok());
    }
}

#[test]
fn a_ledger_of_files_reads_back_after_reopening() {
    let home = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(home.path()));
    let ledger = Ledger::create(Arc::clone(&disk), STORE, options(4000)).unwrap();
    let items: Vec<_> = (0..100).map(|n| Item::new(vec![n; 90])).collect();
    for batch in items.chunks(3) {
        append(&ledger, batch).unwrap();
    }
    drop(ledger);
    // More segments than are kept open at once.
    assert!(disk.list("ledger").unwrap().len() > 4);
    let mut seen = Vec::new();
    let mut visit = |entry: &Entry<'_>| seen.push(Item::of(entry));
    let (ledger, opened) = Ledger::open(disk, STORE, options(4000), 100, &mut visit).unwrap();
    assert_eq!(opened, Opened::default());
    assert_eq!(seen, items);
    assert_eq!(all(&ledger), items);
}
