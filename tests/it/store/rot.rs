//! One grain whose bytes have rotted: everything else is exported, restored and erased, the damage
//! is reported with its entry, and the grain can be deleted.

use std::fs;
use std::path::Path;

use grainstore::interchange::Format;
use grainstore::ledger::EntryId;
use grainstore::store::{Authorization, Until};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};

use super::assert_sound;

fn open(home: &Path) -> Store {
    Store::open(home, Options::default()).unwrap()
}

fn authorization() -> Authorization<'static> {
    Authorization {
        reason: "asked",
        authority: "the owner",
    }
}

/// Flips a bit in the body that holds `word`.
fn rot(home: &Path, word: &str) {
    let segments = fs::read_dir(home.join("ledger")).unwrap();
    let rotted = segments.map(|segment| segment.unwrap().path()).any(|path| {
        let mut bytes = fs::read(&path).unwrap();
        let mut windows = bytes.windows(word.len());
        let Some(at) = windows.position(|part| part == word.as_bytes()) else {
            return false;
        };
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        true
    });
    assert!(rotted);
}

/// Makes a store of five grains, of which the third has rotted.
fn rotten(home: &Path) -> Vec<ContentAddress> {
    let store = open(home);
    let put = |n| {
        store
            .put(Draft::event(format!("wombat{n} sleeps")))
            .unwrap()
    };
    let addresses = (0..5).map(put).collect();
    store.maintenance().unwrap().compact().unwrap();
    drop(store);
    rot(home, "wombat2");
    addresses
}

#[test]
fn an_export_ends_at_a_rotten_grain_or_goes_past_it_and_names_its_entry() {
    let home = tempfile::tempdir().unwrap();
    rotten(home.path());
    let store = open(home.path());
    for format in [Format::Jsonl, Format::Mg, Format::Omi, Format::Aimem] {
        let mut file = Vec::new();
        let mut options = grainstore::interchange::WriteOptions::default();
        let admin = store.admin().unwrap();
        let error = admin.export(format, &Filter::new(), &options, &mut file);
        assert_eq!(error.unwrap_err().code(), "ERR_STORAGE_DAMAGED", "{format}");
        assert!(file.is_empty(), "{format}");
        options.skip_damaged = true;
        let exported = admin
            .export(format, &Filter::new(), &options, &mut file)
            .unwrap();
        assert_eq!(exported.loss.damaged().collect::<Vec<_>>(), [2], "{format}");
        assert_eq!(exported.grains, 4, "{format}");
    }
}

#[test]
fn a_rotten_grain_is_deleted_by_its_address() {
    let home = tempfile::tempdir().unwrap();
    let addresses = rotten(home.path());
    let store = open(home.path());
    assert_eq!(
        store.get(&addresses[2]).unwrap_err().code(),
        "ERR_STORAGE_DAMAGED"
    );
    let admin = store.admin().unwrap();
    admin.place_hold(&addresses[2], authorization()).unwrap();
    let kept = admin.delete(&addresses[2], authorization()).unwrap_err();
    assert_eq!(kept.code(), "ERR_INVALIDATION_DENIED");
    admin.lift_hold(&addresses[2], authorization()).unwrap();
    admin.delete(&addresses[2], authorization()).unwrap();
    assert_eq!(store.get(&addresses[2]).unwrap(), None);
    assert_sound(&store);
    drop(store);
    let store = open(home.path());
    assert_sound(&store);
}

#[test]
fn a_restore_blanks_a_rotten_grain_and_keeps_the_others() {
    let home = tempfile::tempdir().unwrap();
    let (old, new) = (home.path().join("old"), home.path().join("new"));
    let addresses = rotten(&old);
    let (store, restored) = grainstore::recovery::restore_accepting_lost_erasures(
        &old,
        &new,
        Until::End,
        Options::default(),
    )
    .unwrap();
    assert_eq!(
        (restored.entries, restored.damaged),
        (5, vec![EntryId::new(2)])
    );
    for (n, address) in addresses.iter().enumerate() {
        assert_eq!(store.get(address).unwrap().is_some(), n != 2, "{n}");
    }
    assert_sound(&store);
    drop(store);
    let store = open(&new);
    assert_eq!(store.search("sleeps", &Filter::new(), 9).unwrap().total, 4);
}

#[test]
fn consent_erasures_go_past_a_rotten_grain_and_name_its_entry() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let consent = |more: &str| {
        Draft::from_json(&format!(
            r#"{{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b",
            "scope":["store"],"created_at":1{more}}}"#
        ))
        .unwrap()
    };
    let grant = store.put(consent(r#","is_withdrawal":false"#)).unwrap();
    let fact = |what: &str| {
        let fact = Draft::belief("a", "likes", what).confidence(0.9);
        store
            .put(fact.set("processing_basis", grant.to_string()))
            .unwrap()
    };
    let (tea, _wombat) = (fact("tea"), fact("wombat"));
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    store.put(consent(&withdrawal)).unwrap();
    store.maintenance().unwrap().compact().unwrap();
    drop(store);
    rot(home.path(), "wombat");
    let store = open(home.path());
    let done = store
        .admin()
        .unwrap()
        .run_consent_erasures(authorization())
        .unwrap();
    assert_eq!(
        (done.erased, done.damaged),
        (vec![tea], vec![EntryId::new(2)])
    );
}

#[test]
fn a_store_whose_index_is_rebuilt_over_a_rotten_grain_opens_and_answers_the_rest() {
    let home = tempfile::tempdir().unwrap();
    let addresses = rotten(home.path());
    let derived = ["index", "text"].map(|name| home.path().join(name));
    for folder in &derived {
        fs::remove_dir_all(folder).unwrap();
    }
    let entry = EntryId::new(2);
    // Built anew, and then read from its runs.
    for opening in 0..3 {
        let store = open(home.path());
        assert_eq!(
            store.maintenance().unwrap().recovery_report().damaged,
            [entry],
            "{opening}"
        );
        assert_eq!(store.search("sleeps", &Filter::new(), 9).unwrap().total, 4);
        assert_eq!(
            store.query(&Filter::new(), 9, None).unwrap().results.len(),
            4
        );
        let error = store.get(&addresses[2]).unwrap_err();
        assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
        let put = store.put(Draft::event(format!("opening {opening}")));
        let put = put.unwrap();
        assert!(store.exists(&put).unwrap());
        let found = store.maintenance().unwrap().check().unwrap().findings;
        assert!(found[0].message.contains("entry 2"), "{found:?}");
        store.maintenance().unwrap().compact().unwrap();
        let admin = store.admin().unwrap();
        admin.delete(&put, authorization()).unwrap();
    }
    let store = grainstore::recovery::repair(home.path(), Options::default()).unwrap();
    assert_eq!(
        store.maintenance().unwrap().recovery_report().damaged,
        [entry]
    );
    let admin = store.admin().unwrap();
    admin.delete(&addresses[2], authorization()).unwrap();
    assert_eq!(store.get(&addresses[2]).unwrap(), None);
    assert_sound(&store);
    drop(store);
    let store = open(home.path());
    assert_eq!(store.maintenance().unwrap().recovery_report().damaged, []);
    assert_sound(&store);
    drop(store);
    for folder in &derived {
        drop(fs::remove_dir_all(folder));
    }
    assert_sound(&open(home.path()));
}

#[test]
fn the_status_of_a_rotten_grain_is_known_in_a_rebuilt_index() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let old = store.put(Draft::event("wombat sleeps")).unwrap();
    let new = Draft::event("wakes").derived_from(old);
    let new = store.supersede(&old, new, None).unwrap();
    drop(store);
    rot(home.path(), "wombat sleeps");
    let store = grainstore::recovery::repair(home.path(), Options::default()).unwrap();
    assert_eq!(
        store.maintenance().unwrap().recovery_report().damaged,
        [EntryId::FIRST]
    );
    assert!(store.get(&new).unwrap().is_some());
    let authorization = authorization();
    store.admin().unwrap().delete(&old, authorization).unwrap();
    assert_sound(&store);
}
