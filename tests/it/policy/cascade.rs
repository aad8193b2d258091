//! Carrying out withdrawals: many grains at once, and nothing left of any.

use grainstore::index::Family;
use grainstore::ledger::{Kind, MemoryDisk};
use grainstore::policy::Rule;
use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Store};

use super::opened_at;

use crate::sample::addresses_of;

const OFFICE: Authorization<'static> = Authorization {
    reason: "the consent was withdrawn",
    authority: "the data protection officer",
};

fn consent(more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"consent","subject_did":"did:web:alice","grantee_did":"did:web:acme",
            "scope":["store"],"created_at":1{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}

fn fact(what: &str, basis: ContentAddress) -> Draft {
    Draft::belief("alice", "likes", what)
        .confidence(0.9)
        .set("processing_basis", basis.to_string())
}

/// How many entries of a kind there are.
fn entries(store: &Store, kind: Kind) -> u64 {
    store
        .maintenance()
        .unwrap()
        .index_snapshot()
        .of_kind(kind)
        .rows()
        .unwrap()
        .len()
}

#[test]
fn a_withdrawal_is_carried_out_in_one_pass_and_leaves_nothing() {
    let disk = MemoryDisk::default();
    let (store, _) = opened_at(&disk, 1_000);
    let grant = store.put(consent(r#","is_withdrawal":false"#)).unwrap();
    let mut all: Vec<_> = (0..120)
        .map(|n| store.put(fact(&format!("thing {n}"), grant)).unwrap())
        .collect();
    // Lineages of what is to go, and one whose end rests on nothing.
    for n in 0..10 {
        let new = fact(&format!("other {n}"), grant).derived_from(all[n]);
        all.push(store.supersede(&all[n], new, None).unwrap());
    }
    let free = Draft::belief("alice", "likes", "cake").confidence(0.9);
    let free = free.derived_from(all[50]);
    let free = store.supersede(&all[50], free, None).unwrap();
    let before = Draft::belief("alice", "likes", "pie").confidence(0.9);
    let before = store.put(before).unwrap();
    let after = store
        .supersede(&before, fact("jam", grant).derived_from(before), None)
        .unwrap();
    all.push(after);
    store.admin().unwrap().place_hold(&all[7], OFFICE).unwrap();
    store.admin().unwrap().place_hold(&all[8], OFFICE).unwrap();
    store.admin().unwrap().lift_hold(&all[8], OFFICE).unwrap();
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    store.put(consent(&withdrawal)).unwrap();

    let done = store.admin().unwrap().run_consent_erasures(OFFICE).unwrap();
    let held = all.remove(7);
    assert_eq!(done.erased, all);
    let kept: Vec<_> = done
        .kept
        .iter()
        .map(|due| (due.address, due.kept))
        .collect();
    assert_eq!(kept, [(held, Some(Rule::LegalHold))]);
    // One erasure for all, and one denial on record.
    let counts = [Kind::Erasing, Kind::Erased, Kind::Denial].map(|kind| entries(&store, kind));
    assert_eq!(counts, [1, 1, 1]);
    let gone = |store: &Store| {
        let snapshot = store.maintenance().unwrap().index_snapshot();
        for address in &all {
            assert!(!store.exists(address).unwrap());
            let named = snapshot.pointing_at(Family::Mentions, address);
            assert_eq!(named.rows().unwrap().len(), 0, "{address} is named");
            assert_eq!(
                store.put(fact("x", grant)).unwrap_err().code(),
                "ERR_CONSENT"
            );
        }
        assert!(store.exists(&held).unwrap() && store.exists(&free).unwrap());
        // What it was replaced by is gone, and it stays replaced.
        let status = store.status(&before).unwrap();
        assert!(!status.is_current() && status.superseded_by.is_none());
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    };
    gone(&store);
    assert_eq!(store.admin().unwrap().holds().len(), 1);
    drop(store);
    let (store, _) = opened_at(&disk, 1_000);
    gone(&store);
    assert_eq!(store.admin().unwrap().holds().len(), 1);
    // A second run finds only what is held.
    let done = store.admin().unwrap().run_consent_erasures(OFFICE).unwrap();
    assert_eq!((done.erased.len(), done.kept.len()), (0, 1));
    assert_eq!(entries(&store, Kind::Erasing), 1);
}

#[test]
fn a_long_cascade_is_carried_out_in_turns() {
    let (store, _) = opened_at(&MemoryDisk::default(), 1_000);
    let grant = store.put(consent(r#","is_withdrawal":false"#)).unwrap();
    let facts = (0..2_100).map(|n| fact(&format!("thing {n}"), grant));
    let all = addresses_of(&store.put_batch(facts).unwrap());
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    store.put(consent(&withdrawal)).unwrap();
    let done = store.admin().unwrap().run_consent_erasures(OFFICE).unwrap();
    assert_eq!(done.erased, all);
    assert_eq!(entries(&store, Kind::Erasing), 3);
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 2);
}
