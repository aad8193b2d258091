//! A store in a folder, its copy, and their comparison.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Options, Store};
use grainstore_replica::{
    Bucket, Error, FollowOptions, Followed, Follower, ShipOptions, Shipped, Shipper,
};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use tempfile::TempDir;

pub(crate) struct Copied {
    pub(crate) home: TempDir,
    pub(crate) bucket: Bucket,
}

impl Copied {
    pub(crate) fn new() -> Self {
        Self::in_bucket(Arc::new(InMemory::new()))
    }

    pub(crate) fn in_bucket(objects: Arc<dyn ObjectStore>) -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            bucket: Bucket::new(objects, "memory:///"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Opens the store; its segments are small, so that there are several.
    pub(crate) fn store(&self) -> Store {
        let options = Options {
            segment_bytes: 64 << 10,
            ..Options::default()
        };
        Store::open(self.path("store"), options).unwrap()
    }

    pub(crate) async fn shipper(&self) -> Result<Shipper, Error> {
        self.shipper_with(ShipOptions::default()).await
    }

    pub(crate) async fn shipper_with(&self, options: ShipOptions) -> Result<Shipper, Error> {
        Shipper::open(&self.path("store"), self.bucket.clone(), options).await
    }

    pub(crate) async fn ship(&self) -> Result<Shipped, Error> {
        self.shipper().await?.pass().await
    }

    pub(crate) async fn fetch(&self, name: &str) -> Result<Followed, Error> {
        let path = self.path(name);
        let mut follower =
            Follower::open(self.bucket.clone(), &path, FollowOptions::default()).await?;
        follower.pass().await
    }

    /// Compares a copy with the beginning of the store's ledger, byte for byte.
    pub(crate) fn assert_same(&self, name: &str) {
        let (here, there) = (segments(&self.path("store")), segments(&self.path(name)));
        assert!(!there.is_empty());
        let last = there.len();
        for (nth, (segment, bytes)) in there.iter().enumerate() {
            let original = &here[segment];
            // Another process may have appended since.
            let end = match nth + 1 == last {
                true => bytes.len(),
                false => original.len(),
            };
            assert!(original[..end] == bytes[..], "{segment} differs");
        }
    }
}

pub(crate) fn put(store: &Store, n: usize) -> ContentAddress {
    let text = format!(
        "the {n}th note says {}",
        "something of no weight ".repeat(n % 40)
    );
    store.put(Draft::event(&text)).unwrap()
}

pub(crate) fn delete(store: &Store, address: &ContentAddress) {
    let authorization = Authorization {
        reason: "asked for",
        authority: "the office",
    };
    store
        .admin()
        .unwrap()
        .delete(address, authorization)
        .unwrap();
}

pub(crate) fn segments(store: &Path) -> BTreeMap<String, Vec<u8>> {
    let items = fs::read_dir(store.join("ledger")).unwrap();
    let read = items.map(|item| {
        let item = item.unwrap();
        let name = item.file_name().into_string().unwrap();
        (name, fs::read(item.path()).unwrap())
    });
    read.filter(|(name, _)| name.ends_with(".seg")).collect()
}
