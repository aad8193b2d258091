//! Several processes that write one store: what each acknowledges all of them find, and each decides
//! on what the others did before.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use grainstore::ledger::{Disk, DiskFile, Lock, MemoryDisk, OpenMode};
use grainstore::store::{Authorization, RequiredConsent};
use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time};

use crate::sample::addresses_of;

const OFFICE: Authorization<'static> = Authorization {
    reason: "a request",
    authority: "the office",
};

/// A busy machine is no reason to give up.
fn patient() -> Options {
    Options {
        lock_wait: Duration::from_secs(120),
        ..Options::default()
    }
}

fn open(path: &Path) -> Store {
    Store::open(path, patient()).unwrap()
}

fn open_on(disk: &MemoryDisk) -> Store {
    Store::open_on(Arc::new(disk.clone()), patient()).unwrap()
}

fn note(text: &str) -> Draft {
    Draft::belief("ada", "notes", text).confidence(0.5)
}

fn found(store: &Store, words: &str) -> Vec<ContentAddress> {
    let hits = store.search(words, &Filter::new(), 10).unwrap();
    hits.results.iter().map(|hit| hit.address).collect()
}

fn entries(store: &Store) -> u64 {
    store.maintenance().unwrap().stats().unwrap().entries
}

fn is_whole(store: &Store) {
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn each_finds_at_once_what_the_others_stored_by_address_triple_and_words() {
    let home = tempfile::tempdir().unwrap();
    let stores = [open(home.path()), open(home.path()), open(home.path())];
    for n in 0..60 {
        let word = format!("basalt{n}");
        let address = stores[n % 3].put(note(&word)).unwrap();
        for store in &stores {
            assert!(store.get(&address).unwrap().is_some());
            let filter = Filter::new().subject("ada").object(word.as_str());
            assert_eq!(store.query(&filter, 10, None).unwrap().total, 1);
            assert_eq!(found(store, &word), [address]);
        }
    }
    stores.iter().for_each(is_whole);
    drop(stores);
    let store = open(home.path());
    assert_eq!(store.query(&Filter::new(), 1, None).unwrap().total, 60);
    is_whole(&store);
}

#[test]
fn of_two_that_replace_one_grain_the_second_is_told_of_the_conflict() {
    let disk = MemoryDisk::default();
    let (one, other) = (open_on(&disk), open_on(&disk));
    let head = one.put(note("green")).unwrap();
    assert!(other.exists(&head).unwrap());
    let winner = one
        .supersede(&head, note("blue").derived_from(head), None)
        .unwrap();
    let refused = other.supersede(&head, note("red").derived_from(head), None);
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), "ERR_CONFLICT");
    assert!(
        refused.to_string().contains(&winner.to_string()),
        "{refused}"
    );
    assert_eq!(entries(&one), entries(&other));
}

#[test]
fn a_consent_that_one_process_withdraws_refuses_a_put_in_another() {
    let disk = MemoryDisk::default();
    let (one, other) = (open_on(&disk), open_on(&disk));
    let consent = |more: &str| {
        Draft::from_json(&format!(
            r#"{{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b",
                "scope":["store"],"created_at":1,{more}}}"#
        ))
        .unwrap()
    };
    let grant = one.put(consent(r#""is_withdrawal":false"#)).unwrap();
    let resting = |text: &str| note(text).set("processing_basis", grant.to_string());
    other.put(resting("before")).unwrap();
    let prior = format!(r#""is_withdrawal":true,"prior_consent":"{grant}""#);
    one.put(consent(&prior)).unwrap();
    let refused = other.put(resting("after")).unwrap_err();
    assert_eq!(refused.code(), "ERR_CONSENT");
    let required = RequiredConsent {
        read: false,
        write: true,
    };
    one.admin()
        .unwrap()
        .require_consent("ward", required, OFFICE)
        .unwrap();
    let refused = other.put(note("unasked").namespace("ward")).unwrap_err();
    assert_eq!(refused.code(), "ERR_CONSENT");
}

#[test]
fn a_grain_that_any_process_deletes_is_in_no_answer_and_in_no_open_file() {
    let home = tempfile::tempdir().unwrap();
    let keeper = open(home.path());
    let kept = keeper.put(note("obsidian kept")).unwrap();
    let erased = keeper.put(note("obsidian erased")).unwrap();
    keeper.maintenance().unwrap().compact().unwrap();
    let (other, third) = (open(home.path()), open(home.path()));
    assert_eq!(found(&third, "obsidian").len(), 2);
    other.admin().unwrap().delete(&erased, OFFICE).unwrap();
    for store in [&keeper, &other, &third] {
        assert!(store.get(&erased).unwrap().is_none());
        assert_eq!(found(store, "obsidian"), [kept]);
        is_whole(store);
    }
    assert_eq!(crate::followers::open_and_unlinked(home.path()), [""; 0]);
}

#[test]
fn while_the_keeper_has_not_come_to_it_no_process_answers_with_what_another_deletes() {
    // On a disk in memory nothing is done between questions.
    let disk = MemoryDisk::default();
    let [keeper, other, third] = [open_on(&disk), open_on(&disk), open_on(&disk)];
    let erased = keeper.put(note("obsidian")).unwrap();
    keeper.maintenance().unwrap().compact().unwrap();
    for store in [&keeper, &other, &third] {
        assert_eq!(found(store, "obsidian"), [erased]);
        assert!(store.status(&erased).is_ok());
    }
    thread::scope(|scope| {
        let deleting = scope.spawn(|| other.admin().unwrap().delete(&erased, OFFICE).unwrap());
        // The entry that begins the erasure, and the grain.
        while entries(&third) < 2 {
            thread::yield_now();
        }
        assert!(!deleting.is_finished());
        for store in [&keeper, &third] {
            assert!(store.get(&erased).unwrap().is_none());
            assert!(!store.exists(&erased).unwrap());
            assert_eq!(found(store, "obsidian"), []);
            let filter = Filter::new().subject("ada");
            assert_eq!(store.query(&filter, 10, None).unwrap().total, 0);
        }
        while !deleting.is_finished() {
            keeper.maintenance().unwrap().tend().unwrap();
        }
    });
    is_whole(&keeper);
}

#[test]
fn the_keeper_tries_again_when_it_could_not_complete_the_erasure_of_another_process() {
    let disk = MemoryDisk::default();
    let impatient = Options {
        lock_wait: Duration::ZERO,
        ..Options::default()
    };
    let keeper = Store::open_on(Arc::new(disk.clone()), impatient).unwrap();
    let other = open_on(&disk);
    let erased = keeper.put(note("obsidian")).unwrap();
    assert!(other.exists(&erased).unwrap());
    let writer = disk.open("WRITER", OpenMode::Write).unwrap();
    thread::scope(|scope| {
        let deleting = scope.spawn(|| other.admin().unwrap().delete(&erased, OFFICE).unwrap());
        while keeper.exists(&erased).unwrap() || !writer.try_lock().unwrap() {
            thread::yield_now();
        }
        assert_eq!(
            keeper.maintenance().unwrap().tend().unwrap_err().code(),
            "ERR_STORE_LOCKED"
        );
        writer.unlock().unwrap();
        assert!(!deleting.is_finished());
        keeper.maintenance().unwrap().tend().unwrap();
        deleting.join().unwrap();
    });
    is_whole(&keeper);
}

#[test]
fn what_one_process_begins_to_delete_another_completes_once_the_keeper_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let keeper = open(home.path());
    let erased = keeper.put(note("obsidian")).unwrap();
    let other = open(home.path());
    drop(keeper);
    other.admin().unwrap().delete(&erased, OFFICE).unwrap();
    // It is the keeper now.
    other.maintenance().unwrap().compact().unwrap();
    is_whole(&other);
    let third = open(home.path());
    let refused = third.maintenance().unwrap().compact().unwrap_err();
    assert_eq!(refused.code(), "ERR_STORE_LOCKED");
}

/// Copies a file of a disk in memory to another name, or over another file.
fn bytes(disk: &MemoryDisk, name: &str) -> Vec<u8> {
    let file = disk.open(name, OpenMode::Read).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// A disk for a backup that lets another process do something in the middle of the copy.
struct Interrupted<F>(MemoryDisk, F);

impl<F> std::fmt::Debug for Interrupted<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interrupted")
    }
}

impl<F: Fn() + Send + Sync> Disk for Interrupted<F> {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        self.0.open(name, mode)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        if name.starts_with("ledger/") {
            (self.1)();
        }
        self.0.create(name)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.0.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.0.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.0.sync_folder(folder)
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.0.lock(name)
    }
}

#[test]
fn while_one_process_backs_up_another_writes_and_erases_and_the_backup_is_whole() {
    let disk = MemoryDisk::default();
    let (keeper, other) = (open_on(&disk), open_on(&disk));
    let erased = keeper.put(note("obsidian")).unwrap();
    let kept = keeper.put(note("granite")).unwrap();
    assert!(other.exists(&erased).unwrap());
    let is_first = AtomicBool::new(true);
    let target = MemoryDisk::default();
    let interrupted = Interrupted(target.clone(), || {
        keeper.put(note("beside the backup")).unwrap();
        if is_first.swap(false, Ordering::AcqRel) {
            keeper.admin().unwrap().delete(&erased, OFFICE).unwrap();
        }
    });
    let files = other.maintenance().unwrap();
    files.backup_to(&interrupted, Path::new("backup")).unwrap();
    let backup = open_on(&target);
    assert!(backup.exists(&kept).unwrap() && !backup.exists(&erased).unwrap());
    is_whole(&backup);
}

#[test]
fn what_a_process_wrote_before_it_could_say_so_is_kept_by_the_next() {
    let disk = MemoryDisk::default();
    let (one, other) = (open_on(&disk), open_on(&disk));
    let before = one.put(note("before")).unwrap();
    let end = bytes(&disk, "END");
    let unsaid = one.put(note("unsaid")).unwrap();
    // It died between the sync and the publication.
    disk.open("END", OpenMode::Write)
        .unwrap()
        .write_at(&end, 0)
        .unwrap();
    assert!(!other.exists(&unsaid).unwrap());
    let after = other.put(note("after")).unwrap();
    for address in [before, unsaid, after] {
        assert!(other.exists(&address).unwrap() && one.exists(&address).unwrap());
    }
    is_whole(&other);
}

#[test]
fn what_a_process_left_half_written_is_set_aside_by_the_next_and_no_reader_notices() {
    let disk = MemoryDisk::default();
    let segment = "ledger/0000000000000001.seg";
    let (one, other) = (open_on(&disk), open_on(&disk));
    let before = one.put(note("before")).unwrap();
    let whole = bytes(&disk, segment).len();
    let end = bytes(&disk, "END");
    one.put(note("a word that was cut")).unwrap();
    let cut = bytes(&disk, segment).len() - 7;
    disk.open(segment, OpenMode::Write)
        .unwrap()
        .set_len(cut as u64)
        .unwrap();
    disk.open("END", OpenMode::Write)
        .unwrap()
        .write_at(&end, 0)
        .unwrap();
    assert!(whole < cut);
    assert!(other.exists(&before).unwrap());
    assert_eq!(entries(&other), 1);
    let after = other.put(note("after")).unwrap();
    assert_eq!(entries(&other), 2);
    let report = other.maintenance().unwrap().check().unwrap();
    let ids: Vec<_> = report.findings.iter().map(|found| found.id).collect();
    assert_eq!(ids, ["torn-tail"], "it is kept aside");
    let afresh = Store::open_on(Arc::new(disk), Options::default().read_only());
    let afresh = afresh.unwrap();
    assert!(afresh.exists(&before).unwrap() && afresh.exists(&after).unwrap());
}

/// Two processes with segments that hold a few entries, and the addresses of those in the first.
fn with_a_full_segment(disk: &MemoryDisk) -> ([Store; 2], Vec<ContentAddress>) {
    let open = || {
        let mut options = patient();
        options.segment_bytes = 1_500;
        Store::open_on(Arc::new(disk.clone()), options).unwrap()
    };
    let stores = [open(), open()];
    let mut stored = Vec::new();
    while bytes(disk, "ledger/0000000000000001.seg").len() < 1_200 {
        let text = format!("before {}", stored.len());
        stored.push(stores[0].put(note(&text)).unwrap());
    }
    assert!(stores[1].exists(&stored[0]).unwrap());
    (stores, stored)
}

#[test]
fn the_entries_that_a_process_left_in_a_new_segment_are_kept_by_the_next() {
    let disk = MemoryDisk::default();
    let ([one, other], mut stored) = with_a_full_segment(&disk);
    let end = bytes(&disk, "END");
    stored.push(one.put(note(&"unsaid ".repeat(60))).unwrap());
    assert!(disk.list("ledger").unwrap().len() == 2);
    // It died between the sync and the publication.
    let published = disk.open("END", OpenMode::Write).unwrap();
    published.write_at(&end, 0).unwrap();
    stored.push(other.put(note("after")).unwrap());
    for address in stored {
        assert!(other.exists(&address).unwrap() && one.exists(&address).unwrap());
    }
    is_whole(&other);
}

#[test]
fn a_segment_that_a_process_has_just_begun_keeps_no_other_from_writing() {
    for is_named_only in [true, false] {
        let disk = MemoryDisk::default();
        let ([_one, other], _) = with_a_full_segment(&disk);
        let segment = disk.create("ledger/0000000000000002.seg").unwrap();
        if !is_named_only {
            segment.write_at(b"the half of a header", 0).unwrap();
        }
        for n in 0..20 {
            other.put(note(&format!("after {n}"))).unwrap();
        }
        let report = other.maintenance().unwrap().check().unwrap();
        assert!(report.findings.iter().all(|found| found.id == "torn-tail"));
    }
}

#[test]
fn threads_of_several_stores_lose_nothing_and_store_nothing_twice() {
    const EACH: usize = 40;
    let home = tempfile::tempdir().unwrap();
    let stores: Vec<Store> = (0..4).map(|_| open(home.path())).collect();
    let address = |store: &Store, n: usize| {
        let draft = Draft::event(format!("deed {n}")).created_at(Time::from_ms(1));
        store.put(draft).unwrap()
    };
    thread::scope(|scope| {
        for (who, store) in stores.iter().enumerate() {
            for thread in 0..2 {
                scope.spawn(move || {
                    for n in 0..EACH {
                        // Every deed is stored by two processes.
                        let of = (who / 2 * 2 + thread) * EACH + n;
                        let stored = address(store, of);
                        assert!(store.exists(&stored).unwrap());
                    }
                });
            }
        }
    });
    for store in &stores {
        assert_eq!(entries(store), 4 * EACH as u64);
        is_whole(store);
    }
}

#[test]
fn the_keeper_takes_in_what_others_stored_while_it_was_asked_nothing() {
    // More than is applied at once.
    const MANY: u64 = 10_500;
    let disk = MemoryDisk::default();
    let options = || Options {
        text: None,
        ..Options::default()
    };
    let keeper = Store::open_on(Arc::new(disk.clone()), options()).unwrap();
    let other = Store::open_on(Arc::new(disk), options()).unwrap();
    let deed = |n: u64| Draft::event("deed").created_at(Time::from_ms(n.cast_signed()));
    let stored = addresses_of(&other.put_batch((0..MANY).map(deed)).unwrap());
    assert_eq!(keeper.query(&Filter::new(), 1, None).unwrap().total, MANY);
    assert!(keeper.exists(&stored[0]).unwrap() && keeper.exists(&stored[10_499]).unwrap());
    assert_eq!(keeper.put(deed(0)).unwrap(), stored[0]);
    assert_eq!(entries(&keeper), MANY);
    keeper.maintenance().unwrap().compact().unwrap();
    is_whole(&keeper);
}

#[test]
fn a_process_that_waits_in_vain_is_told_which_one_writes() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    store.put(note("first")).unwrap();
    let held = fs::File::options()
        .write(true)
        .open(home.path().join("WRITER"));
    let held = held.unwrap();
    held.lock().unwrap();
    let options = Options {
        lock_wait: Duration::ZERO,
        ..Options::default()
    };
    let other = Store::open(home.path(), options).unwrap();
    let refused = other.put(note("second")).unwrap_err();
    assert_eq!(refused.code(), "ERR_STORE_LOCKED");
    let holder = format!("in use by process {} (", std::process::id());
    assert!(refused.to_string().contains(&holder), "{refused}");
    held.unlock().unwrap();
    other.put(note("second")).unwrap();
}

#[test]
fn room_that_one_process_gives_back_stops_no_other() {
    let home = tempfile::tempdir().unwrap();
    let open = || {
        let mut options = patient();
        options.segment_bytes = 30_000;
        Store::open(home.path(), options).unwrap()
    };
    let (keeper, other) = (open(), open());
    let text = |n: usize| format!("basalt{n} {}", "lava ".repeat(400));
    let notes: Vec<_> = (0..60)
        .map(|n| other.put(note(&text(n))).unwrap())
        .collect();
    let gone: Vec<_> = notes.iter().skip(2).copied().collect();
    let admin = keeper.admin().unwrap();
    admin.delete_batch(&gone, OFFICE).unwrap();
    other.put(note("before")).unwrap();
    let compacted = keeper.maintenance().unwrap().compact().unwrap();
    let (before, after) = (compacted.before.ledger_bytes, compacted.after.ledger_bytes);
    assert!(after * 4 < before, "{after} of {before}");
    let after = other.put(note("after")).unwrap();
    for store in [&keeper, &other, &open()] {
        assert!(store.exists(&after).unwrap() && store.exists(&notes[1]).unwrap());
        assert!(!store.exists(&gone[0]).unwrap());
        is_whole(store);
    }
    let backup = home.path().join("backup");
    let copied = other.maintenance().unwrap().backup(&backup).unwrap();
    assert!(copied.bytes < before / 3, "{copied:?}");
}
