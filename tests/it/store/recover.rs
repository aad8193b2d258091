//! Recover: everything that still proves itself comes out of a damaged store, and the rest is named.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use grainstore::codec::Profile;
use grainstore::ledger::{Binding, EntryId, FileDisk, Kind, Ledger, NewEntry};
use grainstore::store::{Authorization, Recovered, Severity};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};

use super::assert_sound;

use crate::sample::addresses_of;

const SEGMENT: &str = "ledger/0000000000000001.seg";

fn open(home: &Path) -> Store {
    Store::open(home, Options::default()).unwrap()
}

fn asked() -> Authorization<'static> {
    Authorization {
        reason: "asked",
        authority: "the owner",
    }
}

/// Makes a store of five grains, each in a frame of its own.
fn filled(home: &Path) -> Vec<ContentAddress> {
    let store = open(home);
    let put = |n| {
        store
            .put(Draft::event(format!("wombat{n} sleeps")))
            .unwrap()
    };
    (0..5).map(put).collect()
}

fn change(file: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(file).unwrap();
    change(&mut bytes);
    fs::write(file, bytes).unwrap();
}

fn place_of(file: &Path, word: &str) -> usize {
    let bytes = fs::read(file).unwrap();
    let mut windows = bytes.windows(word.len());
    windows.position(|part| part == word.as_bytes()).unwrap()
}

fn recover(home: &Path) -> (Store, Recovered) {
    let (old, new) = (home.join("old"), home.join("new"));
    let dry = grainstore::recovery::recoverable(&old, &Options::default()).unwrap();
    let (store, recovered) = grainstore::recovery::recover(&old, &new, Options::default()).unwrap();
    assert_eq!(dry, recovered, "a dry run says what comes out");
    assert_sound(&store);
    drop(store);
    let store = open(&new);
    assert_sound(&store);
    (store, recovered)
}

#[test]
fn the_room_that_a_killed_process_left_is_no_loss() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    filled(&old);
    change(&old.join(SEGMENT), |bytes| bytes.resize(64 << 10, 0));
    let (_, recovered) = recover(home.path());
    assert_eq!((recovered.grains, recovered.lost), (5, vec![]));
}

#[test]
fn a_store_that_is_sound_comes_out_with_the_same_hash_chain() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let addresses = filled(&old);
    let store = open(&old);
    store
        .admin()
        .unwrap()
        .delete(&addresses[1], asked())
        .unwrap();
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    let head = store.maintenance().unwrap().audit().head().unwrap();
    drop(store);
    let (store, recovered) = recover(home.path());
    assert_eq!((recovered.grains, recovered.erased), (4, 1));
    assert_eq!((recovered.entries, recovered.lost), (entries, vec![]));
    let audit = store.maintenance().unwrap().audit();
    assert!(audit.extends(&head).unwrap());
    assert!(!store.exists(&addresses[1]).unwrap());
    let log = audit
        .log(&grainstore::store::AuditFilter::default(), None, 99)
        .unwrap();

    assert!(
        log.iter()
            .any(|entry| entry.detail.contains("recovered, 0 lost")),
        "{log:?}"
    );
}

#[test]
fn a_grain_in_damaged_bytes_is_lost_and_named_with_its_address_where_another_names_it() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let addresses = filled(&old);
    let store = open(&old);
    let new = Draft::event("wombat2 is awake").derived_from(addresses[2]);
    let new = store.supersede(&addresses[2], new, None).unwrap();
    drop(store);
    let file = old.join(SEGMENT);
    let at = place_of(&file, "wombat2 sleeps");
    change(&file, |bytes| bytes[at] ^= 1);
    let (store, recovered) = recover(home.path());
    assert_eq!(recovered.lost_entries(), 1);
    let lost = &recovered.lost[0];
    assert_eq!(lost.entries, EntryId::new(2)..EntryId::new(3));
    assert_eq!(lost.kind, Some("grain"));
    assert_eq!(lost.address, Some(addresses[2]));
    assert_eq!(lost.file, SEGMENT);
    assert!(lost.bytes.contains(&(at as u64)), "{lost:?}");
    assert!(store.get(&new).unwrap().is_some());
    assert_eq!(store.get(&addresses[2]).unwrap(), None);
}

#[test]
fn what_lies_behind_a_damaged_header_or_in_another_segment_comes_out() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let addresses = filled(&old);
    let file = old.join(SEGMENT);
    // The segment's header, the header of the first frame, and the length of the first entry.
    change(&file, |bytes| {
        bytes[3] ^= 1;
        bytes[40] ^= 1;
        bytes[32 + 32 + 27] ^= 1;
    });
    let error = Store::open(&old, Options::default()).unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
    let (store, recovered) = recover(home.path());
    assert_eq!((recovered.grains, recovered.lost_entries()), (4, 1));
    for (n, address) in addresses.iter().enumerate() {
        assert_eq!(store.get(address).unwrap().is_some(), n > 0, "{n}");
    }
    // The place of the lost one is taken, so that every other keeps its own.
    assert_eq!(recovered.entries, 5);
    assert_eq!(store.maintenance().unwrap().stats().unwrap().entries, 6);
}

#[test]
fn a_batch_of_which_one_header_is_damaged_loses_that_entry_alone() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let store = open(&old);
    let drafts = (0..9).map(|n| Draft::event(format!("wombat{n} sleeps")));
    let addresses = addresses_of(&store.put_batch(drafts).unwrap());
    drop(store);
    let file = old.join(SEGMENT);
    let body = place_of(&file, "wombat4");
    let bytes = fs::read(&file).unwrap();
    // The header of the entry lies before its salt and the beginning of its blob.
    let header = (0..body)
        .rev()
        .find(|at| bytes[*at..].starts_with(&4_u64.to_be_bytes()));
    let header = header.unwrap();
    for (field, is_lost) in [(7, false), (15, false), (20, true), (27, true), (40, true)] {
        change(&file, |bytes| bytes[header + field] ^= 4);
        let (store, recovered) = recover(home.path());
        let lost = addresses
            .iter()
            .filter(|address| !store.exists(address).unwrap());
        let lost: Vec<_> = lost.collect();
        assert_eq!(lost.len() as u64, recovered.lost_entries(), "{field}");
        assert!(lost.iter().all(|lost| **lost == addresses[4]), "{field}");
        assert_eq!(!lost.is_empty(), is_lost, "{field}: {recovered:?}");
        drop(store);
        fs::remove_dir_all(home.path().join("new")).unwrap();
        fs::write(&file, &bytes).unwrap();
    }
}

#[test]
fn a_grain_that_was_erased_stays_erased_and_a_hold_holds() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let addresses = filled(&old);
    let store = open(&old);
    let admin = store.admin().unwrap();
    admin.place_hold(&addresses[3], asked()).unwrap();
    let file = old.join(SEGMENT);
    let before = fs::read(&file).unwrap();
    let at = place_of(&file, "wombat1");
    admin.delete(&addresses[1], asked()).unwrap();
    drop(store);
    // As a crash leaves it between the entry that lists the grain and the blanking of its bytes.
    change(&file, |bytes| {
        bytes[at - 20..at + 14].copy_from_slice(&before[at - 20..at + 14]);
        bytes[40] ^= 1;
    });
    let (store, recovered) = recover(home.path());
    assert_eq!(store.get(&addresses[1]).unwrap(), None);
    assert_eq!((recovered.grains, recovered.erased), (4, 1));
    let again = store.put(Draft::event("wombat1 sleeps"));
    // The draft has a time of its own, so the same words are another grain.
    assert!(again.is_ok());
    let kept = store.admin().unwrap().delete(&addresses[3], asked());
    assert_eq!(kept.unwrap_err().code(), "ERR_INVALIDATION_DENIED");
}

#[test]
fn an_erased_grain_in_a_frame_whose_header_is_damaged_is_no_loss() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let store = open(&old);
    let drafts = (0..9).map(|n| Draft::event(format!("wombat{n} sleeps")));
    let addresses = addresses_of(&store.put_batch(drafts).unwrap());
    let admin = store.admin().unwrap();
    admin.delete(&addresses[4], asked()).unwrap();
    drop(store);
    let file = old.join(SEGMENT);
    let sound = fs::read(&file).unwrap();
    for at in 32..64 {
        change(&file, |bytes| bytes[at] ^= 1);
        let (store, recovered) = recover(home.path());
        let came = (recovered.grains, recovered.erased, recovered.lost_entries());
        assert_eq!(came, (8, 1, 0), "byte {at}: {recovered:?}");
        // The header of the frame is named, and holds no entry.
        assert_eq!(recovered.lost[0].bytes, 32..64, "byte {at}");
        assert!(!store.exists(&addresses[4]).unwrap());
        drop(store);
        fs::remove_dir_all(home.path().join("new")).unwrap();
        fs::write(&file, &sound).unwrap();
    }
}

#[test]
fn grains_come_out_of_a_ledger_alone_into_a_store_of_a_new_identity() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let addresses = filled(&old);
    for name in ["index", "text"] {
        fs::remove_dir_all(old.join(name)).unwrap();
    }
    for name in ["MANIFEST", "MANIFEST.copy", "LOCK", "END", "ballast"] {
        fs::remove_file(old.join(name)).unwrap();
    }
    let (store, recovered) = recover_as_new(home.path());
    assert!(recovered.is_new_identity);
    assert_eq!(recovered.manifest.as_deref(), Some("MANIFEST is missing"));
    assert_eq!(recovered.grains, 5);
    for address in &addresses {
        assert!(store.get(address).unwrap().is_some());
    }
}

fn recover_as_new(home: &Path) -> (Store, Recovered) {
    let (old, new) = (home.join("old"), home.join("new"));
    let (store, recovered) = grainstore::recovery::recover(&old, &new, Options::default()).unwrap();
    assert_sound(&store);
    (store, recovered)
}

#[test]
fn a_manifest_with_one_wrong_byte_and_no_copy_is_mended() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    filled(&old);
    fs::remove_file(old.join("MANIFEST.copy")).unwrap();
    let store_id = open_id(&old);
    change(&old.join("MANIFEST"), |bytes| bytes[130] ^= 2);
    fs::remove_file(old.join("MANIFEST.copy")).unwrap();
    assert!(Store::open(&old, Options::default()).is_err());
    let (store, recovered) = recover(home.path());
    assert_eq!((recovered.grains, recovered.is_new_identity), (5, false));
    assert!(recovered.manifest.is_some());
    drop(store);
    assert_eq!(open_id(&home.path().join("new")), store_id);
}

fn open_id(home: &Path) -> String {
    let stats = open(home).maintenance().unwrap().stats().unwrap();
    stats.store_id.to_string()
}

#[test]
fn a_damaged_or_missing_manifest_is_read_from_its_copy_and_written_anew() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    filled(home);
    let (first, copy) = (home.join("MANIFEST"), home.join("MANIFEST.copy"));
    let sound = fs::read(&first).unwrap();
    assert_eq!(fs::read(&copy).unwrap(), sound);
    for name in ["MANIFEST", "MANIFEST.copy"] {
        for damage in [None, Some(0), Some(60), Some(sound.len() - 4)] {
            match damage {
                None => fs::remove_file(home.join(name)).unwrap(),
                Some(at) => change(&home.join(name), |bytes| bytes[at] ^= 1),
            }
            let reader = Store::open(home, Options::default().read_only()).unwrap();
            assert_eq!(reader.list(None, 9).unwrap().addresses.len(), 5);
            let report = reader.maintenance().unwrap().check().unwrap();
            assert!(
                report
                    .findings
                    .iter()
                    .any(|it| it.id.starts_with("manifest")),
                "{name} {damage:?}"
            );
            drop(reader);
            let store = open(home);
            // Stores of earlier versions have no copy, and get one without a word.
            let is_told = (name, damage) != ("MANIFEST.copy", None);
            let told = &store
                .maintenance()
                .unwrap()
                .recovery_report()
                .manifest_repaired;
            assert_eq!(told.is_some(), is_told, "{name} {damage:?} {told:?}");
            assert_sound(&store);
            assert_eq!(fs::read(&first).unwrap(), sound);
            assert_eq!(fs::read(&copy).unwrap(), sound);
        }
    }
}

#[test]
fn a_backup_has_both_manifests_and_mends_its_own() {
    let home = tempfile::tempdir().unwrap();
    let (old, copy) = (home.path().join("old"), home.path().join("copy"));
    filled(&old);
    let store = open(&old);
    store.maintenance().unwrap().backup(&copy).unwrap();
    let sound = fs::read(copy.join("MANIFEST")).unwrap();
    assert_eq!(fs::read(copy.join("MANIFEST.copy")).unwrap(), sound);
    change(&copy.join("MANIFEST"), |bytes| bytes[9] ^= 1);
    store.maintenance().unwrap().backup(&copy).unwrap();
    assert_eq!(fs::read(copy.join("MANIFEST")).unwrap(), sound);
}

#[test]
fn a_backup_hands_no_damaged_byte_on() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    filled(&old);
    open(&old).maintenance().unwrap().compact().unwrap();
    let file = old.join(SEGMENT);
    let sound = fs::read(&file).unwrap();
    for at in (32..sound.len()).step_by(7) {
        change(&file, |bytes| bytes[at] ^= 1);
        let copy = home.path().join("copy");
        // Opening may refuse the store already.
        if let Ok(store) = Store::open(&old, Options::default()) {
            let error = store.maintenance().unwrap().backup(&copy).unwrap_err();
            assert_eq!(error.code(), "ERR_STORAGE_DAMAGED", "byte {at}");
            assert!(!copy.join("MANIFEST").exists());
            let (copy, new) = (home.path().join("as-is"), home.path().join("new"));
            let maintenance = store.maintenance().unwrap();
            let copied = maintenance.backup_damaged(&copy).unwrap();
            assert!(copied.damaged > 0, "byte {at}");
            assert_eq!(
                fs::read(copy.join(SEGMENT)).unwrap(),
                fs::read(&file).unwrap()
            );
            // Not over an earlier copy, and everything else comes out of it.
            let again = maintenance.backup_damaged(&copy).unwrap_err();
            assert_eq!(again.code(), "ERR_STORAGE_DAMAGED", "byte {at}");
            let (_, recovered) =
                grainstore::recovery::recover(&copy, &new, Options::default()).unwrap();
            assert!(recovered.grains >= 4, "byte {at}: {recovered:?}");
            fs::remove_dir_all(copy).unwrap();
            fs::remove_dir_all(new).unwrap();
        }
        fs::write(&file, &sound).unwrap();
    }
}

#[test]
fn a_segment_that_is_cut_below_what_was_acknowledged_is_damage_wherever_that_is_known() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let addresses = filled(&old);
    let file = old.join(SEGMENT);
    let bytes = fs::read(&file).unwrap();
    // The derived files know nothing of the ledger's end; END does.
    for name in ["index", "text"] {
        fs::remove_dir_all(old.join(name)).unwrap();
    }
    let last = place_of(&file, "wombat4");
    for len in [last, last - 40, bytes.len() - 1] {
        fs::write(&file, &bytes[..len]).unwrap();
        let error = Store::open(&old, Options::default()).unwrap_err();
        assert_eq!(error.code(), "ERR_STORAGE_DAMAGED", "{len}");
    }
    let (store, recovered) = recover(home.path());
    assert_eq!((recovered.entries, recovered.lost_entries()), (5, 1));
    assert!(store.get(&addresses[3]).unwrap().is_some());
    drop(store);
    // Without it nothing tells a cut from a crash, and the report says from where on.
    fs::remove_file(old.join("END")).unwrap();
    let store = open(&old);
    let torn = store
        .maintenance()
        .unwrap()
        .recovery_report()
        .torn
        .clone()
        .unwrap();
    assert_eq!(torn.sequence, EntryId::new(4));
    drop(store);
    fs::remove_file(old.join("END")).unwrap();
    fs::remove_dir_all(home.path().join("new")).unwrap();
    let report = grainstore::recovery::recoverable(&old, &Options::default()).unwrap();
    assert_eq!((report.grains, report.lost_entries()), (4, 0));
}

#[test]
fn a_whole_frame_that_was_set_aside_as_torn_comes_out() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    let addresses = filled(&old);
    let file = old.join(SEGMENT);
    for name in ["index", "text"] {
        fs::remove_dir_all(old.join(name)).unwrap();
    }
    fs::remove_file(old.join("END")).unwrap();
    // The check of the last frame: nothing behind it says that it was durable.
    let body = place_of(&file, "wombat4");
    let bytes = fs::read(&file).unwrap();
    let header = (0..body).rev().find(|at| bytes[*at..].starts_with(b"GFRM"));
    change(&file, |bytes| bytes[header.unwrap() + 30] ^= 1);
    let store = open(&old);
    assert!(!store.exists(&addresses[4]).unwrap());
    assert!(
        store
            .maintenance()
            .unwrap()
            .recovery_report()
            .torn
            .is_some()
    );
    drop(store);
    fs::remove_file(old.join("END")).unwrap();
    let (store, recovered) = recover(home.path());
    assert_eq!(recovered.grains, 5);
    assert!(store.get(&addresses[4]).unwrap().is_some());
}

#[test]
fn the_report_of_a_check_names_the_file_and_the_bytes() {
    let home = tempfile::tempdir().unwrap();
    filled(home.path());
    let store = open(home.path());
    store.maintenance().unwrap().compact().unwrap();
    let file = home.path().join(SEGMENT);
    let at = place_of(&file, "wombat2");
    change(&file, |bytes| bytes[at] ^= 1);
    let report = store.maintenance().unwrap().check().unwrap();
    let found = &report.findings[0];
    assert_eq!(
        (found.id, found.severity),
        ("ledger-damaged", Severity::Damage)
    );
    for part in [SEGMENT, "bytes ", "entry 2 (a grain)"] {
        assert!(found.message.contains(part), "{found:?}");
    }
}

fn consent(more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"consent","subject_did":"did:web:alice","grantee_did":"did:web:acme",
            "scope":["store"],"created_at":1{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}

/// Stores a grain that rests on a consent, and returns its address and a withdrawal of the consent.
fn rested(store: &Store) -> (ContentAddress, Draft) {
    let grant = store.put(consent(r#","is_withdrawal":false"#)).unwrap();
    let resting = Draft::belief("alice", "likes", "tea").confidence(0.9);
    let resting = resting.set("processing_basis", grant.to_string());
    let resting = store.put(resting).unwrap();
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    (resting, consent(&withdrawal))
}

fn is_served(store: &Store, address: ContentAddress) -> bool {
    let found = store.query(&Filter::new(), 100, None).unwrap();
    let mut found = found.results.iter();
    found.any(|found| found.grain.address() == address)
}

#[test]
fn a_withdrawal_that_comes_out_has_its_effect_whatever_else_is_lost() {
    let home = tempfile::tempdir().unwrap();
    let sound = home.path().join("sound");
    let store = open(&sound);
    let (resting, withdrawal) = rested(&store);
    let withdrawal = store.put(withdrawal).unwrap();
    drop(store);
    let segment = fs::read(sound.join(SEGMENT)).unwrap();
    let first = place_of(&sound.join(SEGMENT), "did:web:acme");
    let (mut lost, mut kept) = (0, 0);
    for at in (first..segment.len()).step_by(7) {
        let home = tempfile::tempdir().unwrap();
        let old = home.path().join("old");
        fs::create_dir_all(old.join("ledger")).unwrap();
        for name in ["MANIFEST", SEGMENT] {
            fs::copy(sound.join(name), old.join(name)).unwrap();
        }
        change(&old.join(SEGMENT), |bytes| bytes[at] ^= 0x10);
        let (store, recovered) = recover(home.path());
        if store.exists(&withdrawal).unwrap() {
            assert!(!is_served(&store, resting), "byte {at}");
            lost += recovered.lost_entries();
            kept += 1;
        }
    }
    assert!(lost > 0 && kept > 0, "no flip hit an effect");
}

#[test]
fn a_withdrawal_without_an_effect_is_named_and_gets_one() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (resting, withdrawal) = rested(&store);
    let withdrawal = withdrawal.finish(Profile::Extended).unwrap();
    drop(store);
    append(home.path(), withdrawal.blob());
    let store = open(home.path());
    let report = store.maintenance().unwrap().check().unwrap();
    let found: Vec<_> = report.findings.iter().map(|found| found.id).collect();
    assert_eq!(found, ["withdrawal-lost"]);
    drop(store);
    let store = grainstore::recovery::repair(home.path(), Options::default()).unwrap();
    assert_sound(&store);
    assert!(!is_served(&store, resting));
}

/// Appends a grain to the ledger of a store, and nothing with it.
fn append(home: &Path, blob: &[u8]) {
    let id = open(home).maintenance().unwrap().stats().unwrap().store_id;
    let disk = Arc::new(FileDisk::new(home));
    let segment_bytes = Options::default().segment_bytes;
    let (ledger, _) = Ledger::open(disk, id, segment_bytes, 0, None, |_| Vec::new()).unwrap();
    let entry = NewEntry {
        kind: Kind::Grain,
        actor: None,
        body: blob,
        binding: Binding::of([7; 16], blob),
    };
    ledger.append(1, &[entry]).unwrap();
}
