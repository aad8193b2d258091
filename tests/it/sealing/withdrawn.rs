//! A withdrawn consent reaches what locked persons have: with the master key at once, and else when they
//! are unlocked.

use grainstore::policy::Rule;

use super::*;

fn consent(more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"consent","subject_did":"did:web:alice","grantee_did":"did:web:acme",
            "scope":["store"],"created_at":1{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}

/// A store with a grain of alice that rests on a consent and one that does not, and one of bob.
struct World {
    disk: MemoryDisk,
    grant: ContentAddress,
    resting: ContentAddress,
    free: ContentAddress,
}

impl World {
    fn make() -> Self {
        let disk = MemoryDisk::default();
        let store = with_persons(&disk, &["alice", "bob"]);
        let grant = store.put(consent(r#","is_withdrawal":false"#)).unwrap();
        let resting = note("likes tea", "alice").set("processing_basis", grant.to_string());
        let resting = store.put(resting).unwrap();
        let free = store.put(note("likes milk", "alice")).unwrap();
        store.put(note("likes coffee", "bob")).unwrap();
        Self {
            disk,
            grant,
            resting,
            free,
        }
    }

    fn open_keyless(&self) -> Store {
        let keyless = Options {
            master_key: None,
            ..options()
        };
        Store::open_on(Arc::new(self.disk.clone()), keyless).unwrap()
    }

    fn withdraw(&self, store: &Store) {
        let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{}""#, self.grant);
        let withdrawal = consent(&withdrawal).finish(Profile::Extended).unwrap();
        let warnings = store.warnings(&withdrawal).unwrap();
        let told = warnings
            .iter()
            .filter(|told| told.message.contains("locked"));
        assert_eq!(
            told.count(),
            usize::from(!store.admin().unwrap().is_unlocked("bob"))
        );
        store.put(withdrawal).unwrap();
    }

    /// Holds that alice has, once unlocked, what rests on nothing, and the other one or not.
    fn is_left(&self, store: &Store, is_left: bool) {
        store.admin().unwrap().unlock("alice").unwrap();
        assert_eq!(store.get(&self.resting).unwrap().is_some(), is_left);
        assert!(store.get(&self.free).unwrap().is_some());
        sound(store);
    }
}

#[test]
fn without_the_master_key_locked_persons_are_named_and_wait() {
    let world = World::make();
    let store = world.open_keyless();
    assert!(store.admin().unwrap().waiting_persons().unwrap().is_empty());
    world.withdraw(&store);
    let admin = store.admin().unwrap();
    let waiting = admin.waiting_persons().unwrap();
    assert_eq!(waiting.values().collect::<Vec<_>>(), [&None, &None]);
    let done = admin.run_consent_erasures(ASKED).unwrap();
    assert_eq!((done.erased.len(), &done.waiting), (0, &waiting));
    assert_eq!(admin.waiting_persons().unwrap(), waiting);
    drop(store);
    let store = open(&world.disk);
    world.is_left(&store, false);
    store.admin().unwrap().unlock("bob").unwrap();
    drop(store);
    // Everyone was looked into, and nothing more waits.
    let store = world.open_keyless();
    let waiting = store.admin().unwrap().waiting_persons().unwrap();
    assert!(waiting.is_empty(), "{waiting:?}");
}

#[test]
fn with_the_master_key_a_run_erases_what_locked_persons_have() {
    let world = World::make();
    let store = open(&world.disk);
    world.withdraw(&store);
    let admin = store.admin().unwrap();
    let waiting = admin.waiting_persons().unwrap();
    assert_eq!(waiting.values().collect::<Vec<_>>(), [&Some(1)]);
    assert!(!store.admin().unwrap().is_unlocked("alice"));
    let done = admin.run_consent_erasures(ASKED).unwrap();
    assert_eq!(
        (&*done.erased, done.waiting.len()),
        (&[world.resting][..], 0)
    );
    assert!(!store.admin().unwrap().is_unlocked("alice"));
    world.is_left(&store, false);
    drop(store);
    let store = world.open_keyless();
    assert!(store.admin().unwrap().waiting_persons().unwrap().is_empty());
}

#[test]
fn only_a_run_erases_at_an_unlocking_and_only_what_was_withdrawn_before() {
    let world = World::make();
    let store = open(&world.disk);
    world.withdraw(&store);
    world.is_left(&store, true);
    drop(store);

    let world = World::make();
    let store = world.open_keyless();
    let other = consent(r#","is_withdrawal":false,"note":"another""#);
    let other = store.put(other).unwrap();
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{other}""#);
    store.put(consent(&withdrawal)).unwrap();
    let admin = store.admin().unwrap();
    admin.run_consent_erasures(ASKED).unwrap();
    world.withdraw(&store);
    drop(store);
    world.is_left(&open(&world.disk), true);
}

#[test]
fn a_hold_on_a_sealed_grain_keeps_it_and_the_person_waits() {
    let world = World::make();
    let store = open(&world.disk);
    for user in ["alice", "bob"] {
        store.admin().unwrap().unlock(user).unwrap();
    }
    let admin = store.admin().unwrap();
    admin.place_hold(&world.resting, ASKED).unwrap();
    world.withdraw(&store);
    let done = admin.run_consent_erasures(ASKED).unwrap();
    assert_eq!(done.kept[0].kept, Some(Rule::LegalHold));
    store.admin().unwrap().lock("alice").unwrap();
    assert_eq!(admin.waiting_persons().unwrap().len(), 1);
    world.is_left(&store, true);
    admin.lift_hold(&world.resting, ASKED).unwrap();
    store.admin().unwrap().lock("alice").unwrap();
    world.is_left(&store, false);
    store.admin().unwrap().lock("alice").unwrap();
    assert!(admin.waiting_persons().unwrap().is_empty());
}
