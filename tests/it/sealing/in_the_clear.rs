//! The border between sealed entries and those in the clear: grains from before their person was added,
//! grains in the clear that a sealed one replaced, and the blind tokens of cards.

use grainstore::Search;
use grainstore::codec::Map;
use grainstore::store::{BlindFields, Embedding, VaultAdmin};

use super::*;

fn vault(store: &Store) -> VaultAdmin<'_> {
    store.admin().unwrap().vault()
}

/// A clock that goes on with each reading of it.
#[derive(Debug, Default)]
struct Ticking(std::sync::atomic::AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Time {
        let ticks = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Time::from_ms(1_800_000_000_000 + ticks)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(1)
    }
}

/// The facts of every grain of a store, by address, replaced versions too.
fn facts(store: &Store) -> Vec<String> {
    let mut all = addresses(store);
    all.sort_unstable();
    let admin = store.admin().unwrap();
    let facts = all.into_iter().map(|address| {
        let grain = store.get(&address).unwrap().unwrap();
        let status = store.status(&address).unwrap();
        let history = store.history(&address).unwrap();
        format!("{:?} {status:?} {history:?}", grain.to_json())
    });
    let mut facts: Vec<_> = facts.collect();
    facts.push(format!("{:?}", admin.holds()));
    for words in ["tea", "canary", "milk"] {
        let found = store.search(words, &Filter::new(), 20).unwrap();
        let found = found.results.iter();
        let found = found.map(|one| (one.address, one.score.to_bits()));
        facts.push(format!("{:?}", found.collect::<Vec<_>>()));
    }
    let near = store
        .find(&Search::near("m", &[1.0, 2.0]).limit(5))
        .unwrap();
    let near = near.results.iter().map(|one| one.address);
    facts.push(format!("{:?}", near.collect::<Vec<_>>()));
    facts
}

/// Stores grains of alice in the clear, with all that entries say about grains, and one of bob that
/// replaces nothing.
fn fill(store: &Store) -> [ContentAddress; 3] {
    let tea = store.put(note("canary tea", "alice")).unwrap();
    let milk = note("canary milk", "alice").derived_from(tea);
    let milk = store.supersede(&tea, milk, None).unwrap();
    let general = store.put(Draft::event("of nobody")).unwrap();
    let own = note("canary instead", "alice").derived_from(general);
    store.supersede(&general, own, None).unwrap();
    store.put(note("coffee", "bob")).unwrap();
    let embedding = Embedding::new(milk, "m", &[1.0, 2.0]);
    store.put_embeddings(&[embedding]).unwrap();
    store.admin().unwrap().place_hold(&milk, ASKED).unwrap();
    [tea, milk, general]
}

fn canaries(disk: &MemoryDisk, needles: &[&[u8]]) -> Vec<String> {
    let found = files(disk).into_iter().filter(|(_, content)| {
        needles.iter().any(|needle| {
            content
                .windows(needle.len())
                .any(|window| window == *needle)
        })
    });
    found.map(|(name, _)| name).collect()
}

#[test]
fn what_a_person_had_in_the_clear_is_sealed_and_nothing_about_it_changes() {
    let disk = MemoryDisk::default();
    let options = || Options {
        clock: Arc::new(Ticking::default()),
        ..options()
    };
    let store = Store::open_on(Arc::new(disk.clone()), options()).unwrap();
    let [tea, milk, general] = fill(&store);
    let before = facts(&store);
    vault(&store).add(&["alice"]).unwrap();
    assert!(!canaries(&disk, &[b"canary"]).is_empty());
    assert_eq!(vault(&store).seal("alice").unwrap(), 3);
    assert_eq!(vault(&store).seal("alice").unwrap(), 0);
    assert!(!store.admin().unwrap().is_unlocked("alice"));
    assert_eq!(store.get(&tea).unwrap(), None);
    let needles = [b"canary".as_slice(), tea.as_bytes(), milk.as_bytes()];
    assert_eq!(canaries(&disk, &needles), Vec::<String>::new());
    sound(&store);
    store.admin().unwrap().unlock("alice").unwrap();
    assert_eq!(facts(&store), before);
    sound(&store);
    drop(store);
    let store = Store::open_on(Arc::new(disk), options()).unwrap();
    // What was replaced stays replaced, though its successor is not seen.
    assert_eq!(count(&store), 1);
    assert!(store.get(&general).unwrap().is_some());
    store.admin().unwrap().unlock("alice").unwrap();
    assert_eq!(facts(&store), before);
    // They come again as duplicates, and go with the key.
    assert_eq!(store.put(note("canary tea", "alice")).unwrap(), tea);
    sound(&store);
}

#[test]
fn a_grain_in_the_clear_that_a_sealed_one_replaced_is_replaced_while_the_person_is_locked_too() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let old = store.put(Draft::event("of nobody")).unwrap();
    let other = store.put(Draft::event("of nobody, too")).unwrap();
    let new = note("of alice", "alice").derived_from(old);
    let new = store.supersede(&old, new, None).unwrap();
    let current = |store: &Store| {
        let found = store.query(&Filter::new(), 10, None).unwrap().results;
        found.iter().map(|one| one.address).collect::<Vec<_>>()
    };
    let mut both = vec![other, new];
    both.sort_unstable();
    let mut unlocked = current(&store);
    unlocked.sort_unstable();
    assert_eq!(unlocked, both);
    store.admin().unwrap().lock("alice").unwrap();
    assert_eq!(current(&store), [other]);
    assert_eq!(store.get(&new).unwrap(), None);
    sound(&store);
    drop(store);
    // Without a key, and with an index that is built anew.
    for name in disk.list("index").unwrap() {
        disk.remove(&format!("index/{name}")).unwrap();
    }
    let keyless = Options {
        master_key: None,
        ..options()
    };
    let store = Store::open_on(Arc::new(disk.clone()), keyless).unwrap();
    assert_eq!(current(&store), [other]);
    store.maintenance().unwrap().compact().unwrap();
    assert_eq!(current(&store), [other]);
    sound(&store);
    drop(store);
    let store = open(&disk);
    store.admin().unwrap().unlock("alice").unwrap();
    let mut unlocked = current(&store);
    unlocked.sort_unstable();
    assert_eq!(unlocked, both);
    assert_eq!(store.status(&old).unwrap().superseded_by, Some(new));
    sound(&store);
}

/// The names of the tokens in the cards of a ledger.
fn tokens(disk: &MemoryDisk, store: &Store) -> Vec<String> {
    let sealed = entries(disk, store).into_iter();
    let sealed = sealed.filter(|(_, kind, _)| *kind == Kind::SealedGrain);
    let names = sealed.map(|(_, _, body)| {
        let card = Encoding::MessagePack.decode(&body, Profile::Extended);
        let card = card.unwrap();
        let tokens = card.get("t").and_then(|tokens| tokens.as_map());
        let names = tokens.into_iter().flat_map(Map::iter);
        names.map(|(name, _)| name.to_owned()).collect::<String>()
    });
    names.collect()
}

#[test]
fn the_choice_of_blind_fields_changes_the_cards_and_no_answer() {
    let mut told = Vec::new();
    for (fields, expected) in [
        (BlindFields::None, ""),
        (BlindFields::Ids, "su"),
        (BlindFields::Spo, "aorsu"),
    ] {
        let disk = MemoryDisk::default();
        let store = open(&disk);
        vault(&store).set_blind_fields(fields).unwrap();
        vault(&store).add(&["alice", "bob"]).unwrap();
        ["alice", "bob"]
            .iter()
            .for_each(|user| store.admin().unwrap().unlock(user).unwrap());
        for (user, object) in [("alice", "tea"), ("bob", "tea"), ("alice", "milk")] {
            let belief = Draft::belief(user, "likes", object).confidence(0.9);
            let belief = belief.user(user).set("session_id", "s");
            store.put(belief.created_at(Time::from_ms(9))).unwrap();
        }
        assert_eq!(vault(&store).status().unwrap().blind_fields, fields);
        assert_eq!(tokens(&disk, &store), vec![expected; 3], "{fields:?}");
        let filters = [
            Filter::new().user("alice"),
            Filter::new().session("s"),
            Filter::new().subject("alice"),
            Filter::new().relation("likes").object("tea"),
        ];
        let counts = |store: &Store| filters.each_ref().map(|filter| found(store, filter));
        let (before, facts) = (counts(&store), facts(&store));
        drop(store);
        let store = open(&disk);
        assert_eq!(counts(&store), [0; 4]);
        store.admin().unwrap().unlock("alice").unwrap();
        told.push((before, counts(&store), facts));
        sound(&store);
    }
    assert_eq!((told[0].0, told[0].1), ([2, 3, 2, 2], [2, 2, 2, 1]));
    assert!(told.iter().all(|one| *one == told[0]));
}

#[test]
fn a_person_whose_adding_was_interrupted_is_sealed_at_the_next_opening() {
    let disk = MemoryDisk::default();
    let asked = std::sync::atomic::AtomicU32::new(0);
    // The key is there to add a person, and gone before their grains are sealed.
    let failing = KeySource::Callback(Box::new(move || {
        match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Ok(vec![7; 32].into()),
            _ => Err("gone".to_owned()),
        }
    }));
    let store = Store::open_on(
        Arc::new(disk.clone()),
        Options {
            master_key: Some(Arc::new(failing)),
            ..options()
        },
    );
    let store = store.unwrap();
    let [tea, ..] = fill(&store);
    vault(&store).add_and_seal(&["alice"]).unwrap_err();
    drop(store);
    let finding = |store: &Store| -> Vec<&str> {
        let report = store.maintenance().unwrap().check_structure().unwrap();
        report.findings.iter().map(|found| found.id).collect()
    };
    for _ in 0..2 {
        let keyless = Options {
            master_key: None,
            ..options()
        };
        let store = Store::open_on(Arc::new(disk.clone()), keyless).unwrap();
        assert_eq!(finding(&store), ["seal-waits"]);
    }
    assert!(!canaries(&disk, &[b"canary"]).is_empty());
    let store = open(&disk);
    assert_eq!(finding(&store), [""; 0]);
    let needles = [b"canary".as_slice(), tea.as_bytes()];
    assert_eq!(canaries(&disk, &needles), Vec::<String>::new());
    assert_eq!(store.get(&tea).unwrap(), None);
    store.admin().unwrap().unlock("alice").unwrap();
    assert!(store.get(&tea).unwrap().is_some());
    sound(&store);
}
