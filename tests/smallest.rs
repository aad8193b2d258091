//! What every build can do, and the smallest (`--no-default-features`) does: put, get, query,
//! supersede, delete, nearest vectors and a check, in a folder that is opened again.

use grainstore::store::{Authorization, Embedding};
use grainstore::{Draft, Filter, Options, Store};

const ASKED: Authorization<'static> = Authorization {
    reason: "asked by letter",
    authority: "the data protection officer",
};

#[test]
fn a_store_of_any_build_puts_gets_queries_supersedes_and_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(folder.path(), Options::default()).unwrap();
    let store = open();
    let tea = Draft::belief("user", "prefers", "tea").confidence(0.9);
    let tea = store.put(tea).unwrap();
    let coffee = Draft::belief("user", "prefers", "coffee").confidence(0.9);
    let coffee = coffee.derived_from(tea);
    let coffee = store.supersede(&tea, coffee, None).unwrap();
    let secret = store.put(Draft::event("a secret")).unwrap();
    let vector = Embedding::new(coffee, "tiny", &[0.9, 0.1]);
    store.put_embeddings(&[vector]).unwrap();
    store.admin().unwrap().delete(&secret, ASKED).unwrap();
    drop(store);

    let store = open();
    assert!(store.get(&secret).unwrap().is_none());
    assert_eq!(
        store.get(&tea).unwrap().unwrap().text("object"),
        Some("tea")
    );
    let found = store
        .query(&Filter::new().relation("prefers"), 10, None)
        .unwrap();
    assert_eq!((found.total, found.results[0].address), (1, coffee));
    let near = store.nearest("tiny", &[1.0, 0.0], &Filter::new(), 1);
    assert_eq!(near.unwrap().results[0].address, coffee);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}
