//! Files of a rogue that the owner imports: grains of every namespace and author, in every format.

use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::{Draft, Filter, Options, Store, Time};

use crate::random::Random;

use super::calls;
use super::world::Twins;
use grainstore::crypto::sign;

const FORMATS: [Format; 6] = [
    Format::Jsonl,
    Format::Mg,
    Format::Pam,
    Format::Aimem,
    Format::AimemNdjson,
    Format::Omi,
];

/// Imports a file that the rogue made in a store of its own.
pub(super) fn step(twins: &mut Twins, random: &mut Random) {
    let elsewhere = Store::in_memory(Options {
        text: None,
        ..Options::default()
    })
    .unwrap();
    for _ in 0..random.within(1..5) {
        let n = random.below(1_000_000);
        let target = random.pick(&twins.known);
        match random.below(6) {
            0 => put(&elsewhere, calls::withdrawal(twins, random)),
            1 => put(&elsewhere, calls::delegation(random, n)),
            2 => put(&elsewhere, calls::hand_back(random, target, n)),
            3 => put(&elsewhere, calls::claim(random, target, n)),
            4 => squat(twins, &elsewhere),
            _ => replace(twins, &elsewhere, random),
        }
    }
    let format = random.pick(&FORMATS);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut file = std::fs::File::create(&path).unwrap();
    let admin = elsewhere.admin().unwrap();
    let all = Filter::new().with_superseded();
    if admin
        .export(format, &all, &Default::default(), &mut file)
        .is_err()
    {
        return;
    }
    twins.log.push(format!("a file of the rogue, {format}"));
    twins.has_files = true;
    if let Ok(reading) = ImportFile::open(&path, Some(format), &ReadOptions::default()) {
        let summary = twins.with.owner.import(reading).unwrap();
        twins.log.push(format!("    {summary:?}"));
    }
}

fn put(store: &Store, draft: Draft) {
    drop(store.put(draft));
}

/// Signs a grain that the operator has not stored yet.
fn squat(twins: &Twins, elsewhere: &Store) {
    let Some(grain) = twins.signed.last() else {
        return;
    };
    let bare = Draft::from_json(&grain.to_json()).unwrap().to_be_signed();
    let bare = bare.finish(Default::default()).unwrap();
    assert_eq!(bare.address(), grain.address());
    let key = calls::key();
    let signed = sign(bare, &key, &key.did(), None).unwrap();
    drop(elsewhere.put(signed));
}

/// Stores grains of the victim, and ends them there.
fn replace(twins: &Twins, elsewhere: &Store, random: &mut Random) {
    let target = random.pick(&twins.known);
    let Ok(Some(grain)) = twins.with.owner.get(&target) else {
        return;
    };
    if elsewhere.put(grain).is_err() {
        return;
    }
    let new = Draft::event("instead").created_at(Time::from_ms(2));
    let new = new.namespace("victim").derived_from(target);
    if random.flag() {
        drop(elsewhere.supersede(&target, new, Some("newer")));
    } else {
        drop(elsewhere.contradict(&target, Some("wrong")));
    }
}
