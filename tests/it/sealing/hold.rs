//! The erasure of a sealed person of whom grains are held: these stay under a hold key that answers to
//! no user, and everything else goes with the key.

use std::sync::atomic::Ordering;

use grainstore::policy::Rule;
use grainstore::store::{ErasureScope, Person, PersonErasure};
use grainstore::vault::ShredRoot;

use super::erasure::Keeper;
use super::*;

const RESEAL: ErasureScope = ErasureScope {
    mentions: false,
    except_kept: false,
    reseal_held: true,
};

fn erase(store: &Store, scope: ErasureScope) -> Result<PersonErasure, grainstore::Error> {
    let alice = Person::new("alice");
    store.admin().unwrap().erase_person(&alice, scope, ASKED)
}

/// The name of the hold key.
fn hold_key(store: &Store) -> String {
    let users = store.admin().unwrap().vault().list().unwrap().into_iter();
    let mut holds = users.filter(|user| user.user.starts_with("hold:"));
    holds.next().unwrap().user
}

/// A store with alice, of whom two grains are held: one has a successor that is not.
fn with_hold(disk: &MemoryDisk) -> (Store, [ContentAddress; 5]) {
    let store = with_persons(disk, &["alice", "bob"]);
    let held = store.put(note("evidence", "alice")).unwrap();
    let next = note("evidence, again", "alice").derived_from(held);
    let next = store.supersede(&held, next, None).unwrap();
    let current = store.put(note("more evidence", "alice")).unwrap();
    let gone = store.put(note("likes tea", "alice")).unwrap();
    let other = store.put(note("likes coffee", "bob")).unwrap();
    for held in [held, current] {
        store.admin().unwrap().place_hold(&held, ASKED).unwrap();
    }
    (store, [held, current, next, gone, other])
}

fn vault_of(disk: &MemoryDisk, copy: &MemoryDisk) {
    copy.create_folder("vault").unwrap();
    for (name, content) in files(disk) {
        if name.starts_with("vault/") {
            copy.create(&name).unwrap().write_at(&content, 0).unwrap();
        }
    }
}

#[test]
fn an_erasure_that_reseals_keeps_what_is_held_under_a_key_that_answers_to_no_user() {
    let disk = MemoryDisk::default();
    let (store, [held, current, next, gone, other]) = with_hold(&disk);
    let copy = MemoryDisk::default();
    let maintenance = store.maintenance().unwrap();
    maintenance.backup_to(&copy, "copy".as_ref()).unwrap();
    let refused = erase(&store, ErasureScope::default()).unwrap_err();
    assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED");
    let done = erase(&store, RESEAL).unwrap();
    let mut erased = vec![next, gone];
    erased.sort_unstable();
    assert_eq!((&done.erased, &done.held), (&erased, &vec![held, current]));
    let kept = [(held, Rule::LegalHold), (current, Rule::LegalHold)];
    assert_eq!(done.kept, kept);
    assert_eq!(done.keys.len(), 1);
    vault_of(&disk, &copy);
    drop(store);
    // The store, and the copy of before: nothing else of the person opens.
    for (disk, is_store) in [(&disk, true), (&copy, false)] {
        let store = open(disk);
        assert_eq!(store.get(&held).unwrap(), None, "locked");
        assert_eq!(
            store.admin().unwrap().unlock("alice").unwrap_err().code(),
            "ERR_USER_UNKNOWN"
        );
        store.admin().unwrap().unlock(&hold_key(&store)).unwrap();
        store.admin().unwrap().unlock("bob").unwrap();
        for address in [held, current] {
            assert!(store.get(&address).unwrap().is_some());
        }
        for address in [next, gone] {
            assert_eq!(store.get(&address).unwrap(), None);
        }
        assert!(store.get(&other).unwrap().is_some());
        if is_store {
            assert_eq!(found(&store, &Filter::new().user("alice")), 0);
            assert_eq!(count(&store), 2, "the owner sees the current one");
            let report = store.admin().unwrap().person_report(&Person::new("alice"));
            assert!(report.unwrap().about.is_empty());
            assert_eq!(store.admin().unwrap().holds().len(), 2);
            sound(&store);
        }
    }
}

#[test]
fn what_is_held_of_an_erased_person_ends_when_its_hold_is_lifted_and_it_is_deleted() {
    let disk = MemoryDisk::default();
    let (store, [held, current, ..]) = with_hold(&disk);
    erase(&store, RESEAL).unwrap();
    let name = hold_key(&store);
    // Neither the name of the person nor that of the key erases it.
    for id in ["alice", &name] {
        let done = store.admin().unwrap();
        let done = done.erase_person(&Person::new(id), RESEAL, ASKED).unwrap();
        assert_eq!((done.erased.len(), done.keys.len()), (0, 0));
    }
    let refused = store.put(note("under that name", &name)).unwrap_err();
    assert_eq!(refused.code(), "ERR_LOCKED");
    store.admin().unwrap().unlock(&name).unwrap();
    let admin = store.admin().unwrap();
    let refused = admin.delete(&held, ASKED).unwrap_err();
    assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED");
    drop(store);
    let store = open(&disk);
    let admin = store.admin().unwrap();
    store.admin().unwrap().unlock(&name).unwrap();
    for address in [held, current] {
        assert!(admin.lift_hold(&address, ASKED).unwrap());
        admin.delete(&address, ASKED).unwrap();
        assert_eq!(store.get(&address).unwrap(), None);
        admin.vault().rekey_due().unwrap();
    }
    let users = admin.vault().list().unwrap();
    assert!(users.iter().all(|user| user.user == "bob"), "{users:?}");
    let status = admin.vault().status().unwrap();
    assert_eq!((status.persons, status.due), (1, vec![]));
    sound(&store);
}

#[test]
fn an_erasure_that_reseals_and_was_interrupted_loses_nothing_that_is_held() {
    let disk = MemoryDisk::default();
    let keeper = Arc::new(Keeper::default());
    let open = |has_key| {
        let options = Options {
            shred_root: Some(Arc::clone(&keeper) as Arc<dyn ShredRoot>),
            master_key: if has_key { Some(source(7)) } else { None },
            ..options()
        };
        Store::open_on(Arc::new(disk.clone()), options).unwrap()
    };
    let store = open(true);
    store.admin().unwrap().vault().add(&["alice"]).unwrap();
    store.admin().unwrap().unlock("alice").unwrap();
    let held = store.put(note("evidence", "alice")).unwrap();
    let gone = store.put(note("likes tea", "alice")).unwrap();
    store.admin().unwrap().place_hold(&held, ASKED).unwrap();
    keeper.fails.store(true, Ordering::Relaxed);
    assert!(erase(&store, RESEAL).is_err());
    keeper.fails.store(false, Ordering::Relaxed);
    drop(store);
    drop(open(false));
    let store = open(true);
    assert_eq!(
        store.maintenance().unwrap().recovery_report().erasure_waits,
        None
    );
    store.admin().unwrap().unlock(&hold_key(&store)).unwrap();
    assert!(store.get(&held).unwrap().is_some());
    assert_eq!(store.get(&gone).unwrap(), None);
    assert_eq!(store.admin().unwrap().holds()[0].address, held);
    sound(&store);
}
