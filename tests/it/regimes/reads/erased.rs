//! What a record of reads says after a deletion: nothing of what is gone, all of what is not.

use grainstore::Grain;
use grainstore::index::Family;
use grainstore::ledger::Kind;
use grainstore::store::Until;
use proptest::prelude::*;

use super::*;

const ASKED: Authorization<'static> = Authorization {
    reason: "asked by letter",
    authority: "the data protection officer",
};

#[test]
fn what_is_deleted_is_in_no_record_and_the_others_stay_on_theirs() {
    let disk = MemoryDisk::default();
    let (options, clock) = at(1_000);
    let open = || Store::open_on(Arc::new(disk.clone()), options.clone()).unwrap();
    let store = open();
    watch(&store);
    let [tea, answer] = talk(&store, true);
    clock.set(2_000);
    let handle = store.as_actor(&bot()).in_namespace("acme");
    handle.query(&Filter::new(), 9, None).unwrap();
    handle.get(&tea).unwrap();
    clock.set(3_000);
    store.admin().unwrap().delete(&tea, ASKED).unwrap();
    let left = |store: &Store| {
        let snapshot = store.maintenance().unwrap().index_snapshot();
        assert!(
            snapshot
                .pointing_at(Family::Read, &tea)
                .rows()
                .unwrap()
                .is_empty()
        );
        assert_eq!(
            store.admin().unwrap().reads(Some(&tea), None, 9).unwrap(),
            []
        );
        let told = reads(store);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].addresses, [answer]);
        assert_eq!(
            (told[0].at, told[0].by.as_deref()),
            (Time::from_ms(2_000), Some(bot().as_str()))
        );
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    };
    left(&store);
    drop((store, handle));
    let store = open();
    left(&store);
    store.admin().unwrap().delete(&answer, ASKED).unwrap();
    assert_eq!(reads(&store), []);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_store_restored_from_before_a_deletion_knows_who_read_the_others() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    let store = Store::open(path("s"), Options::default()).unwrap();
    watch(&store);
    let [tea, answer] = talk(&store, true);
    let handle = store.as_actor(&bot()).in_namespace("acme");
    handle.query(&Filter::new(), 9, None).unwrap();
    let moment = Until::Entries(store.maintenance().unwrap().stats().unwrap().entries);
    handle.get_batch(&[tea, answer]).unwrap();
    store.admin().unwrap().delete(&tea, ASKED).unwrap();
    let before = reads(&store);
    assert_eq!(before.len(), 2);
    drop((store, handle));
    let restored = grainstore::recovery::restore_accepting_lost_erasures(
        path("s"),
        path("r"),
        moment,
        Options::default(),
    );
    let restored = restored.unwrap().0;
    let after = reads(&restored);
    // What was read behind the moment is not there, as nothing of then is.
    assert_eq!(after.len(), 1);
    assert_eq!(
        (&after[0].addresses, after[0].at),
        (&before[0].addresses, before[0].at)
    );
    assert_eq!(after[0].by.as_deref(), Some(bot().as_str()));
    assert_eq!(
        restored.maintenance().unwrap().check().unwrap().findings,
        []
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Who read what is the same whatever was deleted before or after, but for what was deleted.
    #[test]
    fn reads_and_deletions_in_any_order_leave_what_was_read_and_is_here(
        steps in prop::collection::vec((any::<bool>(), prop::collection::vec(0..6_usize, 1..5)), 1..12),
    ) {
        let store = watching();
        let put = |n: usize| store.put(note(&n.to_string()).tag("watched")).unwrap();
        let all: Vec<_> = (0..6).map(put).collect();
        let mut expected: Vec<Vec<ContentAddress>> = Vec::new();
        for (is_read, which) in steps {
            let mut which: Vec<_> = which.iter().map(|nth| all[*nth]).collect();
            if is_read {
                let found = store.get_batch(&which).unwrap();
                let mut read: Vec<_> = found.iter().flatten().map(Grain::address).collect();
                read.sort_unstable();
                read.dedup();
                expected.push(read);
            } else {
                which.truncate(1);
                drop(store.admin().unwrap().delete(&which[0], ASKED));
                for read in &mut expected {
                    read.retain(|address| *address != which[0]);
                }
            }
            expected.retain(|read| !read.is_empty());
        }
        let mut told: Vec<_> = reads(&store).into_iter().map(|read| read.addresses).collect();
        told.sort();
        expected.sort();
        prop_assert_eq!(told, expected);
        let entries = store.maintenance().unwrap().index_snapshot().of_kind(Kind::Read).rows().unwrap().len();
        prop_assert_eq!(entries, reads(&store).len() as u64);
        prop_assert_eq!(store.maintenance().unwrap().check().unwrap().findings, vec![]);
    }
}
