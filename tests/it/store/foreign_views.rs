//! Derived files of another store, or of another history of the same one, in the place of a store's
//! own: they are built anew and told, and no answer is wrong.

use std::fs;
use std::path::Path;

use grainstore::index::IndexOptions;
use grainstore::store::Durability;

use super::*;

/// Copies a directory of files and folders of files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let there = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &there);
        } else {
            fs::copy(&path, there).unwrap();
        }
    }
}

fn replace(folder: &str, of: &Path, by: &Path) {
    fs::remove_dir_all(of.join(folder)).unwrap();
    copy(&by.join(folder), &of.join(folder));
}

/// Runs and a committed text view after a few rows.
fn options() -> Options {
    Options {
        index: IndexOptions {
            flush_rows: 4,
            background: false,
            ..IndexOptions::default()
        },
        ..at(1).0
    }
}

fn fill(path: &Path, word: &str) {
    let store = Store::open(path, options()).unwrap();
    for n in 0..9 {
        store.put(prefers(&format!("{word} {n}"))).unwrap();
    }
    let maintenance = store.maintenance().unwrap();
    maintenance.compact().unwrap();
    maintenance.flush_text().unwrap();
}

/// Checks that a store answers by its own ledger, and returns what it rebuilt.
fn answers(path: &Path, word: &str, other: &str) -> (Option<String>, Option<String>) {
    let store = Store::open(path, options()).unwrap();
    let hits = |word| {
        store
            .search(word, &Filter::new(), 20)
            .unwrap()
            .results
            .len()
    };
    assert_eq!((hits(word), hits(other)), (9, 0));
    let listed = store.list(None, 100).unwrap().addresses;
    for address in &listed {
        assert!(store.get(address).unwrap().is_some());
    }
    let report = store.maintenance().unwrap().check().unwrap();
    assert_eq!(report.findings, []);
    let report = store.maintenance().unwrap().recovery_report();
    (report.index_rebuilt.clone(), report.text_rebuilt.clone())
}

#[test]
fn a_view_of_another_store_is_built_anew() {
    let home = tempfile::tempdir().unwrap();
    let (one, other) = (home.path().join("one"), home.path().join("other"));
    fill(&one, "tea");
    fill(&other, "wombat");
    replace("text", &one, &other);
    assert!(
        answers(&one, "tea", "wombat")
            .1
            .unwrap()
            .contains("another")
    );
    replace("index", &one, &other);
    assert!(answers(&one, "tea", "wombat").0.is_some());
    assert_eq!(answers(&one, "tea", "wombat"), (None, None));
}

#[test]
fn a_view_of_another_history_of_the_same_store_is_built_anew() {
    let home = tempfile::tempdir().unwrap();
    let (one, other) = (home.path().join("one"), home.path().join("other"));
    drop(Store::open(&one, options()).unwrap());
    copy(&one, &other);
    // Copies that go separate ways: the same store id, and entries of the same lengths.
    fill(&one, "lemur");
    fill(&other, "koala");
    for folder in ["text", "index"] {
        replace(folder, &one, &other);
        let (index, text) = answers(&one, "lemur", "koala");
        let told = if folder == "text" { text } else { index };
        assert!(told.unwrap().contains("another history"), "{folder}");
        assert_eq!(answers(&one, "lemur", "koala"), (None, None), "{folder}");
    }
}

#[test]
fn a_view_ahead_of_a_ledger_that_lost_its_end_and_grew_again_is_built_anew() {
    let home = tempfile::tempdir().unwrap();
    let (path, ahead) = (home.path().join("s"), home.path().join("ahead"));
    let relaxed = || Options {
        durability: Durability::Relaxed,
        ..options()
    };
    drop(Store::open(&path, relaxed()).unwrap());
    copy(&path, &ahead);
    {
        let store = Store::open(&ahead, relaxed()).unwrap();
        for n in 0..3 {
            store.put(prefers(&format!("koala {n}"))).unwrap();
        }
        store.maintenance().unwrap().flush_text().unwrap();
    }
    // A crash took the entries, which no sync had made durable, and left the view.
    replace("text", &path, &ahead);
    fs::rename(path.join("text"), home.path().join("text")).unwrap();
    fill(&path, "lemur");
    fs::remove_dir_all(path.join("text")).unwrap();
    fs::rename(home.path().join("text"), path.join("text")).unwrap();
    assert!(answers(&path, "lemur", "koala").1.is_some());
}

#[test]
fn a_segment_of_another_store_is_damage_and_not_read() {
    let home = tempfile::tempdir().unwrap();
    let (one, other) = (home.path().join("one"), home.path().join("other"));
    fill(&one, "tea");
    fill(&other, "wombat");
    replace("ledger", &one, &other);
    let error = Store::open(&one, options()).unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
}
