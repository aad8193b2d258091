//! Recovery of a damaged store with sealed persons: what is sealed comes out sealed and opens beside the
//! vault, and an erased person stays erased.

use std::collections::BTreeMap;

use grainstore::store::{ErasureScope, Person, Recovered, Severity};

use super::*;
use crate::random::cases;
use crate::sample::addresses_of;

/// A store with sealed grains, of which a person and a grain were erased.
struct Sound {
    disk: MemoryDisk,
    /// The grains that live, each with its text.
    live: BTreeMap<ContentAddress, String>,
    erased: Vec<ContentAddress>,
}

const SEALED: [&str; 2] = ["bob", "carol"];

impl Sound {
    fn make() -> Self {
        let disk = MemoryDisk::default();
        let store = with_persons(&disk, &["alice", "bob", "carol"]);
        let mut live = BTreeMap::new();
        let mut erased = Vec::new();
        let admin = store.admin().unwrap();
        for n in 0..5 {
            for user in ["alice", "bob", "carol", "dave"] {
                let text = format!("{user} drinks tea number {n}");
                let address = store.put(note(&text, user)).unwrap();
                live.insert(address, text);
                if user == "alice" {
                    erased.push(address);
                }
            }
        }
        let texts = ["one", "two", "three"].map(|word| format!("bob counts {word}"));
        let batch = texts.iter().map(|text| note(text, "bob"));
        let batch = addresses_of(&store.put_batch(batch).unwrap());
        live.extend(batch.iter().copied().zip(texts.clone()));
        let text = "bob counts four";
        let next = note(text, "bob").derived_from(batch[2]);
        let next = store.supersede(&batch[2], next, None).unwrap();
        live.insert(next, text.to_owned());
        admin.delete(&batch[1], ASKED).unwrap();
        erased.push(batch[1]);
        let alice = Person::new("alice");
        let scope = ErasureScope::default();
        admin.erase_person(&alice, scope, ASKED).unwrap();
        store.maintenance().unwrap().sync().unwrap();
        live.retain(|address, _| !erased.contains(address));
        Self { disk, live, erased }
    }

    /// Returns the files but those of the vault, of which one byte of one is flipped.
    fn damaged(&self, file: &str, at: usize) -> MemoryDisk {
        let damaged = MemoryDisk::default();
        damaged.create_folder("ledger").unwrap();
        for (name, mut content) in files(&self.disk) {
            if name.contains('/') && !name.starts_with("ledger/") {
                continue;
            }
            if name == file {
                content[at] ^= 0x10;
            }
            write(&damaged, &name, &content);
        }
        damaged
    }

    /// Recovers a damaged store, brings the vault beside it, and opens it with the master key.
    fn recover(&self, damaged: MemoryDisk) -> (Store, Recovered) {
        let to = MemoryDisk::default();
        let target: Arc<dyn Disk> = Arc::new(to.clone());
        let recovered = grainstore::recovery::recover_on(Arc::new(damaged), target, options());
        let (store, recovered) = recovered.unwrap();
        drop(store);
        to.create_folder("vault").unwrap();
        for (name, content) in files(&self.disk) {
            if name.starts_with("vault/") {
                write(&to, &name, &content);
            }
        }
        (open(&to), recovered)
    }

    /// Holds a recovered store to this one; returns the number of grains that are lost.
    fn compare(&self, store: &Store, place: &str) -> usize {
        for user in SEALED {
            store.admin().unwrap().unlock(user).unwrap();
        }
        let unlocked = store.admin().unwrap().unlock("alice").unwrap_err();
        assert_eq!(unlocked.code(), "ERR_USER_UNKNOWN", "{place}");
        for address in &self.erased {
            assert_eq!(store.get(address).unwrap(), None, "{place}: erased");
        }
        let mut lost = 0;
        for (address, text) in &self.live {
            match store.get(address).unwrap() {
                Some(grain) => assert_eq!(grain.text("content"), Some(text.as_str()), "{place}"),
                None => lost += 1,
            }
        }
        let report = store.maintenance().unwrap().check().unwrap();
        let mut findings = report.findings.iter();
        let damage = findings.find(|finding| finding.severity == Severity::Damage);
        assert_eq!(damage, None, "{place}");
        lost
    }
}

fn write(disk: &MemoryDisk, name: &str, content: &[u8]) {
    disk.create(name).unwrap().write_at(content, 0).unwrap();
}

#[test]
fn sealed_grains_come_out_of_damage_readable_with_their_key_and_erased_persons_do_not() {
    let sound = Sound::make();
    let (store, recovered) = sound.recover(sound.damaged("", 0));
    assert_eq!(sound.compare(&store, "no damage"), 0);
    assert_eq!(recovered.lost, []);
    drop(store);
    let step = 61 / usize::try_from(cases(1).min(61)).unwrap();
    let mut all_lost = 0;
    for (name, content) in files(&sound.disk) {
        let is_kept = name.starts_with("ledger/") || name.starts_with("MANIFEST");
        if !is_kept && name != "END" {
            continue;
        }
        for at in (0..content.len()).step_by(step) {
            let place = format!("{name}, byte {at}");
            let (store, recovered) = sound.recover(sound.damaged(&name, at));
            assert!(!recovered.is_new_identity, "{place}");
            let lost = sound.compare(&store, &place);
            assert!(lost <= 1, "{place}: {lost} grains are lost");
            assert!(recovered.lost_entries() >= lost as u64, "{place}");
            all_lost += lost;
        }
    }
    assert!(all_lost > 0, "no flip hit a grain");
}
