//! Stores on PostgreSQL, and what a server and a network do to them: conflicts, connections that end in
//! the middle of a commit, answers that are lost, a crash.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use grainstore::{Draft, Store};
use grainstore_shared::Sequence;
use grainstore_shared::postgres::PostgresSequence;

use crate::nodes::{Nodes, erased_everywhere, moves, policy_race, racing, soon, total};
use crate::server::{Proxy, Server};

pub(crate) fn sequence(url: &str) -> Arc<dyn Sequence> {
    Arc::new(PostgresSequence::open(url, None).unwrap())
}

pub(crate) fn event(n: usize) -> Draft {
    Draft::event(format!("number {n}"))
}

/// Opens a node with a sequence of its own, as another machine has it.
pub(crate) fn open(nodes: &Nodes, url: &str, node: &str) -> Store {
    let mut options = nodes.options();
    options.shared = Some(sequence(url));
    Store::open(nodes.path(node), options).unwrap()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn stores_on_postgresql_do_as_those_in_memory() {
    let Some(server) = Server::start() else {
        return;
    };
    racing(&Nodes::on(sequence(&server.create("racing"))), 3, 3, 6);
    policy_race(&Nodes::on(sequence(&server.create("policy"))), 12);
    erased_everywhere(&Nodes::on(sequence(&server.create("erased"))));
    moves(&sequence(&server.create("moves")));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn machines_with_connections_of_their_own_make_one_chain() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.create("machines");
    let nodes = Nodes::on(sequence(&url));
    let stores: Vec<Store> = (0..3).map(|n| open(&nodes, &url, &n.to_string())).collect();
    thread::scope(|scope| {
        for (n, store) in stores.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..8 {
                    store.put(event(n * 100 + round)).unwrap();
                }
            });
        }
    });
    for store in &stores {
        soon("every grain", || total(store) == 24);
    }
    assert_eq!(
        server.sql("machines", "SELECT count(*) > 0 FROM grainstore_frames"),
        "t"
    );
}

/// Makes the server fail some of the next inserts of frames, by a trigger.
fn fail_commits(server: &Server, database: &str, how: &str) {
    server.sql(
        database,
        &format!(
            "CREATE SEQUENCE attempts;
             CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 IF nextval('attempts') % 2 = 1 THEN {how} END IF;
                 RETURN NEW;
             END $$;
             CREATE TRIGGER fail BEFORE INSERT ON grainstore_frames
             FOR EACH ROW EXECUTE FUNCTION fail();"
        ),
    );
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_commit_that_the_server_rolls_back_or_cuts_off_is_made_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let faults = [
        (
            "conflict",
            "RAISE EXCEPTION 'injected' USING ERRCODE = '40001';",
        ),
        (
            "shutdown",
            "PERFORM pg_terminate_backend(pg_backend_pid());",
        ),
    ];
    for (database, how) in faults {
        let url = server.create(database);
        let nodes = Nodes::on(sequence(&url));
        let store = nodes.open("here");
        store.put(event(0)).unwrap();
        fail_commits(&server, database, how);
        for n in 1..6 {
            store.put(event(n)).unwrap();
        }
        assert_eq!(total(&store), 6, "{database}");
        let attempts: u64 = server
            .sql(database, "SELECT last_value FROM attempts")
            .parse()
            .unwrap();
        assert!(attempts >= 10, "{attempts} attempts: nothing was injected");
        assert_eq!(total(&nodes.open("there")), 6, "{database}");
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn an_answer_that_the_network_loses_is_found_in_the_head() {
    let Some(server) = Server::start() else {
        return;
    };
    let direct = server.create("lost");
    let proxy = Proxy::start(server.port);
    let nodes = Nodes::on(sequence(&proxy.through(&direct)));
    let store = nodes.open("here");
    store.put(event(0)).unwrap();
    for n in 1..6 {
        // What is sent from here on reaches the server, and no answer comes back; then the line is cut.
        proxy.lose_answers_of("INSERT INTO grainstore_frames");
        store.put(event(n)).unwrap();
        assert!(!proxy.waits_for_loss(), "no answer was lost");
    }
    assert_eq!(total(&store), 6);
    let frames = "SELECT count(*) = count(DISTINCT frame) FROM grainstore_frames";
    assert_eq!(server.sql("lost", frames), "t");
    assert_eq!(total(&open(&nodes, &direct, "there")), 6);

    proxy.cut(true);
    let refused = store.put(event(9)).unwrap_err();
    assert_eq!(refused.code(), "ERR_UNREACHABLE");
    assert_eq!(total(&store), 6, "it answers from what it has");
    proxy.cut(false);
    store.put(event(9)).unwrap();
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_that_crashes_under_load_loses_nothing_that_was_acknowledged() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.create("crash");
    let nodes = Nodes::on(sequence(&url));
    let stores = [open(&nodes, &url, "a"), open(&nodes, &url, "b")];
    let put = thread::scope(|scope| {
        let writers: Vec<_> = stores
            .iter()
            .enumerate()
            .map(|(node, store)| {
                scope.spawn(move || {
                    let mut put = Vec::new();
                    for n in 0..40 {
                        // Refused while the server is down; what was acknowledged counts.
                        match store.put(event(node * 1_000 + n)) {
                            Ok(address) => put.push(address),
                            Err(error) => {
                                let code = error.code();
                                assert!(
                                    code == "ERR_UNREACHABLE" || code == "ERR_STORE_LOCKED",
                                    "{error}"
                                );
                            }
                        }
                    }
                    put
                })
            })
            .collect();
        for _ in 0..2 {
            thread::sleep(Duration::from_millis(400));
            server.crash();
            server.up();
        }
        writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap())
            .collect::<Vec<_>>()
    });
    println!("{} of 80 were acknowledged around two crashes", put.len());
    let fresh = open(&nodes, &url, "fresh");
    assert!(
        put.iter()
            .all(|address| fresh.get(address).unwrap().is_some())
    );
    let checked = fresh.maintenance().unwrap().check().unwrap();
    assert!(checked.findings.is_empty(), "{:?}", checked.findings);
    for store in &stores {
        soon("all that is there", || total(store) == total(&fresh));
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_without_a_synchronous_standby_is_told() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.create("standby");
    let sequence = PostgresSequence::open(&url, None).unwrap();
    assert_eq!(sequence.may_lose(), Some(true));
    server.sql(
        "postgres",
        "ALTER SYSTEM SET synchronous_standby_names = 'b'",
    );
    server.sql("postgres", "SELECT pg_reload_conf()");
    soon("the setting", || sequence.may_lose() == Some(false));
    server.sql("postgres", "ALTER SYSTEM SET synchronous_commit = 'local'");
    server.sql("postgres", "SELECT pg_reload_conf()");
    soon("a server that waits for none", || {
        sequence.may_lose() == Some(true)
    });
}
