//! A directory that holds a store, held one, or never did.

use grainstore::interchange::Format;
use grainstore::store::{Create, Options, Severity};

use super::*;

#[test]
fn a_repair_is_told_which_process_has_the_store_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path, at(1).0).unwrap();
    let options = Options {
        lock_wait: Duration::ZERO,
        ..at(1).0
    };
    let second = grainstore::recovery::repair(&path, options).unwrap_err();
    assert_eq!(second.code(), "ERR_STORE_LOCKED");
    let holder = format!("in use by process {} (", std::process::id());
    assert!(second.to_string().contains(&holder), "{second}");
    drop(store);
    assert!(grainstore::recovery::repair(&path, at(1).0).is_ok());
}

#[test]
fn what_is_no_store_is_refused_with_a_reason_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let never = || Options {
        create: Create::Never,
        ..at(1).0
    };
    let code = |path: &std::path::Path, options| Store::open(path, options).unwrap_err().code();
    assert_eq!(
        code(&folder.path().join("missing"), never()),
        "ERR_NOT_A_STORE"
    );
    assert!(!folder.path().join("missing").exists());

    let file = folder.path().join("file");
    std::fs::write(&file, "text").unwrap();
    assert_eq!(code(&file, at(1).0), "ERR_NOT_A_STORE");

    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("thesis.doc"), "text").unwrap();
    assert_eq!(code(&other, at(1).0), "ERR_NOT_A_STORE");
    assert_eq!(
        std::fs::read_dir(&other).unwrap().count(),
        1,
        "nothing was added"
    );

    let store = folder.path().join("store");
    drop(Store::open(&store, at(1).0).unwrap());
    let new = Options {
        create: Create::New,
        ..at(1).0
    };
    assert_eq!(code(&store, new), "ERR_STORE_EXISTS");
}

#[test]
fn a_manifest_of_a_newer_version_or_with_a_flipped_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    drop(Store::open(&path, at(1).0).unwrap());
    let manifest = path.join("MANIFEST");
    let text = std::fs::read_to_string(&manifest).unwrap();

    std::fs::write(&manifest, text.replace("\"version\":1", "\"version\":2")).unwrap();
    let newer = Store::open(&path, at(1).0).unwrap_err();
    assert_eq!(newer.code(), "ERR_STORE_VERSION");
    assert!(
        newer.to_string().contains('2') && newer.to_string().contains('1'),
        "{newer}"
    );

    // With its copy it would be mended.
    std::fs::remove_file(path.join("MANIFEST.copy")).unwrap();
    for at_byte in 0..text.trim_end().len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at_byte] ^= 1;
        std::fs::write(&manifest, &bytes).unwrap();
        let result = Store::open(&path, at(1).0);
        assert!(
            result.is_err(),
            "byte {at_byte} flipped: {}",
            String::from_utf8_lossy(&bytes)
        );
    }
    std::fs::write(&manifest, &text).unwrap();
    assert!(Store::open(&path, at(1).0).is_ok());
}

#[test]
fn a_creation_cut_short_is_no_store_and_is_simply_created_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    drop(Store::open(&path, at(1).0).unwrap());
    // As a crash leaves it before the manifest is in place.
    std::fs::rename(path.join("MANIFEST"), path.join("MANIFEST.new")).unwrap();
    std::fs::remove_file(path.join("MANIFEST.copy")).unwrap();
    let store = Store::open(&path, at(1).0).unwrap();
    assert!(store.maintenance().unwrap().recovery_report().created);
    store.put(prefers("a")).unwrap();
}

#[test]
fn damage_in_the_ledger_is_refused_on_opening_and_found_by_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    {
        let store = Store::open(&path, at(1).0).unwrap();
        for n in 0..5 {
            store.put(prefers(&n.to_string())).unwrap();
        }
    }
    let segment = path.join("ledger/0000000000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    // In the header of the first entry: without its body the rest would be answered.
    bytes[70] ^= 0x10;
    std::fs::write(&segment, bytes).unwrap();
    let error = Store::open(&path, at(1).0).unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
    let report = grainstore::recovery::verify_damaged(&path).unwrap();
    assert_eq!(report.worst(), Some(Severity::Damage));
    assert_eq!(report.findings[0].id, "ledger-damaged");
}

#[test]
fn a_torn_tail_is_set_aside_and_told_and_everything_acknowledged_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let addresses: Vec<_> = {
        let store = Store::open(&path, at(1).0).unwrap();
        (0..5)
            .map(|n| store.put(prefers(&n.to_string())).unwrap())
            .collect()
    };
    let segment = path.join("ledger/0000000000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes.extend_from_slice(b"GFRM half a frame that nobody acknowledged");
    std::fs::write(&segment, bytes).unwrap();
    let store = Store::open(&path, at(1).0).unwrap();
    assert!(
        store
            .maintenance()
            .unwrap()
            .recovery_report()
            .torn
            .is_some()
    );
    assert!(
        addresses
            .iter()
            .all(|address| store.exists(address).unwrap())
    );
    let report = store.maintenance().unwrap().check().unwrap();
    assert_eq!(report.worst(), Some(Severity::Warning));
    assert_eq!(report.findings[0].id, "torn-tail");
}

#[cfg(unix)]
#[test]
fn what_a_store_writes_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let path = folder.path().join("s");
    let store = Store::open(&path, at(1).0).unwrap();
    assert_eq!(mode(&path), 0o700);
    let file = folder.path().join("all.mg");
    store
        .admin()
        .unwrap()
        .export_file(Format::Mg, &Filter::new(), &Default::default(), &file)
        .unwrap();
    assert_eq!(mode(&file), 0o600);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        2,
        "nothing half-written stays"
    );
}

#[test]
fn a_lock_that_was_removed_under_a_store_stops_its_writing_and_not_its_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path, at(1).0).unwrap();
    let address = store.put(prefers("a")).unwrap();
    std::fs::remove_file(path.join("LOCK")).unwrap();
    let other = Store::open(&path, at(1).0).unwrap();
    let error = store.put(prefers("b")).unwrap_err();
    assert_eq!(error.code(), "ERR_STORE_LOCKED");
    assert!(store.get(&address).unwrap().is_some());
    other.put(prefers("c")).unwrap();
    drop((store, other));
    let again = Store::open(&path, at(1).0).unwrap();
    assert_eq!(again.maintenance().unwrap().stats().unwrap().grains, 2);
}

#[test]
fn a_store_keeps_ballast_of_the_size_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let with = |ballast_bytes| Options {
        ballast_bytes,
        ..at(1).0
    };
    drop(Store::open(&path, with(0)).unwrap());
    assert!(!path.join("ballast").exists());
    for _ in 0..2 {
        drop(Store::open(&path, with(100_000)).unwrap());
        assert_eq!(path.join("ballast").metadata().unwrap().len(), 100_000);
        std::fs::remove_file(path.join("ballast")).unwrap();
    }
}

#[test]
fn a_put_is_found_by_its_words_at_once_and_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.grains");
    {
        let store = Store::open(&path, at(1).0).unwrap();
        assert!(store.maintenance().unwrap().recovery_report().created);
        store.put(prefers("walking in the Rotterdam rain")).unwrap();
        let found = store.search("walks", &Filter::new(), 5).unwrap();
        assert_eq!(found.results[0].matched_fields, ["object"]);
        assert!((0.0..=1.0).contains(&found.results[0].score));
    }
    let store = Store::open(&path, at(2).0).unwrap();
    assert!(!store.maintenance().unwrap().recovery_report().created);
    assert_eq!(
        store.search("rotterdam", &Filter::new(), 5).unwrap().total,
        1
    );
    store.maintenance().unwrap().flush_text().unwrap();
    assert_eq!(
        store.search("rotterdam", &Filter::new(), 5).unwrap().total,
        1
    );
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}
