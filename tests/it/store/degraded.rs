//! A store whose derived files cannot be read, written or removed, and a store on a full disk: it
//! opens, answers what it can, says what it cannot, and heals.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use grainstore::ledger::{Disk, DiskFile, Lock, MemoryDisk, OpenMode};
use grainstore::store::{Authorization, Clock};
use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time};
use parking_lot::Mutex;

use super::assert_sound;

/// A disk on which what lies in one folder fails, or on which there is no room.
#[derive(Debug, Clone, Default)]
struct Faulty {
    disk: MemoryDisk,
    /// What fails begins with this.
    broken: Arc<Mutex<Option<&'static str>>>,
    /// The bytes that fit on the disk.
    room: Arc<Mutex<Option<u64>>>,
    /// The number of files that were created in the folder of the text view.
    built: Arc<AtomicU64>,
}

/// A clock by which every file of the text view takes ten seconds to create.
#[derive(Debug)]
struct SlowBuild(Arc<AtomicU64>);

impl Clock for SlowBuild {
    fn now(&self) -> Time {
        Time::from_ms(1_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed) * 10)
    }
}

#[derive(Debug)]
struct FaultyFile {
    file: Arc<dyn DiskFile>,
    disk: Faulty,
    name: String,
}

impl Faulty {
    fn works(&self, name: &str) -> io::Result<()> {
        match *self.broken.lock() {
            Some(broken) if name.starts_with(broken) => Err(io::Error::other("broken")),
            _ => Ok(()),
        }
    }

    fn used(&self) -> u64 {
        let folders = ["", "ledger", "index", "text"];
        let files = folders.iter().flat_map(|folder| {
            let names = self.disk.list(folder).unwrap_or_default();
            names.into_iter().map(move |name| match *folder {
                "" => name,
                folder => format!("{folder}/{name}"),
            })
        });
        let len = |name: String| self.disk.open(&name, OpenMode::Read)?.len_bytes();
        files.map(|name| len(name).unwrap_or(0)).sum()
    }

    /// Leaves no room, but for so many bytes.
    fn fill(&self, free: u64) {
        *self.room.lock() = Some(self.used() + free);
    }

    fn heal(&self) {
        *self.room.lock() = None;
        *self.broken.lock() = None;
    }

    fn holds(&self, word: &str) -> bool {
        ["", "ledger", "index", "text"].iter().any(|folder| {
            self.disk
                .list(folder)
                .unwrap_or_default()
                .iter()
                .any(|name| {
                    let path = format!("{folder}/{name}");
                    let file = self.disk.open(path.trim_start_matches('/'), OpenMode::Read);
                    let file = file.unwrap();
                    let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
                    file.read_at(&mut bytes, 0).unwrap();
                    bytes
                        .windows(word.len())
                        .any(|part| part == word.as_bytes())
                })
        })
    }

    fn open_store(&self, options: Options) -> Store {
        Store::open_on(Arc::new(self.clone()), options).unwrap()
    }

    fn wrap(&self, name: &str, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(FaultyFile {
            file,
            disk: self.clone(),
            name: name.to_owned(),
        })
    }
}

impl Disk for Faulty {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        self.works(name)?;
        Ok(self.wrap(name, self.disk.open(name, mode)?))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.works(name)?;
        if name.starts_with("text/") {
            self.built.fetch_add(1, Ordering::Relaxed);
        }
        Ok(self.wrap(name, self.disk.create(name)?))
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.works(folder)?;
        self.disk.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.works(to)?;
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.works(name)?;
        self.disk.remove(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.works(folder)?;
        self.disk.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.works(folder)?;
        self.disk.sync_folder(folder)
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.disk.lock(name)
    }
}

impl DiskFile for FaultyFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.file.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.works(&self.name)?;
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.works(&self.name)?;
        let end = offset + bytes.len() as u64;
        let more = end.saturating_sub(self.file.len_bytes()?);
        let room = *self.disk.room.lock();
        if more > 0 && room.is_some_and(|room| self.disk.used() + more > room) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.works(&self.name)?;
        self.file.sync()
    }
}

fn options() -> Options {
    let mut options = Options {
        ballast_bytes: 4 << 10,
        ..Options::default()
    };
    options.index.flush_rows = 50;
    options.index.background = false;
    options
}

fn deletion() -> Authorization<'static> {
    Authorization {
        reason: "asked",
        authority: "the owner",
    }
}

/// Stores grains, writes all derived files, and closes the store.
fn filled(disk: &Faulty, grains: usize) -> Vec<ContentAddress> {
    let store = disk.open_store(options());
    let put = |n| store.put(Draft::event(format!("wombat{n} likes tea")));
    let addresses = (0..grains).map(|n| put(n).unwrap()).collect();
    store.maintenance().unwrap().compact().unwrap();
    addresses
}

fn found(store: &Store, word: &str) -> u64 {
    store.search(word, &Filter::new(), 10).unwrap().total
}

#[test]
fn a_text_view_that_cannot_be_opened_or_built_leaves_everything_but_search() {
    let disk = Faulty::default();
    let addresses = filled(&disk, 60);
    *disk.broken.lock() = Some("text");
    let store = disk.open_store(options());
    let reason = store
        .maintenance()
        .unwrap()
        .recovery_report()
        .text_unavailable
        .clone()
        .unwrap();
    assert!(reason.contains("broken"), "{reason}");
    assert!(store.get(&addresses[7]).unwrap().is_some());
    assert_eq!(store.query(&Filter::new(), 100, None).unwrap().total, 60);
    let added = store.put(Draft::event("a quokka likes coffee")).unwrap();
    let error = store.search("tea", &Filter::new(), 10).unwrap_err();
    assert_eq!(error.code(), "ERR_TEXT");
    let maintenance = store.maintenance().unwrap();
    assert!(maintenance.stats().unwrap().text_unavailable.is_some());
    let report = maintenance.check().unwrap();
    assert_eq!(report.findings[0].id, "text-unavailable");
    // The next search finds a disk that works.
    disk.heal();
    assert_eq!(found(&store, "tea"), 60);
    assert_eq!(found(&store, "quokka"), 1);
    assert_eq!(store.get(&added).unwrap().unwrap().address(), added);
    assert_eq!(maintenance.stats().unwrap().text_unavailable, None);
    assert!(maintenance.check().unwrap().findings.is_empty());
}

#[test]
fn entries_that_no_file_of_the_text_view_has_are_counted() {
    let store = Store::in_memory(options()).unwrap();
    for n in 0..3 {
        store.put(Draft::event(format!("tea number {n}"))).unwrap();
    }
    let maintenance = store.maintenance().unwrap();
    let uncommitted = || maintenance.stats().unwrap().text_uncommitted;
    let entries = maintenance.stats().unwrap().entries;
    assert_eq!((found(&store, "tea"), uncommitted()), (3, entries));
    maintenance.flush_text().unwrap();
    assert_eq!((found(&store, "tea"), uncommitted()), (3, 0));
}

#[test]
fn a_search_that_builds_the_text_view_has_its_whole_time_left_for_the_answer() {
    let disk = Faulty::default();
    filled(&disk, 60);
    *disk.broken.lock() = Some("text");
    let built = Arc::clone(&disk.built);
    let store = disk.open_store(Options {
        clock: Arc::new(SlowBuild(Arc::clone(&built))),
        ..options()
    });
    disk.heal();
    for name in disk.disk.list("text").unwrap() {
        disk.disk.remove(&format!("text/{name}")).unwrap();
    }
    let before = built.load(Ordering::Relaxed);
    let answer = store.search("tea", &Filter::new(), 10).unwrap();
    assert!(built.load(Ordering::Relaxed) > before, "it was not built");
    assert_eq!((answer.total, answer.is_partial), (60, false));
}

#[test]
fn a_search_that_commits_a_long_queue_has_its_whole_time_left() {
    let disk = Faulty::default();
    let built = Arc::clone(&disk.built);
    let store = disk.open_store(Options {
        clock: Arc::new(SlowBuild(Arc::clone(&built))),
        ..options()
    });
    let drafts = (0..5_000).map(|n| Draft::event(format!("tea {n}")));
    store.put_batch(drafts).unwrap();
    let before = built.load(Ordering::Relaxed);
    let answer = store.search("tea", &Filter::new(), 10).unwrap();
    assert!(
        built.load(Ordering::Relaxed) > before,
        "nothing was committed"
    );
    assert_eq!((answer.total, answer.is_partial), (1_000, false));
}

#[test]
fn an_index_whose_files_fail_is_built_anew_and_written_when_they_work() {
    let disk = Faulty::default();
    let addresses = filled(&disk, 120);
    *disk.broken.lock() = Some("index");
    let store = disk.open_store(options());
    assert!(
        store
            .maintenance()
            .unwrap()
            .recovery_report()
            .index_rebuilt
            .is_some()
    );
    assert_eq!(store.query(&Filter::new(), 1, None).unwrap().total, 120);
    // Runs that cannot be read may name it: the erasure waits.
    let refused = store.admin().unwrap().delete(&addresses[3], deletion());
    assert_eq!(refused.unwrap_err().code(), "ERR_STORAGE_IO");
    assert!(store.get(&addresses[3]).unwrap().is_none());
    disk.heal();
    store.maintenance().unwrap().compact().unwrap();
    assert_sound(&store);
    drop(store);
    let store = disk.open_store(options());
    assert_eq!(
        store.maintenance().unwrap().recovery_report().index_rebuilt,
        None
    );
    assert_eq!(store.query(&Filter::new(), 1, None).unwrap().total, 119);
    assert_sound(&store);
}

#[test]
fn a_deletion_in_a_text_view_that_fails_deletes_the_view_and_completes() {
    let disk = Faulty::default();
    let addresses = filled(&disk, 60);
    let store = disk.open_store(options());
    disk.fill(6 << 10);
    store
        .admin()
        .unwrap()
        .delete(&addresses[7], deletion())
        .unwrap();
    assert!(!disk.holds("wombat7 ") && !disk.holds("wombat7\0"));
    assert_eq!(found(&store, "wombat7"), 0);
    disk.heal();
    assert_eq!(found(&store, "tea"), 59);
    drop(store);
    assert_eq!(found(&disk.open_store(options()), "tea"), 59);
}

#[test]
fn a_full_disk_delays_an_erasure_and_keeps_nothing_from_being_read() {
    let disk = Faulty::default();
    let addresses = filled(&disk, 1_000);
    let index: u64 = {
        let store = disk.open_store(options());
        store.maintenance().unwrap().stats().unwrap().index_bytes
    };
    assert!(index > 2 * options().ballast_bytes, "{index}");
    for text in [true, false] {
        let options = || Options {
            text: options().text.filter(|_| text),
            ..options()
        };
        let victim = &addresses[usize::from(text)];
        let store = disk.open_store(options());
        disk.fill(0);
        let deleted = store.admin().unwrap().delete(victim, deletion());
        assert!(store.get(victim).unwrap().is_none());
        assert!(store.get(&addresses[9]).unwrap().is_some());
        if let Err(error) = deleted {
            assert_eq!(error.code(), "ERR_STORAGE_FULL");
            assert_eq!(
                store
                    .maintenance()
                    .unwrap()
                    .stats()
                    .unwrap()
                    .erasures_waiting,
                1
            );
        }
        drop(store);
        // The disk is as full as before; the index makes room.
        let used = disk.used();
        disk.fill(0);
        let store = disk.open_store(options());
        assert_eq!(
            store.maintenance().unwrap().recovery_report().erasure_waits,
            None,
            "{used}"
        );
        assert!(store.get(victim).unwrap().is_none());
        assert!(store.get(&addresses[9]).unwrap().is_some());
        assert_eq!(
            store
                .maintenance()
                .unwrap()
                .stats()
                .unwrap()
                .erasures_waiting,
            0
        );
        disk.heal();
        if text {
            assert_eq!(found(&store, "tea"), 999);
        }
        let report = store.maintenance().unwrap().check().unwrap();
        assert!(report.findings.is_empty(), "{report:?}");
    }
}

#[test]
fn an_erasure_that_cannot_blank_the_ledger_waits_and_the_store_opens() {
    let disk = Faulty::default();
    let addresses = filled(&disk, 60);
    let store = disk.open_store(options());
    disk.fill(0);
    *disk.broken.lock() = Some("text");
    let refused = store.admin().unwrap().delete(&addresses[7], deletion());
    assert_eq!(refused.unwrap_err().code(), "ERR_TEXT");
    drop(store);
    let store = disk.open_store(options());
    assert!(
        store
            .maintenance()
            .unwrap()
            .recovery_report()
            .erasure_waits
            .is_some()
    );
    let finding = store.maintenance().unwrap().check().unwrap().findings;
    assert!(finding.iter().any(|one| one.id == "erasure-waits"));
    assert!(store.get(&addresses[7]).unwrap().is_none());
    assert_eq!(store.query(&Filter::new(), 1, None).unwrap().total, 59);
    disk.heal();
    drop(store);
    let store = disk.open_store(options());
    assert_eq!(
        store.maintenance().unwrap().recovery_report().erasure_waits,
        None
    );
    assert_eq!(found(&store, "tea"), 59);
    assert!(!disk.holds("wombat7 "));
}

#[test]
fn what_a_crash_left_is_listed_and_goes_with_a_deletion_or_a_compaction() {
    let disk = Faulty::default();
    let addresses = filled(&disk, 3);
    let tear = |word: &str| {
        let names = disk.disk.list("ledger").unwrap();
        let segment = names
            .iter()
            .filter(|name| name.ends_with(".seg"))
            .max()
            .unwrap();
        let file = disk
            .disk
            .open(&format!("ledger/{segment}"), OpenMode::Write)
            .unwrap();
        file.write_at(word.as_bytes(), file.len_bytes().unwrap())
            .unwrap();
    };
    for delete in [true, false] {
        tear("a torn platypus");
        drop(disk.open_store(options()));
        // It is listed by every later open, not only by the one that set it aside.
        let store = disk.open_store(options());
        assert_eq!(store.maintenance().unwrap().recovery_report().torn, None);
        let maintenance = store.maintenance().unwrap();
        assert_eq!(maintenance.stats().unwrap().torn_files, ["ledger/torn-1"]);
        assert_eq!(maintenance.check().unwrap().findings[0].id, "torn-tail");
        assert!(disk.holds("platypus"));
        if delete {
            store
                .admin()
                .unwrap()
                .delete(&addresses[1], deletion())
                .unwrap();
        } else {
            maintenance.compact().unwrap();
        }
        assert!(!disk.holds("platypus"));
        assert!(maintenance.stats().unwrap().torn_files.is_empty());
        assert!(maintenance.check().unwrap().findings.is_empty());
    }
}
