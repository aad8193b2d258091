//! Protection as the store enforces it: soft locks, ancestors, lineages and the record of refusals
//! (OMS 23).

use std::sync::Arc;

use grainstore::grain::Verification;
use grainstore::ledger::MemoryDisk;
use grainstore::query::Sort;
use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time};

fn belief(object: &str, policy: &str) -> Draft {
    let json = format!(
        r#"{{"type":"belief","subject":"user","relation":"prefers","object":"{object}","confidence":0.9,"created_at":1{policy}}}"#
    );
    Draft::from_json(&json).unwrap()
}

fn policy(mode: &str, scope: &str) -> String {
    format!(r#","invalidation_policy":{{"mode":"{mode}","scope":"{scope}"}}"#)
}

fn note(parent: ContentAddress, text: &str) -> Draft {
    Draft::event(text).derived_from(parent)
}

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

#[test]
fn contradiction_and_retraction_are_no_way_around_a_policy() {
    let store = memory();
    let locked = store.put(belief("a", &policy("locked", "grain"))).unwrap();
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    let denied = store.contradict(&locked, Some("no longer true"));
    assert_eq!(denied.unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    for verification in [Verification::Contested, Verification::Retracted] {
        let denied = store.set_verification(&locked, verification, Some("x"));
        assert_eq!(denied.unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    }
    assert_eq!(store.status(&locked).unwrap(), Default::default());
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().entries,
        entries + 3,
        "three denials"
    );
    // To confirm takes nothing away.
    store
        .set_verification(&locked, Verification::Verified, None)
        .unwrap();
    let status = store.status(&locked).unwrap();
    assert_eq!(status.verification, Verification::Verified);
}

#[test]
fn a_contradicted_grain_is_contested_and_no_longer_current() {
    let store = memory();
    let address = store.put(belief("a", "")).unwrap();
    store
        .contradict(&address, Some("the user said so"))
        .unwrap();
    let status = store.status(&address).unwrap();
    assert!(status.contradicted && !status.is_current());
    assert_eq!(status.verification, Verification::Contested);
    assert!(status.system_valid_to.is_some() && status.superseded_by.is_none());
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    store.contradict(&address, None).unwrap();
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().entries,
        entries,
        "said before"
    );

    // Ruling I1: contested alone leaves it current.
    let other = store.put(belief("b", "")).unwrap();
    store
        .set_verification(&other, Verification::Contested, None)
        .unwrap();
    assert!(store.status(&other).unwrap().is_current());
}

#[test]
fn seventeen_hops_below_a_protected_root_are_below_it() {
    for (scope, protected) in [("subtree", true), ("grain", false)] {
        let store = memory();
        let mut address = store.put(belief("root", &policy("locked", scope))).unwrap();
        for hop in 0..17 {
            address = store.put(note(address, &format!("hop {hop}"))).unwrap();
        }
        let replacing = store.supersede(&address, note(address, "another"), Some("x"));
        assert_eq!(replacing.is_err(), protected, "{scope}");
        let contradicted = store.contradict(&address, Some("x"));
        assert_eq!(contradicted.is_err(), protected, "{scope}");
    }
}

#[test]
fn what_protects_others_is_known_after_opening() {
    // From entries that are applied again, and from files of the index.
    for flush_rows in [1, 65_536] {
        for protects in ["subtree", "lineage", "consent"] {
            let disk = MemoryDisk::default();
            let open = || {
                let mut options = Options {
                    ballast_bytes: 0,
                    ..Options::default()
                };
                options.index.flush_rows = flush_rows;
                options.index.background = false;
                Store::open_on(Arc::new(disk.clone()), options).unwrap()
            };
            let store = open();
            // Nothing protects anything yet, and nothing of this is remembered.
            let root = match protects {
                "consent" => store.put(soft_locked_by_itself()).unwrap(),
                scope => store
                    .put(belief("a", &policy("soft_locked", scope)))
                    .unwrap(),
            };
            let new = match protects {
                // By itself it is not protected.
                "consent" => soft_locked_by_itself().set(
                    "invalidation_policy",
                    grainstore::codec::Map::from_iter([("mode", "open")]),
                ),
                _ => Draft::event("instead"),
            };
            let new = new.replacing(root);
            let below = match protects {
                "subtree" => store.put(new).unwrap(),
                _ => store.supersede(&root, new, Some("asked")).unwrap(),
            };
            let denied = store.contradict(&below, None).unwrap_err();
            assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED", "{protects}");
            drop(store);
            let denied = open().contradict(&below, None).unwrap_err();
            assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED", "{protects}");
        }
    }
}

fn soft_locked_by_itself() -> Draft {
    let json = r#"{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b",
        "scope":["store"],"is_withdrawal":false,"created_at":1}"#;
    Draft::from_json(json).unwrap()
}

#[test]
fn what_is_stored_before_anything_is_protected_is_below_it_too() {
    // What nobody asked about while nothing was protected was not remembered, and is read.
    let store = memory();
    let json = policy("locked", "subtree");
    let root = belief("root", &json).finish(Default::default()).unwrap();
    let child = store.put(note(root.address(), "a child")).unwrap();
    let grandchild = store.put(note(child, "its child")).unwrap();
    let revised = store
        .supersede(&grandchild, note(grandchild, "revised"), None)
        .unwrap();
    store.put(root).unwrap();
    for below in [child, revised] {
        let denied = store.contradict(&below, Some("x")).unwrap_err();
        assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED");
    }
}

#[test]
fn the_seventeenth_revision_of_an_unprotected_grain_is_free() {
    let store = memory();
    let mut head = store.put(belief("0", "")).unwrap();
    for revision in 1..=17 {
        let draft = belief(&revision.to_string(), "").derived_from(head);
        head = store.supersede(&head, draft, None).unwrap();
    }
    assert_eq!(store.history(&head).unwrap().len(), 18);
}

#[test]
fn what_replaced_a_protected_grain_is_protected_like_it() {
    // OMS 23.7, bypass 3: the second supersession must not be easier than the first.
    let store = memory();
    let first = store
        .put(belief("a", &policy("soft_locked", "grain")))
        .unwrap();
    let second = store
        .supersede(&first, belief("b", "").derived_from(first), Some("asked"))
        .unwrap();
    let third = belief("c", "").derived_from(second);
    let denied = store.supersede(&second, third.clone(), None).unwrap_err();
    assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED");
    assert!(store.supersede(&second, third, Some("asked again")).is_ok());
}

#[test]
fn a_protected_lineage_protects_its_past_too() {
    let store = memory();
    let first = store.put(belief("a", "")).unwrap();
    let held = belief("b", &policy("locked", "lineage")).derived_from(first);
    store.supersede(&first, held, None).unwrap();
    let denied = store.contradict(&first, Some("x")).unwrap_err();
    assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED");

    let store = memory();
    let first = store.put(belief("a", "")).unwrap();
    let alone = belief("b", &policy("locked", "grain")).derived_from(first);
    store.supersede(&first, alone, None).unwrap();
    assert!(store.contradict(&first, Some("x")).is_ok());
}

#[test]
fn a_soft_locked_grain_is_replaced_with_a_reason_and_shown_to_a_person() {
    let store = memory();
    let old = store
        .put(belief("a", &policy("soft_locked", "grain")))
        .unwrap();
    for reason in [None, Some(""), Some("  ")] {
        let denied = store.supersede(&old, belief("b", "").derived_from(old), reason);
        assert_eq!(denied.unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    }
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    store
        .supersede(&old, belief("b", "").derived_from(old), Some("asked"))
        .unwrap();
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().entries,
        entries + 3,
        "the grain, its review and the status"
    );
}

#[test]
fn a_protected_goal_is_not_satisfied_without_evidence() {
    let store = memory();
    let goal = |state: &str, more: &str| {
        let json = format!(
            r#"{{"type":"goal","description":"tidy up","goal_state":"{state}","created_at":1,
                "allowed_transitions":["satisfied"],"evidence_required":1{}{more}}}"#,
            policy("locked", "grain")
        );
        Draft::from_json(&json).unwrap()
    };
    let active = store.put(goal("active", "")).unwrap();
    let satisfied = goal("satisfied", "").derived_from(active);
    let denied = store.supersede(&active, satisfied, None).unwrap_err();
    assert_eq!(denied.code(), "ERR_EVIDENCE_REQUIRED");
    let proof = store.put(Draft::event("the floor is clean")).unwrap();
    let evidence = format!(r#","satisfaction_evidence":["{proof}"]"#);
    let satisfied = goal("satisfied", &evidence).derived_from(active);
    assert!(store.supersede(&active, satisfied, None).is_ok());
}

#[test]
fn only_supersession_contradiction_and_retraction_end_a_grain() {
    // OMS 14.3: neither a relation nor a dispute says that a grain is no longer current.
    let store = memory();
    let address = store.put(belief("a", "")).unwrap();
    let json = format!(
        r#"{{"type":"event","content":"not so","created_at":1,
            "related_to":[{{"hash":"{address}","relation_type":"replaces"}}]}}"#
    );
    store.put(Draft::from_json(&json).unwrap()).unwrap();
    store
        .set_verification(&address, Verification::Contested, None)
        .unwrap();
    assert!(store.status(&address).unwrap().is_current());
    store.contradict(&address, None).unwrap();
    assert!(!store.status(&address).unwrap().is_current());
}

#[test]
fn what_is_retracted_is_left_out_of_answers_unless_it_is_asked_for() {
    let store = memory();
    let (wrong, right) = (belief("wrong", ""), belief("right", ""));
    let (wrong, right) = (store.put(wrong).unwrap(), store.put(right).unwrap());
    let retract = || store.set_verification(&wrong, Verification::Retracted, Some("a slip"));
    retract().unwrap();
    let ended = store.status(&wrong).unwrap();
    assert!(ended.system_valid_to.is_some() && ended.superseded_by.is_none());
    let found = |filter: &Filter| -> Vec<_> {
        let found = store.query(filter, 9, None).unwrap().results;
        found.iter().map(|found| found.address).collect()
    };
    assert_eq!(found(&Filter::new()), [right]);
    assert_eq!(store.search("wrong", &Filter::new(), 9).unwrap().total, 0);
    let asked = Filter::new().verification(Verification::Retracted);
    assert_eq!(found(&asked), [wrong]);
    assert_eq!(found(&Filter::new().with_superseded()).len(), 2);
    // To judge it anew does not bring it back, as what was contradicted does not come back.
    let verified = Verification::Verified;
    store
        .set_verification(&wrong, verified, Some("no"))
        .unwrap();
    assert!(!store.status(&wrong).unwrap().is_current());
    retract().unwrap();
    let entries = || store.maintenance().unwrap().stats().unwrap().entries;
    let before = entries();
    retract().unwrap();
    assert_eq!(entries(), before, "said before");
}

fn consent(more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b",
            "scope":["store"],"created_at":1{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}

#[test]
fn a_withdrawal_and_its_grant_both_stay() {
    let store = memory();
    let grant = store.put(consent(r#","is_withdrawal":false"#)).unwrap();
    let prior = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    let withdrawal = store.supersede(&grant, consent(&prior), None).unwrap();
    assert_eq!(
        store.status(&grant).unwrap().superseded_by,
        Some(withdrawal)
    );
    assert!(store.exists(&grant).unwrap() && store.exists(&withdrawal).unwrap());
}

#[test]
fn a_consent_finds_what_rests_on_it_and_a_label_links_nothing() {
    let store = memory();
    let grant = store.put(consent(r#","is_withdrawal":false"#)).unwrap();
    let resting = |basis: &str| {
        let basis = format!(r#","processing_basis":"{basis}""#);
        store.put(belief("a", &basis)).unwrap()
    };
    resting(&grant.to_string());
    // Ruling T8.
    resting("legitimate_interest");
    let found = store.maintenance().unwrap().index_snapshot();
    let found = found.pointing_at(grainstore::index::Family::ProcessingBasis, &grant);
    assert_eq!(found.rows().unwrap().len(), 1);
}

#[test]
fn a_session_has_its_events_in_order() {
    let store = memory();
    let said = |text: String, session: &str| {
        // All in one millisecond, in which addresses are in no order.
        let event = Draft::event(text).created_at(Time::from_ms(1));
        store.put(event.session(session)).unwrap()
    };
    let mut expected: Vec<_> = (0..20)
        .map(|turn| {
            said(format!("elsewhere {turn}"), "s2");
            said(format!("turn {turn}"), "s1")
        })
        .collect();
    let filter = Filter::new().session("s1");
    for sort in [Sort::of(&filter), Sort::of(&filter).descending()] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store.query(&filter.clone().sorted(sort), 7, after).unwrap();
            found.extend(page.results.iter().map(|found| found.address));
            after = page.next_cursor;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, expected);
        expected.reverse();
    }
}
