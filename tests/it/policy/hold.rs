//! Legal holds (OMS 23.2, rulings I12 and I19): placed, lifted and kept over reopening.

use std::sync::Arc;

use grainstore::codec::Map;
use grainstore::grain::Verification;
use grainstore::ledger::MemoryDisk;
use grainstore::store::{Authorization, NewGrain};
use grainstore::{ContentAddress, Draft, Options, Store};

const COUNSEL: Authorization<'static> = Authorization {
    reason: "Doe v. Acme",
    authority: "counsel",
};
const ASKED: Authorization<'static> = Authorization {
    reason: "asked by letter",
    authority: "the data protection officer",
};

fn belief(object: &str) -> Draft {
    Draft::belief("rent", "is", object).confidence(0.9)
}

fn open(disk: &MemoryDisk) -> Store {
    let options = Options {
        ballast_bytes: 0,
        ..Options::default()
    };
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

/// Tries everything that a hold forbids, and returns what the refusals say.
fn refusals(store: &Store, held: &ContentAddress) -> Vec<String> {
    let new = belief("950").derived_from(*held);
    let mut errors = vec![
        store.supersede(held, new, Some("x")).unwrap_err(),
        store.contradict(held, Some("x")).unwrap_err(),
        store.admin().unwrap().delete(held, ASKED).unwrap_err(),
    ];
    for status in [Verification::Contested, Verification::Retracted] {
        errors.push(store.set_verification(held, status, Some("x")).unwrap_err());
    }
    assert!(
        errors
            .iter()
            .all(|error| error.code() == "ERR_INVALIDATION_DENIED")
    );
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn a_legal_hold_keeps_a_grain_as_it_is_until_it_is_lifted_over_every_reopening() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let held = store.put(belief("900")).unwrap();
    let free = store.put(Draft::event("something else")).unwrap();
    store.admin().unwrap().place_hold(&held, COUNSEL).unwrap();
    drop(store);
    let store = open(&disk);
    for refusal in refusals(&store, &held) {
        assert!(refusal.contains("legal_hold"), "{refusal}");
    }
    let holds = store.admin().unwrap().holds();
    assert_eq!((holds.len(), holds[0].address), (1, held));
    assert_eq!(holds[0].authorization.authority, "counsel");
    store.admin().unwrap().delete(&free, ASKED).unwrap();
    assert_eq!(
        store.admin().unwrap().holds().len(),
        1,
        "as before an erasure"
    );

    assert!(store.admin().unwrap().lift_hold(&held, COUNSEL).unwrap());
    assert!(
        !store.admin().unwrap().lift_hold(&held, COUNSEL).unwrap(),
        "nothing is left to lift"
    );
    drop(store);
    let store = open(&disk);
    assert_eq!(store.admin().unwrap().holds(), []);
    store.admin().unwrap().delete(&held, ASKED).unwrap();
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn holds_are_placed_and_lifted_by_somebody_for_a_reason() {
    let store = Store::in_memory(Options::default()).unwrap();
    let address = store.put(belief("900")).unwrap();
    for (reason, authority) in [("", "counsel"), ("Doe", " ")] {
        let mandate = Authorization { reason, authority };
        assert_eq!(
            store
                .admin()
                .unwrap()
                .place_hold(&address, mandate)
                .unwrap_err()
                .code(),
            "ERR_AUTHORITY"
        );
        assert_eq!(
            store
                .admin()
                .unwrap()
                .lift_hold(&address, mandate)
                .unwrap_err()
                .code(),
            "ERR_AUTHORITY"
        );
    }
    let unknown = ContentAddress::of(b"nothing");
    assert_eq!(
        store
            .admin()
            .unwrap()
            .place_hold(&unknown, COUNSEL)
            .unwrap_err()
            .code(),
        "ERR_NOT_FOUND"
    );
    assert_eq!(
        store
            .admin()
            .unwrap()
            .lift_hold(&unknown, COUNSEL)
            .unwrap_err()
            .code(),
        "ERR_NOT_FOUND"
    );
}

#[test]
fn lifting_a_hold_lifts_the_mode_of_the_grain_and_of_what_it_reaches() {
    // Ruling I19.
    let hold = |scope: &str| {
        let json = format!(
            r#"{{"type":"event","content":"minutes","created_at":1,
                "invalidation_policy":{{"mode":"hold","scope":"{scope}"}}}}"#
        );
        Draft::from_json(&json).unwrap()
    };
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let held = store.put(hold("grain")).unwrap();
    let root = store.put(hold("subtree")).unwrap();
    let below = store.put(belief("900").derived_from(root)).unwrap();
    for address in [held, root, below] {
        assert!(
            store
                .admin()
                .unwrap()
                .delete(&address, ASKED)
                .unwrap_err()
                .to_string()
                .contains("hold")
        );
    }
    assert!(
        !store.admin().unwrap().lift_hold(&below, COUNSEL).unwrap(),
        "it is the root that holds"
    );
    assert!(store.admin().unwrap().lift_hold(&held, COUNSEL).unwrap());
    assert!(store.admin().unwrap().lift_hold(&root, COUNSEL).unwrap());
    drop(store);
    let store = open(&disk);
    assert!(store.contradict(&below, None).is_ok());
    for address in [held, below, root] {
        store.admin().unwrap().delete(&address, ASKED).unwrap();
    }
}

#[test]
fn a_locked_grain_stays_locked_when_a_hold_on_it_is_lifted() {
    let store = Store::in_memory(Options::default()).unwrap();
    let json = r#"{"type":"event","content":"minutes","created_at":1,
        "invalidation_policy":{"mode":"locked"}}"#;
    let locked = store.put(Draft::from_json(json).unwrap()).unwrap();
    store.admin().unwrap().place_hold(&locked, COUNSEL).unwrap();
    store.admin().unwrap().place_hold(&locked, COUNSEL).unwrap();
    assert_eq!(store.admin().unwrap().holds().len(), 2);
    assert!(store.admin().unwrap().lift_hold(&locked, COUNSEL).unwrap());
    let denied = store.contradict(&locked, Some("x")).unwrap_err();
    assert!(denied.to_string().contains("locked"), "{denied}");
}

#[test]
fn what_was_lifted_from_a_grain_is_forgotten_with_it() {
    let store = Store::in_memory(Options::default()).unwrap();
    let json = r#"{"type":"event","content":"minutes","created_at":1,
        "invalidation_policy":{"mode":"hold"}}"#;
    let held = || Draft::from_json(json).unwrap();
    let address = store.put(held()).unwrap();
    assert!(store.admin().unwrap().lift_hold(&address, COUNSEL).unwrap());
    store.admin().unwrap().delete(&address, ASKED).unwrap();
    // It is a new one, and nobody has lifted anything from that.
    store.put(NewGrain::from(held()).again()).unwrap();
    let denied = store.admin().unwrap().delete(&address, ASKED).unwrap_err();
    assert!(denied.to_string().contains("hold"), "{denied}");
}

/// A grain that says which grain places a hold on it (OMS A.2).
fn filed(by: &str, is_in_context: bool) -> Draft {
    let draft = Draft::event("the contract").tag("profile:legal");
    match is_in_context {
        false => draft.set("legal:hold_ref", by),
        true => draft.set("context", Map::from_iter([("legal:hold_ref", by)])),
    }
}

#[test]
fn a_grain_is_held_by_the_one_that_its_hold_ref_names_until_one_is_lifted() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let hold = Map::from_iter([("mode", "hold")]);
    let order = Draft::event("preserve all of Doe v. Acme").set("invalidation_policy", hold);
    let order = store.put(order).unwrap();
    let named = order.to_string();
    let refs = [
        (named.as_str(), false),
        (named.as_str(), true),
        ("H-1", false),
    ];
    let filed = refs.map(|(by, is_in_context)| store.put(filed(by, is_in_context)).unwrap());
    drop(store);
    let store = open(&disk);
    let delete = |of: &ContentAddress| store.admin().unwrap().delete(of, ASKED);
    for of in &filed {
        let refused = delete(of).unwrap_err();
        assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED");
        assert!(store.contradict(of, Some("x")).is_err());
    }
    // Lifted from the grain that places it, and from the grain itself.
    let lift = |of: &ContentAddress| store.admin().unwrap().lift_hold(of, COUNSEL).unwrap();
    assert!(lift(&order) && !lift(&filed[0]));
    assert!(delete(&filed[0]).is_ok() && delete(&filed[1]).is_ok());
    assert!(delete(&filed[2]).is_err());
    assert!(lift(&filed[2]));
    delete(&filed[2]).unwrap();
}

#[test]
fn an_empty_hold_ref_names_no_hold() {
    let store = Store::in_memory(Options::default()).unwrap();
    let of = store.put(filed(" ", false)).unwrap();
    store.admin().unwrap().delete(&of, ASKED).unwrap();
}
