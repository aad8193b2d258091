//! Rows that were changed, and the memory of the process after keys were wiped.

mod rows {
    use crate::crypto::{MasterKey, OsRandom, Secret};
    use crate::grain::Time;
    use crate::vault::Root;
    use crate::vault::file::meta::Meta;
    use crate::vault::file::slot::Slot;
    use crate::vault::file::tables::Keys;

    /// Passes the bytes to `check` once for each of their bits, with that bit flipped.
    fn each_flip(bytes: &[u8], check: impl Fn(usize, &[u8])) {
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.to_vec();
            *flipped.get_mut(bit / 8).unwrap() ^= 1 << (bit % 8);
            check(bit, &flipped);
        }
    }

    #[test]
    fn a_row_opens_in_its_own_place_only_and_no_flipped_bit_of_it_opens() {
        let secret = |byte| Secret::copied(&[byte; 32]).unwrap();
        let (store, epoch) = ([7; 16], 3);
        let master = MasterKey::new(secret(1));
        let meta = Meta {
            store,
            key_check: master.check_value(&store),
            epoch,
            bits: 4,
            passphrase: None,
        };
        let root = Root {
            epoch,
            secret: secret(2),
        };
        let keys = Keys::new(&master, &root, &meta);

        let (place, bucket) = (5, secret(3));
        let row = keys.seal_bucket(&OsRandom, place, &bucket).unwrap();
        assert!(keys.open_bucket(place, &row).is_ok());
        each_flip(&row, |bit, row| {
            assert!(keys.open_bucket(place, row).is_err(), "bit {bit}");
        });
        for bit in 0..32 {
            assert!(keys.open_bucket(place ^ (1 << bit), &row).is_err());
        }
        for epoch in [2, 4] {
            let secret = secret(2);
            let later = Keys::new(&master, &Root { epoch, secret }, &meta);
            assert!(later.open_bucket(place, &row).is_err(), "of epoch {epoch}");
        }

        let slot = Slot::draw(&OsRandom, "ada", Time::from_ms(1)).unwrap();
        let at = keys.slot_key(place, &bucket, "ada");
        let row = keys.seal_slot(&OsRandom, at, &bucket, &slot).unwrap();
        assert!(keys.open_slot(at, &bucket, &row).is_ok());
        each_flip(&row, |bit, row| {
            assert!(keys.open_slot(at, &bucket, row).is_err(), "bit {bit}");
        });
        each_flip(&at.1, |_, name| {
            let at = (at.0, name.try_into().unwrap());
            assert!(keys.open_slot(at, &bucket, &row).is_err());
        });
        for bit in 0..32 {
            let at = (at.0 ^ (1 << bit), at.1);
            assert!(keys.open_slot(at, &bucket, &row).is_err());
        }
        assert!(keys.open_slot(at, &secret(4), &row).is_err());
    }
}

mod processes {
    use std::sync::Arc;
    use std::time::Duration;

    use crate::crypto::{KeySource, OsRandom};
    use crate::grain::Time;
    use crate::ledger::{Ballast, Disk, FileDisk};
    use crate::vault::{FileShredRoot, Vault, VaultFiles};

    fn files(disk: &Arc<dyn Disk>) -> VaultFiles {
        let (random, store) = (Arc::new(OsRandom), [7; 16]);
        VaultFiles {
            disk: Arc::clone(disk),
            store,
            root: Arc::new(FileShredRoot::new(
                Arc::clone(disk),
                "vault/root",
                store,
                random,
            )),
            random: Arc::new(OsRandom),
            ballast: Ballast::new("ballast", 0),
            is_writer: true,
            lock_wait: Duration::ZERO,
        }
    }

    #[test]
    fn readers_share_the_vault_and_a_change_waits_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(folder.path()));
        let source = KeySource::Callback(Box::new(|| Ok(vec![1; 32].into())));
        let (one, master) = Vault::create(files(&disk), &source).unwrap();
        one.add(&master, &["ada"], Time::from_ms(1)).unwrap();
        let other = Vault::open(files(&disk)).unwrap().unwrap();
        let reading = one.read(|_| {
            assert!(other.unlock(&master, "ada").is_ok());
            let refused = other.add(&master, &["bea"], Time::from_ms(1)).unwrap_err();
            assert_eq!(refused.code().as_str(), "ERR_STORE_LOCKED");
            Ok(())
        });
        reading.unwrap();
        other.add(&master, &["bea"], Time::from_ms(1)).unwrap();
        assert!(one.unlock(&master, "bea").is_ok());
    }
}

/// The scan of a large process needs `memchr`, which comes with that feature.
#[cfg(all(target_os = "linux", feature = "interchange"))]
mod memory {
    use std::fs::File;
    use std::io::{Read, Seek, SeekFrom};
    use std::sync::Arc;
    use std::time::Duration;

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
            is_writer: true,
            lock_wait: Duration::ZERO,
        };
        let source = KeySource::Callback(Box::new(|| Ok(vec![1; 32].into())));
        let (vault, master) = Vault::create(files, &source).unwrap();
        vault
            .add(&master, &["ada", "bea"], Time::from_ms(1))
            .unwrap();
        let mut needles = Vec::new();
        for user in ["ada", "bea"] {
            let slot = vault.read(|state| state.slot(&state.keys(&master).unwrap(), user));
            let slot = slot.unwrap();
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
