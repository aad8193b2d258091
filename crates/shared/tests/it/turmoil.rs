//! Nodes that are processes, each with many writers, on one PostgreSQL: at random a node is killed, a cache
//! is lost, every connection ends, or the server crashes. In the end there is one chain, with all that was
//! acknowledged in it once, and every node answers the same.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use grainstore::{ContentAddress, Draft, Filter, Store};

use crate::faults::{open, sequence};
use crate::linear::random::Random;
use crate::nodes::{Nodes, head, ledger, soon, total};
use crate::server::Server;

/// How long it goes on; `GRAINSTORE_TURMOIL_SECONDS` overrides it at compile time.
const SECONDS: &str = match option_env!("GRAINSTORE_TURMOIL_SECONDS") {
    Some(seconds) => seconds,
    None => "8",
};
const NODES: usize = 4;
const WRITERS: usize = 8;

/// A node as the one who kills it sees it.
struct Process {
    number: usize,
    lives: usize,
    child: Child,
}

/// The place of a run: where the caches and what was acknowledged lie.
struct Field<'a> {
    nodes: &'a Nodes,
    url: &'a str,
}

impl Field<'_> {
    fn cache(&self, number: usize) -> PathBuf {
        self.nodes.path(&number.to_string())
    }

    fn acknowledged(&self, number: usize) -> PathBuf {
        self.nodes.path(&format!("acknowledged-{number}"))
    }

    /// Starts a life of a node: a process that runs `a_node` of this program, until its input ends.
    fn start(&self, number: usize, life: usize) -> Child {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "turmoil::a_node", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (cache, told) = (self.cache(number), self.acknowledged(number));
        let order = [
            self.url.to_owned(),
            cache.display().to_string(),
            told.display().to_string(),
            format!("{number}.{life}"),
        ];
        let stdin = child.stdin.as_mut().unwrap();
        writeln!(stdin, "{}", order.join("\t")).unwrap();
        child
    }

    fn kill(&self, process: &mut Process, loses_cache: bool) {
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        if loses_cache && self.cache(process.number).exists() {
            fs::remove_dir_all(self.cache(process.number)).unwrap();
        }
        process.lives += 1;
        process.child = self.start(process.number, process.lives);
    }
}

#[test]
#[ignore = "is a process of another test"]
fn a_node() {
    let mut lines = BufReader::new(stdin()).lines();
    let Some(Ok(order)) = lines.next() else {
        return;
    };
    let order: Vec<&str> = order.split('\t').collect();
    let [url, cache, told, name] = order[..] else {
        return;
    };
    let told = File::options()
        .create(true)
        .append(true)
        .open(told)
        .unwrap();
    let store = opened(url, Path::new(cache));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, told, is_over) = (&store, &told, &is_over);
            scope.spawn(move || write(store, told, is_over, &format!("{name}.{writer}")));
        }
        // The end of the input is the end of the run, or of the one who began it.
        drop(stdin().lock().read_to_end(&mut Vec::new()));
        is_over.store(true, Ordering::Release);
    });
}

/// Opens the store, as soon as the server is there.
fn opened(url: &str, cache: &Path) -> Store {
    let options = || {
        let nodes = Nodes::on(sequence(url));
        nodes.options()
    };
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match Store::open(cache, options()) {
            Ok(store) => return store,
            Err(error) if Instant::now() < end && is_passing(&error) => {
                thread::sleep(Duration::from_millis(100));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Puts and supersedes, and writes down each address once it is acknowledged.
fn write(store: &Store, mut told: &File, is_over: &AtomicBool, name: &str) {
    let mut last = None;
    for n in 0.. {
        if is_over.load(Ordering::Acquire) {
            return;
        }
        let grain = |nth: usize| Draft::event(format!("turmoil {name}.{n}.{nth}"));
        let outcome = match (n % 8, last) {
            (3, _) => { store.put_batch((0..5).map(grain)) }
                .map(|stored| stored.iter().map(|put| put.address).collect::<Vec<_>>()),
            (5, Some(old)) => store
                .supersede(&old, grain(0).derived_from(old), None)
                .map(|address| vec![address]),
            _ => store.put(grain(0)).map(|address| vec![address]),
        };
        let mut lines = String::new();
        match outcome {
            Ok(addresses) => {
                last = addresses.first().copied();
                lines.extend(addresses.iter().map(|address| format!("{address}\n")));
            }
            Err(error) if is_passing(&error) => last = None,
            Err(error) => lines.push_str(&format!("! {} {error}\n", error.code())),
        }
        told.write_all(lines.as_bytes()).unwrap();
    }
}

/// Whether an error comes of a server that is away, or of another node.
fn is_passing(error: &grainstore::Error) -> bool {
    ["ERR_UNREACHABLE", "ERR_STORE_LOCKED"].contains(&error.code().as_str())
}

#[test]
#[ignore = "needs PostgreSQL"]
fn nodes_that_are_killed_all_the_time_make_one_chain() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.create("turmoil");
    let nodes = Nodes::on(sequence(&url));
    drop(open(&nodes, &url, "first"));
    let field = Field {
        nodes: &nodes,
        url: &url,
    };
    let start = |number| Process {
        number,
        lives: 0,
        child: field.start(number, 0),
    };
    let mut processes: Vec<Process> = (0..NODES).map(start).collect();
    let told = stir(&field, &server, &mut processes);
    for process in &mut processes {
        drop(process.child.stdin.take());
        assert!(
            process.child.wait().unwrap().success(),
            "node {}",
            process.number
        );
    }
    let acknowledged = acknowledged(&field);
    println!("{SECONDS} s, {told}; {} acknowledged", acknowledged.len());
    let fresh = open(&nodes, &url, "fresh");
    is_one(&field, &fresh, &acknowledged);
}

/// Does damage at random until the time is over, and tells how often which.
fn stir(field: &Field<'_>, server: &Server, processes: &mut [Process]) -> String {
    let end = Instant::now() + Duration::from_secs(SECONDS.parse().unwrap());
    let mut random = Random::new(44);
    let [mut kills, mut lost, mut ended, mut crashes] = [0; 4];
    while Instant::now() < end {
        thread::sleep(Duration::from_millis(100 + random.below(900)));
        let process = &mut processes[random.one_of(NODES)];
        match random.below(10) {
            0..=3 => {
                field.kill(process, false);
                kills += 1;
            }
            4 => {
                field.kill(process, true);
                lost += 1;
            }
            5..=7 => {
                server.end_connections("turmoil");
                ended += 1;
            }
            _ => {
                server.crash();
                server.up();
                crashes += 1;
            }
        }
    }
    format!(
        "{kills} nodes killed and {lost} with their caches, connections ended {ended} times, {crashes} crashes"
    )
}

fn acknowledged(field: &Field<'_>) -> Vec<ContentAddress> {
    let mut all = Vec::new();
    for number in 0..NODES {
        let told = fs::read_to_string(field.acknowledged(number)).unwrap_or_default();
        for line in told.lines() {
            all.push(
                line.parse()
                    .unwrap_or_else(|_| panic!("node {number}: {line}")),
            );
        }
    }
    all
}

/// Holds every node to the chain, and to what was acknowledged.
fn is_one(field: &Field<'_>, fresh: &Store, acknowledged: &[ContentAddress]) {
    let distinct: BTreeSet<_> = acknowledged.iter().collect();
    assert_eq!(
        distinct.len(),
        acknowledged.len(),
        "none is acknowledged twice"
    );
    assert!(!acknowledged.is_empty());
    let bytes = Mutex::new(BTreeSet::new());
    thread::scope(|scope| {
        for number in 0..NODES {
            let bytes = &bytes;
            scope.spawn(move || {
                let store = open(field.nodes, field.url, &number.to_string());
                soon("the head", || head(&store) == head(fresh));
                answers_as(&store, fresh);
                for some in acknowledged.chunks(1_000) {
                    let found = store.get_batch(some).unwrap();
                    assert!(
                        found.iter().all(Option::is_some),
                        "node {number} lacks some"
                    );
                }
                let checked = store.maintenance().unwrap().check().unwrap();
                assert!(checked.findings.is_empty(), "{:?}", checked.findings);
                drop(store);
                bytes.lock().unwrap().insert(ledger(&field.cache(number)));
            });
        }
    });
    assert_eq!(bytes.lock().unwrap().len(), 1, "one chain, byte for byte");
}

fn answers_as(store: &Store, other: &Store) {
    assert_eq!(total(store), total(other));
    let filter = Filter::new();
    let [here, there] = [store, other].map(|store| {
        let found = store.search("turmoil", &filter, 50).unwrap();
        let current = store.query(&filter, 500, None).unwrap();
        let addresses = current.results.iter().map(|one| one.address);
        (found.total, addresses.collect::<Vec<_>>())
    });
    assert_eq!(here, there);
}
