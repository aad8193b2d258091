//! Erasures beside shipping: each manifest is whole in itself, and none keeps what was erased.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use grainstore::store::Severity;
use grainstore::{Draft, Options, Store};

use super::store::{Copied, delete, put};

#[test]
fn a_manifest_amid_erasures_is_a_sound_store() {
    let copied = Copied::new();
    let store = copied.store();
    let is_done = AtomicBool::new(false);
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let passes = thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..150 {
                let address = put(&store, n);
                put(&store, 1_000 + n);
                delete(&store, &address);
            }
            is_done.store(true, Ordering::Release);
        });
        runtime.block_on(async {
            let mut shipper = copied.shipper().await.unwrap();
            let mut passes = 0;
            while !is_done.load(Ordering::Acquire) {
                shipper.pass().await.unwrap();
                let name = format!("copy{passes}");
                copied.fetch(&name).await.unwrap();
                let copy = Store::open(copied.path(&name), Options::default().read_only()).unwrap();
                let report = copy.maintenance().unwrap().check().unwrap();
                // An erasure may have begun there, and not ended.
                let findings = report.findings.iter();
                let damage = findings.filter(|finding| finding.severity == Severity::Damage);
                assert_eq!(damage.count(), 0, "pass {passes}: {report:?}");
                passes += 1;
            }
            assert_eq!(shipper.pass().await.unwrap().waits, 0);
            copied.fetch("last").await.unwrap();
            passes
        })
    });
    assert!(passes > 3, "{passes}");
    copied.assert_same("last");
}

#[tokio::test]
async fn an_erasure_reaches_an_object_that_a_list_of_lists_names() {
    let copied = Copied::new();
    let store = copied.store();
    let mut shipper = copied.shipper().await.unwrap();
    let addresses: Vec<_> = (0..70).map(|n| put(&store, n)).collect();
    shipper.pass().await.unwrap();
    for n in 0..1_100 {
        store.put(Draft::event(format!("later {n}"))).unwrap();
        shipper.pass().await.unwrap();
    }
    delete(&store, &addresses[3]);
    let shipped = shipper.pass().await.unwrap();
    assert_eq!(shipped.waits, 0);
    // The object, two lists and the manifest; not all that was shipped.
    assert!(shipped.written_bytes < 60_000, "{shipped:?}");
    shipper.check().await.unwrap();
    copied.fetch("copy").await.unwrap();
    copied.assert_same("copy");
}

#[tokio::test]
async fn a_frame_that_is_longer_than_an_object_is_one_object() {
    let copied = Copied::new();
    let store = copied.store();
    let drafts = (0..12).map(|n| Draft::event(format!("{n}{}", "x".repeat(900_000))));
    store.put_batch(drafts).unwrap();
    put(&store, 1);
    copied.ship().await.unwrap();
    copied.fetch("copy").await.unwrap();
    copied.assert_same("copy");
}

#[tokio::test]
async fn a_blank_body_is_shipped_with_the_erasure_that_lists_it_alone() {
    let copied = Copied::new();
    let store = copied.store();
    let address = put(&store, 1);
    let end = copied.path("store/END");
    let before = std::fs::read(&end).unwrap();
    delete(&store, &address);
    let after = std::fs::read(&end).unwrap();
    // As a reader sees it between the erasure and its publication, if there were such a moment.
    std::fs::write(&end, before).unwrap();
    let refused = copied.ship().await.unwrap_err();
    assert_eq!(refused.code(), "ERR_STORAGE_DAMAGED");
    std::fs::write(&end, after).unwrap();
    assert_eq!(copied.ship().await.unwrap().waits, 0);
    copied.fetch("copy").await.unwrap();
    copied.assert_same("copy");
}
