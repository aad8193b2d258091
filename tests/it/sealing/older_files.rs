//! Files that were written before a person was erased: whatever form they have, the person does not
//! come back out of them.

use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::{ErasureScope, Person};

use super::*;
use crate::foreign::{FORMATS, text_of};

/// Files of other tools, each imported as a record of the person.
fn samples() -> [Vec<u8>; 4] {
    [
        Vec::new(),
        text_of(&crate::aimem::sample()).into_bytes(),
        text_of(&crate::omi::sample()).into_bytes(),
        text_of(&crate::pam::store::small(&[("a", "likes tea")])).into_bytes(),
    ]
}

fn import(store: &Store, bytes: &[u8], format: Option<Format>, user: Option<&str>) {
    let options = ReadOptions {
        user: user.map(str::to_owned),
        ..ReadOptions::default()
    };
    let reading = ImportFile::of_bytes(bytes, format, &options).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    store.import(reading).unwrap();
}

/// Writes what people tell an assistant, some of it replaced.
fn tell(store: &Store, user: &str) {
    let first = store.put(note("likes tea", user)).unwrap();
    let next = note("likes milk", user).derived_from(first);
    store.supersede(&first, next, None).unwrap();
    let belief = Draft::belief(user, "drinks", "tea")
        .confidence(0.9)
        .user(user);
    store.put(belief.created_at(Time::from_ms(10))).unwrap();
    store
        .put(note("a message", user).session("s").set("role", "user"))
        .unwrap();
}

fn everything(store: &Store) -> Vec<String> {
    let filter = Filter::new()
        .with_superseded()
        .with_expired()
        .with_unreviewed();
    let found = store.query(&filter, 1_000, None).unwrap().results;
    found.iter().map(|found| found.grain.to_json()).collect()
}

fn files_of(store: &Store) -> Vec<(Format, Vec<u8>)> {
    let admin = store.admin().unwrap();
    let filter = Filter::new().with_superseded();
    let written = FORMATS.iter().filter_map(|format| {
        let mut bytes = Vec::new();
        let options = WriteOptions::default();
        // A bundle of several producers has no one file.
        admin.export(*format, &filter, &options, &mut bytes).ok()?;
        Some((*format, bytes))
    });
    written.collect()
}

#[test]
fn an_erased_person_comes_back_out_of_no_older_file() {
    for sample in samples() {
        for is_sealed in [true, false] {
            let disk = MemoryDisk::default();
            let store = match is_sealed {
                true => with_persons(&disk, &["alice"]),
                false => open(&disk),
            };
            let kept = store.put(note("likes coffee", "bob")).unwrap();
            tell(&store, "alice");
            if !sample.is_empty() {
                import(&store, &sample, None, Some("alice"));
            }
            let files = files_of(&store);
            assert!(files.len() > 3);
            let all = ErasureScope {
                mentions: true,
                ..ErasureScope::default()
            };
            let admin = store.admin().unwrap();
            let done = admin
                .erase_person(&Person::new("alice"), all, ASKED)
                .unwrap();
            assert!(done.erased.len() >= 4);
            let before = everything(&store);
            for _ in 0..2 {
                for (format, bytes) in &files {
                    import(&store, bytes, Some(*format), None);
                    let after = everything(&store);
                    let back: Vec<_> = after.iter().filter(|it| !before.contains(it)).collect();
                    assert!(back.is_empty(), "{format}, sealed: {is_sealed}: {back:#?}");
                }
                store.maintenance().unwrap().compact().unwrap();
            }
            assert!(store.get(&kept).unwrap().is_some());
            sound(&store);
        }
    }
}
