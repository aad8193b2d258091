//! Sealed persons in several processes: each that has the master key unlocks them, and an erasure in
//! one takes the keys from all.

use std::path::Path;
use std::thread;

use grainstore::store::{ErasureScope, Person};

use super::*;

/// Options with which nothing waits in vain on a busy machine.
fn patient() -> Options {
    Options {
        lock_wait: Duration::from_secs(120),
        ..options()
    }
}

fn join(disk: &MemoryDisk) -> Store {
    Store::open_on(Arc::new(disk.clone()), patient()).unwrap()
}

fn beside(disk: &MemoryDisk) -> Store {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Store::open_on(disk, patient().read_only()).unwrap()
}

fn at(home: &Path) -> Store {
    Store::open(home, patient()).unwrap()
}

fn hits(store: &Store, words: &str) -> usize {
    let hits = store.search(words, &Filter::new(), 10).unwrap();
    hits.results.len()
}

fn erase(store: &Store, user: &str) {
    let admin = store.admin().unwrap();
    let done = admin.erase_person(&Person::new(user), ErasureScope::default(), ASKED);
    assert_eq!(done.unwrap().keys.len(), 1);
}

#[test]
fn every_process_that_has_the_master_key_unlocks_a_person_and_finds_what_others_seal() {
    let disk = MemoryDisk::default();
    let [keeper, other] = [join(&disk), join(&disk)];
    keeper.admin().unwrap().vault().add(&["alice"]).unwrap();
    let reader = beside(&disk);
    let all = [&keeper, &other, &reader];
    other.admin().unwrap().unlock("alice").unwrap();
    let first = other.put(note("likes basalt0", "alice")).unwrap();
    for store in [&keeper, &reader] {
        assert_eq!(
            (store.get(&first).unwrap(), hits(store, "basalt0")),
            (None, 0)
        );
        store.admin().unwrap().unlock("alice").unwrap();
    }
    let of_alice = Filter::new().user("alice");
    for n in 0..6 {
        let word = format!("basalt{n}");
        let draft = note(&format!("likes {word}"), "alice");
        let sealed = all[n % 2].put(draft).unwrap();
        for store in all {
            assert!(store.get(&sealed).unwrap().is_some());
            assert_eq!((found(store, &of_alice), hits(store, &word)), (n + 1, 1));
            sound(store);
        }
    }
    // Deleting makes the others take up other files.
    let plain = keeper.put(note("a pebble", "bob")).unwrap();
    keeper.admin().unwrap().delete(&plain, ASKED).unwrap();
    for store in all {
        assert_eq!((found(store, &of_alice), hits(store, "basalt5")), (6, 1));
        sound(store);
    }
    other.admin().unwrap().lock("alice").unwrap();
    assert_eq!((count(&other), count(&keeper), count(&reader)), (0, 6, 6));
    reader.admin().unwrap().lock("alice").unwrap();
    assert_eq!((count(&reader), hits(&reader, "basalt5")), (0, 0));
    all.into_iter().for_each(sound);
}

#[test]
fn a_store_opened_for_reading_unlocks_persons_and_changes_no_file() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let sealed = store.put(note("likes tea", "alice")).unwrap();
    for is_closed in [false, true] {
        let _open = (!is_closed).then(|| store.clone());
        let before = files(&disk);
        let reader = beside(&disk);
        reader.admin().unwrap().unlock("alice").unwrap();
        assert!(reader.get(&sealed).unwrap().is_some());
        assert_eq!(
            reader.admin().unwrap().unlock("bea").unwrap_err().code(),
            "ERR_USER_UNKNOWN"
        );
        drop(reader);
        assert_eq!(files(&disk), before);
    }
}

#[test]
fn an_erasure_in_one_process_takes_the_keys_from_the_others_at_their_next_question() {
    let home = tempfile::tempdir().unwrap();
    let keeper = at(home.path());
    let vault = keeper.admin().unwrap().vault();
    vault.add(&["alice", "bob", "cora"]).unwrap();
    let other = at(home.path());
    let reader = Store::open(home.path(), patient().read_only()).unwrap();
    let all = [&keeper, &other, &reader];
    for store in all {
        for user in ["alice", "bob", "cora"] {
            store.admin().unwrap().unlock(user).unwrap();
        }
    }
    let sealed = ["alice", "bob", "cora"].map(|user| keeper.put(note("granite", user)).unwrap());
    for store in all {
        assert_eq!(hits(store, "granite"), 3);
    }
    // By the process that keeps the derived files, and by another one.
    for (gone, by) in [("alice", &keeper), ("bob", &other)] {
        let nth = usize::from(gone == "bob");
        erase(by, gone);
        for store in all {
            assert!(store.get(&sealed[nth]).unwrap().is_none());
            assert!(
                !store.admin().unwrap().is_unlocked(gone),
                "its keys are wiped"
            );
            assert_eq!(
                store.admin().unwrap().unlock(gone).unwrap_err().code(),
                "ERR_USER_UNKNOWN"
            );
            assert_eq!(hits(store, "granite"), 2 - nth);
            assert!(store.get(&sealed[2]).unwrap().is_some());
            sound(store);
        }
        let refused = by.put(note("basalt again", gone));
        assert!(refused.is_ok(), "as any user without a key: {refused:?}");
    }
}

#[test]
fn a_process_without_the_master_key_keeps_the_files_while_another_erases_a_person() {
    let home = tempfile::tempdir().unwrap();
    let keyless = Options {
        master_key: None,
        ..patient()
    };
    let keeper = Store::open(home.path(), keyless).unwrap();
    let other = at(home.path());
    other.admin().unwrap().vault().add(&["alice"]).unwrap();
    assert_eq!(
        keeper.admin().unwrap().unlock("alice").unwrap_err().code(),
        "ERR_KEY"
    );
    other.admin().unwrap().unlock("alice").unwrap();
    other.put(note("granite", "alice")).unwrap();
    erase(&other, "alice");
    assert_eq!(count(&keeper), 0);
    sound(&keeper);
}

#[test]
fn a_key_that_another_process_renews_is_taken_and_the_one_before_is_wiped() {
    let disk = MemoryDisk::default();
    let [keeper, other] = [join(&disk), join(&disk)];
    keeper.admin().unwrap().vault().add(&["alice"]).unwrap();
    let reader = beside(&disk);
    let all = [&keeper, &other, &reader];
    for store in all {
        store.admin().unwrap().unlock("alice").unwrap();
    }
    for (generation, by) in [(2, &keeper), (3, &other)] {
        let vault = by.admin().unwrap().vault();
        assert_eq!(vault.rekey("alice").unwrap().generation, generation);
        let sealed = by
            .put(note(&format!("slate{generation}"), "alice"))
            .unwrap();
        for store in all {
            assert!(store.get(&sealed).unwrap().is_some());
            assert_eq!(hits(store, &format!("slate{generation}")), 1);
            assert_eq!(count(store), generation as usize - 1);
            sound(store);
        }
    }
    // A process whose source has another key by now cannot take it: the person is locked there.
    let forgetful = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = Arc::clone(&forgetful);
    let source = KeySource::Callback(Box::new(move || {
        let byte = u8::from(told.load(std::sync::atomic::Ordering::Relaxed));
        Ok(vec![7 + byte; 32].into())
    }));
    let third = Options {
        master_key: Some(Arc::new(source)),
        ..patient()
    };
    let third = Store::open_on(Arc::new(disk), third).unwrap();
    third.admin().unwrap().unlock("alice").unwrap();
    assert_eq!(count(&third), 2);
    forgetful.store(true, std::sync::atomic::Ordering::Relaxed);
    keeper.admin().unwrap().vault().rekey("alice").unwrap();
    assert_eq!(
        (count(&third), third.admin().unwrap().is_unlocked("alice")),
        (0, false)
    );
    sound(&third);
}

#[test]
fn a_process_that_takes_up_newer_files_keeps_who_is_unlocked_and_follows_their_keys() {
    // More than is applied at once.
    const MANY: i64 = 10_100;
    let disk = MemoryDisk::default();
    let wordless = || Options {
        text: None,
        ..patient()
    };
    let keeper = Store::open_on(Arc::new(disk.clone()), wordless()).unwrap();
    let other = Store::open_on(Arc::new(disk), wordless()).unwrap();
    let vault = keeper.admin().unwrap().vault();
    vault.add(&["alice", "bob"]).unwrap();
    for store in [&keeper, &other] {
        store.admin().unwrap().unlock("alice").unwrap();
        store.admin().unwrap().unlock("bob").unwrap();
    }
    let mut sealed = vec![keeper.put(note("before", "alice")).unwrap()];
    let gone = keeper.put(note("of bob", "bob")).unwrap();
    assert!(other.get(&gone).unwrap().is_some());
    sealed.push(keeper.put(note("after", "alice")).unwrap());
    vault.rekey("alice").unwrap();
    sealed.push(keeper.put(note("with another key", "alice")).unwrap());
    erase(&keeper, "bob");
    let deed = |n| Draft::event("deed").created_at(Time::from_ms(n));
    keeper.put_batch((0..MANY).map(deed)).unwrap();
    let of_alice = Filter::new().user("alice");
    assert_eq!(found(&other, &of_alice), sealed.len());
    for address in &sealed {
        assert!(other.get(address).unwrap().is_some());
    }
    assert!(!other.admin().unwrap().is_unlocked("bob") && other.get(&gone).unwrap().is_none());
    sealed.push(other.put(note("by the other", "alice")).unwrap());
    assert_eq!(found(&keeper, &of_alice), sealed.len());
}

#[test]
fn a_grain_of_a_person_whom_another_process_seals_is_not_stored_in_the_clear() {
    let disk = MemoryDisk::default();
    let [keeper, other] = [join(&disk), join(&disk)];
    keeper.admin().unwrap().vault().add(&["alice"]).unwrap();
    // The other one learns that she has no key.
    other.put(note("pebble", "bea")).unwrap();
    keeper.admin().unwrap().vault().add(&["bea"]).unwrap();
    let refused = other.put(note("pebbles", "bea")).unwrap_err();
    assert_eq!(refused.code(), "ERR_LOCKED");
    other.admin().unwrap().unlock("bea").unwrap();
    other.put(note("pebbles", "bea")).unwrap();
}

#[test]
fn threads_of_several_stores_change_and_read_one_vault_and_lose_no_key() {
    const EACH: usize = 6;
    let home = tempfile::tempdir().unwrap();
    let stores: Vec<Store> = (0..3).map(|_| at(home.path())).collect();
    stores[0].admin().unwrap().vault().add(&["all"]).unwrap();
    thread::scope(|scope| {
        for (who, store) in stores.iter().enumerate() {
            scope.spawn(move || {
                let vault = store.admin().unwrap().vault();
                for n in 0..EACH {
                    let user = format!("{who} {n}");
                    vault.add(&[&*user]).unwrap();
                    store.admin().unwrap().unlock(&user).unwrap();
                    store.put(note("basalt", &user)).unwrap();
                    if n % 3 == who {
                        vault.rotate().unwrap();
                    }
                    store.admin().unwrap().unlock("all").unwrap();
                    vault.list().unwrap();
                }
            });
        }
    });
    for store in &stores {
        let vault = store.admin().unwrap().vault();
        assert_eq!(vault.check().unwrap(), 3 * EACH as u64 + 1);
        assert_eq!(found(store, &Filter::new()), EACH);
        sound(store);
    }
}
