//! What the index does beside answering: files come and go, a full disk is borne, memory is
//! bounded.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use grainstore::index::{Addresses, Comparison};
use grainstore::ledger::{DiskFile, EntryId, Lock, MemoryDisk, OpenMode};

fn memory() -> Arc<dyn Disk> {
    Arc::new(MemoryDisk::default())
}

fn entries(count: u64) -> Entries {
    Entries(
        (0..count)
            .map(|n| Said::Grain(Box::new(grain(n))))
            .collect(),
    )
}

/// Applies and freezes entries, some at a time.
fn grow(index: &Index, all: &Entries, step: usize) {
    let from = usize::try_from(index.watermark()).unwrap();
    for end in (from..=all.0.len()).step_by(step).skip(1) {
        Entries(all.0[..end].to_vec()).apply(index);
        freeze(index);
    }
}

#[test]
fn four_runs_of_a_size_become_one() {
    let disk = memory();
    let (index, _) = open(&disk, &small());
    let all = entries(50 * 21);
    grow(&index, &all, 50);
    // 16 + 4 + 1: as the digits of a number to the base of four.
    assert_eq!(index.runs(), 3);
    let mut names = disk.list("index").unwrap();
    names.retain(|name| name.ends_with(".run"));
    assert_eq!(names.len(), 3, "{names:?}");
    agree(answers(&index.snapshot()), expected(&all, &[]));
}

#[test]
fn a_file_stays_while_a_snapshot_reads_it_and_goes_with_the_last() {
    let disk = memory();
    let (index, _) = open(&disk, &small());
    let all = entries(150);
    grow(&index, &all, 50);
    let runs = || {
        let names = disk.list("index").unwrap().into_iter();
        names.filter(|name| name.ends_with(".run")).count()
    };
    let (old, copy) = (index.snapshot(), index.snapshot());
    let before = answers(&old);
    index.merge_all().unwrap();
    assert_eq!(runs(), 4);
    assert_eq!(answers(&old), before);
    drop(old);
    assert_eq!(runs(), 4);
    drop(copy);
    assert_eq!(runs(), 1);
}

#[test]
fn what_no_version_names_is_removed_at_open() {
    let disk = memory();
    let (index, _) = open(&disk, &small());
    let all = entries(100);
    grow(&index, &all, 50);
    drop(index);
    // A crash in the middle of writing a run, and of publishing a version.
    disk.create("index/0000000000000077.run").unwrap();
    disk.create("index/CURRENT.new").unwrap();
    disk.create("index/notes.txt").unwrap();
    let (index, opened) = open(&disk, &small());
    assert_eq!((opened.rebuilt, index.watermark()), (None, 100));
    let mut names = disk.list("index").unwrap();
    names.sort();
    let run = |n| format!("{n:016}.run");
    assert_eq!(
        names,
        [run(1), run(2), "CURRENT".into(), "notes.txt".into()]
    );
    // The number of the removed file is not given to another.
    grow(&index, &entries(150), 50);
    assert!(disk.list("index").unwrap().contains(&run(78)));
}

#[test]
fn a_scan_that_stops_reads_no_further_than_it_must() {
    let disk = memory();
    let (index, _) = open(&disk, &small());
    let all = entries(400);
    grow(&index, &all, 200);
    let snapshot = index.snapshot();
    let everything = snapshot.triples(&Pattern::default());
    let few: Result<Vec<_>, _> = everything.take(3).collect();
    assert_eq!(few.unwrap().len(), 3);
    let rows = snapshot.in_time(Family::EventTime, None, None);
    let rows: Result<Vec<_>, _> = rows.take(70).collect();
    assert_eq!(rows.unwrap(), (0..70).map(EntryId::new).collect::<Vec<_>>());
}

#[test]
fn the_first_of_equal_prefixes_does_not_hide_the_others() {
    for addresses in [Addresses::Map, Addresses::Filters] {
        let options = IndexOptions {
            prefix_bytes: 1,
            addresses,
            ..small()
        };
        let disk = memory();
        let (index, _) = open(&disk, &options);
        let all = entries(700);
        grow(&index, &all, 70);
        all.apply(&index);
        let snapshot = index.snapshot();
        let mut named = 0;
        for row in 0..700 {
            let found = snapshot.candidates(&all.address(row)).unwrap();
            assert!(found.contains(EntryId::new(row)));
            named += found.len();
        }
        assert!(named > 2 * 700);
    }
}

/// A disk that has room for so many more writes, and counts the largest.
#[derive(Debug)]
struct Narrow {
    inner: MemoryDisk,
    is_full: Arc<AtomicBool>,
    largest: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct NarrowFile {
    inner: Arc<dyn DiskFile>,
    is_full: Arc<AtomicBool>,
    largest: Arc<AtomicUsize>,
}

impl Narrow {
    fn wrap(&self, inner: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(NarrowFile {
            inner,
            is_full: Arc::clone(&self.is_full),
            largest: Arc::clone(&self.largest),
        })
    }
}

impl Disk for Narrow {
    fn open(&self, name: &str, access: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.wrap(self.inner.open(name, access)?))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.wrap(self.inner.create(name)?))
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.inner.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.inner.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.inner.sync_folder(folder)
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.inner.lock(name)
    }
}

impl DiskFile for NarrowFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.inner.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.largest.fetch_max(buffer.len(), Ordering::Relaxed);
        self.inner.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.largest.fetch_max(bytes.len(), Ordering::Relaxed);
        self.inner.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

fn narrow() -> (Arc<dyn Disk>, Arc<AtomicBool>, Arc<AtomicUsize>) {
    let (is_full, largest) = (Arc::default(), Arc::default());
    let disk = Narrow {
        inner: MemoryDisk::default(),
        is_full: Arc::clone(&is_full),
        largest: Arc::clone(&largest),
    };
    (Arc::new(disk), is_full, largest)
}

#[test]
fn a_full_disk_keeps_nobody_from_writing_or_reading() {
    for background in [false, true] {
        let (disk, is_full, _) = narrow();
        let options = IndexOptions {
            background,
            ..small()
        };
        let (index, _) = open(&disk, &options);
        let all = entries(600);
        grow(&index, &Entries(all.0[..100].to_vec()), 50);
        index.flush().unwrap();
        is_full.store(true, Ordering::Relaxed);
        for end in (150..=500).step_by(50) {
            Entries(all.0[..end].to_vec()).apply(&index);
            let active = index.active_entries();
            let stretch = places(active.clone());
            let outcome = index.rotate_memtable(Some(mark(active.end.get())), stretch);
            assert_eq!(outcome.is_err(), !background);
        }
        assert_eq!(index.flush().unwrap_err().code(), "ERR_STORAGE_FULL");
        assert_eq!(index.flushed(), 100);
        let told = Entries(all.0[..500].to_vec());
        agree(answers(&index.snapshot()), expected(&told, &[]));
        // No half of a run takes what little room there is.
        let names = disk.list("index").unwrap();
        assert_eq!(
            names.iter().filter(|name| name.ends_with(".run")).count(),
            2
        );
        is_full.store(false, Ordering::Relaxed);
        grow(&index, &all, 50);
        index.flush().unwrap();
        assert_eq!(index.flushed(), 600);
        agree(answers(&index.snapshot()), expected(&all, &[]));
        drop(index);
        assert_eq!(open(&disk, &options).0.watermark(), 600);
    }
}

#[test]
fn a_merge_never_holds_a_run() {
    let (disk, _, largest) = narrow();
    let (index, _) = open(&disk, &small());
    let all = entries(8_000);
    for end in [4_000, 8_000] {
        Entries(all.0[..end].to_vec()).apply(&index);
        let active = index.active_entries();
        let stretch = places(active.clone());
        index
            .rotate_memtable(Some(mark(active.end.get())), stretch)
            .unwrap();
    }
    let len = usize::try_from(index.len_bytes()).unwrap();
    largest.store(0, Ordering::Relaxed);
    index.merge_all().unwrap();
    let largest = largest.load(Ordering::Relaxed);
    assert!(
        largest <= 140 << 10 && len > 2 * largest,
        "{largest} of {len}"
    );
    assert_eq!(index.runs(), 1);
    agree(answers(&index.snapshot()), expected(&all, &[]));
}

#[test]
fn a_run_that_ends_inside_a_frame_has_no_mark_and_is_used_all_the_same() {
    let disk = memory();
    let (index, _) = open(&disk, &small());
    let all = entries(120);
    grow(&index, &Entries(all.0[..50].to_vec()), 50);
    Entries(all.0[..100].to_vec()).apply(&index);
    index
        .rotate_memtable(Some(mark(103)), places(EntryId::new(50)..EntryId::new(100)))
        .unwrap();
    drop(index);
    let (index, opened) = open(&disk, &small());
    assert_eq!(index.watermark(), 100);
    assert_eq!(opened.position, Some(mark(50)));
    assert_eq!(opened.locations, places(EntryId::new(0)..EntryId::new(50)));
}

#[test]
fn places_that_do_not_fit_are_not_written() {
    let disk = memory();
    let (index, _) = open(&disk, &small());
    entries(60).apply(&index);
    index
        .rotate_memtable(None, places(EntryId::new(0)..EntryId::new(59)))
        .unwrap();
    assert_eq!(index.runs(), 0);
}

#[test]
fn a_comparison_names_what_differs() {
    let disk = memory();
    let (index, _) = open(&disk, &small());
    let all = entries(130);
    grow(&index, &all, 50);
    all.apply(&index);
    let compare = |told: &Entries| {
        let mut comparison = Comparison::of(&index);
        let mut batch = index.batch();
        told.fill(&mut batch, 0, &[]);
        comparison.add(batch);
        comparison.finish(&places).unwrap()
    };
    assert_eq!(compare(&all), [""; 0]);
    let mut other = all.clone();
    other.0[60] = Said::Grain(Box::new(grain(1_000)));
    let found = compare(&other);
    assert!(
        found.iter().all(|text| text.starts_with("run 2, ")),
        "{found:?}"
    );
    assert!(
        found.iter().any(|text| text.contains("EventTime")),
        "{found:?}"
    );
    other = all.clone();
    other.0[129] = Said::Mention(0);
    let found = compare(&other);
    assert!(
        found.iter().all(|text| text.starts_with("memory, ")),
        "{found:?}"
    );
    let mut comparison = Comparison::of(&index);
    let mut batch = index.batch();
    all.fill(&mut batch, 0, &[]);
    comparison.add(batch);
    let moved = |range: Range<EntryId>| places(range.start.next()..range.end.next());
    let found = comparison.finish(&moved).unwrap();
    assert!(
        found.iter().any(|text| text.contains("locations")),
        "{found:?}"
    );
}
