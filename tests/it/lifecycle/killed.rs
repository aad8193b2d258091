//! Stores whose process was killed with much that the views lack.

use grainstore::store::Authorization;

use super::*;

/// Thousands are read and decoded by one thread while another applies them.
#[test]
fn a_store_killed_with_thousands_of_entries_waiting_says_the_same() {
    let home = Home::new();
    let threads = || {
        let (mut options, _) = at(1_000);
        options.ballast_bytes = 0;
        options
    };
    assert!(threads().index.background);
    let store = Store::open(home.path("s"), threads()).unwrap();
    let mut addresses = Vec::new();
    for batch in 0..6 {
        let drafts = (batch * 1_000..(batch + 1) * 1_000).map(draft);
        addresses.extend(addresses_of(&store.put_batch(drafts).unwrap()));
    }
    for n in (0..5_990).step_by(997) {
        let newer = draft(10_000 + n).derived_from(addresses[n]);
        store.supersede(&addresses[n], newer, None).unwrap();
        let erasure = Authorization {
            reason: "no longer wanted",
            authority: "the office",
        };
        let admin = store.admin().unwrap();
        admin.delete(&addresses[n + 1], erasure).unwrap();
    }
    let last = store.put(draft(20_000)).unwrap();
    // As the disk is at a kill: nothing was closed.
    copy(&home.path("s"), &home.path("killed"));
    let killed = Store::open(home.path("killed"), threads()).unwrap();
    assert_eq!(told(&killed), told(&store));
    let report = killed.maintenance().unwrap().recovery_report().clone();
    assert_eq!((report.index_rebuilt, report.text_rebuilt), (None, None));
    for word in ["thing1", "thing2991", "thing10997", "thing20000"] {
        let found = |store: &Store| store.search(word, &Filter::new(), 9).unwrap().results;
        let [here, there] = [&store, &killed].map(|store| {
            let found = found(store).into_iter();
            found.map(|it| it.address).collect::<Vec<_>>()
        });
        assert_eq!(here, there, "{word}");
    }
    let found = killed.search("thing20000", &Filter::new(), 9).unwrap();
    assert_eq!(found.results[0].address, last);
    assert_eq!(killed.maintenance().unwrap().check().unwrap().findings, []);
}
