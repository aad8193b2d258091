//! Two user ids of one person (ruling I29): questions, reports, keys and erasures of one find the other.

use std::path::Path;

use grainstore::grain::Verification;
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};

use super::*;

/// A store with a note of each of two users, and of another one.
fn two_users(disk: &MemoryDisk) -> (Store, [ContentAddress; 2]) {
    let store = open(disk);
    let note = |user: &str, text: &str| store.put(Draft::event(text).user(user)).unwrap();
    note("bob", "of bob");
    let notes = [note("mira", "of mira"), note("user-7f3a", "of the account")];
    (store, notes)
}

fn unite(store: &Store) -> Vec<ContentAddress> {
    let admin = store.admin().unwrap();
    admin.unite_users("mira", "user-7f3a", ASKED).unwrap()
}

/// The texts that a question about a user finds.
fn of(store: &Store, user: &str) -> Vec<String> {
    let found = store.query(&Filter::new().user(user), 9, None).unwrap();
    let said = found
        .results
        .iter()
        .filter_map(|it| it.grain.text("content"));
    said.map(str::to_owned).collect()
}

const BOTH: [&str; 2] = ["of mira", "of the account"];

#[test]
fn questions_about_one_user_of_a_person_find_those_of_the_other() {
    let disk = MemoryDisk::default();
    let (store, _) = two_users(&disk);
    assert_eq!(of(&store, "mira"), ["of mira"]);
    assert_eq!(unite(&store).len(), 2);
    for user in ["mira", "user-7f3a"] {
        assert_eq!(of(&store, user), BOTH);
        let found = store
            .search("account", &Filter::new().user(user), 9)
            .unwrap();
        assert_eq!(found.results.len(), 1, "{user}");
    }
    assert_eq!(of(&store, "bob"), ["of bob"]);
    assert!(unite(&store).is_empty(), "it is known");
    // A third one by way of the second.
    store.put(Draft::event("of a third").user("m")).unwrap();
    let admin = store.admin().unwrap();
    admin.unite_users("m", "user-7f3a", ASKED).unwrap();
    assert_eq!(of(&store, "mira").len(), 3);
    let log = store.maintenance().unwrap().audit();
    let log = log.log(&Default::default(), None, 99).unwrap();
    assert!(
        log.iter()
            .any(|entry| format!("{entry:?}").contains("request 17 ("))
    );
    drop(store);
    assert_eq!(
        of(&open(&disk), "user-7f3a").len(),
        3,
        "after it was opened again"
    );
}

#[test]
fn a_report_and_an_erasure_of_one_user_take_the_whole_person() {
    let disk = MemoryDisk::default();
    let (store, notes) = two_users(&disk);
    let stated = unite(&store);
    for user in ["mira", "user-7f3a"] {
        let about = report(&store, &Person::new(user)).about;
        let about: Vec<_> = about.iter().map(|it| it.address).collect();
        assert_eq!(about, [&notes[..], &stated].concat());
    }
    let admin = store.admin().unwrap();
    let done = admin
        .erase_person(&Person::new("user-7f3a"), ALL, ASKED)
        .unwrap();
    assert_eq!(done.erased.len(), 4);
    assert_eq!(done.person.ids(), ["user-7f3a", "mira"]);
    assert!(!holds(&disk, "mira") && !holds(&disk, "user-7f3a"));
    assert_eq!(of(&store, "bob"), ["of bob"]);
}

#[test]
fn nobody_but_the_owner_says_that_two_users_are_one_person() {
    let disk = MemoryDisk::default();
    let (store, _) = two_users(&disk);
    let agent = store.as_actor(&"did:web:agent.example".parse().unwrap());
    let claim = Draft::belief("mira", "same_person_as", "bob").confidence(1.0);
    let claim = agent.put(claim.user("mira")).unwrap();
    let refused = agent.set_verification(&claim, Verification::Verified, Some("sure"));
    assert_eq!(refused.unwrap_err().code(), "ERR_ACCESS_DENIED");
    assert!(!of(&store, "mira").contains(&"of bob".to_owned()));
    // A handle of one user stays with that one.
    unite(&store);
    let narrow = store.of_user("mira");
    assert_eq!(of(&narrow, "mira"), ["of mira"]);
    assert_eq!(of(&narrow, "user-7f3a"), [""; 0]);
    // What is no longer said does not count.
    let stated = report(&store, &Person::new("mira")).about;
    for it in stated
        .iter()
        .filter(|it| it.found_by.contains(&"object".to_owned()))
    {
        store.contradict(&it.address, Some("two persons")).unwrap();
    }
    assert_eq!(of(&store, "mira"), ["of mira"]);
}

#[test]
fn a_copy_of_the_owners_says_who_is_one_person_and_a_strangers_does_not() {
    let disk = MemoryDisk::default();
    let (store, _) = two_users(&disk);
    unite(&store);
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Mg, Format::Jsonl, Format::Omi, Format::Pam] {
        let path = folder.path().join(format.name());
        let filter = Filter::new().user("mira");
        let admin = store.admin().unwrap();
        // A store of PAM has one owner, who has both ids.
        let options = WriteOptions::default();
        admin.export_file(format, &filter, &options, &path).unwrap();
        for is_own in [true, false] {
            let copy = Store::in_memory(Options::default()).unwrap();
            let mut reading = read(&path);
            reading.is_own = is_own;
            assert!(copy.import(reading).unwrap().is_complete());
            let found = of(&copy, "mira");
            assert_eq!(found.len(), if is_own { 2 } else { 1 }, "{format} {is_own}");
        }
    }
    let backup = folder.path().join("backup");
    store.maintenance().unwrap().backup(&backup).unwrap();
    let restored = folder.path().join("restored");
    let options = Options::default();
    let (restored, _) =
        grainstore::recovery::restore(&backup, &restored, Until::End, options).unwrap();
    assert_eq!(of(&restored, "user-7f3a"), BOTH);
}

#[test]
fn a_key_for_one_user_of_a_person_is_a_key_for_the_other_and_one_erasure_destroys_both() {
    let disk = MemoryDisk::default();
    let (store, _) = two_users(&disk);
    unite(&store);
    drop(store);
    let store = Store::open_on(Arc::new(disk.clone()), crate::sealing::options()).unwrap();
    let vault = store.admin().unwrap().vault();
    let added = vault.add(&["mira"]).unwrap();
    let added: Vec<_> = added.iter().map(|user| user.user.as_str()).collect();
    assert_eq!(added, ["mira", "user-7f3a"]);
    for user in added {
        assert!(vault.seal(user).unwrap() > 0);
    }
    assert!(!holds(&disk, "of the account"));
    drop(store);
    // The keys are locked now: each user's leads to the other.
    let store = Store::open_on(Arc::new(disk), crate::sealing::options()).unwrap();
    assert_eq!(of(&store, "user-7f3a"), [""; 0]);
    // An export counts those whom it leaves out.
    for format in [
        Format::Mg,
        Format::Jsonl,
        Format::Omi,
        Format::Pam,
        Format::Aimem,
    ] {
        let (filter, options) = (Filter::new(), WriteOptions::default());
        let mut out = Vec::new();
        let admin = store.admin().unwrap();
        let loss = admin
            .export(format, &filter, &options, &mut out)
            .unwrap()
            .loss;
        let counted = loss.iter().find(|(what, _)| *what == "locked person");
        assert_eq!(counted, Some(("locked person", 2)), "{format}");
    }
    let admin = store.admin().unwrap();
    let done = admin
        .erase_person(&Person::new("user-7f3a"), ALL, ASKED)
        .unwrap();
    assert_eq!((done.erased.len(), done.keys.len()), (4, 2));
    assert!(store.admin().unwrap().vault().list().unwrap().is_empty());
}

fn read(path: &Path) -> ImportFile {
    ImportFile::open(path, None, &ReadOptions::default()).unwrap()
}
