//! Counters of retrievals (OMS 22.10): counted, written, and lost only as far as the option
//! permits.

use std::sync::Arc;
use std::time::Duration;

use grainstore::index::RetrievalCount;
use grainstore::ledger::{self, Disk, MemoryDisk};
use grainstore::query::Recall;
use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time};

use super::at;

const MINUTE: i64 = 60_000;

fn counting(options: Options) -> Options {
    Options {
        accesses: Some(Duration::from_secs(60)),
        ..options
    }
}

/// Returns what a crash would leave of a disk at this moment.
fn crashed(disk: &MemoryDisk) -> MemoryDisk {
    let copy = MemoryDisk::default();
    for folder in ["", "ledger", "index"] {
        if !folder.is_empty() {
            copy.create_folder(folder).unwrap();
        }
        for name in disk.list(folder).unwrap() {
            let name = format!("{folder}{}{name}", if folder.is_empty() { "" } else { "/" });
            let file = disk.open(&name, ledger::OpenMode::Read).unwrap();
            let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
            file.read_at(&mut bytes, 0).unwrap();
            copy.create(&name).unwrap().write_at(&bytes, 0).unwrap();
        }
    }
    copy
}

fn count(store: &Store, address: &ContentAddress) -> u64 {
    let access = store.maintenance().unwrap().accesses(address).unwrap();
    access.map_or(0, |access| access.count)
}

#[test]
fn what_somebody_is_shown_counts_once_and_what_the_store_reads_for_itself_does_not() {
    let (options, clock) = at(1_000);
    let store = Store::in_memory(counting(options)).unwrap();
    let tea = store.put(Draft::event("green tea")).unwrap();
    let cup = store.put(Draft::event("a cup").derived_from(tea)).unwrap();
    assert_eq!(store.maintenance().unwrap().accesses(&tea).unwrap(), None);
    store.status(&tea).unwrap();
    store.history(&tea).unwrap();
    store.list(None, 9).unwrap();
    store.exists(&tea).unwrap();
    store.admin().unwrap().awaits_review(&tea).unwrap();
    store.maintenance().unwrap().check().unwrap();
    assert_eq!((count(&store, &tea), count(&store, &cup)), (0, 0));

    clock.set(2_000);
    let all = Filter::new();
    store.get(&tea).unwrap();
    store.get_batch(&[tea, cup]).unwrap();
    store.query(&all, 1, None).unwrap();
    store.search("tea", &all, 9).unwrap();
    clock.set(3_000);
    store.recall("tea", &all, &Recall::default()).unwrap();
    let last = Time::from_ms(3_000);
    assert_eq!(
        store.maintenance().unwrap().accesses(&tea).unwrap(),
        Some(RetrievalCount { count: 5, last })
    );
    assert_eq!(count(&store, &cup), 1);

    // What a handle does not show was not retrieved through it.
    let elsewhere = store.in_namespace("elsewhere");
    assert!(elsewhere.get(&tea).unwrap().is_none());
    assert_eq!(elsewhere.query(&all, 9, None).unwrap().total, 0);
    assert_eq!(count(&store, &tea), 5);
    let inside = store.in_namespace("shared");
    inside.get(&tea).unwrap();
    inside.search("tea", &all, 9).unwrap();
    let shown = if inside.exists(&tea).unwrap() { 7 } else { 5 };
    assert_eq!(count(&store, &tea), shown);
}

#[test]
fn counts_survive_closing_and_a_crash_takes_those_of_one_span() {
    let disk = MemoryDisk::default();
    let (options, clock) = at(0);
    let open = |disk: &MemoryDisk| {
        Store::open_on(Arc::new(disk.clone()), counting(options.clone())).unwrap()
    };
    let store = open(&disk);
    let tea = store
        .put(Draft::event("tea").created_at(Time::from_ms(1)))
        .unwrap();
    let get = |store: &Store, ms: i64| {
        clock.set(ms);
        store.get(&tea).unwrap();
    };
    get(&store, 0);
    get(&store, MINUTE - 1);
    assert_eq!(
        count(&open(&crashed(&disk)), &tea),
        0,
        "less than a span is not written"
    );
    get(&store, MINUTE);
    assert_eq!(count(&open(&crashed(&disk)), &tea), 3);
    get(&store, MINUTE + 1);
    get(&store, 2 * MINUTE);
    assert_eq!(count(&store, &tea), 5);
    assert_eq!(
        count(&open(&crashed(&disk)), &tea),
        3,
        "a crash takes the last span"
    );
    drop(store);
    let store = open(&disk);
    let last = Time::from_ms(2 * MINUTE);
    assert_eq!(
        store.maintenance().unwrap().accesses(&tea).unwrap(),
        Some(RetrievalCount { count: 5, last })
    );
}

#[test]
fn a_damaged_file_counts_as_none_and_what_is_deleted_is_forgotten() {
    let disk = MemoryDisk::default();
    let (options, _) = at(5_000);
    let open = || Store::open_on(Arc::new(disk.clone()), counting(options.clone())).unwrap();
    let store = open();
    let tea = store.put(Draft::event("tea")).unwrap();
    let cup = store.put(Draft::event("cup")).unwrap();
    store.get_batch(&[tea, cup]).unwrap();
    let written = |disk: &MemoryDisk| {
        let file = disk
            .open("index/accesses", ledger::OpenMode::Write)
            .unwrap();
        (file.len_bytes().unwrap(), file)
    };
    let deletion = Authorization {
        reason: "asked for",
        authority: "its owner",
    };
    store.admin().unwrap().delete(&tea, deletion).unwrap();
    let (len, _) = written(&disk);
    assert_eq!(len, 12 + 24 + 8, "one grain is left");
    drop(store);
    assert_eq!(count(&open(), &cup), 1);
    for place in 0..len {
        let (_, file) = written(&disk);
        let mut byte = [0];
        file.read_at(&mut byte, place).unwrap();
        file.write_at(&[byte[0] ^ 1], place).unwrap();
        assert_eq!(count(&open(), &cup), 0, "byte {place}");
        file.write_at(&byte, place).unwrap();
    }
    assert_eq!(count(&open(), &cup), 1);
}

#[test]
fn nothing_is_counted_unless_somebody_asks_for_it() {
    let disk = MemoryDisk::default();
    let (options, _) = at(5_000);
    let store = Store::open_on(Arc::new(disk.clone()), options).unwrap();
    let tea = store.put(Draft::event("tea")).unwrap();
    store.get(&tea).unwrap();
    assert_eq!(store.maintenance().unwrap().accesses(&tea).unwrap(), None);
    drop(store);
    assert!(!disk.list("index").unwrap().contains(&"accesses".to_owned()));
}
