//! How questions are answered: the fewest rows first, and nothing that need not be read.

use grainstore::{Draft, Filter, Options, Store, Type};

use crate::store::at;

/// 3,000 beliefs of ten users, three of them about a comet.
fn store() -> Store {
    let options = Options {
        text: None,
        ..at(1).0
    };
    let store = Store::in_memory(options).unwrap();
    let drafts = (0..3_000).map(|n| {
        let subject = if n % 1_000 == 0 { "comet" } else { "planet" };
        let sure = f64::from(n % 100) / 100.0;
        let belief = Draft::belief(subject, "is", format!("thing {n}")).confidence(sure);
        belief.namespace("sky").user(format!("u{}", n % 10))
    });
    store.put_batch(drafts).unwrap();
    store.maintenance().unwrap().compact().unwrap();
    store
}

#[test]
fn the_cheapest_list_comes_first_and_the_rest_is_read_from_few_grains() {
    let store = store();
    let filter = Filter::new()
        .of_type(Type::Belief)
        .namespace("sky")
        .subject("comet")
        .user("u0");
    let plan = store.maintenance().unwrap().explain(&filter).unwrap();
    assert_eq!(plan.steps[0].condition, "subject = \"comet\"");
    assert_eq!(
        (plan.steps[0].access_path, plan.steps[0].left),
        ("rows that fit", 3)
    );
    let last = plan.steps.last().unwrap();
    assert_eq!(last.access_path, "grain by grain", "{plan}");
    assert!(last.condition.contains("namespace in \"sky\""), "{plan}");
    assert_eq!(plan.total(), 3);
}

#[test]
fn a_list_that_was_read_once_is_not_read_again() {
    let store = store();
    let filter = Filter::new().namespace("sky").subject("comet");
    assert_eq!(
        store
            .maintenance()
            .unwrap()
            .explain(&filter)
            .unwrap()
            .steps
            .last()
            .unwrap()
            .access_path,
        "grain by grain"
    );
    // Somebody asks for all of it; from then on its rows are at hand.
    assert_eq!(
        store
            .query(&Filter::new().namespace("sky"), 1, None)
            .unwrap()
            .total,
        3_000
    );
    let plan = store.maintenance().unwrap().explain(&filter).unwrap();
    assert_eq!(
        plan.steps.last().unwrap().access_path,
        "rows that fit",
        "{plan}"
    );
    assert_eq!(plan.total(), 3);
}

#[test]
fn a_wide_range_is_looked_up_row_by_row() {
    let store = store();
    let filter = Filter::new().user("u7").confidence(0.05, None);
    let plan = store.maintenance().unwrap().explain(&filter).unwrap();
    let step = plan.steps.last().unwrap();
    assert_eq!(
        (step.access_path, step.left),
        ("value by value", 300),
        "{plan}"
    );
    let narrow = Filter::new().user("u7").confidence(0.37, 0.37);
    assert_eq!(
        store
            .maintenance()
            .unwrap()
            .explain(&narrow)
            .unwrap()
            .total(),
        30
    );
}

#[test]
fn a_list_at_hand_comes_before_a_shorter_one_that_must_be_read() {
    let store = store();
    store
        .query(&Filter::new().namespace("sky"), 1, None)
        .unwrap();
    let filter = Filter::new()
        .user("u7")
        .confidence(0.3, 0.6)
        .namespace("sky");
    let plan = store.maintenance().unwrap().explain(&filter).unwrap();
    let place = |name| {
        let mut steps = plan.steps.iter();
        steps.position(|step| step.condition.starts_with(name))
    };
    assert_eq!(place("user_id"), Some(0), "{plan}");
    assert!(place("namespace") < place("confidence"), "{plan}");
    assert_eq!(plan.total(), 90);
}

#[test]
fn a_filter_that_cannot_mean_anything_is_refused() {
    let store = Store::in_memory(at(1).0).unwrap();
    for filter in [
        Filter::new().namespace(""),
        Filter::new().namespace("a:"),
        Filter::new().confidence(0.9, 0.1),
        Filter::new().importance(f64::NAN, None),
        Filter::new().confidence(0.1, f64::INFINITY),
    ] {
        let refused = store.maintenance().unwrap().explain(&filter).unwrap_err();
        assert_eq!(refused.code(), "ERR_FILTER", "{filter:?}");
    }
}
