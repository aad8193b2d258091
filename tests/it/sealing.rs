//! Sealed persons in a store: while a person is unlocked their grains are as any others, while they
//! are locked nothing is, and no file ever holds a word of them.

mod about;
mod erasure;
mod files;
mod hold;
mod in_the_clear;
#[cfg(target_os = "linux")]
mod memory;
mod older_files;
mod processes;
mod recovery;
mod rekey;
mod rot;
mod twins;
mod withdrawn;

use std::sync::Arc;
use std::time::Duration;

use grainstore::codec::{Encoding, Profile};
use grainstore::crypto::KeySource;
use grainstore::index::Family;
use grainstore::ledger::{Disk, EntryId, Kind, Ledger, MemoryDisk, OpenMode};
use grainstore::store::{Authorization, Clock};
use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time};

pub(crate) const ASKED: Authorization<'static> = Authorization {
    reason: "request 17",
    authority: "the data protection officer",
};

/// A clock that stands still, so that two stores of the same history are the same.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Time {
        Time::from_ms(1_800_000_000_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(1)
    }
}

fn source(byte: u8) -> Arc<KeySource> {
    let source = KeySource::Callback(Box::new(move || Ok(vec![byte; 32].into())));
    Arc::new(source)
}

pub(crate) fn options() -> Options {
    Options {
        clock: Arc::new(Still),
        ballast_bytes: 0,
        master_key: Some(source(7)),
        ..Options::default()
    }
}

pub(crate) fn open(disk: &MemoryDisk) -> Store {
    Store::open_on(Arc::new(disk.clone()), options()).unwrap()
}

/// A store in which some persons are sealed and unlocked.
pub(crate) fn with_persons(disk: &MemoryDisk, persons: &[&str]) -> Store {
    let store = open(disk);
    store.admin().unwrap().vault().add(persons).unwrap();
    persons
        .iter()
        .for_each(|user| store.admin().unwrap().unlock(user).unwrap());
    store
}

/// Every file of a store.
pub(crate) fn files(disk: &MemoryDisk) -> Vec<(String, Vec<u8>)> {
    let folders = ["", "ledger", "index", "text", "vault"].into_iter();
    let names = folders.flat_map(|folder| {
        let names = disk.list(folder).unwrap_or_default().into_iter();
        names.map(move |name| match folder {
            "" => name,
            _ => format!("{folder}/{name}"),
        })
    });
    names
        .filter_map(|name| {
            let file = disk.open(&name, OpenMode::Read).ok()?;
            let mut content = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
            file.read_at(&mut content, 0).unwrap();
            Some((name, content))
        })
        .collect()
}

fn sound(store: &Store) {
    let report = store.maintenance().unwrap().check().unwrap();
    assert_eq!(report.findings, []);
}

fn note(words: &str, user: &str) -> Draft {
    Draft::event(words).user(user).created_at(Time::from_ms(9))
}

fn found(store: &Store, filter: &Filter) -> usize {
    store.query(filter, 1_000, None).unwrap().results.len()
}

fn count(store: &Store) -> usize {
    found(store, &Filter::new())
}

#[test]
fn a_sealed_person_is_in_every_answer_while_unlocked_and_in_none_while_locked() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let sealed = store.put(note("likes tea", "alice")).unwrap();
    let plain = store.put(note("likes coffee", "bob")).unwrap();
    let of_alice = Filter::new().user("alice");
    for _ in 0..2 {
        let grain = store.get(&sealed).unwrap().unwrap();
        assert_eq!(grain.text("content"), Some("likes tea"));
        assert_eq!((count(&store), found(&store, &of_alice)), (2, 1));
        sound(&store);
        store.admin().unwrap().lock("alice").unwrap();
        assert!(!store.admin().unwrap().is_unlocked("alice"));
        assert_eq!(store.get(&sealed).unwrap(), None);
        assert!(!store.exists(&sealed).unwrap());
        assert_eq!((count(&store), found(&store, &of_alice)), (1, 0));
        assert!(store.get(&plain).unwrap().is_some());
        sound(&store);
        store.admin().unwrap().unlock("alice").unwrap();
    }
}

#[test]
fn a_store_that_is_opened_again_has_every_person_locked() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let sealed = store.put(note("likes tea", "alice")).unwrap();
    drop(store);
    let store = open(&disk);
    assert_eq!(store.get(&sealed).unwrap(), None);
    sound(&store);
    store.admin().unwrap().unlock("alice").unwrap();
    assert!(store.get(&sealed).unwrap().is_some());
    assert_eq!(store.put(note("likes tea", "alice")).unwrap(), sealed);
    sound(&store);
}

#[test]
fn storing_for_a_person_who_is_locked_is_refused() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    store.admin().unwrap().lock("alice").unwrap();
    let refused = store.put(note("likes tea", "alice")).unwrap_err();
    assert_eq!(refused.code(), "ERR_LOCKED");
    let both = [note("likes tea", "bob"), note("likes tea", "alice")];
    assert_eq!(store.put_batch(both).unwrap_err().code(), "ERR_LOCKED");
    assert_eq!(count(&store), 0);
    drop(store);
    // Without the master key it is unknown who is sealed.
    let keyless = Options {
        master_key: None,
        ..options()
    };
    let store = Store::open_on(Arc::new(disk), keyless).unwrap();
    assert_eq!(
        store.put(note("tea", "bob")).unwrap_err().code(),
        "ERR_LOCKED"
    );
    store.put(Draft::event("of nobody")).unwrap();
}

#[test]
fn a_grain_in_the_clear_that_names_a_sealed_one_is_refused() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let sealed = store.put(note("likes tea", "alice")).unwrap();
    let summary = Draft::event("a summary").derived_from(sealed);
    let refused = store.put(summary.clone()).unwrap_err();
    assert_eq!(refused.code(), "ERR_POLICY_DENIED");
    store.put(summary.user("alice")).unwrap();
}

#[test]
fn a_renewed_key_seals_on_and_old_entries_open() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let old = store.put(note("likes tea", "alice")).unwrap();
    store.admin().unwrap().vault().rekey("alice").unwrap();
    let new = store.put(note("likes coffee", "alice")).unwrap();
    for address in [old, new] {
        assert!(store.get(&address).unwrap().is_some());
    }
    store.admin().unwrap().lock("alice").unwrap();
    store.admin().unwrap().unlock("alice").unwrap();
    for address in [old, new] {
        assert!(store.get(&address).unwrap().is_some());
    }
}

#[test]
fn unlocking_is_for_the_owner_and_for_persons_who_have_a_key() {
    let store = with_persons(&MemoryDisk::default(), &["alice"]);
    assert_eq!(
        store.admin().unwrap().unlock("bob").unwrap_err().code(),
        "ERR_USER_UNKNOWN"
    );
    let agent = store.in_namespace("a");
    assert_eq!(agent.admin().unwrap_err().code(), "ERR_ACCESS_DENIED");
    let on_behalf = store.admin().unwrap().on_behalf_of(&agent);
    for refused in [on_behalf.unlock("alice"), on_behalf.lock("alice")] {
        assert_eq!(refused.unwrap_err().code(), "ERR_ACCESS_DENIED");
    }
}

#[test]
fn a_store_opened_for_reading_and_a_rebuilt_index_need_no_key() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let sealed = store.put(note("likes tea", "alice")).unwrap();
    let plain = store.put(note("likes coffee", "bob")).unwrap();
    let keyless = || Options {
        master_key: None,
        ..options()
    };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let follower = Store::open_on(Arc::clone(&shared), keyless().read_only()).unwrap();
    let later = store.put(note("likes milk", "alice")).unwrap();
    for address in [sealed, later] {
        assert_eq!(follower.get(&address).unwrap(), None);
    }
    assert!(follower.get(&plain).unwrap().is_some());
    assert_eq!(
        follower
            .admin()
            .unwrap()
            .unlock("alice")
            .unwrap_err()
            .code(),
        "ERR_KEY"
    );
    drop((follower, store));
    for name in disk.list("index").unwrap() {
        disk.remove(&format!("index/{name}")).unwrap();
    }
    let store = Store::open_on(Arc::new(disk.clone()), keyless()).unwrap();
    sound(&store);
    assert_eq!(count(&store), 1);
    store.maintenance().unwrap().compact().unwrap();
    let backup = MemoryDisk::default();
    let maintenance = store.maintenance().unwrap();
    maintenance.backup_to(&backup, "backup".as_ref()).unwrap();
    assert!(backup.list("vault").is_err(), "no backup has the vault");
    drop(store);
    // The backup with the vault of the store is the store.
    backup.create_folder("vault").unwrap();
    for (name, content) in files(&disk) {
        if name.starts_with("vault/") {
            backup.create(&name).unwrap().write_at(&content, 0).unwrap();
        }
    }
    let restored = open(&backup);
    restored.admin().unwrap().unlock("alice").unwrap();
    assert!(restored.get(&sealed).unwrap().is_some());
    sound(&restored);
}

fn addresses(store: &Store) -> Vec<ContentAddress> {
    store.list(None, 1_000).unwrap().addresses
}

/// The entries of a ledger, each with its kind and body.
fn entries(disk: &MemoryDisk, store: &Store) -> Vec<(EntryId, Kind, Vec<u8>)> {
    let id = store.maintenance().unwrap().stats().unwrap().store_id;
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let (ledger, _) = Ledger::open_to_read(disk, id, |_| Vec::new()).unwrap();
    let rows = (0..ledger.len()).map(EntryId::new);
    let read = |row| ledger.read(row).unwrap();
    rows.map(|row| (row, read(row).header.kind, read(row).body.into_owned()))
        .collect()
}

#[test]
fn the_ledger_binds_a_sealed_grain_by_the_hash_of_its_ciphertext() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let address = store.put(note("likes tea", "alice")).unwrap();
    let id = store.maintenance().unwrap().stats().unwrap().store_id;
    let all = entries(&disk, &store);
    let (row, kind, body) = all.last().unwrap();
    assert_eq!(*kind, Kind::SealedGrain);
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let (ledger, _) = Ledger::open_to_read(disk, id, |_| Vec::new()).unwrap();
    let stored = ContentAddress::of(body);
    assert!(ledger.holds(*row, stored.as_bytes()).unwrap());
    assert!(!ledger.holds(*row, address.as_bytes()).unwrap());
}

#[test]
fn a_sealed_grain_answers_to_the_hash_of_its_ciphertext_while_unlocked() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice", "bob"]);
    let address = store.put(note("likes tea", "alice")).unwrap();
    let (_, _, body) = entries(&disk, &store).pop().unwrap();
    store.put(note("likes milk", "bob")).unwrap();
    let ciphertext = ContentAddress::of(&body);
    let get = |store: &Store| {
        let found = store.get(&ciphertext).unwrap();
        let own = store.get(&address).unwrap();
        assert_eq!(found, own);
        let batch = store.get_batch(&[ciphertext, address]).unwrap();
        assert_eq!(batch, [own.clone(), own.clone()]);
        own.map(|grain| grain.address())
    };
    assert_eq!(get(&store), Some(address));
    // It is no second address: what changes a grain names it by its own.
    assert!(!store.exists(&ciphertext).unwrap());
    let deleted = store.admin().unwrap().delete(&ciphertext, ASKED);
    assert_eq!(deleted.unwrap_err().code(), "ERR_NOT_FOUND");
    assert_eq!(get(&store.of_user("alice")), Some(address));
    assert_eq!(get(&store.of_user("bob")), None);
    store.admin().unwrap().lock("alice").unwrap();
    assert_eq!(get(&store), None);

    // A store that is opened again opens the entries from the ledger.
    drop(store);
    let store = open(&disk);
    assert_eq!(get(&store), None);
    store.admin().unwrap().unlock("alice").unwrap();
    assert_eq!(get(&store), Some(address));
    store.maintenance().unwrap().compact().unwrap();
    for (name, content) in files(&disk) {
        let finder = memchr::memmem::Finder::new(ciphertext.as_bytes());
        assert!(finder.find(&content).is_none(), "it is in {name}");
    }
    store.admin().unwrap().delete(&address, ASKED).unwrap();
    assert_eq!(get(&store), None);
    sound(&store);
}

#[test]
fn sealed_grains_are_found_by_tokens_that_differ_between_persons() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice", "bob"]);
    for (n, user) in ["alice", "bob", "alice"].into_iter().enumerate() {
        let draft = note(&format!("note {n}"), user).set("session_id", "s");
        store.put(draft).unwrap();
    }
    let sealed = entries(&disk, &store).into_iter();
    let tokens = sealed.filter(|(_, kind, _)| *kind == Kind::SealedGrain);
    let tokens: Vec<_> = tokens
        .map(|(row, _, body)| {
            let map = Encoding::MessagePack
                .decode(&body, Profile::Extended)
                .unwrap();
            let tokens = map.get("t").unwrap().as_map().unwrap();
            let token = |name| tokens.get(name).unwrap().as_bytes().unwrap().to_vec();
            (row, token("u"), token("s"))
        })
        .collect();
    let [
        (first, user, session),
        (_, other_user, other_session),
        (third, again, same),
    ] = &tokens[..]
    else {
        panic!("{tokens:?}");
    };
    assert_eq!((user, session), (again, same));
    assert!(user != other_user && session != other_session);
    assert_eq!((user.len(), session.len()), (32, 16));
    // By token, with every person locked too.
    store.admin().unwrap().lock("alice").unwrap();
    let snapshot = store.maintenance().unwrap().index_snapshot();
    for (family, token) in [(Family::User, user), (Family::Session, session)] {
        let rows = snapshot.with_token(family, token).rows().unwrap();
        assert!(rows.iter().eq([*first, *third]), "{family:?}");
    }
    assert!(
        snapshot
            .with_text(Family::User, "alice")
            .rows()
            .unwrap()
            .is_empty()
    );
}
