//! The memory of a process after a person was locked or erased. A child process is looked at, so that
//! no other test is in it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use grainstore::crypto::{Error, OsRandom, Random};
use grainstore::store::{ErasureScope, Person};
use parking_lot::Mutex;

use super::*;

/// Random bytes, of which those of the length of a key are noted while they are drawn for keys,
/// changed, so that the search does not find the notes.
#[derive(Debug, Default)]
struct Noted {
    is_noting: AtomicBool,
    drawn: Mutex<Vec<[u8; 32]>>,
}

impl Random for Noted {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        OsRandom.fill(bytes)?;
        if let Ok(key) = <&[u8; 32]>::try_from(&*bytes)
            && self.is_noting.load(Ordering::Relaxed)
        {
            self.drawn.lock().push(key.map(|byte| byte ^ MASK));
        }
        Ok(())
    }
}

const MASK: u8 = 0x5a;

/// Returns how often each of some values, which are masked, lies in the memory of this process.
fn count(needles: &[Vec<u8>]) -> Vec<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut memory = File::open("/proc/self/mem").unwrap();
    let mut found = vec![0; needles.len()];
    // One buffer, over which nothing is read twice, and whose memory is left out.
    let mut bytes = vec![0_u8; 1 << 20];
    let own = bytes.as_ptr() as u64;
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let range = line.split(' ').next().unwrap();
        let (from, to) = range.split_once('-').unwrap();
        let [mut from, to] = [from, to].map(|text| u64::from_str_radix(text, 16).unwrap());
        while from < to {
            let len = usize::try_from(to - from).unwrap().min(bytes.len());
            let part = &mut bytes[..len];
            memory.seek(SeekFrom::Start(from)).unwrap();
            if memory.read_exact(part).is_ok() {
                let is_own = |at: usize| (own..own + (1 << 20)).contains(&(from + at as u64));
                for (needle, found) in needles.iter().zip(&mut found) {
                    let first = needle[0] ^ MASK;
                    let is_there = |at: &usize| {
                        let rest = part.get(*at..*at + needle.len());
                        rest.is_some_and(|rest| {
                            rest.iter().zip(needle).all(|(a, b)| a ^ MASK == *b)
                        })
                    };
                    let places = memchr::memchr_iter(first, part).filter(is_there);
                    *found += places.filter(|at| !is_own(*at)).count();
                }
            }
            // Parts overlap by less than a value.
            from += if len == bytes.len() {
                len as u64 - 64
            } else {
                len as u64
            };
        }
    }
    found
}

fn masked(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ MASK).collect()
}

#[test]
#[ignore = "runs in a process of its own, below"]
fn child() {
    let random = Arc::new(Noted::default());
    let options = Options {
        random: Arc::clone(&random) as Arc<dyn Random>,
        ..options()
    };
    let disk = MemoryDisk::default();
    let store = Store::open_on(Arc::new(disk), options).unwrap();
    let admin = store.admin().unwrap();
    random.is_noting.store(true, Ordering::Relaxed);
    admin.vault().add(&["alice", "bob"]).unwrap();
    admin.vault().rekey("alice").unwrap();
    random.is_noting.store(false, Ordering::Relaxed);
    let keys: Vec<Vec<u8>> = random.drawn.lock().iter().map(|key| key.to_vec()).collect();
    for user in ["alice", "bob"] {
        store.admin().unwrap().unlock(user).unwrap();
        let notes = (0..50).map(|n| note(&format!("quokka{n} of the island"), user));
        store.put_batch(notes).unwrap();
        assert_eq!(found(&store, &Filter::new().user(user)), 50);
        assert!(
            !store
                .search("quokka7", &Filter::new(), 5)
                .unwrap()
                .results
                .is_empty()
        );
    }
    let unlocked = count(&keys);
    assert!(
        unlocked.iter().any(|found| *found > 0),
        "the search finds one that is there: the root"
    );
    println!(
        "{} values drawn for keys: {:?} while unlocked",
        keys.len(),
        unlocked
    );
    store.admin().unwrap().lock("alice").unwrap();
    let bob = Person::new("bob");
    admin
        .erase_person(&bob, ErasureScope::default(), ASKED)
        .unwrap();
    let snapshot = store.maintenance().unwrap().index_snapshot();
    assert!(snapshot.grains().is_empty(), "nothing is in an overlay");
    drop(snapshot);
    let words = [
        masked(b"quokka7 of the island"),
        masked(b"quokka41 of the island"),
    ];
    println!("words that are left: {:?}", count(&words));
    let left = count(&keys);
    assert!(
        left.iter().all(|found| *found == 0),
        "keys that are left: {left:?}"
    );
}

#[test]
fn no_key_is_left_in_the_memory_of_a_process_in_which_persons_were_locked_and_erased() {
    let test = std::env::current_exe().unwrap();
    let mut child = Command::new(test);
    child.args([
        "--exact",
        "sealing::memory::child",
        "--ignored",
        "--nocapture",
    ]);
    let output = child.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    println!("{told}");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(told.contains("1 passed"), "{told}");
}
