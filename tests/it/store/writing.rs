//! Many who write at once, and the time they write down.

use std::sync::atomic::{AtomicUsize, Ordering};

use grainstore::codec::Profile;

use super::*;

use crate::sample::addresses_of;

#[test]
fn ledger_time_never_goes_back_when_the_clock_does() {
    let (options, clock) = at(5_000);
    let store = Store::in_memory(options).unwrap();
    let old = store.put(prefers("a")).unwrap();
    clock.set(1_000);
    store
        .supersede(&old, prefers("b").derived_from(old), None)
        .unwrap();
    assert_eq!(
        store.status(&old).unwrap().system_valid_to,
        Some(Time::from_ms(5_000))
    );
    let history = store.history(&old).unwrap();
    assert!(
        history
            .iter()
            .all(|version| version.stored_at == Time::from_ms(5_000))
    );
}

#[test]
fn threads_share_a_store_and_may_read_while_they_write() {
    let store = memory();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..20 {
                    store.put(prefers(&n.to_string())).unwrap();
                    store.search("0", &Filter::new(), 1).unwrap();
                }
            });
        }
    });
    let stats = store.maintenance().unwrap().stats().unwrap();
    assert_eq!((stats.grains, stats.entries), (20, 20));
}

#[test]
fn sixty_four_threads_putting_the_same_thousand_blobs_leave_a_thousand_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path, at(1).0).unwrap();
    let grains: Vec<_> = (0..1_000)
        .map(|n| prefers(&n.to_string()).created_at(Time::from_ms(1)))
        .map(|draft| draft.finish(Profile::Extended).unwrap())
        .collect();
    let new = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..64 {
            let (store, grains, new) = (&store, &grains, &new);
            scope.spawn(move || {
                // Half of them in other places of the order, some as batches.
                for nth in 0..grains.len() {
                    let grain = &grains[(nth + thread % 2 * 500) % grains.len()];
                    if thread % 8 == 7 && nth % 10 == 0 {
                        let stored = store.put_batch(grains[nth..nth + 10].to_vec()).unwrap();
                        let stored = stored.iter().filter(|put| put.is_new).count();
                        new.fetch_add(stored, Ordering::Relaxed);
                    } else {
                        let stored = store.insert(grain.clone()).unwrap();
                        assert_eq!(stored.address, grain.address());
                        new.fetch_add(stored.is_new.into(), Ordering::Relaxed);
                        assert!(
                            store.exists(&grain.address()).unwrap(),
                            "acknowledged, so visible"
                        );
                    }
                }
            });
        }
    });
    assert_eq!(new.into_inner(), 1_000, "each was new to one of them");
    let check = |store: &Store| {
        let stats = store.maintenance().unwrap().stats().unwrap();
        assert_eq!((stats.grains, stats.entries), (1_000, 1_000));
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    };
    check(&store);
    drop(store);
    check(&Store::open(&path, at(1).0).unwrap());
}

#[test]
fn a_large_batch_is_the_same_whether_one_thread_finishes_it_or_many() {
    let drafts = |count: usize| (0..count).map(|n| prefers(&n.to_string()));
    let (one, many) = (memory(), memory());
    let together = addresses_of(&many.put_batch(drafts(500)).unwrap());
    let singly: Vec<_> = drafts(500).map(|draft| one.put(draft).unwrap()).collect();
    assert_eq!(together, singly);
    // The first that is bad is named, whichever is found first.
    let bad = |n: usize| Draft::belief("", "", "").confidence(7.0 + n as f64);
    let mixed = drafts(500).enumerate();
    let mixed = mixed.map(|(n, draft)| if n >= 321 { bad(n) } else { draft });
    let error = many.put_batch(mixed).unwrap_err();
    assert!(
        error.to_string().starts_with("grain 321 of the batch"),
        "{error}"
    );
    assert_eq!(many.maintenance().unwrap().stats().unwrap().entries, 500);
}

#[test]
fn a_clock_that_leaps_is_believed() {
    let (options, clock) = at(1_000);
    let store = Store::in_memory(options).unwrap();
    store.put(prefers("a")).unwrap();
    clock.set(10_000_000_000_000);
    let address = store.put(prefers("b")).unwrap();
    let history = store.history(&address).unwrap();
    assert_eq!(history[0].stored_at, Time::from_ms(10_000_000_000_000));
}
