//! A vault whose file rots: nothing panics, a check names it, and a plain person is erased all the
//! same.

use std::panic::{AssertUnwindSafe, catch_unwind};

use grainstore::store::{ErasureScope, Person};

use super::*;
use crate::random::{Random, cases, seeds};

const VAULT: &str = "vault/vault.redb";
const COPY: &str = "vault/copy";

fn findings(store: &Store) -> Vec<&'static str> {
    let report = store.maintenance().unwrap().check().unwrap();
    report.findings.iter().map(|found| found.id).collect()
}

/// Overwrites a part of the vault's file, most often where it says what is where.
fn rot(disk: &MemoryDisk, random: &mut Random) {
    let file = disk.open(VAULT, OpenMode::Write).unwrap();
    let len = file.len_bytes().unwrap();
    if random.below(8) == 0 {
        let kept = usize::try_from(len).unwrap();
        return file.set_len(random.below(kept) as u64).unwrap();
    }
    let mut content = vec![0; usize::try_from(len).unwrap()];
    file.read_at(&mut content, 0).unwrap();
    // Pages that are in use; the header is in the first.
    let pages = content.chunks(4096).enumerate();
    let used = pages.filter(|(_, page)| page.iter().any(|byte| *byte != 0));
    let used: Vec<usize> = used.map(|(number, _)| number).collect();
    for _ in 0..=random.below(4) {
        let within = random.below(4096 - 64);
        let at = random.pick(&used) * 4096 + within;
        let noise: Vec<u8> = (0..64)
            .map(|_| u8::try_from(random.below(256)).unwrap())
            .collect();
        file.write_at(&noise, at as u64).unwrap();
    }
}

#[test]
fn a_rotten_vault_panics_nowhere_is_named_and_keeps_no_plain_person() {
    let mut named = 0;
    for seed in seeds(cases(40).into()) {
        let random = &mut Random::new(seed);
        let disk = MemoryDisk::default();
        let store = with_persons(&disk, &["alice", "carol"]);
        store.put(note("likes tea", "alice")).unwrap();
        let of_bob = store.put(note("likes coffee", "bob")).unwrap();
        let about_bob = store.put(Draft::event("of nobody").set("subject", "bob"));
        let mut own = vec![of_bob, about_bob.unwrap()];
        own.sort_unstable();
        drop(store);
        // Without the copy, as a vault from before it is.
        disk.remove(COPY).unwrap();
        rot(&disk, random);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let store = open(&disk);
            let maintenance = store.maintenance().unwrap();
            let report = maintenance.check().unwrap();
            let is_named = report
                .findings
                .iter()
                .any(|found| found.id == "vault-damaged");
            drop(maintenance.check_structure().unwrap());
            let vault = || store.admin().unwrap().vault();
            let opened = [
                store.admin().unwrap().unlock("alice").is_ok(),
                vault().list().is_ok(),
            ];
            drop(vault().status().unwrap());
            let is_whole = vault().check().is_ok();
            assert!(is_named != is_whole, "{:?}", report.findings);
            let scope = ErasureScope::default();
            let admin = store.admin().unwrap();
            let done = admin
                .erase_person(&Person::new("bob"), scope, ASKED)
                .unwrap();
            assert_eq!(done.erased, own);
            assert!(is_named || !done.is_vault_damaged);
            assert!(!is_whole || opened == [true, true]);
            is_named
        }));
        named += usize::from(outcome.unwrap_or_else(|_| panic!("seed {seed}")));
    }
    assert!(named > 10, "of all {named} were named");
}

#[test]
fn a_vault_that_rots_costs_no_key_while_its_copy_is_there() {
    let mut named = 0;
    for seed in seeds(cases(20).into()) {
        let random = &mut Random::new(seed);
        let disk = MemoryDisk::default();
        let store = with_persons(&disk, &["alice", "carol"]);
        let tea = store.put(note("likes tea", "alice")).unwrap();
        drop(store);
        rot(&disk, random);
        let store = open(&disk);
        store.admin().unwrap().unlock("alice").unwrap();
        assert!(store.get(&tea).unwrap().is_some(), "seed {seed}");
        let vault = store.admin().unwrap().vault();
        assert_eq!(vault.check().unwrap(), 2, "seed {seed}");
        let found = findings(&store);
        assert!(found.is_empty() || found == ["vault-copy"], "{found:?}");
        named += found.len();
        vault.rotate().unwrap();
        assert_eq!(findings(&store), [""; 0], "seed {seed}");
        store.admin().unwrap().lock("alice").unwrap();
        store.admin().unwrap().unlock("alice").unwrap();
    }
    assert!(named > 4, "of all {named} were named");
}

#[test]
fn a_copy_from_before_an_erasure_brings_no_one_back() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice", "carol"]);
    store.put(note("likes tea", "alice")).unwrap();
    let (_, before) = files(&disk)
        .into_iter()
        .find(|(name, _)| name == COPY)
        .unwrap();
    let admin = store.admin().unwrap();
    let scope = ErasureScope::default();
    admin
        .erase_person(&Person::new("alice"), scope, ASKED)
        .unwrap();
    drop(store);
    disk.remove(COPY).unwrap();
    disk.create(COPY).unwrap().write_at(&before, 0).unwrap();
    let database = disk.open(VAULT, OpenMode::Write).unwrap();
    database.write_at(&[0xA5; 8192], 0).unwrap();
    let store = open(&disk);
    assert!(store.admin().unwrap().unlock("alice").is_err());
    assert_eq!(findings(&store), ["vault-damaged"]);
}
