//! The memory of the process after keys were wiped.

// `memchr` comes with that feature, and the scan of a large process needs it.
#[cfg(all(target_os = "linux", feature = "interchange"))]
mod memory {
    use std::fs::File;
    use std::io::{Read, Seek, SeekFrom};
    use std::sync::Arc;

    use zeroize::Zeroize;

    use crate::crypto::{KeySource, OsRandom, Purpose, scrub_stack};
    use crate::grain::Time;
    use crate::ledger::{Ballast, MemoryDisk};
    use crate::vault::{FileShredRoot, Vault, VaultFiles};

    /// The bytes to look for, changed, so that the search does not find itself.
    fn masked(bytes: &[u8]) -> Vec<u8> {
        bytes.iter().map(|byte| byte ^ 0x5a).collect()
    }

    /// How often the bytes behind a mask lie in the memory of this process.
    fn count(needle: &[u8]) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut memory = File::open("/proc/self/mem").unwrap();
        let mut found = 0;
        for line in maps.lines().filter(|line| line.contains(" rw")) {
            let range = line.split(' ').next().unwrap();
            let (from, to) = range.split_once('-').unwrap();
            let [from, to] = [from, to].map(|text| u64::from_str_radix(text, 16).unwrap());
            let mut bytes = vec![0; usize::try_from(to - from).unwrap()];
            memory.seek(SeekFrom::Start(from)).unwrap();
            // Another thread may have unmapped it.
            drop(memory.read_exact(&mut bytes));
            let is_there = |at: usize| {
                let part = bytes.get(at..at + needle.len());
                let mut pairs = part.into_iter().flatten().zip(needle);
                part.is_some() && pairs.all(|(byte, masked)| byte ^ 0x5a == *masked)
            };
            let first = needle.first().unwrap() ^ 0x5a;
            let places = memchr::memchr_iter(first, &bytes);
            found += places.filter(|at| is_there(*at)).count();
            // Or the next scan would find the copy.
            bytes.zeroize();
        }
        found
    }

    #[test]
    fn no_data_key_is_left_in_memory_after_locking_or_erasing() {
        let disk = MemoryDisk::default();
        let (random, store) = (Arc::new(OsRandom), [7; 16]);
        let root = FileShredRoot::new(Arc::new(disk.clone()), "vault/root", store, random);
        let files = VaultFiles {
            disk: Arc::new(disk),
            store,
            root: Arc::new(root),
            random: Arc::new(OsRandom),
            ballast: Ballast::new("ballast", 0),
        };
        let source = KeySource::Callback(Box::new(|| Ok(vec![1; 32].into())));
        let (vault, master) = Vault::create(files, &source).unwrap();
        vault
            .add(&master, &["ada", "bea"], Time::from_ms(1))
            .unwrap();
        let mut needles = Vec::new();
        for user in ["ada", "bea"] {
            let state = vault.open_state().unwrap();
            let slot = state.slot(&state.keys(&master).unwrap(), user).unwrap();
            let [(_, key)] = &slot.keys[..] else {
                unreachable!()
            };
            assert!(
                count(&masked(key.expose())) > 0,
                "the scan finds a key that is there"
            );
            needles.push(masked(key.expose()));
            needles.push(masked(slot.index.expose()));
        }
        // This test has read the keys itself.
        scrub_stack();
        let unlocked = vault.unlock(&master, "ada").unwrap();
        let sealed = {
            let keys = unlocked.keys().unwrap();
            let sealed = keys.seal(&OsRandom, Purpose::Grain, &[], b"text").unwrap();
            keys.open(Purpose::Grain, &[], &sealed).unwrap();
            sealed
        };
        vault.lock("ada");
        vault.erase(&master, &["bea"]).unwrap();
        assert!(unlocked.keys().is_none() && !sealed.is_empty());
        for (nth, needle) in needles.iter().enumerate() {
            assert_eq!(count(needle), 0, "key {nth}");
        }
    }
}
