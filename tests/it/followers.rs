//! Stores opened for reading beside the one that writes: their answers hold what it has
//! acknowledged and nothing else, and they change nothing.

mod moments;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use grainstore::ledger::{Disk, MemoryDisk};
use grainstore::store::{Authorization, Durability, untrusted_file_system};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};

const OFFICE: Authorization<'static> = Authorization {
    reason: "a request",
    authority: "the office",
};

fn beside(path: &Path) -> Store {
    Store::open(path, Options::default().read_only()).unwrap()
}

fn note(text: &str) -> Draft {
    Draft::belief("ada", "notes", text).confidence(0.5)
}

fn found(store: &Store, words: &str) -> Vec<ContentAddress> {
    let hits = store.search(words, &Filter::new(), 10).unwrap();
    hits.results.iter().map(|hit| hit.address).collect()
}

/// Returns the names, lengths and contents of all files.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for item in fs::read_dir(path).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn what_one_store_acknowledges_the_others_find_by_address_triple_and_words() {
    let home = tempfile::tempdir().unwrap();
    let writer = Store::open(home.path(), Options::default()).unwrap();
    let first = writer.put(note("granite")).unwrap();
    let reader = beside(home.path());
    assert!(reader.exists(&first).unwrap());
    for n in 0..50 {
        let word = format!("basalt{n}");
        let address = writer.put(note(&word)).unwrap();
        assert!(reader.get(&address).unwrap().is_some());
        let filter = Filter::new().subject("ada").object(word.as_str());
        assert_eq!(reader.query(&filter, 10, None).unwrap().total, 1);
        assert_eq!(found(&reader, &word), [address]);
        if n % 20 == 7 {
            writer.maintenance().unwrap().compact().unwrap();
        }
    }
    let newer = writer.supersede(&first, note("gneiss").derived_from(first), None);
    let status = reader.status(&first).unwrap();
    assert_eq!(status.superseded_by, Some(newer.unwrap()));
}

#[test]
fn what_is_not_durable_yet_is_not_shown() {
    let home = tempfile::tempdir().unwrap();
    let options = Options {
        durability: Durability::Relaxed,
        ..Options::default()
    };
    let writer = Store::open(home.path(), options).unwrap();
    let reader = beside(home.path());
    let address = writer.put(note("slate")).unwrap();
    assert!(!reader.exists(&address).unwrap());
    assert!(!beside(home.path()).exists(&address).unwrap());
    writer.maintenance().unwrap().sync().unwrap();
    assert!(reader.exists(&address).unwrap());
}

#[test]
fn a_store_opened_for_reading_refuses_changes_and_changes_no_file() {
    let home = tempfile::tempdir().unwrap();
    let writer = Store::open(home.path(), Options::default()).unwrap();
    let address = writer.put(note("schist")).unwrap();
    drop(writer);
    // What an interrupted write leaves: a reader neither reads it nor sets it aside.
    let segment = home.path().join("ledger/0000000000000001.seg");
    let mut bytes = fs::read(&segment).unwrap();
    bytes.extend(b"the beginning of a frame");
    fs::write(&segment, bytes).unwrap();
    let before = files(home.path());

    let reader = beside(home.path());
    assert_eq!(found(&reader, "schist"), [address]);
    let read_only = "ERR_STORAGE_READ_ONLY";
    assert_eq!(reader.put(note("marble")).unwrap_err().code(), read_only);
    let admin = reader.admin().unwrap();
    assert_eq!(
        admin.delete(&address, OFFICE).unwrap_err().code(),
        read_only
    );
    assert_eq!(
        admin.place_hold(&address, OFFICE).unwrap_err().code(),
        read_only
    );
    let compacted = reader.maintenance().unwrap().compact();
    assert_eq!(compacted.unwrap_err().code(), read_only);
    assert_eq!(reader.maintenance().unwrap().check().unwrap().findings, []);
    drop(reader);
    assert_eq!(files(home.path()), before);
}

#[test]
fn an_index_and_a_text_view_that_are_missing_are_built_in_memory() {
    let home = tempfile::tempdir().unwrap();
    let writer = Store::open(home.path(), Options::default()).unwrap();
    let address = writer.put(note("pumice")).unwrap();
    drop(writer);
    fs::remove_dir_all(home.path().join("index")).unwrap();
    fs::remove_dir_all(home.path().join("text")).unwrap();
    let before = files(home.path());
    let reader = beside(home.path());
    assert_eq!(found(&reader, "pumice"), [address]);
    drop(reader);
    assert_eq!(files(home.path()), before);
}

#[test]
fn no_store_answers_with_an_erased_grain_from_the_moment_that_delete_returns() {
    let home = tempfile::tempdir().unwrap();
    let writer = Store::open(home.path(), Options::default()).unwrap();
    let kept = writer.put(note("obsidian kept")).unwrap();
    let erased = writer.put(note("obsidian erased")).unwrap();
    writer.maintenance().unwrap().compact().unwrap();
    let reader = beside(home.path());
    assert_eq!(found(&reader, "obsidian").len(), 2);
    writer.admin().unwrap().delete(&erased, OFFICE).unwrap();
    assert!(reader.get(&erased).unwrap().is_none());
    assert_eq!(found(&reader, "obsidian"), [kept]);
    let filter = Filter::new().subject("ada");
    assert_eq!(reader.query(&filter, 10, None).unwrap().total, 1);
    assert_eq!(open_and_unlinked(home.path()), [""; 0]);
}

#[test]
fn a_store_opened_for_reading_says_that_an_erasure_waits_and_does_not_answer_with_the_grain() {
    let disk = MemoryDisk::default();
    let open = || {
        let options = Options {
            lock_wait: Duration::ZERO,
            ..Options::default()
        };
        Store::open_on(Arc::new(disk.clone()), options).unwrap()
    };
    let (keeper, other) = (open(), open());
    let erased = keeper.put(note("obsidian")).unwrap();
    let begun = other.admin().unwrap().delete(&erased, OFFICE).unwrap_err();
    assert_eq!(begun.code(), "ERR_STORE_LOCKED");
    let below: Arc<dyn Disk> = Arc::new(disk.clone());
    let reader = || Store::open_on(Arc::clone(&below), Options::default().read_only()).unwrap();
    let early = reader();
    assert!(
        early
            .maintenance()
            .unwrap()
            .recovery_report()
            .erasure_waits
            .is_some()
    );
    assert!(early.get(&erased).unwrap().is_none());
    assert_eq!(found(&early, "obsidian"), []);
    keeper.maintenance().unwrap().tend().unwrap();
    assert!(
        reader()
            .maintenance()
            .unwrap()
            .recovery_report()
            .erasure_waits
            .is_none()
    );
}

#[test]
fn a_store_is_refused_on_file_systems_whose_locks_cannot_be_trusted() {
    let line =
        |point: &str, kind: &str| format!("36 35 98:0 / {point} rw,noatime - {kind} source rw\n");
    let root = line("/", "ext4") + &line("/proc", "proc");
    for kind in [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "9p",
        "fuse.sshfs",
        "fuse.rclone",
        "vboxsf",
    ] {
        let mounts = root.clone() + &line("/mnt/far", kind) + &line("/mnt/far/disk", "xfs");
        let of = |path: &str| untrusted_file_system(&mounts, Path::new(path));
        assert_eq!(of("/mnt/far/memory.grains").as_deref(), Some(kind));
        assert_eq!(of("/mnt/far").as_deref(), Some(kind));
        for local in ["/mnt/faraway", "/mnt", "/", "/mnt/far/disk/memory.grains"] {
            assert_eq!(of(local), None, "{kind}: {local}");
        }
    }
    for kind in [
        "ext4",
        "xfs",
        "btrfs",
        "zfs",
        "tmpfs",
        "overlay",
        "apfs",
        "fuse.fuseblk",
        "f2fs",
    ] {
        let mounts = root.clone() + &line("/data", kind);
        assert_eq!(
            untrusted_file_system(&mounts, Path::new("/data/m")),
            None,
            "{kind}"
        );
    }
    // A later mount hides an earlier one; a space is written as an escape; other lines are skipped.
    let mounts = line("/a", "nfs") + &line("/a", "ext4") + &line("/b\\040c", "nfs4") + "no mount\n";
    assert_eq!(untrusted_file_system(&mounts, Path::new("/a/x")), None);
    assert!(untrusted_file_system(&mounts, Path::new("/b c/x")).is_some());
    assert_eq!(untrusted_file_system("", Path::new("/")), None);
}

/// Returns the files of a directory that this process has open or mapped and that have no name any
/// more: their bytes are still there.
pub(crate) fn open_and_unlinked(home: &Path) -> Vec<String> {
    let home = home.display().to_string();
    let Ok(descriptors) = fs::read_dir("/proc/self/fd") else {
        return Vec::new();
    };
    let open = descriptors.filter_map(|item| fs::read_link(item.ok()?.path()).ok());
    let mut names: Vec<String> = open.map(|path| path.display().to_string()).collect();
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    names.extend(maps.lines().map(str::to_owned));
    names.retain(|name| name.contains(&home) && name.ends_with("(deleted)"));
    names
}
