//! What the owner does on behalf of a narrowed handle, and within it.

use grainstore::interchange::{Format, WriteOptions};
use grainstore::policy::{Actor, Operation};
use grainstore::store::{Asked, ConsentFilter, ErasureScope, Person, RequiredConsent};
use serde_json::json;

use super::*;
use crate::attempts::draft;

const OFFICE: Authorization<'static> = Authorization {
    reason: "asked for",
    authority: "the office",
};

#[test]
fn the_owner_does_nothing_for_a_person_with_the_grains_of_another() {
    let store = memory();
    let locked = json!({"type": "event", "content": "the deed", "created_at": 1,
        "user_id": "noah", "invalidation_policy": {"mode": "locked", "scope": "subtree"}});
    let deed = store.put(draft(&locked)).unwrap();
    let of_noah = store.put(note("noah's").user("noah")).unwrap();
    let handle = store.of_user("mira");
    let own = handle.put(note("mira's").derived_from(deed)).unwrap();
    let above = store
        .put(note("noah's").user("noah").derived_from(own))
        .unwrap();
    store.admin().unwrap().place_hold(&of_noah, OFFICE).unwrap();

    let admin = store.admin().unwrap().on_behalf_of(&handle);
    assert_eq!(code(admin.delete(&of_noah, OFFICE)), "ERR_NOT_FOUND");
    assert_eq!(code(admin.place_hold(&of_noah, OFFICE)), "ERR_NOT_FOUND");
    assert_eq!(code(admin.lift_hold(&of_noah, OFFICE)), "ERR_NOT_FOUND");
    assert_eq!(code(admin.resting_on(&of_noah)), "ERR_NOT_FOUND");
    assert_eq!(code(admin.awaits_review(&of_noah)), "ERR_NOT_FOUND");
    let asked = Asked::Change(Operation::Contradict);
    let explain = |address| admin.explain_policy(address, asked, &Actor::default());
    assert_eq!(code(explain(&of_noah)), "ERR_NOT_FOUND");
    let told = explain(&own).unwrap();
    assert_eq!((told.is_allowed, told.protected_by), (false, None));
    assert_eq!(store.admin().unwrap().resting_on(&own).unwrap(), [above]);
    assert!(admin.resting_on(&own).unwrap().is_empty());
    assert!(admin.holds().is_empty());
    let outcomes = admin.delete_batch(&[of_noah, own, above], OFFICE).unwrap();
    let outcomes: Vec<_> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(outcomes, [false, true, false]);
}

#[test]
fn what_concerns_the_whole_store_is_refused_to_the_handle_of_a_part() {
    let store = memory();
    let both = RequiredConsent {
        read: true,
        write: true,
    };
    for handle in [store.of_user("mira"), store.in_namespace("acme")] {
        let admin = store.admin().unwrap().on_behalf_of(&handle);
        let refused = [
            code(admin.set_regimes(Vec::new(), OFFICE)),
            code(admin.require_consent("acme", both, OFFICE)),
            code(admin.accept_clock(OFFICE)),
            code(admin.unite_users("mira", "noah", OFFICE)),
            code(admin.run_consent_erasures(OFFICE)),
            code(admin.pending_erasures()),
            code(admin.waiting_persons()),
            code(admin.persons_seen()),
            code(admin.policy_report()),
            code(admin.reviews()),
            code(admin.reads(None, None, 9)),
            code(admin.conflicts()),
            code(admin.consents(&ConsentFilter::default())),
            code(admin.person_report(&Person::new("noah"))),
            code(admin.erase_person(&Person::new("noah"), ErasureScope::default(), OFFICE)),
        ];
        assert_eq!(refused, ["ERR_ACCESS_DENIED"; 15]);
    }
    // The handle of an author reaches all of it.
    let clerk = store.as_actor(&did("clerk"));
    let admin = store.admin().unwrap().on_behalf_of(&clerk);
    admin.set_regimes(Vec::new(), OFFICE).unwrap();
}

#[test]
fn a_person_is_reported_and_erased_within_a_handle_whole_or_not_at_all() {
    let store = memory();
    let handle = store.of_user("mira");
    let own = handle.put(note("likes tea")).unwrap();
    let mention = Draft::belief("noah", "knows", "mira").confidence(0.9);
    store.put(mention.user("noah")).unwrap();
    let admin = store.admin().unwrap().on_behalf_of(&handle);
    let mira = Person::new("mira");
    let report = admin.person_report(&mira).unwrap();
    let about: Vec<_> = report.about.iter().map(|found| found.address).collect();
    assert_eq!((about, report.mentions.len()), (vec![own], 0));
    let with_mentions = ErasureScope {
        mentions: true,
        ..ErasureScope::default()
    };
    let refused = code(admin.erase_person(&mira, with_mentions, OFFICE));
    assert_eq!(refused, "ERR_ACCESS_DENIED");
    // About her, and of no user: it may be of another one.
    let unnamed = Draft::belief("mira", "likes", "coffee").confidence(0.9);
    let unnamed = store.put(unnamed).unwrap();
    let erase = || admin.erase_person(&mira, ErasureScope::default(), OFFICE);
    assert_eq!(code(erase()), "ERR_ACCESS_DENIED");
    assert!(store.exists(&own).unwrap());
    store.admin().unwrap().delete(&unnamed, OFFICE).unwrap();
    assert_eq!(erase().unwrap().erased, [own]);
}

#[test]
fn an_export_on_behalf_of_a_handle_holds_what_it_sees() {
    let store = memory();
    let mut seen = Vec::new();
    for (namespace, text) in [("acme:a", "one"), ("acme:b", "two"), ("acme:c", "three")] {
        seen.push(store.put(note(text).namespace(namespace)).unwrap());
    }
    let capability = Capability::default().inside_any(["acme:a", "acme:b"]);
    let handle = store.with_capability(capability).unwrap();
    let admin = store.admin().unwrap().on_behalf_of(&handle);
    let mut lines = Vec::new();
    let options = WriteOptions::default();
    let exported = admin.export(Format::Jsonl, &Filter::new(), &options, &mut lines);
    assert_eq!(exported.unwrap().grains, 2);
    let text = String::from_utf8(lines).unwrap();
    assert!(text.contains("one") && text.contains("two") && !text.contains("three"));
    assert_eq!(handle.query(&Filter::new(), 9, None).unwrap().total, 2);
    let exists: Vec<_> = seen.iter().map(|it| handle.exists(it).unwrap()).collect();
    assert_eq!(exists, [true, true, false]);
    // Which of the two is meant, no draft says by itself.
    assert_eq!(code(handle.put(note("four"))), "ERR_ACCESS_DENIED");
    handle.put(note("four").namespace("acme:b")).unwrap();
    let both = handle.in_namespace("acme");
    assert_eq!(both.query(&Filter::new(), 9, None).unwrap().total, 3);
    let none = handle.in_namespace("other");
    assert_eq!(none.query(&Filter::new(), 9, None).unwrap().total, 0);
}

#[test]
fn the_owner_of_a_part_sees_what_is_guarded_and_is_bound_by_no_grantee() {
    let store = memory();
    let both = RequiredConsent {
        read: true,
        write: true,
    };
    let admin = store.admin().unwrap();
    admin.require_consent("clinic", both, OFFICE).unwrap();
    let consent = json!({"type": "consent", "subject_did": "did:web:mira.example",
        "scope": ["store", "retrieve"], "is_withdrawal": false,
        "grantee_did": "did:web:clinic.example", "created_at": 3});
    let consent = store.put(draft(&consent)).unwrap().to_string();
    let fever = json!({"type": "belief", "subject": "did:web:mira.example", "relation": "has",
        "object": "a fever", "confidence": 0.9, "created_at": 5, "namespace": "clinic",
        "processing_basis": consent, "structural_tags": ["phi:condition"], "user_id": "mira"});
    let owner = Capability::default().role(Role::Owner).of_user("mira");
    let of_mira = store.with_capability(owner).unwrap();
    let address = of_mira.put(draft(&fever)).unwrap();
    assert!(of_mira.get(&address).unwrap().is_some());
    let waits = json!({"type": "reasoning", "conclusion": "rest", "created_at": 6,
        "requires_human_review": true, "user_id": "mira"});
    let waits = of_mira.put(draft(&waits)).unwrap();
    assert!(of_mira.get(&waits).unwrap().is_some());
    assert!(store.of_user("mira").get(&address).unwrap().is_none());
    assert_eq!(
        code(store.of_user("mira").get(&waits)),
        "ERR_REVIEW_REQUIRED"
    );
    assert_eq!(code(of_mira.admin()), "ERR_ACCESS_DENIED");
}
