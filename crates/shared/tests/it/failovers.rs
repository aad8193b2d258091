//! A primary that is killed under load while its standby is behind, and the standby promoted: nothing that
//! was acknowledged is missing. In the control the server does not wait for the standby: some is missing,
//! and those who hold a commitment to it are told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use grainstore::crypto::Note;
use grainstore::{ContentAddress, Store};

use crate::faults::{event, open, sequence};
use crate::nodes::{Nodes, soon, total};
use crate::server::{Proxy, Server};

/// The number of failovers of each kind; `GRAINSTORE_FAILOVERS` overrides it at compile time.
const FAILOVERS: &str = match option_env!("GRAINSTORE_FAILOVERS") {
    Some(rounds) => rounds,
    None => "1",
};

/// A round after the promotion.
struct Promoted {
    _standby: Server,
    url: String,
    nodes: Nodes,
    writers: Vec<Written>,
}

/// The side of one node: what was acknowledged to it, and a commitment to the ledger at its last
/// acknowledgement before the kill.
struct Written {
    name: String,
    store: Store,
    put: Vec<ContentAddress>,
    note: Note,
}

/// Kills a primary whose standby does not get its last words; `None` where there is no PostgreSQL.
fn fail_over(is_synchronous: bool) -> Option<Promoted> {
    let primary = Server::start()?;
    let to_primary = Proxy::start(primary.port);
    let standby = primary.standby(to_primary.port(), is_synchronous);
    let proxy = Proxy::start(primary.port);
    let url = proxy.through(&primary.create("failover"));
    let nodes = Nodes::on(sequence(&url));
    let (is_killed, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let stores = ["a", "b"].map(|name| (name, open(&nodes, &url, name)));
    let writers = thread::scope(|scope| {
        let write = |number: usize, name: &str, store: Store| {
            let commitment = || store.maintenance().unwrap().audit().head().unwrap();
            let mut note = commitment();
            let mut put = Vec::new();
            for n in 0.. {
                if is_over.load(Ordering::Acquire) {
                    break;
                }
                match store.put(event(number * 100_000 + n)) {
                    Ok(address) if !is_killed.load(Ordering::Acquire) => {
                        put.push(address);
                        note = commitment();
                    }
                    Ok(address) => put.push(address),
                    Err(error) if error.code() == "ERR_BACKUP_DIVERGED" => break,
                    Err(_) => thread::sleep(Duration::from_millis(5)),
                }
            }
            let name = name.to_owned();
            Written {
                name,
                store,
                put,
                note,
            }
        };
        let threads: Vec<_> = (0..)
            .zip(stores)
            .map(|(number, (name, store))| scope.spawn(move || write(number, name, store)))
            .collect();
        thread::sleep(Duration::from_millis(400));
        to_primary.cut(true);
        thread::sleep(Duration::from_millis(300));
        is_killed.store(true, Ordering::Release);
        primary.kill();
        standby.promote();
        proxy.lead_to(standby.port);
        thread::sleep(Duration::from_millis(700));
        is_over.store(true, Ordering::Release);
        let writers = threads.into_iter().map(|thread| thread.join().unwrap());
        writers.collect::<Vec<_>>()
    });
    Some(Promoted {
        url: standby.url("failover"),
        _standby: standby,
        nodes,
        writers,
    })
}

impl Promoted {
    /// Returns a node that begins after the promotion.
    fn fresh(&self) -> Store {
        open(&self.nodes, &self.url, "fresh")
    }

    /// Returns how many were acknowledged, and how many of them are missing.
    fn acknowledged(&self, fresh: &Store) -> (usize, usize) {
        let put: Vec<_> = self.writers.iter().flat_map(|writer| &writer.put).collect();
        let is_missing = |address: &&&ContentAddress| fresh.get(address).unwrap().is_none();
        (put.len(), put.iter().filter(is_missing).count())
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_primary_that_is_killed_leaves_all_that_was_acknowledged() {
    for round in 0..FAILOVERS.parse().unwrap() {
        let Some(promoted) = fail_over(true) else {
            return;
        };
        let fresh = promoted.fresh();
        let (all, missing) = promoted.acknowledged(&fresh);
        println!("round {round}: {all} acknowledged, {missing} missing");
        assert_eq!(missing, 0);
        let checked = fresh.maintenance().unwrap().check().unwrap();
        assert!(checked.findings.is_empty(), "{:?}", checked.findings);
        let audit = fresh.maintenance().unwrap().audit();
        for writer in &promoted.writers {
            assert!(audit.extends(&writer.note).unwrap());
            soon("all that is there", || {
                total(&writer.store) == total(&fresh)
            });
        }
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_primary_that_waits_for_no_standby_loses_some_and_each_loss_is_told() {
    let mut lost = 0;
    for round in 0..FAILOVERS.parse().unwrap() {
        let Some(promoted) = fail_over(false) else {
            return;
        };
        let fresh = promoted.fresh();
        let (all, missing) = promoted.acknowledged(&fresh);
        println!("round {round}, the control: {all} acknowledged, {missing} missing");
        lost += missing;
        let checked = fresh.maintenance().unwrap().check().unwrap();
        assert!(checked.findings.is_empty(), "what is left is a whole chain");
        let audit = fresh.maintenance().unwrap().audit();
        for writer in promoted.writers {
            let is_missing = |address: &ContentAddress| fresh.get(address).unwrap().is_none();
            let misses = writer.put.iter().any(is_missing);
            let is_whole = audit.extends(&writer.note).unwrap();
            drop(writer.store);
            let mut options = promoted.nodes.options();
            options.shared = Some(sequence(&promoted.url));
            let again = Store::open(promoted.nodes.path(&writer.name), options);
            let refused = again.err().map(|error| error.code().to_string());
            // The commitment to what was acknowledged last tells, and so does the cache. Both may hold what
            // was acknowledged to the other writer, too.
            if misses {
                assert!(!is_whole, "the commitment of {}", writer.name);
                assert_eq!(refused.as_deref(), Some("ERR_BACKUP_DIVERGED"));
            } else {
                assert!(refused.is_none_or(|code| code == "ERR_BACKUP_DIVERGED"));
            }
            assert!(is_whole || missing > 0);
        }
    }
    assert!(lost > 0, "the control shows no loss");
}
