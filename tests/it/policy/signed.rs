//! Changes that need signatures: the modes `delegated` and `quorum` (OMS 23.2).

use grainstore::codec::Value;
use grainstore::crypto::{
    Algorithm, Did, Error, Payload, Resolver, Sign1, SigningKey, Statement, VerifyingKey,
};
use grainstore::grain::{Grain, Owner, OwnerKind, Time, Verification};
use grainstore::store::Justification;
use grainstore::{ContentAddress, Draft, Options, Store, crypto};

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

const ALICE_WEB: &str = "did:web:alice.example";

/// Knows the key that is behind one did:web.
#[derive(Debug)]
struct Pinned(VerifyingKey);

impl Resolver for Pinned {
    fn resolve(&self, did: &Did) -> Result<Vec<VerifyingKey>, Error> {
        match did.as_str() {
            ALICE_WEB => Ok(vec![self.0.clone()]),
            _ => Err(Error::Unresolved {
                did: did.clone(),
                reason: "not pinned".into(),
            }),
        }
    }
}

/// A store that knows the other name of a key, and its id.
fn knowing(key: &SigningKey) -> (Store, [u8; 16]) {
    let options = Options {
        resolver: std::sync::Arc::new(Pinned(key.verifying_key())),
        ..Options::default()
    };
    let store = Store::in_memory(options).unwrap();
    let stats = store.maintenance().unwrap().stats().unwrap();
    (store, *stats.store_id.as_bytes())
}

/// A belief that a quorum of these DIDs may replace.
fn under_quorum(author: &str, threshold: usize, authorized: &[&str]) -> Draft {
    let json = format!(
        r#"{{"type":"belief","subject":"rent","relation":"is","object":"900","confidence":1.0,
            "created_at":1,"author_did":"{author}","invalidation_policy":{{"mode":"quorum",
            "threshold":{threshold},"authorized":{authorized:?}}}}}"#
    );
    Draft::from_json(&json).unwrap()
}

#[test]
fn two_names_of_one_key_are_one_voice_and_the_author_has_none() {
    let [alice, bob, _] = keys();
    let (store, id) = knowing(&alice);
    let (did, web): (_, Did) = (alice.did(), ALICE_WEB.parse().unwrap());
    let other = bob.did().to_string();
    let sign = |old, signers: &[(&SigningKey, &Did)]| {
        let draft = successor(old, "950");
        let bare = draft.clone().finish(Default::default()).unwrap();
        let statement = Statement::supersede(&bare, old, id).unwrap();
        signers.iter().fold(draft, |draft, (key, did)| {
            let signature = statement.sign(key, did, None).unwrap();
            draft.push("supersession_auth", Value::Bytes(signature))
        })
    };
    let fragment = format!("{did}#{}", did.as_str().trim_start_matches("did:key:"));
    let both = [did.as_str(), ALICE_WEB, &fragment, &other];
    let old = store
        .put(under_quorum("did:web:office.example", 2, &both))
        .unwrap();
    let alone = sign(old, &[(&alice, &did), (&alice, &web)]);
    let denied = store.supersede(&old, alone, Some("asked")).unwrap_err();
    assert!(denied.to_string().contains("quorum"), "{denied}");
    let agreed = sign(old, &[(&alice, &web), (&bob, &bob.did())]);
    assert!(store.supersede(&old, agreed, None).is_ok());

    // The author under another name, as the author is named and as the list names it.
    for (author, named) in [
        (did.as_str(), ALICE_WEB),
        (ALICE_WEB, did.as_str()),
        (fragment.as_str(), ALICE_WEB),
        (fragment.as_str(), did.as_str()),
    ] {
        let draft = under_quorum(author, 1, &[named, &other]);
        let old = store.put(draft).unwrap();
        let name: Did = named.parse().unwrap();
        let denied = store.supersede(&old, sign(old, &[(&alice, &name)]), Some("asked"));
        assert_eq!(
            denied.unwrap_err().code(),
            "ERR_INVALIDATION_DENIED",
            "{author} as {named}"
        );
        assert!(
            store
                .supersede(&old, sign(old, &[(&bob, &bob.did())]), None)
                .is_ok()
        );
    }
}

#[test]
fn the_signatures_that_other_implementations_make_are_accepted() {
    let [alice, bob, mallory] = keys();
    let around = |old, key: &SigningKey| {
        let draft = successor(old, "950").to_be_signed();
        let grain = draft.finish(Default::default()).unwrap();
        crypto::sign(grain, key, &key.did(), None).unwrap()
    };
    // OMS 23.2, delegated: the superseding grain itself is signed.
    let (store, _) = memory();
    let old = store.put(protected("delegated", &[&alice])).unwrap();
    let denied = store.supersede(&old, around(old, &mallory), Some("asked"));
    assert_eq!(denied.unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    assert!(store.supersede(&old, around(old, &alice), None).is_ok());

    // Ruling I10: signatures over the superseding blob without supersession_auth.
    let old = store.put(protected("quorum", &[&alice, &bob])).unwrap();
    let new = successor(old, "950");
    let blob = new.clone().finish(Default::default()).unwrap().into_blob();
    let signed = |of: &str, payload: &[u8], keys: &[&SigningKey]| {
        keys.iter().fold(new.clone(), |draft, key| {
            let payload = Payload::Detached(payload);
            let signature = Sign1::sign(of, payload, key, &key.did(), None).unwrap();
            draft.push("supersession_auth", Value::Bytes(signature))
        })
    };
    let mg = "application/vnd.mg+msgpack";
    for draft in [
        signed(mg, &blob, &[&alice]),
        signed(mg, &blob, &[&alice, &alice]),
        signed(mg, &blob, &[&alice, &mallory]),
        signed(mg, &blob[1..], &[&alice, &bob]),
        signed("application/octet-stream", &blob, &[&alice, &bob]),
    ] {
        let denied = store.supersede(&old, draft, Some("asked")).unwrap_err();
        assert!(denied.to_string().contains("quorum"), "{denied}");
    }
    assert!(
        store
            .supersede(&old, signed(mg, &blob, &[&alice, &bob]), None)
            .is_ok()
    );
}

#[test]
fn an_authorized_signature_amends_a_locked_grain_where_the_store_permits_it() {
    let [alice, bob, mallory] = keys();
    for permits in [false, true] {
        let options = Options {
            authorized_may_amend_locked: permits,
            ..Options::default()
        };
        let store = Store::in_memory(options).unwrap();
        let by_author =
            |author: &SigningKey| protected("locked", &[&alice]).author(author.did().as_str());
        let around = |old, key: &SigningKey| {
            let draft = successor(old, "950").to_be_signed();
            let grain = draft.finish(Default::default()).unwrap();
            crypto::sign(grain, key, &key.did(), None).unwrap()
        };
        let old = store.put(by_author(&bob)).unwrap();
        assert!(
            store
                .supersede(&old, around(old, &mallory), Some("x"))
                .is_err()
        );
        assert!(
            store
                .supersede(&old, successor(old, "950"), Some("x"))
                .is_err()
        );
        assert!(store.contradict(&old, Some("x")).is_err());
        assert_eq!(
            store.supersede(&old, around(old, &alice), None).is_ok(),
            permits
        );
        // OMS 23.8: not by the author's own signature.
        let own = store.put(by_author(&alice).set("object", "901")).unwrap();
        assert!(store.supersede(&own, around(own, &alice), None).is_err());
        // OMS 12.5.3: the operator wrote the ownership grain, and corrects it.
        let owner = Owner::new(OwnerKind::Org, "Acme Labs");
        let agent = "did:web:example.com:agents:7";
        let ownership = |name: &str, signer: &SigningKey| {
            let draft = Draft::ownership(agent, &owner, alice.did().as_str());
            let draft = draft.set("object", name).created_at(Time::from_ms(1));
            draft.author(signer.did().as_str())
        };
        let sign = |draft: Draft, key: &SigningKey| {
            let grain = draft.finish(Default::default()).unwrap();
            crypto::sign(grain, key, &key.did(), None).unwrap()
        };
        let first = store
            .put(sign(ownership("Acme Lab", &alice), &alice))
            .unwrap();
        let corrected = |key| sign(ownership("Acme Labs", key).derived_from(first), key);
        assert!(store.supersede(&first, corrected(&mallory), None).is_err());
        assert_eq!(
            store.supersede(&first, corrected(&alice), None).is_ok(),
            permits
        );
        for mode in ["hold", "unlocked"] {
            let draft = protected(mode, &[&alice])
                .set("subject", mode)
                .author(bob.did().as_str());
            let held = store.put(draft).unwrap();
            assert!(
                store.supersede(&held, around(held, &alice), None).is_err(),
                "{mode}"
            );
        }
    }
}
