//! A record of reads outlives the process, the index and the store, in its backups.

use super::*;

#[test]
fn what_is_on_record_is_there_after_reopening_and_the_time_is_the_clocks() {
    let disk = MemoryDisk::default();
    let (options, clock) = at(1_000);
    let open = || Store::open_on(Arc::new(disk.clone()), options.clone()).unwrap();
    let store = open();
    watch(&store);
    let [tea, _] = talk(&store, true);
    clock.set(5_000);
    store.as_actor(&bot()).get(&tea).unwrap();
    let before = reads(&store);
    assert_eq!((before.len(), before[0].at), (1, Time::from_ms(5_000)));
    drop(store);
    let store = open();
    assert_eq!(reads(&store), before);
    store.get(&tea).unwrap();
    assert_eq!(
        store
            .admin()
            .unwrap()
            .reads(Some(&tea), None, 9)
            .unwrap()
            .len(),
        2,
        "still asked for"
    );
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn what_is_on_record_is_there_in_an_index_built_anew() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Options::default()).unwrap();
    watch(&store);
    let [tea, answer] = talk(&store, true);
    store.query(&Filter::new(), 9, None).unwrap();
    store.get(&tea).unwrap();
    let before =
        [tea, answer].map(|one| store.admin().unwrap().reads(Some(&one), None, 9).unwrap());
    assert_eq!(before.each_ref().map(Vec::len), [2, 1]);
    drop(store);
    let store = grainstore::recovery::repair(home.path(), Options::default()).unwrap();
    assert_eq!(
        [tea, answer].map(|one| store.admin().unwrap().reads(Some(&one), None, 9).unwrap()),
        before
    );
}

#[test]
fn a_backup_is_a_read_of_all_that_was_here_and_says_so_in_itself() {
    let home = tempfile::tempdir().unwrap();
    let store = watching();
    let [tea, _] = talk(&store, true);
    store
        .maintenance()
        .unwrap()
        .backup(home.path().join("b"))
        .unwrap();
    let later = store.put(note("milk").tag("watched")).unwrap();
    let told = reads(&store);
    assert_eq!((told.len(), &*told[0].operation), (1, "backup"));
    assert_eq!(
        (&told[0].addresses[..], &*told[0].clauses),
        (&[][..], &["ours/reads".into()][..])
    );
    assert_eq!(
        store.admin().unwrap().reads(Some(&tea), None, 9).unwrap(),
        told
    );
    assert_eq!(
        store.admin().unwrap().reads(Some(&later), None, 9).unwrap(),
        []
    );
    let backup = Store::open(home.path().join("b"), Options::default()).unwrap();
    assert_eq!(reads(&backup), told);

    let quiet = memory();
    talk(&quiet, true);
    quiet
        .maintenance()
        .unwrap()
        .backup(home.path().join("q"))
        .unwrap();
    assert_eq!(reads(&quiet), []);
}
