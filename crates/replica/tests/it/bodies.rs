//! Long frames of a shared ledger in objects: the rules of a sequence hold, an erasure takes the key, and what
//! is not there is named.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use grainstore::crypto::OsRandom;
use grainstore::store::Create;
use grainstore::{ContentAddress, Draft, Filter, Options, Store};
use grainstore_replica::{BodySequence, Bucket};
use grainstore_shared::conformance::{Handles, violations};
use grainstore_shared::{DirectorySequence, MemorySequence, Sequence};
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tempfile::TempDir;

use super::faulty::Faulty;
use super::store::delete;

/// Nodes on rows in memory, with objects beside them.
struct Shared {
    rows: MemorySequence,
    objects: Arc<dyn ObjectStore>,
    home: TempDir,
}

impl Shared {
    fn in_objects(objects: Arc<dyn ObjectStore>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let rows = MemorySequence::default();
        Self {
            rows,
            objects,
            home,
        }
    }

    fn sequence(&self) -> BodySequence {
        over(Arc::new(self.rows.clone()), &self.objects).for_new("memory:///")
    }

    fn options(&self) -> Options {
        Options {
            shared: Some(Arc::new(self.sequence())),
            lock_wait: Duration::from_secs(60),
            ballast_bytes: 0,
            ..Options::default()
        }
    }

    fn open(&self, node: &str) -> Store {
        Store::open(self.home.path().join(node), self.options()).unwrap()
    }

    async fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let listed: Vec<_> = self.objects.list(None).collect().await;
        let mut all = BTreeMap::new();
        for meta in listed {
            let path = meta.unwrap().location;
            let read = self.objects.get(&path).await.unwrap();
            all.insert(path.to_string(), read.bytes().await.unwrap().to_vec());
        }
        all.retain(|name, _| name.contains("/bodies/"));
        all
    }

    /// Returns the rows that have their frame in an object.
    fn stubs(&self) -> Vec<Vec<u8>> {
        let rows = self.rows.read(0, usize::MAX >> 1).unwrap();
        let stubs = rows.into_iter().map(|row| row.bytes);
        stubs.filter(|bytes| bytes.starts_with(b"GOBJ")).collect()
    }
}

fn over(rows: Arc<dyn Sequence>, objects: &Arc<dyn ObjectStore>) -> BodySequence {
    let objects = Arc::clone(objects);
    let open = move |url: &str| Ok(Bucket::new(Arc::clone(&objects), url));
    BodySequence::new(rows, Box::new(open), Arc::new(OsRandom))
}

fn long(n: usize) -> Draft {
    Draft::event(format!("the {n}th letter: {}", "and so on ".repeat(400)))
}

/// Stores long grains in one frame, and returns their addresses.
fn put_all(store: &Store, grains: usize) -> Vec<ContentAddress> {
    let puts = store.put_batch((0..grains).map(long)).unwrap();
    puts.into_iter().map(|put| put.address).collect()
}

fn total(store: &Store) -> u64 {
    store.query(&Filter::new(), 1, None).unwrap().total
}

#[test]
fn a_sequence_with_its_frames_in_objects_keeps_the_rules() {
    let found = violations(&mut || {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let (one, other) = (MemorySequence::default(), MemorySequence::default());
        let node = |rows: &MemorySequence| -> Arc<dyn Sequence> {
            let sequence = over(Arc::new(rows.clone()), &objects);
            Arc::new(sequence.for_new("memory:///").inlining(0))
        };
        Handles {
            nodes: [node(&one), node(&one)],
            neighbour: node(&other),
        }
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn rows_and_objects_in_directories_keep_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    let found = violations(&mut || {
        count += 1;
        let open = |name: &str| -> Arc<dyn Sequence> {
            let at = |kind: &str| folder.path().join(format!("{count}-{name}-{kind}"));
            let rows = Arc::new(DirectorySequence::open(&at("rows")).unwrap());
            let url = format!("file://{}", at("objects").display());
            let open = Box::new(|url: &str| Bucket::open(url, []));
            let sequence = BodySequence::new(rows, open, Arc::new(OsRandom));
            Arc::new(sequence.for_new(url).inlining(3))
        };
        Handles {
            nodes: [open("a"), open("a")],
            neighbour: open("b"),
        }
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[tokio::test]
async fn long_frames_lie_in_objects_and_short_ones_in_their_rows() {
    let shared = Shared::in_objects(Arc::new(InMemory::new()));
    let store = shared.open("a");
    let address = store.put(long(1)).unwrap();
    store.put(Draft::event("short")).unwrap();
    store.put_batch((2..40).map(long)).unwrap();
    assert_eq!(shared.stubs().len(), 2);
    let objects = shared.objects().await;
    assert_eq!(objects.len(), 2);
    assert!(objects.values().all(|bytes| !holds(bytes, b"and so on")));

    let other = shared.open("b");
    assert_eq!(total(&other), 40);
    assert!(other.get(&address).unwrap().is_some());
    let words = other.search("39th", &Filter::new(), 5).unwrap();
    assert_eq!(words.total, 1);
}

#[tokio::test]
async fn an_erasure_takes_the_key_from_the_row_and_removes_the_object() {
    let shared = Shared::in_objects(Arc::new(InMemory::new()));
    let store = shared.open("a");
    let addresses = put_all(&store, 3);
    let (stubs, objects) = (shared.stubs(), shared.objects().await);
    delete(&store, &addresses[1]);
    let after = shared.objects().await;
    assert!(objects.keys().all(|name| !after.contains_key(name)));
    let now = shared.stubs();
    assert!(stubs.iter().all(|stub| !now.contains(stub)));
    // A bucket with versions, or a failed removal, keeps bytes that no row opens.
    let keys: Vec<&[u8]> = stubs.iter().map(|stub| &stub[stub.len() - 32..]).collect();
    let rows = shared.rows.read(0, usize::MAX >> 1).unwrap();
    let is_key = |key: &&[u8]| rows.iter().any(|row| holds(&row.bytes, key));
    assert!(!keys.iter().any(is_key));

    let other = shared.open("b");
    assert_eq!(total(&other), 2);
    assert!(other.get(&addresses[1]).unwrap().is_none());
    assert!(other.get(&addresses[2]).unwrap().is_some());
}

#[tokio::test]
async fn erasures_of_one_frame_on_two_nodes_are_both_done() {
    for _ in 0..4 {
        let shared = Shared::in_objects(Arc::new(InMemory::new()));
        let nodes = [shared.open("a"), shared.open("b")];
        let addresses = put_all(&nodes[0], 12);
        thread::scope(|scope| {
            for (node, own) in nodes.iter().zip(addresses.chunks(6)) {
                scope.spawn(move || own[..3].iter().for_each(|address| delete(node, address)));
            }
        });
        let cold = shared.open("c");
        assert_eq!(total(&cold), 6);
        let is_there = |address: &ContentAddress| cold.get(address).unwrap().is_some();
        let left: Vec<bool> = addresses.iter().map(is_there).collect();
        let half = [false, false, false, true, true, true];
        assert_eq!(left, [half, half].concat());
        // No attempt left an object behind.
        assert_eq!(shared.objects().await.len(), shared.stubs().len());
    }
}

#[tokio::test]
async fn an_object_that_was_lost_is_named() {
    let shared = Shared::in_objects(Arc::new(InMemory::new()));
    let store = shared.open("a");
    let address = store.put(long(1)).unwrap();
    store.put(long(2)).unwrap();
    let objects = shared.objects().await;
    let name = objects.keys().next().unwrap();
    shared.objects.delete(&name.as_str().into()).await.unwrap();
    let refused = Store::open(shared.home.path().join("b"), shared.options())
        .err()
        .unwrap();
    let told = refused.to_string();
    assert!(told.contains(name) && told.contains("memory:///"), "{told}");
    // A node that has read it goes on.
    assert!(store.get(&address).unwrap().is_some());
    store.put(long(3)).unwrap();

    for wrong in [vec![7; objects[name].len()], objects[name][1..].to_vec()] {
        put(&shared, name, wrong).await;
        let refused = Store::open(shared.home.path().join("b"), shared.options())
            .err()
            .unwrap();
        let told = refused.to_string();
        assert!(told.contains(name), "{told}");
    }
    put(&shared, name, objects[name].clone()).await;
    assert_eq!(total(&shared.open("b")), 3);
}

#[test]
fn a_program_without_the_objects_refuses_the_ledger() {
    let shared = Shared::in_objects(Arc::new(InMemory::new()));
    drop(shared.open("a"));
    let options = || Options {
        shared: Some(Arc::new(shared.rows.clone())),
        ..Options::default()
    };
    for (node, create) in [("a", Create::Never), ("b", Create::IfMissing)] {
        let options = Options {
            create,
            ..options()
        };
        let refused = Store::open(shared.home.path().join(node), options)
            .err()
            .unwrap();
        assert!(refused.to_string().contains("memory:///"), "{refused}");
    }
}

#[tokio::test]
async fn a_storage_that_fails_loses_nothing_that_was_acknowledged() {
    let faulty = Faulty::new(7);
    let shared = Shared::in_objects(Arc::clone(&faulty) as Arc<dyn ObjectStore>);
    let stores = [shared.open("a"), shared.open("b")];
    faulty.fail(120);
    let mut acknowledged = Vec::new();
    for n in 0..60 {
        match stores[n % 2].put(long(n)) {
            Ok(address) => acknowledged.push(address),
            Err(error) => assert_eq!(error.code(), "ERR_UNREACHABLE", "{error}"),
        }
    }
    faulty.fail(0);
    drop(stores);
    let cold = shared.open("c");
    for address in &acknowledged {
        assert!(cold.get(address).unwrap().is_some());
    }
    println!("{} of 60 acknowledged", acknowledged.len());
    assert!(acknowledged.len() > 30, "{}", acknowledged.len());
    assert_eq!(total(&cold), acknowledged.len() as u64);
}

async fn put(shared: &Shared, name: &str, bytes: Vec<u8>) {
    let payload = PutPayload::from(bytes);
    shared.objects.put(&name.into(), payload).await.unwrap();
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|found| found == text)
}
