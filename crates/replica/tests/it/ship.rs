//! What is shipped, and what a restore and a follower make of it.

use grainstore::store::{Create, Until};
use grainstore::{Options, Store};

use super::store::{Copied, put};

#[tokio::test]
async fn a_copy_is_the_ledger_byte_for_byte() {
    let copied = Copied::new();
    let store = copied.store();
    for n in 0..400 {
        put(&store, n);
    }
    let shipped = copied.ship().await.unwrap();
    assert_eq!((shipped.added, shipped.waits), (400, 0));
    let fetched = copied.fetch("copy").await.unwrap();
    assert_eq!(fetched.entries, 400);
    copied.assert_same("copy");
    assert!(super::store::segments(&copied.path("copy")).len() > 1);
    let report = Store::open(copied.path("copy"), Options::default().read_only()).unwrap();
    let report = report.maintenance().unwrap().check().unwrap();
    assert_eq!(report.findings, []);
}

#[tokio::test]
async fn a_copy_has_no_other_file_of_the_store() {
    let (copied, objects) = super::refusals::reachable();
    put(&copied.store(), 1);
    for (folder, file) in [("vault", "root"), ("server", "tokens.json")] {
        std::fs::create_dir_all(copied.path("store").join(folder)).unwrap();
        std::fs::write(
            copied.path("store").join(folder).join(file),
            "secret of no one",
        )
        .unwrap();
    }
    copied.ship().await.unwrap();
    let all = objects.all().await;
    let names: Vec<_> = all
        .keys()
        .filter(|name| name.starts_with("objects/"))
        .collect();
    assert_eq!(names.len(), 2, "frames and MANIFEST: {names:?}");
    let has_secret = |bytes: &Vec<u8>| bytes.windows(6).any(|part| part == b"secret");
    assert!(!all.values().any(has_secret));
}

#[tokio::test]
async fn a_restore_goes_on_as_a_store() {
    let copied = Copied::new();
    let store = copied.store();
    let addresses: Vec<_> = (0..20).map(|n| put(&store, n)).collect();
    copied.ship().await.unwrap();
    copied.fetch("fetched").await.unwrap();
    let (from, to) = (copied.path("fetched"), copied.path("new"));
    let until = Until::Entries(10);
    let options = Options::default();
    let (restored, report) = grainstore::recovery::restore(from, to, until, options).unwrap();
    assert_eq!((report.entries, report.left), (10, 10));
    assert!(restored.exists(&addresses[9]).unwrap() && !restored.exists(&addresses[10]).unwrap());
    put(&restored, 100);
}

#[tokio::test]
async fn a_pass_adds_what_is_new_and_nothing_twice() {
    let copied = Copied::new();
    let store = copied.store();
    let mut shipper = copied.shipper().await.unwrap();
    let mut written = 0;
    for round in 0..100 {
        put(&store, round);
        let shipped = shipper.pass().await.unwrap();
        assert_eq!((shipped.added, shipped.entries), (1, round as u64 + 1));
        written += shipped.ledger_bytes;
        if round % 10 == 0 {
            copied.fetch("copy").await.unwrap();
            copied.assert_same("copy");
        }
    }
    let idle = shipper.pass().await.unwrap();
    assert_eq!((idle.added, idle.written_bytes), (0, 0));
    // The file may be longer: the store has room ahead while it keeps the right to write.
    let stats = store.maintenance().unwrap().stats().unwrap();
    assert_eq!(written, stats.ledger_bytes - 32 * stats.segments);
}

#[tokio::test]
async fn a_directory_that_follows_is_never_written() {
    let copied = Copied::new();
    put(&copied.store(), 1);
    copied.ship().await.unwrap();
    copied.fetch("copy").await.unwrap();
    let options = Options {
        create: Create::Never,
        ..Options::default()
    };
    let error = Store::open(copied.path("copy"), options).unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_READ_ONLY");
}

#[tokio::test]
async fn a_store_is_no_directory_to_follow_into() {
    let copied = Copied::new();
    put(&copied.store(), 1);
    copied.ship().await.unwrap();
    let error = copied.fetch("store").await.unwrap_err();
    assert_eq!(error.code(), "ERR_STORE_EXISTS");
    let error = Copied::new().fetch("copy").await.unwrap_err();
    assert_eq!(error.code(), "ERR_NOT_A_STORE");
}
