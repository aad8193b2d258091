//! Checkpoints and receipts: what a store signs about itself, and what that shows later.

use grainstore::crypto::{Checkpoint, Payload, Receipt, Sign1};

use super::*;

fn filled_on(disk: &MemoryDisk) -> Store {
    let store = open(disk);
    for n in 0..9 {
        store.put(draft(&format!("thing {n}"))).unwrap();
    }
    store
}

#[test]
fn a_checkpoint_says_what_the_ledger_was_and_the_next_one_follows_it() {
    let disk = MemoryDisk::default();
    let store = filled_on(&disk);
    let operator = ada();
    let first = store
        .maintenance()
        .unwrap()
        .checkpoint(&operator, &operator.did())
        .unwrap();
    let (said, signer) = Checkpoint::open(&first, &Offline).unwrap();
    assert_eq!((said.entries, signer.did), (9, operator.did()));
    assert_eq!(said.previous, None);
    store.put(draft("one more")).unwrap();
    let second = store
        .maintenance()
        .unwrap()
        .checkpoint(&operator, &operator.did())
        .unwrap();
    let (next, _) = Checkpoint::open(&second, &Offline).unwrap();
    // Ten grains and the first checkpoint.
    assert_eq!(next.entries, 11);
    assert_eq!(next.previous, Some(*ContentAddress::of(&first).as_bytes()));
    drop(store);
    let store = open(&disk);
    assert_eq!(
        store.maintenance().unwrap().checkpoints().unwrap(),
        [first.clone(), second.clone()]
    );
    for message in [&first, &second] {
        let checked = store
            .maintenance()
            .unwrap()
            .verify_checkpoint(message)
            .unwrap();
        assert!(checked.is_of_this_ledger);
        assert_eq!(
            checked.checkpoint.store,
            *store
                .maintenance()
                .unwrap()
                .stats()
                .unwrap()
                .store_id
                .as_bytes()
        );
    }
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    // An erasure leaves the leaves, so what was signed stays true.
    let gone = store.list(None, 1).unwrap().addresses[0];
    let asked = Authorization {
        reason: "asked by letter",
        authority: "the data protection officer",
    };
    store.admin().unwrap().delete(&gone, asked).unwrap();
    assert!(
        store
            .maintenance()
            .unwrap()
            .verify_checkpoint(&first)
            .unwrap()
            .is_of_this_ledger
    );
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_store_that_was_put_back_or_rewritten_does_not_agree_with_what_was_signed() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    let options = || at(2_000_000_000_000).0;
    let store = Store::open(path("s"), options()).unwrap();
    store.put(draft("tea")).unwrap();
    store.maintenance().unwrap().backup(path("b")).unwrap();
    store.put(draft("coffee")).unwrap();
    let operator = ada();
    let message = store
        .maintenance()
        .unwrap()
        .checkpoint(&operator, &operator.did())
        .unwrap();
    assert!(
        store
            .maintenance()
            .unwrap()
            .verify_checkpoint(&message)
            .unwrap()
            .is_of_this_ledger
    );
    drop(store);
    let (restored, _) =
        grainstore::recovery::restore(path("b"), path("r"), Until::End, options()).unwrap();
    assert!(
        !restored
            .maintenance()
            .unwrap()
            .verify_checkpoint(&message)
            .unwrap()
            .is_of_this_ledger
    );
    restored.put(draft("water")).unwrap();
    restored.put(draft("wine")).unwrap();
    assert!(
        !restored
            .maintenance()
            .unwrap()
            .verify_checkpoint(&message)
            .unwrap()
            .is_of_this_ledger
    );
    // Another store with the same grains is another store.
    let other = memory();
    other.put(draft("tea")).unwrap();
    other.put(draft("coffee")).unwrap();
    assert!(
        !other
            .maintenance()
            .unwrap()
            .verify_checkpoint(&message)
            .unwrap()
            .is_of_this_ledger
    );
}

#[test]
fn what_is_no_checkpoint_is_refused_and_one_that_is_false_is_found() {
    let disk = MemoryDisk::default();
    let store = filled_on(&disk);
    let operator = ada();
    let message = store
        .maintenance()
        .unwrap()
        .checkpoint(&operator, &operator.did())
        .unwrap();
    let id = store.maintenance().unwrap().stats().unwrap().store_id;
    for bit in 0..message.len() * 8 {
        let mut flipped = message.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // The unprotected map is empty, so every bit counts.
        assert!(Checkpoint::open(&flipped, &Offline).is_err(), "bit {bit}");
    }
    let address = store.list(None, 1).unwrap().addresses[0];
    let receipt = store
        .maintenance()
        .unwrap()
        .receipt(&address, &operator, &operator.did())
        .unwrap();
    assert_eq!(
        code(store.maintenance().unwrap().verify_checkpoint(&receipt)),
        "ERR_CORRUPT",
        "another purpose"
    );
    assert!(Receipt::open(&message, &Offline).is_err());
    let kind = "application/vnd.grainstore.checkpoint+msgpack";
    let empty = Sign1::sign(
        kind,
        Payload::Embedded(b"\x80"),
        &operator,
        &operator.did(),
        None,
    );
    assert_eq!(
        code(
            store
                .maintenance()
                .unwrap()
                .verify_checkpoint(&empty.unwrap())
        ),
        "ERR_CORRUPT"
    );

    let (mut said, _) = Checkpoint::open(&message, &Offline).unwrap();
    said.root[0] ^= 1;
    said.previous = Some(*ContentAddress::of(&message).as_bytes());
    let lie = said.sign(&operator, &operator.did()).unwrap();
    assert!(
        !store
            .maintenance()
            .unwrap()
            .verify_checkpoint(&lie)
            .unwrap()
            .is_of_this_ledger
    );
    drop(store);
    use grainstore::codec::{Canonical, Encoding, Map, Value};
    let map = Map::from_iter([("c", Value::Bytes(lie))]);
    let map = Canonical::new(map, Profile::Extended).unwrap();
    let body = Encoding::MessagePack.encode(&map);
    append(&disk, id, &[(Kind::Checkpoint, body)]);
    let found = open(&disk).maintenance().unwrap().check().unwrap().findings;
    let ids: Vec<_> = found.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["checkpoint-differs"]);
}

#[test]
fn a_check_says_that_a_checkpoint_of_an_unknown_signer_proves_nothing() {
    let disk = MemoryDisk::default();
    let store = filled_on(&disk);
    let of_web: Did = "did:web:operator.example".parse().unwrap();
    store
        .maintenance()
        .unwrap()
        .checkpoint(&ada(), &of_web)
        .unwrap();
    let report = store.maintenance().unwrap().check().unwrap();
    let ids: Vec<_> = report.findings.iter().map(|found| found.id).collect();
    assert_eq!(ids, ["checkpoint-unverified"]);
}

#[test]
fn a_receipt_says_where_and_since_when_a_grain_is_there() {
    let (options, clock) = at(5_000);
    let store = Store::in_memory(options).unwrap();
    store.put(draft("tea")).unwrap();
    clock.set(6_000);
    let address = store.put(draft("coffee")).unwrap();
    let operator = bob();
    let message = store
        .maintenance()
        .unwrap()
        .receipt(&address, &operator, &operator.did())
        .unwrap();
    let (receipt, signer) = Receipt::open(&message, &Offline).unwrap();
    let expected = Receipt {
        store: *store
            .maintenance()
            .unwrap()
            .stats()
            .unwrap()
            .store_id
            .as_bytes(),
        grain: address,
        sequence: 1,
        time: Time::from_ms(6_000),
    };
    assert_eq!((receipt, signer.did), (expected, operator.did()));
    let nothing = store.maintenance().unwrap().receipt(
        &ContentAddress::of(b"no"),
        &operator,
        &operator.did(),
    );
    assert_eq!(code(nothing), "ERR_NOT_FOUND");
}
