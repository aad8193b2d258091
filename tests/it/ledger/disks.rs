//! The disks keep the same promises.

use std::io::ErrorKind;

use grainstore::ledger::{Ballast, Disk, FileDisk, Lock, MemoryDisk, OpenMode};

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
            disk.open("one", OpenMode::Read).map(drop),
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
        let reader = disk.open("a/one", OpenMode::Read).unwrap();
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

        let held = Lock::take(&*disk, "LOCK", "process 12 (one)").unwrap();
        let error = Lock::take(&*disk, "LOCK", "process 13 (two)").unwrap_err();
        assert_eq!(error.code(), "ERR_STORE_LOCKED");
        let text = "the store is in use by process 12 (one)";
        assert_eq!(error.to_string(), text);
        held.check().unwrap();
        drop(held);
        assert!(Lock::take(&*disk, "LOCK", "process 13 (two)").is_ok());
    }
}

#[test]
fn a_ledger_of_files_reads_back_after_reopening() {
    let home = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(home.path()));
    let ledger = Ledger::create(Arc::clone(&disk), STORE, 4000).unwrap();
    let items: Vec<_> = (0..100).map(|n| Item::new(vec![n; 90])).collect();
    for batch in items.chunks(3) {
        append(&ledger, batch).unwrap();
    }
    drop(ledger);
    // More segments than are kept open at once.
    assert!(disk.list("ledger").unwrap().len() > 4);
    let (ledger, opened) = Ledger::open(disk, STORE, 4000, 100, None, erases).unwrap();
    assert_eq!(opened, None);
    assert_eq!(all(&ledger), items);
}

#[test]
fn a_lock_whose_file_is_removed_or_replaced_is_lost_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let disk = FileDisk::new(home.path());
    for replaced in [false, true] {
        let held = Lock::take(&disk, "LOCK", "process 1 (one)").unwrap();
        held.check().unwrap();
        disk.remove("LOCK").unwrap();
        if replaced {
            disk.create("LOCK").unwrap();
        }
        let error = held.check().unwrap_err();
        assert_eq!(error.code(), "ERR_STORE_LOCKED");
        assert!(error.to_string().contains("lost"), "{error}");
    }
}

#[test]
fn a_lock_file_that_says_anything_else_names_nobody() {
    let home = tempfile::tempdir().unwrap();
    let disk = FileDisk::new(home.path());
    let _held = Lock::take(&disk, "LOCK", "process 1 (one)").unwrap();
    for hostile in [&b""[..], b"no line", b"\x1b[2J\n", b"\xff\n", &[b'x'; 9999]] {
        let file = disk.open("LOCK", OpenMode::Write).unwrap();
        file.set_len(0).unwrap();
        file.write_at(hostile, 0).unwrap();
        let error = Lock::take(&disk, "LOCK", "process 2 (two)").unwrap_err();
        let text = "the store is in use by another writer";
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn ballast_takes_its_room_gives_it_up_and_takes_it_again() {
    let home = tempfile::tempdir().unwrap();
    let disks: [Box<dyn Disk>; 2] = [
        Box::new(FileDisk::new(home.path())),
        Box::new(MemoryDisk::default()),
    ];
    for disk in disks {
        let ballast = Ballast::new("ballast", 200_000);
        for _ in 0..2 {
            assert!(ballast.restore(&*disk).unwrap());
            assert_eq!(bytes_of(&*disk, "ballast").len(), 200_000);
        }
        // A crash may have left less.
        let file = disk.open("ballast", OpenMode::Write).unwrap();
        file.set_len(70_000).unwrap();
        assert!(ballast.restore(&*disk).unwrap());
        assert_eq!(bytes_of(&*disk, "ballast").len(), 200_000);
        ballast.release(&*disk).unwrap();
        ballast.release(&*disk).unwrap();
        assert_eq!(disk.list("").unwrap(), [""; 0]);
        assert!(Ballast::new("ballast", 0).restore(&*disk).unwrap());
        assert_eq!(disk.list("").unwrap(), [""; 0]);
    }
}
