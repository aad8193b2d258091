//! The renewal of a person's key: what is stored still opens, with copies from before too, and what
//! was deleted is opened by nothing.

use std::collections::BTreeSet;

use grainstore::store::VaultAdmin;
use proptest::prelude::*;

use super::*;

fn vault(store: &Store) -> VaultAdmin<'_> {
    store.admin().unwrap().vault()
}

/// A clock that is set.
#[derive(Debug)]
struct At(i64);

impl Clock for At {
    fn now(&self) -> Time {
        Time::from_ms(self.0)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.0).unwrap())
    }
}

fn open_at(disk: &MemoryDisk, hours: i64) -> Store {
    let now = 1_800_000_000_000 + hours * 3_600_000;
    let options = Options {
        clock: Arc::new(At(now)),
        ..options()
    };
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

/// Copies the ledger of a store from one disk, and its vault from another.
fn joined(ledger: &MemoryDisk, vault: &MemoryDisk) -> MemoryDisk {
    let disk = MemoryDisk::default();
    for folder in ["ledger", "index", "text", "vault"] {
        disk.create_folder(folder).unwrap();
    }
    let from_vault = |name: &str| name.starts_with("vault/");
    let kept = files(ledger)
        .into_iter()
        .filter(|(name, _)| !from_vault(name));
    let vault = files(vault)
        .into_iter()
        .filter(|(name, _)| from_vault(name));
    for (name, content) in kept.chain(vault) {
        disk.create(&name).unwrap().write_at(&content, 0).unwrap();
    }
    disk
}

fn backup(store: &Store) -> MemoryDisk {
    let copy = MemoryDisk::default();
    let maintenance = store.maintenance().unwrap();
    maintenance.backup_to(&copy, "copy".as_ref()).unwrap();
    copy
}

#[test]
fn after_a_renewal_a_copy_from_before_a_deletion_opens_all_but_the_deleted_grain() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice", "bob"]);
    let gone = store.put(note("likes tea", "alice")).unwrap();
    let kept = store.put(note("likes milk", "alice")).unwrap();
    let other = store.put(note("likes coffee", "bob")).unwrap();
    let copy = backup(&store);
    store.admin().unwrap().delete(&gone, ASKED).unwrap();
    // Until the renewal the residue is readable, which is what the deadline is for.
    let before = open(&joined(&copy, &disk));
    before.admin().unwrap().unlock("alice").unwrap();
    assert!(before.get(&gone).unwrap().is_some());
    assert_eq!(vault(&store).status().unwrap().due.len(), 1);
    let renewed = vault(&store).rekey_due().unwrap();
    assert_eq!((&*renewed[0].user, renewed[0].generation), ("alice", 2));
    assert_eq!(vault(&store).status().unwrap().due, []);
    assert!(
        store.get(&kept).unwrap().is_some(),
        "unlocked all the while"
    );
    let new = store.put(note("likes water", "alice")).unwrap();
    drop(store);
    let after = open(&joined(&copy, &disk));
    ["alice", "bob"]
        .iter()
        .for_each(|user| after.admin().unwrap().unlock(user).unwrap());
    assert_eq!(after.get(&gone).unwrap(), None);
    for address in [kept, other] {
        assert!(after.get(&address).unwrap().is_some());
    }
    let store = open(&disk);
    store.admin().unwrap().unlock("alice").unwrap();
    for address in [kept, new] {
        assert!(store.get(&address).unwrap().is_some());
    }
    sound(&store);
}

#[test]
fn a_key_that_is_due_is_renewed_by_compaction_and_when_its_time_is_over_by_unlocking() {
    let disk = MemoryDisk::default();
    let store = open_at(&disk, 0);
    vault(&store).add(&["alice"]).unwrap();
    let generation = |store: &Store| vault(store).list().unwrap()[0].generation;
    for (words, expected) in [("tea", 2), ("milk", 3)] {
        store.admin().unwrap().unlock("alice").unwrap();
        let gone = store.put(note(words, "alice")).unwrap();
        store.admin().unwrap().delete(&gone, ASKED).unwrap();
        assert_eq!(generation(&store), expected - 1);
        if expected == 2 {
            store.maintenance().unwrap().compact().unwrap();
            assert_eq!(generation(&store), expected);
        }
    }
    let end = vault(&store).status().unwrap().due[0].1;
    assert_eq!(end, Time::from_ms(1_800_000_000_000 + 24 * 3_600_000));
    drop(store);
    for (hours, expected) in [(23, 2), (24, 3), (25, 3)] {
        let store = open_at(&disk, hours);
        store.admin().unwrap().unlock("alice").unwrap();
        assert_eq!(generation(&store), expected, "after {hours} hours");
        assert_eq!(
            vault(&store).status().unwrap().due.is_empty(),
            expected == 3
        );
    }
}

#[test]
fn only_the_deletion_of_a_sealed_grain_makes_a_renewal_due() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice", "bob"]);
    let plain = store.put(note("in the clear", "carol")).unwrap();
    store.put(note("likes tea", "alice")).unwrap();
    store.admin().unwrap().delete(&plain, ASKED).unwrap();
    let bob = grainstore::store::Person::new("bob");
    let scope = grainstore::store::ErasureScope::default();
    store.put(note("likes coffee", "bob")).unwrap();
    store
        .admin()
        .unwrap()
        .erase_person(&bob, scope, ASKED)
        .unwrap();
    assert_eq!(vault(&store).status().unwrap().due, []);
    assert_eq!(vault(&store).rekey_due().unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn whatever_is_stored_deleted_and_renewed_what_is_stored_opens_and_nothing_else_does(
        steps in proptest::collection::vec((0_u8..6, any::<proptest::sample::Index>()), 1..25),
    ) {
        let disk = MemoryDisk::default();
        let store = with_persons(&disk, &["alice"]);
        let (mut living, mut copies) = (BTreeSet::new(), Vec::new());
        let mut deleted = Vec::new();
        for (number, (step, pick)) in steps.iter().enumerate() {
            match step {
                0..=2 => {
                    living.insert(store.put(note(&number.to_string(), "alice")).unwrap());
                }
                3 if !living.is_empty() => {
                    let gone = *pick.get(&living.iter().copied().collect::<Vec<_>>());
                    copies.push(backup(&store));
                    store.admin().unwrap().delete(&gone, ASKED).unwrap();
                    living.remove(&gone);
                    deleted.push(gone);
                }
                4 => drop(vault(&store).rekey("alice").unwrap()),
                _ => {
                    store.admin().unwrap().lock("alice").unwrap();
                    store.admin().unwrap().unlock("alice").unwrap();
                }
            }
        }
        vault(&store).rekey_due().unwrap();
        let stored: BTreeSet<_> = addresses(&store).into_iter().collect();
        prop_assert_eq!(stored, living.clone());
        drop(store);
        for copy in &copies {
            let store = open(&joined(copy, &disk));
            store.admin().unwrap().unlock("alice").unwrap();
            for gone in &deleted {
                prop_assert_eq!(store.get(gone).unwrap(), None);
            }
            let kept = addresses(&store).into_iter().collect::<BTreeSet<_>>();
            prop_assert!(kept.is_subset(&living));
        }
    }
}
