//! The table of OMS 15.2, as ruling I20 reads it.

use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Filter, Store, Time};

use crate::store::at;

fn ms(ms: i64) -> Time {
    Time::from_ms(ms)
}

fn lives_in(place: &str) -> Draft {
    Draft::belief("mira", "lives_in", place).confidence(0.9)
}

fn found(store: &Store, filter: &Filter) -> Vec<ContentAddress> {
    let found = store.query(filter, 100, None).unwrap();
    assert_eq!(found.total, found.results.len() as u64);
    found.results.iter().map(|found| found.address).collect()
}

#[test]
fn now_true_then_known_then_and_both_are_answered_as_the_table_says() {
    let (options, clock) = at(1_000);
    let store = Store::in_memory(options).unwrap();
    // Learnt at 1000: in Oslo from 100 on. Learnt at 2000: only until 500. At 3000: since then Bergen.
    let oslo = store.put(lives_in("Oslo").valid_from(ms(100))).unwrap();
    clock.set(2_000);
    let until = lives_in("Oslo").valid_from(ms(100)).valid_to(ms(500));
    let until = store
        .supersede(&oslo, until.derived_from(oslo), None)
        .unwrap();
    clock.set(3_000);
    let bergen = store.put(lives_in("Bergen").valid_from(ms(501))).unwrap();
    clock.set(4_000);
    let rumour = store.put(lives_in("Rome")).unwrap();
    clock.set(5_000);
    store.contradict(&rumour, None).unwrap();

    let now = Filter::new;
    let known = |at| Filter::new().known_at(ms(at));
    let table: Vec<(Filter, Vec<ContentAddress>)> = vec![
        // What does it know now, and what of it is still true (ruling I23)?
        (now().with_expired(), vec![until, bergen]),
        (now(), vec![bergen]),
        // What was true then?
        (now().valid_at(ms(99)), vec![]),
        (now().valid_at(ms(100)), vec![until]),
        (now().valid_at(ms(500)), vec![until]),
        (now().valid_at(ms(501)), vec![bergen]),
        // What did it know then?
        (known(999), vec![]),
        (known(1_000), vec![oslo]),
        (known(1_999), vec![oslo]),
        (known(2_000), vec![until]),
        (known(3_500), vec![until, bergen]),
        (known(4_000), vec![until, bergen, rumour]),
        (known(4_999), vec![until, bergen, rumour]),
        (known(5_000), vec![until, bergen]),
        (known(9_999), vec![until, bergen]),
        // What did it then know of what was true at another time?
        (known(1_500).valid_at(ms(800)), vec![oslo]),
        (known(2_500).valid_at(ms(800)), vec![]),
        (known(3_500).valid_at(ms(800)), vec![bergen]),
        (known(3_500).valid_at(ms(200)), vec![until]),
        // And of what it then no longer held for true.
        (known(1_999).only_superseded(), vec![]),
        (known(2_000).only_superseded(), vec![oslo]),
        (known(2_000).with_superseded(), vec![oslo, until]),
    ];
    for (filter, expected) in &table {
        assert_eq!(found(&store, filter), *expected, "{filter:?}");
    }
    // The same once it is on disk and merged.
    store.maintenance().unwrap().compact().unwrap();
    for (filter, expected) in &table {
        assert_eq!(found(&store, filter), *expected, "{filter:?}");
    }
}

#[test]
fn what_was_erased_is_not_known_at_any_time() {
    let (options, clock) = at(1_000);
    let store = Store::in_memory(options).unwrap();
    let old = store.put(lives_in("Oslo")).unwrap();
    clock.set(2_000);
    let new = store
        .supersede(&old, lives_in("Bergen").derived_from(old), None)
        .unwrap();
    let then = Filter::new().known_at(ms(1_500));
    assert_eq!(found(&store, &then), [old]);
    let deletion = Authorization {
        reason: "asked",
        authority: "mira",
    };
    store.admin().unwrap().delete(&old, deletion).unwrap();
    assert_eq!(found(&store, &then), []);
    assert_eq!(found(&store, &Filter::new().known_at(ms(2_000))), [new]);
    // Of the other, which goes next, the old one's end must not come back as a beginning.
    store.admin().unwrap().delete(&new, deletion).unwrap();
    for at in [0, 1_500, 2_500] {
        let any = Filter::new().known_at(ms(at)).with_superseded();
        assert_eq!(found(&store, &any), []);
    }
}

#[test]
fn a_grain_that_superseded_an_erased_one_still_ended_what_it_ended() {
    let (options, clock) = at(1_000);
    let store = Store::in_memory(options).unwrap();
    let first = store.put(lives_in("Oslo")).unwrap();
    clock.set(2_000);
    let second = store
        .supersede(&first, lives_in("Bergen").derived_from(first), None)
        .unwrap();
    clock.set(3_000);
    let deletion = Authorization {
        reason: "asked",
        authority: "mira",
    };
    store.admin().unwrap().delete(&second, deletion).unwrap();
    // The entry that says so was written again at 3000, and says 2000.
    assert_eq!(found(&store, &Filter::new().known_at(ms(1_999))), [first]);
    assert_eq!(found(&store, &Filter::new().known_at(ms(2_000))), []);
    assert_eq!(found(&store, &Filter::new()), []);
}

#[test]
fn a_blobs_own_claim_says_since_when_it_is_known() {
    let (options, clock) = at(5_000);
    let store = Store::in_memory(options).unwrap();
    let claimed = store
        .put(lives_in("Oslo").set("system_valid_from", 1_000))
        .unwrap();
    clock.set(6_000);
    let plain = store.put(lives_in("Rome")).unwrap();
    assert_eq!(found(&store, &Filter::new().known_at(ms(999))), []);
    assert_eq!(found(&store, &Filter::new().known_at(ms(1_000))), [claimed]);
    assert_eq!(
        found(&store, &Filter::new().known_at(ms(6_000))),
        [claimed, plain]
    );
}

#[test]
fn an_imported_end_before_the_beginning_means_never_known() {
    let store = Store::in_memory(at(5_000).0).unwrap();
    let grain = lives_in("Oslo")
        .created_at(ms(1))
        .finish(Default::default())
        .unwrap();
    let address = grain.address();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let status = format!(r#"{{"status": {{"of": "{address}", "system_valid_to": 4000}}}}"#);
    std::fs::write(&path, format!("{}\n{status}\n", grain.to_json())).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    assert_eq!(store.import(reading).unwrap().inserted, 1);
    for at in [3_999, 4_000, 4_999, 5_000, 9_999] {
        assert_eq!(found(&store, &Filter::new().known_at(ms(at))), [], "{at}");
    }
    let then = Filter::new().known_at(ms(5_000));
    assert_eq!(found(&store, &then.only_superseded()), [address]);
    assert_eq!(found(&store, &Filter::new()), []);
}
