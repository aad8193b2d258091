//! Changes that need signatures: the modes `delegated` and `quorum` (OMS 23.2).

use grainstore::codec::Value;
use grainstore::crypto::{Algorithm, SigningKey, Statement};
use grainstore::grain::{Grain, Time, Verification};
use grainstore::store::Justification;
use grainstore::{ContentAddress, Draft, Options, Store};

use crate::signing::key;

/// A belief that only these keys together may replace.
fn protected(mode: &str, keys: &[&SigningKey]) -> Draft {
    let dids: Vec<_> = keys
        .iter()
        .map(|key| format!("\"{}\"", key.did()))
        .collect();
    let json = format!(
        r#"{{"type":"belief","subject":"rent","relation":"is","object":"900","confidence":1.0,
            "created_at":1,"invalidation_policy":{{"mode":"{mode}","threshold":2,
            "authorized":[{}]}}}}"#,
        dids.join(",")
    );
    Draft::from_json(&json).unwrap()
}

fn successor(old: ContentAddress, object: &str) -> Draft {
    let draft = Draft::belief("rent", "is", object).confidence(1.0);
    draft.created_at(Time::from_ms(5)).derived_from(old)
}

/// The successor with the signatures of these keys over `old` and a store.
fn signed(draft: &Draft, old: ContentAddress, store_id: [u8; 16], keys: &[&SigningKey]) -> Draft {
    let bare: Grain = draft.clone().finish(Default::default()).unwrap();
    let statement = Statement::supersede(&bare, old, store_id).unwrap();
    keys.iter().fold(draft.clone(), |draft, key| {
        let signature = statement.sign(key, &key.did(), None).unwrap();
        draft.push("supersession_auth", Value::Bytes(signature))
    })
}

fn keys() -> [SigningKey; 3] {
    [
        key(Algorithm::Ed25519, 1),
        key(Algorithm::P256, 2),
        key(Algorithm::Ed25519, 3),
    ]
}

fn memory() -> (Store, [u8; 16]) {
    let store = Store::in_memory(Options::default()).unwrap();
    let id = *store
        .maintenance()
        .unwrap()
        .stats()
        .unwrap()
        .store_id
        .as_bytes();
    (store, id)
}

#[test]
fn a_quorum_takes_as_many_signers_as_it_says_and_each_counts_once() {
    let [alice, bob, mallory] = keys();
    let (store, id) = memory();
    let old = store.put(protected("quorum", &[&alice, &bob])).unwrap();
    let other = store.put(protected("quorum", &[&bob, &alice])).unwrap();
    let new = successor(old, "950");
    let denied = [
        new.clone(),
        signed(&new, old, id, &[&alice]),
        signed(&new, old, id, &[&alice, &alice]),
        signed(&new, old, id, &[&alice, &mallory]),
        // What they agreed to was another grain, or another store.
        signed(&new, other, id, &[&alice, &bob]),
        signed(&new, old, [9; 16], &[&alice, &bob]),
    ];
    for draft in denied {
        let error = store.supersede(&old, draft, Some("asked")).unwrap_err();
        assert_eq!(error.code(), "ERR_INVALIDATION_DENIED");
        assert!(error.to_string().contains("quorum"), "{error}");
    }
    let agreed = signed(&new, old, id, &[&alice, &bob]);
    let head = store.supersede(&old, agreed, None).unwrap();
    assert_eq!(store.status(&old).unwrap().superseded_by, Some(head));
}

#[test]
fn a_delegated_grain_is_replaced_by_what_an_authorized_signer_signed() {
    let [alice, _, mallory] = keys();
    let (store, id) = memory();
    let old = store.put(protected("delegated", &[&alice])).unwrap();
    let new = successor(old, "950");
    for draft in [new.clone(), signed(&new, old, id, &[&mallory])] {
        let error = store.supersede(&old, draft, Some("asked")).unwrap_err();
        assert!(error.to_string().contains("delegated"), "{error}");
    }
    let agreed = signed(&new, old, id, &[&alice]);
    assert!(store.supersede(&old, agreed, None).is_ok());
}

#[test]
fn a_signature_does_not_open_what_nobody_may_replace() {
    let [alice, bob, _] = keys();
    for mode in ["locked", "hold"] {
        let (store, id) = memory();
        let old = store.put(protected(mode, &[&alice, &bob])).unwrap();
        let new = signed(&successor(old, "950"), old, id, &[&alice, &bob]);
        let error = store.supersede(&old, new, Some("asked")).unwrap_err();
        assert!(error.to_string().contains(mode), "{error}");
    }
}

#[test]
fn contradiction_and_judgement_take_the_signatures_that_a_supersession_takes() {
    let [alice, bob, mallory] = keys();
    let (store, id) = memory();
    let old = store.put(protected("quorum", &[&alice, &bob])).unwrap();
    let other = store.put(protected("quorum", &[&bob, &alice])).unwrap();
    let sign = |statement: &Statement, keys: &[&SigningKey]| -> Vec<Vec<u8>> {
        let sign = |key: &&SigningKey| statement.sign(key, &key.did(), None).unwrap();
        keys.iter().map(sign).collect()
    };
    let contradiction = Statement::contradict(old, id).unwrap();
    let retraction = Statement::verify(old, Verification::Retracted, id).unwrap();
    let elsewhere = Statement::contradict(old, [9; 16]).unwrap();
    let of_other = Statement::contradict(other, id).unwrap();
    for signatures in [
        sign(&contradiction, &[]),
        sign(&contradiction, &[&alice]),
        sign(&contradiction, &[&alice, &alice]),
        sign(&contradiction, &[&alice, &mallory]),
        sign(&retraction, &[&alice, &bob]),
        sign(&elsewhere, &[&alice, &bob]),
        sign(&of_other, &[&alice, &bob]),
        vec![vec![1, 2, 3]],
    ] {
        let grounds = Justification {
            justification: Some("asked"),
            signatures: &signatures,
        };
        let denied = store.contradict(&old, grounds).unwrap_err();
        assert!(denied.to_string().contains("quorum"), "{denied}");
    }
    let signatures = sign(&retraction, &[&alice, &bob]);
    let grounds = Justification {
        signatures: &signatures,
        ..Justification::default()
    };
    let contested = store.set_verification(&old, Verification::Contested, grounds);
    assert!(contested.is_err(), "they agreed to something else");
    store
        .set_verification(&old, Verification::Retracted, grounds)
        .unwrap();
    let signatures = sign(&contradiction, &[&alice, &bob]);
    let grounds = Justification {
        signatures: &signatures,
        ..Justification::default()
    };
    store.contradict(&old, grounds).unwrap();
    assert!(store.status(&old).unwrap().contradicted);
}
