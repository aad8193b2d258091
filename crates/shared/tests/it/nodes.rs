//! Stores on several nodes that share one sequence: what one acknowledged, the others find; of two that
//! race, one wins; a policy holds on every node; an erasure reaches every cache.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use grainstore::store::{Authorization, Create};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};
use grainstore_shared::{MemorySequence, Node, Sequence, Turn};
use tempfile::TempDir;

use crate::faulty::Faulty;

const WHY: Authorization<'static> = Authorization {
    reason: "asked for",
    authority: "the owner",
};

/// Caches on one sequence.
pub(crate) struct Nodes {
    pub(crate) folder: TempDir,
    pub(crate) sequence: Arc<dyn Sequence>,
}

impl Nodes {
    pub(crate) fn on(sequence: Arc<dyn Sequence>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, sequence }
    }

    pub(crate) fn path(&self, node: &str) -> PathBuf {
        self.folder.path().join(node)
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            shared: Some(Arc::clone(&self.sequence)),
            lock_wait: Duration::from_secs(60),
            // Answers are compared, however busy the machine is.
            search_deadline: Duration::from_secs(60),
            ballast_bytes: 0,
            ..Options::default()
        }
    }

    pub(crate) fn open(&self, node: &str) -> Store {
        Store::open(self.path(node), self.options()).unwrap()
    }
}

fn in_memory() -> Nodes {
    Nodes::on(Arc::new(MemorySequence::default()))
}

fn event(n: usize) -> Draft {
    Draft::event(format!("number {n}"))
}

/// Waits for what another node wrote.
pub(crate) fn soon(what: &str, is_there: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_there() {
        assert!(Instant::now() < end, "{what} does not come");
        thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn total(store: &Store) -> u64 {
    store.query(&Filter::new(), 1, None).unwrap().total
}

pub(crate) fn head(store: &Store) -> (u64, [u8; 32]) {
    let stats = store.maintenance().unwrap().stats().unwrap();
    (stats.entries, stats.head)
}

/// Returns the bytes of the ledger of a cache.
pub(crate) fn ledger(path: &Path) -> Vec<u8> {
    let mut files: Vec<_> = fs::read_dir(path.join("ledger")).unwrap().collect();
    files.sort_by_key(|file| file.as_ref().unwrap().path());
    let files = files
        .into_iter()
        .map(|file| fs::read(file.unwrap().path()).unwrap());
    files.collect::<Vec<_>>().concat()
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes
        .windows(words.len())
        .any(|window| window == words.as_bytes())
}

#[test]
fn a_node_finds_what_another_acknowledged() {
    let nodes = in_memory();
    let here = nodes.open("here");
    let first = here.put(event(1)).unwrap();
    let there = nodes.open("there");
    assert!(there.get(&first).unwrap().is_some(), "at its opening");
    let second = there.put(event(2)).unwrap();
    soon("the second grain", || here.get(&second).unwrap().is_some());
    let third = here.put(event(3)).unwrap();
    soon("the third grain", || there.get(&third).unwrap().is_some());
    assert_eq!(head(&here), head(&there));
    assert_eq!(here.search("number", &Filter::new(), 10).unwrap().total, 3);
    drop((here, there));
    assert_eq!(ledger(&nodes.path("here")), ledger(&nodes.path("there")));
}

#[test]
fn many_writers_on_several_nodes_make_one_chain() {
    racing(&in_memory(), 4, 3, 10);
}

/// Lets writers on nodes put grains at once; every one is there once, on every node.
pub(crate) fn racing(nodes: &Nodes, count: usize, writers: usize, puts: usize) {
    let stores: Vec<Store> = (0..count).map(|n| nodes.open(&n.to_string())).collect();
    let put: Vec<ContentAddress> = thread::scope(|scope| {
        let threads: Vec<_> = (0..count * writers)
            .map(|writer| {
                let store = &stores[writer % count];
                let put = move |n| store.put(event(writer * puts + n)).unwrap();
                scope.spawn(move || (0..puts).map(put).collect::<Vec<_>>())
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(put.len(), count * writers * puts);
    for store in &stores {
        soon("every grain", || total(store) == put.len() as u64);
        assert!(
            put.iter()
                .all(|address| store.get(address).unwrap().is_some())
        );
        assert_eq!(head(store), head(&stores[0]));
        let checked = store.maintenance().unwrap().check().unwrap();
        assert!(checked.findings.is_empty(), "{:?}", checked.findings);
    }
}

#[test]
fn of_two_supersessions_on_two_nodes_one_wins() {
    let nodes = in_memory();
    let stores = [nodes.open("here"), nodes.open("there")];
    for round in 0..10 {
        let old = stores[round % 2].put(event(round * 10)).unwrap();
        let outcomes = thread::scope(|scope| {
            let threads: Vec<_> = (0..2)
                .map(|n| {
                    let store = &stores[n];
                    scope.spawn(move || {
                        let new = event(round * 10 + 1 + n).derived_from(old);
                        store.supersede(&old, new, None)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        });
        let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(won, 1, "{outcomes:?}");
        let lost = outcomes
            .iter()
            .find_map(|outcome| outcome.as_ref().err())
            .unwrap();
        assert_eq!(lost.code(), "ERR_CONFLICT");
    }
}

#[test]
fn a_hold_set_on_one_node_is_passed_by_no_writer_of_another() {
    policy_race(&in_memory(), 30);
}

/// A hold is set on one node while another deletes: the grain is gone, or the hold was there first and
/// stands; never is a grain deleted that was held when the deletion was decided.
pub(crate) fn policy_race(nodes: &Nodes, rounds: usize) {
    let stores = [nodes.open("here"), nodes.open("there")];
    let mut held = 0;
    for round in 0..rounds {
        let address = stores[round % 2].put(event(round)).unwrap();
        let (hold, deleted) = thread::scope(|scope| {
            let hold = scope.spawn(|| {
                if round % 3 == 0 {
                    thread::sleep(Duration::from_millis(3));
                }
                stores[0].admin().unwrap().place_hold(&address, WHY)
            });
            let deleted = scope.spawn(|| stores[1].admin().unwrap().delete(&address, WHY));
            (hold.join().unwrap(), deleted.join().unwrap())
        });
        match (&hold, &deleted) {
            // Decided on one history: whichever came second saw the first.
            (Ok(_), Err(error)) => {
                assert_eq!(error.code(), "ERR_INVALIDATION_DENIED");
                assert!(stores[1].get(&address).unwrap().is_some());
                held += 1;
            }
            (Err(_), Ok(_)) => assert!(stores[1].get(&address).unwrap().is_none()),
            outcome => panic!("{outcome:?}"),
        }
    }
    println!("the hold came first in {held} of {rounds} rounds");
}

#[test]
fn an_erasure_reaches_the_sequence_and_every_cache() {
    erased_everywhere(&in_memory());
}

pub(crate) fn erased_everywhere(nodes: &Nodes) {
    let here = nodes.open("here");
    let there = nodes.open("there");
    let secret = here.put(Draft::event("the word is xylophone")).unwrap();
    let other = there.put(Draft::event("the word is trombone")).unwrap();
    soon("the grain", || there.get(&secret).unwrap().is_some());
    assert!(stored(&*nodes.sequence, "xylophone"));
    here.admin().unwrap().delete(&secret, WHY).unwrap();
    assert!(
        !stored(&*nodes.sequence, "xylophone"),
        "bodies in the sequence are blank"
    );
    assert!(stored(&*nodes.sequence, "trombone"));
    soon("the erasure", || is_gone(&there, &secret));
    soon("a blank ledger", || {
        !holds(&ledger(&nodes.path("there")), "xylophone")
    });
    assert!(!holds(&ledger(&nodes.path("here")), "xylophone"));
    soon("a text view without the word", || {
        there.search("xylophone", &Filter::new(), 5).unwrap().total == 0
            && !files_hold(&nodes.path("there").join("text"), "xylophone")
    });
    assert!(there.get(&other).unwrap().is_some());
    // A node that comes later folds what is left, and so does one that lost its cache.
    let late = nodes.open("late");
    assert!(late.get(&secret).unwrap().is_none());
    assert_eq!(total(&late), 1);
    let checked = late.maintenance().unwrap().check().unwrap();
    assert!(checked.findings.is_empty(), "{:?}", checked.findings);
}

/// Whether a grain was erased; a read that meets the erasure half way says so in an error.
fn is_gone(store: &Store, address: &ContentAddress) -> bool {
    match store.get(address) {
        Ok(found) => found.is_none(),
        Err(error) => error.code() == "ERR_ERASED",
    }
}

/// Whether a frame of the sequence holds the words.
fn stored(sequence: &dyn Sequence, words: &str) -> bool {
    let frames = sequence.read(0, usize::MAX >> 1).unwrap();
    frames.iter().any(|frame| holds(&frame.bytes, words))
}

fn files_hold(folder: &Path, words: &str) -> bool {
    let files = fs::read_dir(folder).unwrap();
    // A file may go while it is looked for.
    files
        .flatten()
        .any(|file| fs::read(file.path()).is_ok_and(|bytes| holds(&bytes, words)))
}

#[test]
fn a_cache_that_was_lost_is_folded_again() {
    let nodes = in_memory();
    let put: Vec<_> = {
        let store = nodes.open("here");
        (0..50).map(|n| store.put(event(n)).unwrap()).collect()
    };
    let before = ledger(&nodes.path("here"));
    fs::remove_dir_all(nodes.path("here")).unwrap();
    let store = nodes.open("here");
    assert!(
        put.iter()
            .all(|address| store.get(address).unwrap().is_some())
    );
    drop(store);
    assert_eq!(ledger(&nodes.path("here")), before);
}

#[test]
fn a_cache_that_a_crash_cut_short_is_folded_on() {
    let nodes = in_memory();
    let store = nodes.open("here");
    let put: Vec<_> = (0..20).map(|n| store.put(event(n)).unwrap()).collect();
    drop(store);
    let segment = nodes.path("here").join("ledger/0000000000000001.seg");
    let file = fs::OpenOptions::new().write(true).open(&segment).unwrap();
    let len = file.metadata().unwrap().len();
    file.set_len(len - 1_000).unwrap();
    drop(file);
    for derived in ["index", "text", "END"] {
        let path = nodes.path("here").join(derived);
        drop(fs::remove_dir_all(&path));
        drop(fs::remove_file(&path));
    }
    let store = nodes.open("here");
    assert!(
        put.iter()
            .all(|address| store.get(address).unwrap().is_some())
    );
}

#[test]
fn a_cache_is_no_store_of_its_own_and_a_store_no_cache() {
    let nodes = in_memory();
    drop(nodes.open("here"));
    let alone = Store::open(nodes.path("here"), Options::default());
    assert_eq!(alone.unwrap_err().code(), "ERR_STORAGE_READ_ONLY");

    drop(Store::open(nodes.path("own"), Options::default()).unwrap());
    let other = Store::open(nodes.path("own"), nodes.options());
    assert_eq!(other.unwrap_err().code(), "ERR_BACKUP_DIVERGED");
    let elsewhere = in_memory();
    drop(elsewhere.open("x"));
    let other = Store::open(nodes.path("here"), elsewhere.options());
    assert_eq!(other.unwrap_err().code(), "ERR_BACKUP_DIVERGED");
}

#[test]
fn a_sequence_is_begun_if_the_options_allow_it() {
    let nodes = in_memory();
    let open = |create| {
        let options = nodes.options();
        Store::open(nodes.path("here"), Options { create, ..options }).map(drop)
    };
    assert_eq!(open(Create::Never).unwrap_err().code(), "ERR_NOT_A_STORE");
    open(Create::New).unwrap();
    assert_eq!(open(Create::New).unwrap_err().code(), "ERR_STORE_EXISTS");
    open(Create::Never).unwrap();
}

#[test]
fn a_node_without_network_answers_from_what_it_has_and_refuses_writes() {
    let faulty = Faulty::new(MemorySequence::default());
    let nodes = Nodes::on(Arc::new(faulty.clone()));
    let store = nodes.open("here");
    let address = store.put(event(1)).unwrap();
    faulty.set_offline(true);
    assert!(store.get(&address).unwrap().is_some());
    let refused = store.put(event(2)).unwrap_err();
    assert_eq!(refused.code(), "ERR_UNREACHABLE");
    let silence = || store.maintenance().unwrap().stats().unwrap().shared_silence;
    soon("silence", || {
        silence().is_some_and(|age| age > Duration::from_millis(100))
    });
    drop(store);

    let open = |stale_ok| {
        let options = nodes.options();
        Store::open(
            nodes.path("here"),
            Options {
                stale_ok,
                ..options
            },
        )
    };
    assert_eq!(open(false).unwrap_err().code(), "ERR_UNREACHABLE");
    let stale = open(true).unwrap();
    assert!(stale.get(&address).unwrap().is_some());
    assert!(
        stale
            .maintenance()
            .unwrap()
            .recovery_report()
            .stale_since
            .is_some()
    );
    assert_eq!(stale.put(event(2)).unwrap_err().code(), "ERR_UNREACHABLE");
    faulty.set_offline(false);
    stale.put(event(2)).unwrap();
    assert_eq!(total(&stale), 2);
}

#[test]
fn a_lost_answer_is_resolved_by_the_head_and_nothing_is_doubled() {
    let faulty = Faulty::new(MemorySequence::default());
    let nodes = Nodes::on(Arc::new(faulty.clone()));
    let store = nodes.open("here");
    for n in 0..12 {
        // The frame arrives and its answer does not, or neither does.
        faulty.lose_next_append(n % 2 == 0);
        store.put(event(n)).unwrap();
    }
    assert_eq!(total(&store), 12);
    let other = nodes.open("there");
    assert_eq!(total(&other), 12);
    assert_eq!(head(&store), head(&other));
}

#[test]
fn a_machine_that_stops_in_its_turn_is_waited_for_and_no_longer() {
    let nodes = in_memory();
    let store = nodes.open("here");
    let dead = Node::new([0xdd; 16]);
    nodes
        .sequence
        .take_turn(dead, Duration::from_millis(300))
        .unwrap();
    let before = Instant::now();
    store.put(event(1)).unwrap();
    assert!(before.elapsed() >= Duration::from_millis(200));
}

#[test]
fn a_turn_lasts_as_long_as_its_decision() {
    let faulty = Faulty::new(MemorySequence::default());
    let nodes = Nodes::on(Arc::new(faulty.clone()));
    let store = nodes.open("here");
    let sequence = faulty.inner();
    faulty.before_next_append(move || {
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            let turn = sequence.take_turn(Node::new([0xee; 16]), Duration::from_secs(60));
            assert_eq!(turn.unwrap(), Turn::Waits);
            thread::sleep(Duration::from_millis(100));
        }
    });
    store.put(event(1)).unwrap();
}

#[test]
fn a_machine_that_woke_after_its_turn_writes_nothing_on_an_old_head() {
    let faulty = Faulty::new(MemorySequence::default());
    let nodes = Nodes::on(Arc::new(faulty.clone()));
    let here = nodes.open("here");
    let others = Nodes::on(Arc::new(faulty.inner()));
    let there = others.open("there");
    // Between its decision and its append it stops for longer than its turn, and another machine writes.
    let (other, network) = (there.clone(), faulty.clone());
    faulty.before_next_append(move || {
        network.set_offline(true);
        other.put(event(100)).unwrap();
        network.set_offline(false);
    });
    let outcome = here.put(event(1));
    assert_eq!(outcome.unwrap_err().code(), "ERR_STORE_LOCKED");
    here.put(event(2)).unwrap();
    soon("both grains", || total(&there) == 2 && total(&here) == 2);
    assert_eq!(head(&here), head(&there));
}

#[test]
fn a_sequence_that_was_rolled_back_is_named_and_not_believed() {
    let nodes = in_memory();
    let identity = {
        let store = nodes.open("here");
        store.put(event(1)).unwrap();
        store.put(event(2)).unwrap();
        nodes.sequence.identity().unwrap().unwrap()
    };
    let older = MemorySequence::default();
    older.create(&identity).unwrap();
    let rolled = Nodes {
        folder: nodes.folder,
        sequence: Arc::new(older),
    };
    let opened = Store::open(rolled.path("here"), rolled.options());
    assert_eq!(opened.unwrap_err().code(), "ERR_BACKUP_DIVERGED");
}

#[test]
fn a_store_moves_to_a_sequence_and_back_unchanged() {
    let sequence: Arc<dyn Sequence> = Arc::new(MemorySequence::default());
    moves(&sequence);
}

pub(crate) fn moves(sequence: &Arc<dyn Sequence>) {
    use grainstore::store::replica;
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    let store = Store::open(&own, Options::default()).unwrap();
    let put: Vec<_> = (0..30).map(|n| store.put(event(n)).unwrap()).collect();
    store.admin().unwrap().delete(&put[3], WHY).unwrap();
    let before = head(&store);
    drop(store);
    let node = Node::new([5; 16]);
    assert_eq!(replica::share(&own, &**sequence, node).unwrap(), before.0);
    assert_eq!(
        replica::share(&own, &**sequence, node).unwrap(),
        0,
        "again adds nothing"
    );

    let nodes = Nodes::on(Arc::clone(sequence));
    let cache = nodes.open("cache");
    assert_eq!(head(&cache), before);
    assert!(cache.get(&put[3]).unwrap().is_none());
    let later = cache.put(event(1_000)).unwrap();
    drop(cache);
    let refused = replica::share(&own, &**sequence, node).unwrap_err();
    assert_eq!(refused.code(), "ERR_BACKUP_DIVERGED", "it has moved on");

    let back = folder.path().join("back");
    let identity = sequence.identity().unwrap().unwrap();
    replica::fold(&**sequence, &identity, &back).unwrap();
    let back = Store::open(&back, Options::default()).unwrap();
    assert!(back.get(&later).unwrap().is_some());
    assert_eq!(total(&back), 30);
}
