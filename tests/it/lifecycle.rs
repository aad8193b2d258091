//! A store through its life: checked, repaired, compacted, backed up, restored, and opened by
//! later versions.

mod backup;
mod kept;
mod killed;
mod packed;
mod restore;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use grainstore::codec::{Canonical, Encoding, Map, Profile, Value};
use grainstore::grain::{Draft, Status, Time};
use grainstore::ledger::{Binding, EntryId, FileDisk, Kind, Ledger, NewEntry};
use grainstore::store::{Options, Severity};
use grainstore::{ContentAddress, Filter, Store};
use tempfile::TempDir;

use crate::sample::addresses_of;
use crate::store::at;

/// A directory, and stores in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self, name: &str) -> Store {
        Store::open(self.path(name), options()).unwrap()
    }
}

/// Small segments and runs, so that there are several of each.
fn options() -> Options {
    let (mut options, _) = at(1_000);
    options.ballast_bytes = 0;
    options.segment_bytes = 3_000;
    options.index.flush_rows = 16;
    options.index.background = false;
    if let Some(text) = &mut options.text {
        text.background = false;
    }
    options
}

fn draft(n: usize) -> Draft {
    Draft::belief(format!("s{}", n % 5), "likes", format!("thing{n} tea"))
        .confidence(0.5)
        .namespace("work")
        .created_at(Time::from_ms(i64::try_from(n).unwrap()))
}

/// What a store says: its grains in order, and their status.
fn told(store: &Store) -> Vec<(ContentAddress, Status)> {
    let listed = store.list(None, usize::MAX).unwrap().addresses;
    let told = listed.into_iter().map(|address| {
        assert_eq!(store.get(&address).unwrap().unwrap().address(), address);
        (address, store.status(&address).unwrap())
    });
    told.collect()
}

/// A store with grains, supersessions, runs and committed text.
fn filled(home: &Home) -> Vec<(ContentAddress, Status)> {
    let store = home.open("s");
    for batch in 0..6 {
        let drafts = (batch * 8..batch * 8 + 8).map(draft);
        let addresses = addresses_of(&store.put_batch(drafts).unwrap());
        let newer = draft(1_000 + batch).derived_from(addresses[0]);
        store.supersede(&addresses[0], newer, None).unwrap();
    }
    store.maintenance().unwrap().flush_text().unwrap();
    told(&store)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The files of a folder with their bytes, by name.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Erases rows as a deletion does: an entry that lists them, behind what is said again about other
/// grains, then the blanking.
fn erase(path: &Path, rows: &[u64], again: Vec<Map>) {
    let id = Store::open(path, options())
        .unwrap()
        .maintenance()
        .unwrap()
        .stats()
        .unwrap()
        .store_id;
    let disk = Arc::new(FileDisk::new(path));
    let (ledger, _) =
        Ledger::open(disk, id, options().segment_bytes, 0, None, |_| Vec::new()).unwrap();
    let listed = rows.iter().flat_map(|row| row.to_be_bytes()).collect();
    let erasing = Map::from_iter([
        ("r", Value::Bytes(listed)),
        ("t", Value::Bytes(vec![7; 32])),
        ("why", "asked for".into()),
        ("by", "ada".into()),
    ]);
    let statuses = again.into_iter().map(|map| (Kind::Status, map));
    let bodies = statuses
        .chain([(Kind::Erasing, erasing)])
        .map(|(kind, map)| {
            let map = Canonical::new(map, Profile::Extended).unwrap();
            (kind, Encoding::MessagePack.encode(&map))
        });
    let bodies: Vec<_> = bodies.collect();
    let entries = bodies.iter().map(|(kind, body)| NewEntry {
        kind: *kind,
        actor: None,
        body,
        binding: Binding::of([9; 16], body),
    });
    ledger.append(2_000, &entries.collect::<Vec<_>>()).unwrap();
    let rows: Vec<_> = rows.iter().copied().map(EntryId::new).collect();
    ledger.redact(&rows).unwrap();
}

#[test]
fn a_sound_store_has_no_findings_however_it_is_checked() {
    let home = Home::new();
    let expected = filled(&home);
    let store = home.open("s");
    for report in [
        store.maintenance().unwrap().check_structure().unwrap(),
        store.maintenance().unwrap().check().unwrap(),
    ] {
        assert_eq!(report.findings, []);
        assert_eq!(report.grains, expected.len() as u64);
        assert_eq!(
            report.entries,
            store.maintenance().unwrap().stats().unwrap().entries
        );
    }
    let empty = home.open("empty");
    assert_eq!(
        empty
            .maintenance()
            .unwrap()
            .check_structure()
            .unwrap()
            .findings,
        []
    );
}

#[test]
fn files_that_change_under_an_open_store_are_found_by_name() {
    let home = Home::new();
    filled(&home);
    let runs = files(&home.path("s/index"));
    let run = runs.iter().find(|(name, _)| name.ends_with(".run"));
    let run = format!("index/{}", run.unwrap().0);
    let text = files(&home.path("s/text"));
    let text = text.iter().find(|(name, _)| name.ends_with(".store"));
    let text = format!("text/{}", text.unwrap().0);
    let first = "ledger/0000000000000001.seg";
    // What is changed, where, and who finds it under which name: structure, every byte.
    let cases = [
        ("MANIFEST", 30, Some("manifest-damaged"), "manifest-damaged"),
        (first, 20, Some("ledger-damaged"), "ledger-damaged"),
        (first, 200, None, "ledger-damaged"),
        ("index/CURRENT", 20, Some("index-damaged"), "index-damaged"),
        (&run, 40, Some("index-damaged"), "index-damaged"),
        (&run, 90, None, "index-differs"),
        (&text, 5, None, "text-damaged"),
    ];
    for (name, at, quick, deep) in cases {
        let store = home.open("s");
        let path = home.path("s").join(name);
        let sound = fs::read(&path).unwrap();
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        let ids = |report: grainstore::store::Report| {
            let findings = report.findings.into_iter();
            findings.map(|finding| finding.id).collect::<Vec<_>>()
        };
        let found = ids(store.maintenance().unwrap().check_structure().unwrap());
        assert_eq!(found.first().copied(), quick, "{name} at {at}: {found:?}");
        let report = store.maintenance().unwrap().check().unwrap();
        assert_eq!(report.worst(), Some(Severity::Damage), "{name} at {at}");
        assert!(ids(report).contains(&deep), "{name} at {at}");
        fs::write(&path, sound).unwrap();
    }
    for name in [first, &run, "index/CURRENT", "MANIFEST"] {
        let store = home.open("s");
        let path = home.path("s").join(name);
        let sound = fs::read(&path).unwrap();
        fs::write(&path, &sound[..sound.len() / 2]).unwrap();
        assert!(
            !store
                .maintenance()
                .unwrap()
                .check_structure()
                .unwrap()
                .findings
                .is_empty(),
            "{name} cut"
        );
        fs::remove_file(&path).unwrap();
        assert!(
            !store
                .maintenance()
                .unwrap()
                .check_structure()
                .unwrap()
                .findings
                .is_empty(),
            "{name} gone"
        );
        fs::write(&path, sound).unwrap();
    }
}

#[test]
fn a_repair_brings_back_what_any_derived_file_lost_and_leaves_the_ledger_as_it_is() {
    let home = Home::new();
    let expected = filled(&home);
    let ledger = files(&home.path("s/ledger"));
    for folder in ["index", "text"] {
        for (name, bytes) in files(&home.path("s").join(folder)) {
            if bytes.is_empty() {
                continue;
            }
            for at in [0, bytes.len() / 3, bytes.len() - 1] {
                let copied = Home::new();
                copy(&home.path("s"), &copied.path("s"));
                let path = copied.path("s").join(folder).join(&name);
                let mut bytes = bytes.clone();
                bytes[at] ^= 0x40;
                fs::write(&path, bytes).unwrap();
                let store = grainstore::recovery::repair(copied.path("s"), options()).unwrap();
                assert!(
                    store
                        .maintenance()
                        .unwrap()
                        .recovery_report()
                        .index_rebuilt
                        .is_some()
                );
                assert!(
                    store
                        .maintenance()
                        .unwrap()
                        .recovery_report()
                        .text_rebuilt
                        .is_some()
                );
                assert_eq!(
                    store.maintenance().unwrap().check().unwrap().findings,
                    [],
                    "{name} at {at}"
                );
                assert_eq!(told(&store), expected);
                let found = store.search("tea", &Filter::new().with_superseded(), 99);
                assert_eq!(found.unwrap().total, expected.len() as u64);
                drop(store);
                assert_eq!(files(&copied.path("s/ledger")), ledger);
                let store = copied.open("s");
                assert_eq!(
                    store.maintenance().unwrap().recovery_report().index_rebuilt,
                    None
                );
                assert_eq!(
                    store.maintenance().unwrap().recovery_report().text_rebuilt,
                    None
                );
            }
        }
    }
}

#[test]
fn a_repair_of_a_damaged_ledger_is_refused_and_deletes_nothing() {
    let home = Home::new();
    filled(&home);
    let path = home.path("s/ledger/0000000000000001.seg");
    let mut bytes = fs::read(&path).unwrap();
    // In the header of the first entry: without its body the rest would be answered.
    bytes[70] ^= 1;
    fs::write(&path, bytes).unwrap();
    let before = [files(&home.path("s/index")), files(&home.path("s/text"))];
    let error = grainstore::recovery::repair(home.path("s"), options()).unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
    let after = [files(&home.path("s/index")), files(&home.path("s/text"))];
    assert_eq!(before, after);
    let missing = grainstore::recovery::repair(home.path("none"), options()).unwrap_err();
    assert_eq!(missing.code(), "ERR_NOT_A_STORE");
}

#[test]
fn a_repair_does_not_hide_that_entries_are_missing() {
    let home = Home::new();
    filled(&home);
    let segments = files(&home.path("s/ledger"));
    let (last, _) = segments.last().unwrap();
    fs::remove_file(home.path("s/ledger").join(last)).unwrap();
    // The index knows that there were more entries: deleting it would hide the loss.
    let error = grainstore::recovery::repair(home.path("s"), options()).unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
}

#[test]
fn a_store_is_compacted_into_one_run_and_one_segment_and_says_the_same() {
    let home = Home::new();
    let expected = filled(&home);
    let store = home.open("s");
    for n in 100..104 {
        store.put(draft(n)).unwrap();
        store.maintenance().unwrap().flush_text().unwrap();
    }
    let before = told(&store);
    assert_eq!(before.len(), expected.len() + 4);
    let compacted = store.maintenance().unwrap().compact().unwrap();
    assert!(compacted.before.text_segments > 1, "{compacted:?}");
    assert_eq!(compacted.after.index_runs, 1);
    assert_eq!(compacted.after.text_segments, 1);
    assert!(compacted.after.text_bytes > 0 && compacted.after.index_bytes > 0);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    assert_eq!(told(&store), before);
    store.put(draft(200)).unwrap();
    let found = store.search("thing200", &Filter::new(), 9).unwrap();
    assert_eq!(found.total, 1);
    drop(store);
    let store = home.open("s");
    assert_eq!(
        store.maintenance().unwrap().recovery_report().text_rebuilt,
        None
    );
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn an_index_of_a_newer_version_is_built_anew() {
    use sha2::{Digest, Sha256};
    let home = Home::new();
    let expected = filled(&home);
    let id = *home
        .open("s")
        .maintenance()
        .unwrap()
        .stats()
        .unwrap()
        .store_id
        .as_bytes();
    let current = home.path("s/index/CURRENT");
    let mut bytes = fs::read(&current).unwrap();
    bytes[9] = 2;
    let covered = bytes.len() - 8;
    let mut hash = Sha256::new().chain_update([6]).chain_update(id);
    hash.update(&bytes[..covered]);
    bytes[covered..].copy_from_slice(&hash.finalize()[..8]);
    fs::write(&current, bytes).unwrap();
    let store = home.open("s");
    assert!(
        store
            .maintenance()
            .unwrap()
            .recovery_report()
            .index_rebuilt
            .is_some()
    );
    assert_eq!(told(&store), expected);
    store.maintenance().unwrap().compact().unwrap();
    drop(store);

    let (name, mut bytes) = files(&home.path("s/index")).swap_remove(0);
    assert!(name.ends_with(".run"));
    bytes[9] += 1;
    fs::write(home.path("s/index").join(name), bytes).unwrap();
    let store = home.open("s");
    assert!(
        store
            .maintenance()
            .unwrap()
            .recovery_report()
            .index_rebuilt
            .is_some()
    );
    assert_eq!(told(&store), expected);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}
