//! A signature that came first proves nothing: a signer who is trusted more takes its place, and
//! the put of any other fails (ruling S15).

use grainstore::crypto::SigningKey;
use grainstore::policy::{Trust, TrustRule};

use super::*;
use grainstore::crypto;

/// A grain without an author, signed by a key.
fn signed(text: &str, key: &SigningKey) -> Grain {
    sign(draft(text), key)
}

fn sign(draft: Draft, key: &SigningKey) -> Grain {
    crypto::sign(unsigned(draft), key, &key.did(), Some(1)).unwrap()
}

fn signer(store: &Store, address: &ContentAddress) -> Did {
    store.signature(address).unwrap().unwrap().signer
}

#[test]
fn a_trusted_signer_takes_the_place_of_one_who_signed_first() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let rule = TrustRule::new(ada().did());
    store.admin().unwrap().trust(rule, "the operator").unwrap();
    let old = store.put(signed("milk", &ada())).unwrap();
    let texts = ["put", "batch", "both", "superseded", "imported"];
    let squatted = texts.map(|text| store.put(signed(text, &bob())));
    let squatted = squatted.map(Result::unwrap);
    let own = texts.map(|text| signed(text, &ada()));
    store.put(own[0].clone()).unwrap();
    store.put_batch([own[1].clone()]).unwrap();
    store
        .put_batch([signed("both", &bob()), own[2].clone()])
        .unwrap();
    let new = Draft::event("coffee").derived_from(old);
    let new = new.created_at(Time::from_ms(1));
    store.put(sign(new.clone(), &bob())).unwrap();
    let new = store.supersede(&old, sign(new, &ada()), None).unwrap();
    store.put(own[3].clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.jsonl");
    let mut lines = grainstore::interchange::jsonl::Writer::new(Vec::new());
    lines.write(&own[4], &Default::default()).unwrap();
    std::fs::write(&path, lines.into_inner()).unwrap();
    let summary = read(&path, &store);
    assert_eq!((summary.unchanged, summary.is_complete()), (1, true));
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    assert_eq!(store.put(own[0].clone()).unwrap(), squatted[0]);
    let after = store.maintenance().unwrap().stats().unwrap().entries;
    assert_eq!(after, entries, "once is enough");
    let check = |store: &Store| {
        for address in squatted.iter().chain([&new]) {
            let signature = store.signature(address).unwrap().unwrap();
            assert_eq!(
                (signature.signer, signature.trust),
                (ada().did(), Trust::Verified)
            );
            let delivered = store.delivery(address).unwrap().unwrap();
            let envelope = Envelope::parse(&delivered).unwrap();
            assert_eq!(envelope.verify(&Offline).unwrap().did, ada().did());
        }
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    };
    check(&store);
    drop(store);
    let store = open(&disk);
    check(&store);
    // Deleted with the grain.
    let asked = Authorization {
        reason: "asked by letter",
        authority: "the office",
    };
    store.admin().unwrap().delete(&squatted[0], asked).unwrap();
    let signature = own[0].envelope().unwrap();
    assert!(!holds(&disk, &signature[signature.len() - 64..]));
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_signature_that_is_not_kept_is_refused_and_says_so() {
    let store = memory();
    let first = store.put(signed("tea", &bob())).unwrap();
    // Nobody is trusted: who came first proves nothing, and is not displaced either.
    let refused = store.put(signed("tea", &ada())).unwrap_err();
    assert_eq!(refused.code(), "ERR_UNTRUSTED");
    assert!(refused.to_string().contains("another signer"), "{refused}");
    let batch = [signed("rice", &ada()), signed("tea", &ada())];
    assert_eq!(code(store.put_batch(batch)), "ERR_UNTRUSTED");
    assert!(!store.exists(&signed("rice", &ada()).address()).unwrap());
    assert_eq!(denials(&store), 2);
    assert_eq!(signer(&store, &first), bob().did());
    // One trusted signer does not displace another.
    let rule = TrustRule::new(bob().did());
    store.admin().unwrap().trust(rule, "an agent").unwrap();
    let by = |key: &SigningKey| signed("milk", key);
    let rule = TrustRule::new(ada().did());
    store.admin().unwrap().trust(rule, "another agent").unwrap();
    let milk = store.put(by(&bob())).unwrap();
    assert_eq!(code(store.put(by(&ada()))), "ERR_UNTRUSTED");
    assert_eq!(signer(&store, &milk), bob().did());
    // A file that brings such a signature is not complete.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.jsonl");
    let mut lines = grainstore::interchange::jsonl::Writer::new(Vec::new());
    lines.write(&by(&ada()), &Default::default()).unwrap();
    std::fs::write(&path, lines.into_inner()).unwrap();
    let summary = read(&path, &store);
    assert_eq!(summary.refused[0].code(), "ERR_UNTRUSTED");
    assert!(!summary.is_complete());
}
