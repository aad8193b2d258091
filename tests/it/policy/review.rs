//! Reviews by a person (OMS 6.1, 23.2): opened by changes and grains, and cleared.

use grainstore::ledger::EntryId;
use grainstore::policy::Capability;
use grainstore::store::{Asked, Authorization, Review};
use grainstore::{Draft, Filter, Options, Store};

const ADA: Authorization<'static> = Authorization {
    reason: "looked at, fine",
    authority: "Ada",
};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn open_reviews(store: &Store) -> Vec<Review> {
    let reviews = store.admin().unwrap().reviews().unwrap().into_iter();
    reviews.filter(|review| review.cleared.is_none()).collect()
}

#[test]
fn what_was_permitted_with_a_reason_waits_for_a_person_who_clears_it_once() {
    let store = memory();
    let json = r#"{"type":"belief","subject":"a","relation":"b","object":"c","confidence":1.0,
        "created_at":1,"invalidation_policy":{"mode":"soft_locked"}}"#;
    let old = store.put(Draft::from_json(json).unwrap()).unwrap();
    let new = Draft::belief("a", "b", "d")
        .confidence(1.0)
        .derived_from(old);
    store.supersede(&old, new, Some("asked")).unwrap();
    store
        .contradict(&old, Some("wrong from the start"))
        .unwrap();
    let reviews = open_reviews(&store);
    let what: Vec<_> = reviews
        .iter()
        .map(|review| review.operation.as_str())
        .collect();
    assert_eq!(what, ["supersede", "contradict"]);
    assert!(reviews.iter().all(|review| review.address == old));

    let nobody = Authorization {
        authority: "",
        ..ADA
    };
    assert_eq!(
        store
            .admin()
            .unwrap()
            .clear_review(reviews[0].id, nobody)
            .unwrap_err()
            .code(),
        "ERR_AUTHORITY"
    );
    assert_eq!(
        store
            .admin()
            .unwrap()
            .clear_review(EntryId::FIRST, ADA)
            .unwrap_err()
            .code(),
        "ERR_REVIEW"
    );
    assert!(
        store
            .admin()
            .unwrap()
            .clear_review(reviews[0].id, ADA)
            .unwrap()
    );
    assert!(
        !store
            .admin()
            .unwrap()
            .clear_review(reviews[0].id, ADA)
            .unwrap(),
        "only once"
    );
    let all = store.admin().unwrap().reviews().unwrap();
    assert_eq!(all.len(), 2, "what was cleared stays on record");
    assert_eq!(all[0].cleared.as_ref().unwrap().authority, "Ada");
    assert_eq!(open_reviews(&store).len(), 1);
}

#[test]
fn what_requires_a_human_awaits_one_however_it_came_in() {
    let reasoning = |more: &str| {
        let json =
            format!(r#"{{"type":"reasoning","conclusion":"deny the loan","created_at":1{more}}}"#);
        Draft::from_json(&json).unwrap()
    };
    let store = memory();
    let free = store.put(reasoning("")).unwrap();
    let no = store
        .put(reasoning(r#","requires_human_review":false"#))
        .unwrap();
    let first = store
        .put(reasoning(r#","requires_human_review":true"#))
        .unwrap();
    let second = reasoning(r#","requires_human_review":true,"inference_method":"deductive""#);
    let second = store
        .supersede(&first, second.derived_from(first), None)
        .unwrap();
    for (address, awaits) in [(free, false), (no, false), (first, true), (second, true)] {
        assert_eq!(
            store.admin().unwrap().awaits_review(&address).unwrap(),
            awaits
        );
    }
    let review = open_reviews(&store)
        .into_iter()
        .find(|review| review.address == second);
    store
        .admin()
        .unwrap()
        .clear_review(review.unwrap().id, ADA)
        .unwrap();
    assert!(!store.admin().unwrap().awaits_review(&second).unwrap());
    assert!(
        store.admin().unwrap().awaits_review(&first).unwrap(),
        "that one was not looked at"
    );
}

#[test]
fn what_somebody_cleared_may_drive_a_program() {
    // OMS 6.1.
    let store = memory();
    let draft = Draft::reasoning("deny the loan").set("requires_human_review", true);
    let address = store.put(draft.namespace("acme")).unwrap();
    let program = store
        .with_capability(Capability::default().inside("acme"))
        .unwrap();
    let shown = || {
        let found = program.query(&Filter::new(), 9, None).unwrap().total;
        (program.get(&address).is_ok(), found)
    };
    assert_eq!(shown(), (false, 0));
    store
        .admin()
        .unwrap()
        .clear_review(open_reviews(&store)[0].id, ADA)
        .unwrap();
    assert_eq!(shown(), (true, 1));
}

#[test]
fn a_cleared_review_of_a_change_does_not_let_a_program_rely_on_the_grain() {
    let store = memory();
    let json = r#"{"type":"belief","subject":"a","relation":"b","object":"c","confidence":1.0,
        "created_at":1,"requires_human_review":true,
        "invalidation_policy":{"mode":"soft_locked"}}"#;
    let grain = store.put(Draft::from_json(json).unwrap()).unwrap();
    store.contradict(&grain, Some("wrong")).unwrap();
    let rule = || {
        let admin = store.admin().unwrap();
        let asked = Asked::Rely;
        let told = admin.explain_policy(&grain, asked, &Default::default());
        told.unwrap().rule
    };
    let clear = |operation: &str| {
        let reviews = open_reviews(&store);
        let mut asked = reviews.iter().filter(|it| it.operation == operation);
        let review = asked.next().unwrap().id;
        store.admin().unwrap().clear_review(review, ADA).unwrap();
    };
    clear("contradict");
    assert_eq!(rule().as_deref(), Some("unreviewed"));
    clear("rely");
    assert_eq!(rule(), None);
}
