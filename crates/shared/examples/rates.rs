//! Rates of stores on one PostgreSQL that this starts: puts from four nodes, commits of many stores, reads
//! beside those of a directory, and how soon a new node is ready.
//!
//! `cargo run --release -p grainstore-shared --features postgres --example rates -- [SECONDS] [GRAINS]`

#![expect(clippy::print_stdout, reason = "a program prints")]
#![expect(clippy::unwrap_used, reason = "a measurement fails by panicking")]

#[expect(
    dead_code,
    reason = "standbys and lines that are cut are for the tests"
)]
#[path = "../tests/it/server.rs"]
mod server;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time};
use grainstore_shared::postgres::PostgresSequence;
use grainstore_shared::{Head, Identity, Node, Proposal, Sequence};

use server::Server;

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|word| word.parse::<u64>().unwrap());
    let seconds = Duration::from_secs(arguments.next().unwrap_or(10));
    let grains = arguments.next().unwrap_or(200_000);
    let Some(server) = Server::start() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let place = |name: &str| (server.create(name), home.path().join(name));

    for (name, threads, batch) in [("batches", 4, 100), ("rows", 8, 1), ("alone", 1, 1)] {
        let (url, path) = place(name);
        let nodes = if name == "alone" { 1 } else { NODES };
        let rate = puts(&url, &path, (nodes, threads, batch), seconds);
        let bytes = rows(&server, name) as f64 / (rate * seconds.as_secs_f64());
        println!(
            "{nodes} nodes, {threads} writers each, batches of {batch}: {rate:.0} puts/s, {bytes:.0} bytes a grain"
        );
    }
    for stores in [1, 4, 16] {
        let url = server.create(&format!("commits{stores}"));
        let rate = commits(&url, stores, seconds);
        println!("{stores} stores, one frame of {FRAME} bytes at a time: {rate:.0} commits/s");
    }
    reads(&place("reads"));
    let (url, path) = place("fold");
    fold(&server, &url, &path, grains);
}

fn options(url: &str) -> Options {
    let sequence: Arc<dyn Sequence> = Arc::new(PostgresSequence::open(url, None).unwrap());
    Options {
        shared: Some(sequence),
        lock_wait: Duration::from_secs(60),
        ..Options::default()
    }
}

fn event(n: u64) -> Draft {
    let text = format!(
        "the customer {} asked when order {} of {} would be delivered to {}, and was told on day {}",
        n % 977,
        n,
        WORDS[usize::try_from(n % 8).unwrap()],
        WORDS[usize::try_from(n / 8 % 8).unwrap()],
        n % 365
    );
    let time = Time::from_ms(1_700_000_000_000 + i64::try_from(n).unwrap());
    Draft::event(text).created_at(time).namespace("shop")
}

const WORDS: [&str; 8] = [
    "tea", "lamps", "paper", "shoes", "Bergen", "Lyon", "Porto", "Graz",
];
const NODES: usize = 4;

/// Puts from threads on nodes for a time, each node with connections of its own; returns puts a second.
fn puts(
    url: &str,
    path: &Path,
    (nodes, threads, batch): (usize, usize, u64),
    span: Duration,
) -> f64 {
    let stores: Vec<Store> = (0..nodes)
        .map(|node| Store::open(path.join(node.to_string()), options(url)).unwrap())
        .collect();
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let end = Instant::now() + span;
    thread::scope(|scope| {
        for writer in 0..nodes * threads {
            let (store, next, done) = (&stores[writer % nodes], &next, &done);
            scope.spawn(move || {
                while Instant::now() < end {
                    let first = next.fetch_add(batch, Ordering::Relaxed);
                    let grains = (first..first + batch).map(event);
                    store.put_batch(grains).unwrap();
                    done.fetch_add(batch, Ordering::Relaxed);
                }
            });
        }
    });
    done.load(Ordering::Relaxed) as f64 / span.as_secs_f64()
}

/// Appends frames to stores of their own, from a thread each; returns commits a second.
fn commits(url: &str, stores: usize, span: Duration) -> f64 {
    let done = AtomicU64::new(0);
    let sequences: Vec<_> = (0..stores)
        .map(|number| {
            let url = format!("{url}?store=s{number}");
            let sequence = PostgresSequence::open(&url, None).unwrap();
            let store = [u8::try_from(number).unwrap(); 16];
            let (manifest, origin) = (b"{}".to_vec(), head(0));
            let identity = Identity {
                store,
                manifest,
                origin,
                bodies: None,
            };
            assert!(sequence.create(&identity).unwrap());
            sequence
        })
        .collect();
    let end = Instant::now() + span;
    thread::scope(|scope| {
        for sequence in &sequences {
            let done = &done;
            scope.spawn(move || {
                let node = Node::new([1; 16]);
                for entries in 0.. {
                    if Instant::now() >= end {
                        return;
                    }
                    let proposal = Proposal {
                        node,
                        expected: head(entries),
                        frame: &[7; FRAME],
                        end: head(entries + 1),
                    };
                    sequence.take_turn(node, Duration::from_secs(3)).unwrap();
                    sequence.append(&proposal).unwrap();
                    sequence.end_turn(node);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    done.load(Ordering::Relaxed) as f64 / span.as_secs_f64()
}

const FRAME: usize = 600;

fn head(entries: u64) -> Head {
    let mut leaf = [0; 32];
    leaf[..8].copy_from_slice(&entries.to_be_bytes());
    Head { entries, leaf }
}

/// Reads on a node beside the same reads in a directory, in turns.
fn reads((url, path): &(String, std::path::PathBuf)) {
    let shared = Store::open(path.join("cache"), options(url)).unwrap();
    let own = Store::open(path.join("own"), Options::default()).unwrap();
    let mut addresses = Vec::new();
    for first in (0..READ).step_by(1_000) {
        let grains = || (first..first + 1_000).map(event);
        let puts = own.put_batch(grains()).unwrap();
        addresses.extend(puts.into_iter().map(|put| put.address));
        shared.put_batch(grains()).unwrap();
    }
    for store in [&shared, &own] {
        store.maintenance().unwrap().compact().unwrap();
    }
    let questions: [(&str, Ask); 2] = [("get", get_all), ("search", search)];
    for (name, ask) in questions {
        let time = |store: &Store| {
            let began = Instant::now();
            ask(store, &addresses);
            began.elapsed().as_secs_f64()
        };
        let mut shares: Vec<f64> = (0..ROUNDS)
            .map(|round| {
                // Each is the first as often as the second.
                let (there, here) = match round % 2 {
                    0 => (time(&shared), time(&own)),
                    _ => {
                        let here = time(&own);
                        (time(&shared), here)
                    }
                };
                there / here
            })
            .collect();
        shares.sort_by(f64::total_cmp);
        let share = shares[ROUNDS / 2];
        println!("{name} on a node beside a directory of {READ} grains: {share:.3} of the time");
    }
}

const READ: u64 = 20_000;
const ROUNDS: usize = 41;

/// Asks a store for each of these grains.
type Ask = fn(&Store, &[ContentAddress]);

fn get_all(store: &Store, addresses: &[ContentAddress]) {
    for address in addresses.iter().step_by(3) {
        black_box(store.get(address).unwrap());
    }
}

fn search(store: &Store, _: &[ContentAddress]) {
    for n in 0..60 {
        let words = format!("customer {n} {}", WORDS[n % 8]);
        black_box(store.search(&words, &Filter::new(), 10).unwrap());
    }
}

/// Fills a store, and opens it on a machine that has nothing of it.
fn fold(server: &Server, url: &str, path: &Path, grains: u64) {
    let store = Store::open(path.join("full"), options(url)).unwrap();
    for first in (0..grains).step_by(1_000) {
        store.put_batch((first..first + 1_000).map(event)).unwrap();
    }
    drop(store);
    let began = Instant::now();
    let store = Store::open(path.join("new"), options(url)).unwrap();
    let opened = began.elapsed().as_secs_f64();
    let total = store.query(&Filter::new(), 1, None).unwrap().total;
    assert_eq!(total, grains);
    let found = store.search("lamps", &Filter::new(), 10).unwrap().total;
    let ready = began.elapsed().as_secs_f64();
    assert!(found > 0);
    let rate = grains as f64 / ready;
    println!(
        "a new node of {grains} grains: open in {opened:.1} s, found words in {ready:.1} s: {rate:.0} grains/s"
    );
    let [rows, ledger, derived] = [
        rows(server, "fold"),
        size(&path.join("new/ledger")),
        size(&path.join("new")),
    ]
    .map(|bytes| bytes / grains);
    println!(
        "bytes a grain: {rows} in PostgreSQL, {ledger} in the ledger of a cache, {derived} in all of it"
    );
}

/// Returns the bytes of the frames of a database, with their indexes.
fn rows(server: &Server, database: &str) -> u64 {
    let sql = "SELECT pg_total_relation_size('grainstore_frames')";
    server.sql(database, sql).parse().unwrap()
}

fn size(path: &Path) -> u64 {
    let items = fs::read_dir(path).unwrap().map(|item| item.unwrap());
    items
        .map(|item| match item.file_type().unwrap().is_dir() {
            true => size(&item.path()),
            false => item.metadata().unwrap().len(),
        })
        .sum()
}
