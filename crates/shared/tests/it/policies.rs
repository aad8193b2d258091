//! A policy is passed by no node that has not heard of it: a consent is withdrawn on one node while writers
//! on all of them put grains that rest on it. In the order of the ledger none comes after the withdrawal.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use grainstore::ledger::EntryId;
use grainstore::store::Changed;
use grainstore::{Draft, Store};
use grainstore_shared::MemorySequence;

use crate::faults::{open, sequence};
use crate::nodes::{Nodes, head, soon};
use crate::server::Server;

/// A statement of the ledger about consents, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Withdrawn(String),
    /// A grain that rests on a consent.
    Rests(String),
}

/// Returns what a store tells about consents, from its first entry on.
fn told(store: &Store) -> Vec<Told> {
    let mut told = Vec::new();
    for change in store.changes(EntryId::FIRST) {
        let Changed::Stored(version) = change.unwrap().what else {
            continue;
        };
        let text = |name| version.grain.text(name).map(str::to_owned);
        told.extend(text("prior_consent").map(Told::Withdrawn));
        told.extend(text("processing_basis").map(Told::Rests));
    }
    told
}

/// Returns the consents that were withdrawn, and those on which a grain rests that came later.
fn passed(told: &[Told]) -> (usize, Vec<&str>) {
    let mut withdrawn = BTreeSet::new();
    let mut passed = Vec::new();
    for one in told {
        match one {
            Told::Withdrawn(consent) => drop(withdrawn.insert(consent)),
            Told::Rests(consent) if withdrawn.contains(consent) => passed.push(consent.as_str()),
            Told::Rests(_) => {}
        }
    }
    (withdrawn.len(), passed)
}

fn consent(round: usize, more: &str) -> Draft {
    Draft::from_json(&format!(
        r#"{{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b{round}",
            "scope":["store"],"created_at":1,{more}}}"#
    ))
    .unwrap()
}

/// Races writers on all nodes with a withdrawal, and returns how many of their puts were refused.
fn race(stores: &[Store], round: usize) -> usize {
    let grant = consent(round, r#""is_withdrawal":false"#);
    let grant = stores[round % stores.len()].put(grant).unwrap().to_string();
    let prior = format!(r#""is_withdrawal":true,"prior_consent":"{grant}""#);
    let put = |writer: usize, nth: usize| {
        let text = format!("{round} of {writer}, {nth}");
        let grain = Draft::event(text).set("processing_basis", grant.as_str());
        match stores[writer % stores.len()].put(grain) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.code(), "ERR_CONSENT", "{error}");
                false
            }
        }
    };
    let put = &put;
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || (0..PUTS).filter(|nth| !put(writer, *nth)).count()))
            .collect();
        // Now the writers are first, and now the withdrawal.
        thread::sleep(Duration::from_millis(round as u64 % 4 * 3));
        let withdrawing = &stores[(round + 1) % stores.len()];
        withdrawing.put(consent(round, &prior)).unwrap();
        assert!(!put(WRITERS, 0), "a put that begins after the withdrawal");
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .sum()
    })
}

/// Races on stores that `open` opens, which are new after some rounds, and says how it went so far.
fn races(rounds: usize, open: impl Fn(usize) -> (Nodes, Vec<Store>)) {
    let (mut done, mut refused) = (0, 0);
    while done < rounds {
        let some = ROUNDS_MAX.min(rounds - done);
        let (_nodes, stores) = open(done);
        refused += races_on(&stores, some);
        done += some;
        let all = done * WRITERS * PUTS;
        println!("{done} withdrawals: {refused} of {all} puts were refused");
    }
}

/// Races on stores of one ledger, and returns how many puts were refused.
fn races_on(stores: &[Store], rounds: usize) -> usize {
    let refused: usize = (0..rounds).map(|round| race(stores, round)).sum();
    let all = rounds * WRITERS * PUTS;
    assert!(refused > 0 && refused < all, "nothing raced");
    for store in stores {
        soon("one head", || head(store) == head(&stores[0]));
        let told = told(store);
        let (withdrawn, passed) = passed(&told);
        assert_eq!(withdrawn, rounds);
        assert_eq!(told.len(), all - refused + rounds, "what was acknowledged");
        assert!(passed.is_empty(), "grains on withdrawn consents {passed:?}");
    }
    refused
}

#[test]
fn a_withdrawal_is_passed_by_no_writer_of_any_node() {
    races(ROUNDS.parse().unwrap(), |_| {
        let nodes = Nodes::on(Arc::new(MemorySequence::default()));
        let stores = (0..NODES).map(|n| nodes.open(&n.to_string())).collect();
        (nodes, stores)
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_withdrawal_on_postgresql_is_passed_by_no_writer() {
    let Some(server) = Server::start() else {
        return;
    };
    races(ROUNDS_THERE.parse().unwrap(), |first| {
        let url = server.create(&format!("withdrawals{first}"));
        let nodes = Nodes::on(sequence(&url));
        let stores = (0..NODES).map(|n| open(&nodes, &url, &n.to_string()));
        let stores = stores.collect();
        (nodes, stores)
    });
}

#[test]
fn a_grain_after_the_withdrawal_of_its_consent_is_found() {
    let rests = |consent: &str| Told::Rests(consent.to_owned());
    let withdrawn = |consent: &str| Told::Withdrawn(consent.to_owned());
    let sound = [rests("a"), withdrawn("a"), rests("b"), withdrawn("b")];
    assert_eq!(passed(&sound), (2, Vec::new()));
    let planted = [withdrawn("a"), rests("b"), rests("a"), withdrawn("b")];
    assert_eq!(passed(&planted), (2, vec!["a"]));
}

const NODES: usize = 4;
const WRITERS: usize = 8;
/// The puts of each writer in a round.
const PUTS: usize = 2;
/// The rounds of one ledger, which is read whole after them.
const ROUNDS_MAX: usize = 250;

/// The number of rounds in memory and on PostgreSQL; overridden at compile time.
const ROUNDS: &str = match option_env!("GRAINSTORE_POLICY_ROUNDS") {
    Some(rounds) => rounds,
    None => "40",
};
const ROUNDS_THERE: &str = match option_env!("GRAINSTORE_POLICY_ROUNDS_THERE") {
    Some(rounds) => rounds,
    None => "15",
};
