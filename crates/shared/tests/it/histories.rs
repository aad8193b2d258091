//! Histories of concurrent clients of a shared ledger, checked for linearizability; and the check, on
//! anomalies that were planted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use grainstore::codec::Profile;
use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Store, Time};
use grainstore_shared::postgres::PostgresSequence;
use grainstore_shared::{MemorySequence, Sequence};

use crate::linear::clients::{Client, Size, run};
use crate::linear::history::{Operation, Reads, violations};
use crate::linear::register::{Answer, Ask};
use crate::nodes::{Nodes, head, soon};
use crate::server::Server;

/// A client of an open store.
struct OfStore {
    store: Store,
    /// The numbers of the grains that supersede others.
    successors: Arc<Mutex<HashMap<ContentAddress, usize>>>,
}

/// Returns the grain of a number, which has one address wherever it is put.
fn grain(number: usize) -> Draft {
    let time = Time::from_ms(1_700_000_000_000);
    Draft::event(format!("number {number}")).created_at(time)
}

fn address(number: usize) -> ContentAddress {
    grain(number).finish(Profile::Extended).unwrap().address()
}

impl OfStore {
    fn get(&self, grain: usize) -> Result<Answer, grainstore::Error> {
        let status = self.store.status(&address(grain))?;
        let by = status
            .superseded_by
            .map(|by| self.successors.lock().unwrap()[&by]);
        Ok(Answer::Found(by))
    }

    fn supersede(&self, old: usize, new: usize) -> Result<Answer, grainstore::Error> {
        let old = address(old);
        let new_grain = grain(new)
            .derived_from(old)
            .finish(Profile::Extended)
            .unwrap();
        self.successors
            .lock()
            .unwrap()
            .insert(new_grain.address(), new);
        self.store.supersede(&old, new_grain, None)?;
        Ok(Answer::Done)
    }
}

impl Client for OfStore {
    fn ask(&mut self, number: usize, ask: Ask) -> Option<Answer> {
        let answer = match ask {
            Ask::Get => self.get(number),
            Ask::Put => self.store.put(grain(number)).map(|_| Answer::Done),
            Ask::Delete => {
                let why = Authorization {
                    reason: "asked for",
                    authority: "the owner",
                };
                let admin = self.store.admin().unwrap();
                admin.delete(&address(number), why).map(|()| Answer::Done)
            }
            Ask::Supersede(new) => self.supersede(number, new),
        };
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => match (error.code().as_str(), ask) {
                ("ERR_NOT_FOUND", _)
                | ("ERR_ERASED", Ask::Get | Ask::Delete | Ask::Supersede(_)) => {
                    Some(Answer::Missing)
                }
                ("ERR_ERASED", Ask::Put) => Some(Answer::WasErased),
                ("ERR_CONFLICT", Ask::Supersede(_)) => Some(Answer::Conflict),
                ("ERR_UNREACHABLE" | "ERR_STORE_LOCKED", _) => None,
                _ => panic!("{ask:?}: {error}"),
            },
        }
    }
}

/// Lets clients of several nodes work, and returns their history. `open` opens a node.
fn worked(
    open: impl Fn(usize) -> Store,
    nodes: usize,
    clients: usize,
    size: Size,
) -> Vec<Operation> {
    let stores: Vec<Store> = (0..nodes).map(open).collect();
    let successors = Arc::default();
    let clients = (0..nodes * clients).map(|number| {
        let client = OfStore {
            store: stores[number % nodes].clone(),
            successors: Arc::clone(&successors),
        };
        (number % nodes, client)
    });
    let settle = || {
        soon("one head", || {
            stores.iter().all(|store| head(store) == head(&stores[0]))
        });
    };
    run(clients.collect(), size, settle)
}

/// The operations of each client; `GRAINSTORE_HISTORY` overrides it at compile time.
const OPERATIONS: &str = match option_env!("GRAINSTORE_HISTORY") {
    Some(operations) => operations,
    None => "60",
};

fn size(seed: u64) -> Size {
    Size {
        seed,
        operations: OPERATIONS.parse().unwrap(),
    }
}

fn is_linearizable(operations: &[Operation], reads: Reads) {
    let answered = operations
        .iter()
        .filter(|operation| operation.answered.is_some())
        .count();
    println!("{} operations, {answered} answered", operations.len());
    assert!(answered * 2 > operations.len());
    let found = violations(operations, reads);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn clients_of_several_nodes_are_answered_as_by_registers() {
    for seed in 0..3 {
        let nodes = Nodes::on(Arc::new(MemorySequence::default()));
        let operations = worked(|n| nodes.open(&n.to_string()), 4, 2, size(seed));
        is_linearizable(&operations, OLD);
    }
}

#[test]
fn clients_of_one_node_are_answered_as_by_registers_at_once() {
    let nodes = Nodes::on(Arc::new(MemorySequence::default()));
    let operations = worked(|_| nodes.open("one"), 1, 6, size(7));
    is_linearizable(&operations, Reads::Fresh);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn clients_of_postgresql_are_answered_as_by_registers() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.create("histories");
    let nodes = Nodes::on(Arc::new(MemorySequence::default()));
    let open = |n: usize| {
        let sequence: Arc<dyn Sequence> = Arc::new(PostgresSequence::open(&url, None).unwrap());
        let mut options = nodes.options();
        options.shared = Some(sequence);
        loop {
            // On a busy machine a connection ends while a node is opened.
            match Store::open(nodes.path(&n.to_string()), options.clone()) {
                Err(error) if error.code() == "ERR_UNREACHABLE" => {}
                opened => break opened.unwrap(),
            }
        }
    };
    let operations = thread::scope(|scope| {
        let working = scope.spawn(|| worked(open, 4, 2, size(11)));
        // Connections end in the middle of it.
        for _ in 0..6 {
            thread::sleep(Duration::from_millis(300));
            server.end_connections("histories");
        }
        working.join().unwrap()
    });
    is_linearizable(&operations, OLD);
}

/// A node that is not asked for a change learns of others' within half a second; a busy machine takes longer.
const OLD: Reads = Reads::Within(Duration::from_secs(20));

/// An operation of a made-up history: node, what, when it was called, and when which answer came.
type Made = (usize, Ask, u64, Option<(u64, Answer)>);

fn made(operations: &[Made]) -> Vec<Operation> {
    let operations = operations
        .iter()
        .map(|(node, ask, called, answered)| Operation {
            grain: 0,
            node: *node,
            ask: *ask,
            called: Duration::from_secs(*called),
            answered: answered.map(|(time, answer)| (Duration::from_secs(time), answer)),
        });
    operations.collect()
}

const PUT: Made = (0, Ask::Put, 0, Some((1, Answer::Done)));

#[test]
fn histories_that_a_register_could_give_are_let_pass() {
    use Answer::{Conflict, Done, Found, Missing, WasErased};
    let sound: [&[Made]; 6] = [
        &[PUT, (1, Ask::Get, 2, Some((3, Found(None))))],
        // A question beside a put sees it or not.
        &[
            (0, Ask::Put, 0, Some((9, Done))),
            (1, Ask::Get, 1, Some((2, Missing))),
            (1, Ask::Get, 3, Some((4, Found(None)))),
        ],
        // A change without an answer comes into effect late.
        &[
            PUT,
            (0, Ask::Delete, 2, None),
            (1, Ask::Get, 3, Some((4, Found(None)))),
            (1, Ask::Get, 5, Some((6, Missing))),
        ],
        // Or never.
        &[
            PUT,
            (0, Ask::Supersede(7), 2, None),
            (1, Ask::Supersede(8), 3, Some((4, Done))),
        ],
        &[
            PUT,
            (0, Ask::Supersede(7), 2, Some((5, Conflict))),
            (1, Ask::Supersede(8), 3, Some((4, Done))),
        ],
        &[
            PUT,
            (0, Ask::Delete, 2, Some((3, Done))),
            (1, Ask::Put, 4, Some((5, WasErased))),
            (1, Ask::Delete, 6, Some((7, Missing))),
        ],
    ];
    for operations in sound {
        let found = violations(&made(operations), Reads::Fresh);
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn each_anomaly_that_was_planted_is_found() {
    use Answer::{Conflict, Done, Found, Missing};
    let superseded = (0, Ask::Supersede(7), 2, Some((5, Done)));
    let anomalies: [(&str, &[Made]); 9] = [
        (
            "a put is lost",
            &[PUT, (1, Ask::Get, 2, Some((3, Missing)))],
        ),
        (
            "a question goes back",
            &[
                (0, Ask::Put, 0, Some((9, Done))),
                (1, Ask::Get, 1, Some((2, Found(None)))),
                (1, Ask::Get, 3, Some((4, Missing))),
            ],
        ),
        (
            "a grain is superseded twice",
            &[PUT, superseded, (1, Ask::Supersede(8), 3, Some((4, Done)))],
        ),
        (
            "a supersession is not shown",
            &[PUT, superseded, (1, Ask::Get, 6, Some((7, Found(None))))],
        ),
        (
            "another supersession is shown",
            &[PUT, superseded, (1, Ask::Get, 6, Some((7, Found(Some(8)))))],
        ),
        (
            "a conflict has no cause",
            &[PUT, (1, Ask::Supersede(8), 2, Some((3, Conflict)))],
        ),
        (
            "a grain comes back",
            &[
                PUT,
                (0, Ask::Delete, 2, Some((3, Done))),
                (1, Ask::Put, 4, Some((5, Done))),
            ],
        ),
        (
            "a grain is deleted twice",
            &[
                PUT,
                (0, Ask::Delete, 2, Some((4, Done))),
                (1, Ask::Delete, 3, Some((5, Done))),
            ],
        ),
        (
            "an unanswered change is taken back",
            &[
                PUT,
                (0, Ask::Delete, 2, None),
                (1, Ask::Get, 3, Some((4, Missing))),
                (1, Ask::Get, 5, Some((6, Found(None)))),
            ],
        ),
    ];
    for (name, operations) in anomalies {
        assert_eq!(
            violations(&made(operations), Reads::Fresh).len(),
            1,
            "{name}"
        );
    }
}

#[test]
fn an_answer_may_be_as_old_as_was_said_and_no_older() {
    use Answer::{Done, Found, Missing};
    let age = |seconds| Reads::Within(Duration::from_secs(seconds));
    let old = made(&[PUT, (1, Ask::Get, 5, Some((6, Missing)))]);
    assert_eq!(violations(&old, Reads::Fresh).len(), 1);
    assert_eq!(violations(&old, age(10)).len(), 0);
    assert_eq!(violations(&old, age(3)).len(), 1, "it is older");
    let own = made(&[PUT, (0, Ask::Get, 5, Some((6, Missing)))]);
    assert_eq!(
        violations(&own, age(10)).len(),
        1,
        "the node acknowledged it"
    );
    let back = made(&[
        PUT,
        (1, Ask::Get, 2, Some((3, Found(None)))),
        (1, Ask::Get, 4, Some((5, Missing))),
    ]);
    assert_eq!(violations(&back, age(10)).len(), 1, "the node has shown it");
    let change = made(&[
        PUT,
        (1, Ask::Put, 2, Some((3, Done))),
        (1, Ask::Supersede(7), 4, Some((5, Missing))),
    ]);
    assert_eq!(
        violations(&change, age(10)).len(),
        1,
        "a change is decided on the head"
    );
}

/// Both kinds of search end soon on many operations at once.
#[test]
fn a_history_of_many_operations_at_once_is_checked_soon() {
    let mut many = vec![PUT];
    for n in 0..40 {
        many.push((n, Ask::Supersede(100 + n), 2, None));
        many.push((n, Ask::Get, 2, Some((50, Answer::Found(Some(120))))));
        many.push((n, Ask::Put, 2, Some((50, Answer::Done))));
    }
    assert!(violations(&made(&many), Reads::Fresh).is_empty());
    many.push((0, Ask::Get, 60, Some((61, Answer::Found(Some(130))))));
    assert_eq!(violations(&made(&many), Reads::Fresh).len(), 1);
}
