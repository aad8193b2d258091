//! The erasure of a sealed person: the key goes first, what is held stays, and an erasure that was
//! interrupted is completed.

use std::sync::atomic::{AtomicBool, Ordering};

use grainstore::crypto::{Algorithm, ErasureReceipt, Offline, OsRandom, Secret};
use grainstore::policy::Rule;
use grainstore::store::{ErasureScope, Person};
use grainstore::vault::{self, Root, ShredRoot};
use parking_lot::Mutex;

use super::*;

fn erase(store: &Store, who: &str) -> Result<grainstore::store::PersonErasure, grainstore::Error> {
    let scope = ErasureScope::default();
    store
        .admin()
        .unwrap()
        .erase_person(&Person::new(who), scope, ASKED)
}

#[test]
fn an_erased_person_is_gone_with_the_key_and_the_others_live() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice", "bob"]);
    let before = store
        .put(Draft::event("a plain note").set("subject", "alice"))
        .unwrap();
    let gone = store.put(note("likes tea", "alice")).unwrap();
    let next = note("likes milk", "alice").derived_from(gone);
    let next = store.supersede(&gone, next, None).unwrap();
    let kept = store.put(note("likes coffee", "bob")).unwrap();
    let copy = MemoryDisk::default();
    store
        .maintenance()
        .unwrap()
        .backup_to(&copy, "copy".as_ref())
        .unwrap();
    // Locked or not: the erasure unlocks the person, to see what keeps the grains.
    store.admin().unwrap().lock("alice").unwrap();
    let done = erase(&store, "alice").unwrap();
    let mut expected = vec![before, gone, next];
    expected.sort_unstable();
    assert_eq!(done.erased, expected);
    assert_eq!(done.keys.len(), 1);
    assert!(done.keys[0].to > done.keys[0].from);
    let is_gone = |store: &Store| {
        assert!(!store.admin().unwrap().is_unlocked("alice"));
        assert_eq!(store.get(&gone).unwrap(), None);
        assert_eq!(
            store.admin().unwrap().unlock("alice").unwrap_err().code(),
            "ERR_USER_UNKNOWN"
        );
        sound(store);
    };
    is_gone(&store);
    assert!(store.get(&kept).unwrap().is_some());
    // Again, it erases nothing more; the person may come again, in the clear.
    let again = erase(&store, "alice").unwrap();
    assert_eq!((again.erased.len(), again.keys.len()), (0, 0));
    drop(store);
    let store = open(&disk);
    is_gone(&store);
    store.admin().unwrap().unlock("bob").unwrap();
    assert!(store.get(&kept).unwrap().is_some());
    let again = store.put(note("likes tea", "alice")).unwrap_err();
    assert_eq!(again.code(), "ERR_ERASED");
    store.put(note("likes tea again", "alice")).unwrap();
    // A backup from before has the ciphertext, and nothing opens it.
    drop(store);
    copy.create_folder("vault").unwrap();
    for (name, content) in files(&disk) {
        if name.starts_with("vault/") {
            copy.create(&name).unwrap().write_at(&content, 0).unwrap();
        }
    }
    let old = open(&copy);
    assert_eq!(
        old.admin().unwrap().unlock("alice").unwrap_err().code(),
        "ERR_USER_UNKNOWN"
    );
    old.admin().unwrap().unlock("bob").unwrap();
    assert!(old.get(&kept).unwrap().is_some());
    assert_eq!(old.get(&gone).unwrap(), None);
}

#[test]
fn a_hold_on_one_grain_keeps_the_key_of_the_person() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let held = store.put(note("evidence", "alice")).unwrap();
    let other = store.put(note("likes tea", "alice")).unwrap();
    store.admin().unwrap().place_hold(&held, ASKED).unwrap();
    store.admin().unwrap().lock("alice").unwrap();
    for except_kept in [false, true] {
        let scope = ErasureScope {
            except_kept,
            ..ErasureScope::default()
        };
        let person = Person::new("alice");
        let refused = store.admin().unwrap().erase_person(&person, scope, ASKED);
        let Err(grainstore::Error::Denied { address, rule }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((address, rule), (held, Rule::LegalHold));
        assert!(store.get(&other).unwrap().is_some());
    }
    store.admin().unwrap().lift_hold(&held, ASKED).unwrap();
    assert_eq!(erase(&store, "alice").unwrap().erased.len(), 2);
    sound(&store);
}

#[test]
fn erasing_a_sealed_person_takes_the_master_key() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    store.put(note("likes tea", "alice")).unwrap();
    drop(store);
    let keyless = Options {
        master_key: None,
        ..options()
    };
    let store = Store::open_on(Arc::new(disk), keyless).unwrap();
    assert_eq!(erase(&store, "alice").unwrap_err().code(), "ERR_LOCKED");
    let report = store.admin().unwrap().person_report(&Person::new("alice"));
    assert_eq!(report.unwrap_err().code(), "ERR_SCOPE_INCOMPLETE");
}

#[test]
fn a_person_is_erased_beside_others_who_are_locked() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice", "bob"]);
    store.put(note("likes tea", "alice")).unwrap();
    let other = store
        .put(note("knows alice", "bob").set("subject", "alice"))
        .unwrap();
    store.admin().unwrap().lock("bob").unwrap();
    let mentions = ErasureScope {
        mentions: true,
        ..ErasureScope::default()
    };
    let admin = store.admin().unwrap();
    let refused = admin.erase_person(&Person::new("alice"), mentions, ASKED);
    assert_eq!(refused.unwrap_err().code(), "ERR_SCOPE_INCOMPLETE");
    // What could not be looked into is said, in the report, the answer and the receipt.
    let report = admin.person_report(&Person::new("carol")).unwrap();
    assert_eq!((report.mentions.len(), report.locked_persons), (0, 1));
    let done = erase(&store, "alice").unwrap();
    assert_eq!((done.erased.len(), done.locked_persons), (1, 1));
    let key = grainstore::crypto::SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
    let receipt = admin.erasure_receipt(&done, &key, &key.did()).unwrap();
    let (receipt, _) = ErasureReceipt::open(&receipt, &Offline).unwrap();
    assert_eq!((receipt.mentions, receipt.locked_persons), (0, 1));
    store.admin().unwrap().unlock("bob").unwrap();
    assert!(store.get(&other).unwrap().is_some());
    sound(&store);
}

#[test]
fn a_deleted_sealed_grain_is_not_stored_again() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let gone = store.put(note("likes tea", "alice")).unwrap();
    let other = store.put(note("likes milk", "alice")).unwrap();
    store.admin().unwrap().delete(&gone, ASKED).unwrap();
    for _ in 0..2 {
        assert_eq!(store.get(&gone).unwrap(), None);
        assert!(store.get(&other).unwrap().is_some());
        let again = store.put(note("likes tea", "alice")).unwrap_err();
        assert_eq!(again.code(), "ERR_ERASED");
        sound(&store);
        store.admin().unwrap().lock("alice").unwrap();
        assert_eq!(store.get(&other).unwrap(), None);
        store.admin().unwrap().unlock("alice").unwrap();
    }
}

/// A root that at times cannot be replaced.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    roots: Mutex<Vec<Root>>,
    pub(super) fails: AtomicBool,
}

impl ShredRoot for Keeper {
    fn read(&self) -> Result<Vec<Root>, vault::Error> {
        let roots = self.roots.lock();
        let copies = roots.iter().map(|root| Root {
            epoch: root.epoch,
            secret: Secret::copied(root.secret.expose()).unwrap(),
        });
        Ok(copies.collect())
    }

    fn stage(&self, next: &Root) -> Result<(), vault::Error> {
        if self.fails.load(Ordering::Relaxed) {
            let reason = "not now".to_owned();
            return Err(vault::Error::Keeper { reason });
        }
        let secret = Secret::copied(next.secret.expose()).unwrap();
        let epoch = next.epoch;
        self.roots.lock().push(Root { epoch, secret });
        Ok(())
    }

    fn keep_only(&self, epoch: u64) -> Result<(), vault::Error> {
        self.roots.lock().retain(|root| root.epoch == epoch);
        Ok(())
    }
}

#[test]
fn an_erasure_whose_key_stayed_is_completed_by_the_next_opening_that_has_the_master_key() {
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
    store
        .admin()
        .unwrap()
        .vault()
        .add(&["alice", "bob"])
        .unwrap();
    for user in ["alice", "bob"] {
        store.admin().unwrap().unlock(user).unwrap();
    }
    let gone = store.put(note("likes tea", "alice")).unwrap();
    let kept = store.put(note("likes coffee", "bob")).unwrap();
    keeper.fails.store(true, Ordering::Relaxed);
    assert!(erase(&store, "alice").is_err());
    assert_eq!(store.get(&gone).unwrap(), None, "from the first entry on");
    keeper.fails.store(false, Ordering::Relaxed);
    drop(store);
    let users = |store: &Store| {
        let users = store.admin().unwrap().vault().list().unwrap().into_iter();
        users.map(|user| user.user).collect::<Vec<_>>()
    };
    // Without the master key the bytes stay blanked, and the erasure waits for the key to go.
    let store = open(false);
    assert!(
        store
            .maintenance()
            .unwrap()
            .recovery_report()
            .erasure_waits
            .is_some()
    );
    drop(store);
    let store = open(true);
    assert_eq!(
        store.maintenance().unwrap().recovery_report().erasure_waits,
        None
    );
    assert_eq!(users(&store), ["bob"]);
    assert_eq!(
        store.admin().unwrap().unlock("alice").unwrap_err().code(),
        "ERR_USER_UNKNOWN"
    );
    store.admin().unwrap().unlock("bob").unwrap();
    assert!(store.get(&kept).unwrap().is_some());
    sound(&store);
    assert!(erase(&store, "alice").unwrap().erased.is_empty());
}
