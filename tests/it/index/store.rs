//! The index as the store uses it.

use super::*;
use crate::sample::addresses_of;
use crate::store::at;
use grainstore::index::Addresses;
use grainstore::{Filter, Store, store};

fn draft(n: i64) -> Draft {
    Draft::belief(format!("s{}", n % 9), "likes", format!("thing{n}"))
        .confidence(0.5)
        .namespace("work")
        .created_at(Time::from_ms(n))
}

fn options(index: IndexOptions) -> store::Options {
    store::Options {
        index,
        ..at(1_000).0
    }
}

fn all_ways() -> [IndexOptions; 4] {
    [
        small(),
        IndexOptions {
            addresses: Addresses::Filters,
            ..small()
        },
        IndexOptions {
            prefix_bytes: 1,
            ..small()
        },
        IndexOptions {
            background: true,
            ..small()
        },
    ]
}

#[test]
fn a_store_answers_the_same_however_its_index_works() {
    for index in all_ways() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let mut addresses = Vec::new();
        {
            let store = Store::open(&path, options(index.clone())).unwrap();
            for batch in 0..9 {
                let drafts = (batch * 20..batch * 20 + 20).map(draft);
                addresses.extend(addresses_of(&store.put_batch(drafts).unwrap()));
                // Again, and nothing happens.
                store.put(draft(batch * 20)).unwrap();
            }
            for n in 0..30 {
                let old = addresses[n * 5];
                let new = draft(1_000 + i64::try_from(n).unwrap()).derived_from(old);
                addresses.push(store.supersede(&old, new, None).unwrap());
            }
            assert_eq!(
                store.maintenance().unwrap().check().unwrap().findings,
                vec![]
            );
        }
        for _ in 0..2 {
            let store = Store::open(&path, options(index.clone())).unwrap();
            assert_eq!(
                store.maintenance().unwrap().recovery_report().index_rebuilt,
                None
            );
            let stats = store.maintenance().unwrap().stats().unwrap();
            assert_eq!((stats.grains, stats.current), (210, 180));
            assert!(stats.index_runs > 0 && stats.index_bytes > 0);
            for address in &addresses {
                assert_eq!(store.get(address).unwrap().unwrap().address(), *address);
                assert_eq!(
                    store.put(store.get(address).unwrap().unwrap()).unwrap(),
                    *address
                );
            }
            assert!(!store.exists(&ContentAddress::of(b"not here")).unwrap());
            assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 210);
            let history = store.history(&addresses[0]).unwrap();
            assert_eq!(history.len(), 2);
            let found = store
                .query(&Filter::new().subject("s3"), 999, None)
                .unwrap();
            let listed = store.list(None, 999).unwrap().addresses;
            assert_eq!(listed, addresses);
            assert!(found.total > 15);
            assert_eq!(
                store.maintenance().unwrap().check().unwrap().findings,
                vec![]
            );
            store.maintenance().unwrap().compact().unwrap();
            assert_eq!(store.maintenance().unwrap().stats().unwrap().index_runs, 1);
        }
    }
}

#[test]
fn a_damaged_index_is_built_anew_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path, options(small())).unwrap();
    let addresses = addresses_of(&store.put_batch((0..120).map(draft)).unwrap());
    drop(store);
    let current = path.join("index/CURRENT");
    let mut bytes = std::fs::read(&current).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&current, bytes).unwrap();
    let store = Store::open(&path, options(small())).unwrap();
    assert!(
        store
            .maintenance()
            .unwrap()
            .recovery_report()
            .index_rebuilt
            .is_some()
    );
    assert_eq!(store.list(None, 999).unwrap().addresses, addresses);
    assert_eq!(
        store.maintenance().unwrap().check().unwrap().findings,
        vec![]
    );
    drop(store);
    let store = Store::open(&path, options(small())).unwrap();
    assert_eq!(
        store.maintenance().unwrap().recovery_report().index_rebuilt,
        None
    );
}

#[test]
fn a_damaged_block_is_an_error_for_who_asks_and_a_finding_of_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path, options(small())).unwrap();
    store.put_batch((0..60).map(draft)).unwrap();
    drop(store);
    let run = path.join("index/0000000000000001.run");
    let mut bytes = std::fs::read(&run).unwrap();
    // The first block: types.
    bytes[80] ^= 1;
    std::fs::write(&run, bytes).unwrap();
    let store = Store::open(&path, options(small())).unwrap();
    assert_eq!(
        store.maintenance().unwrap().recovery_report().index_rebuilt,
        None
    );
    let asked = store.query(&Filter::new().of_type(Type::Belief), 9, None);
    assert_eq!(asked.unwrap_err().code(), "ERR_INDEX_DAMAGED");
    assert_eq!(
        store
            .query(&Filter::new().namespace("work"), 9, None)
            .unwrap()
            .total,
        60
    );
    let findings = store.maintenance().unwrap().check().unwrap().findings;
    assert!(
        findings.iter().any(|finding| finding.id == "index-differs"),
        "{findings:?}"
    );
}

#[test]
fn a_snapshot_of_a_store_outlives_it_and_what_is_written_after() {
    let store = Store::in_memory(options(small())).unwrap();
    store.put_batch((0..100).map(draft)).unwrap();
    let snapshot = store.maintenance().unwrap().index_snapshot();
    store.put_batch((100..200).map(draft)).unwrap();
    store.maintenance().unwrap().compact().unwrap();
    drop(store);
    assert_eq!(snapshot.grains().len(), 100);
    let work = snapshot.with_text(Family::Namespace, "work");
    assert_eq!(work.rows().unwrap().len(), 100);
}
