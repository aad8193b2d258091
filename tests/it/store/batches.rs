//! Batches that are prepared while others are committed: as if each were put when the one before it
//! had been acknowledged.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use grainstore::Error;
use grainstore::store::Put;
use proptest::prelude::*;

use super::disk_calls::Counting;
use super::*;

/// What is done with the batches.
#[derive(Debug, Clone)]
struct Plan {
    /// The numbers of the grains of each batch; 200 and above are refused.
    batches: Vec<Vec<u8>>,
    /// How many answers are waited for.
    taken: usize,
}

fn plan() -> impl Strategy<Value = Plan> {
    let number = prop_oneof![60 => 0_u8..200, 1 => 200_u8..=255];
    let batches = prop::collection::vec(prop::collection::vec(number, 0..5), 0..8);
    (batches, 0_usize..10).prop_map(|(batches, taken)| Plan { batches, taken })
}

/// A grain that is derived from the one of half its number. If that one is stored, in its batch or
/// before, one grain in twenty is refused: it would replace that.
fn draft(n: u8) -> Draft {
    let draft = prefers(&n.to_string()).created_at(Time::from_ms(i64::from(n)));
    let draft = match n {
        0 => return draft,
        200.. => return draft.confidence(7.0),
        _ if n % 20 == 10 => draft,
        _ => draft.set("consolidation_level", 1),
    };
    let parent = self::draft(n / 2).finish(Default::default()).unwrap();
    draft.derived_from(parent.address())
}

fn drafts(batches: &[Vec<u8>]) -> Vec<Vec<Draft>> {
    let batches = batches.iter();
    batches
        .map(|ns| ns.iter().copied().map(draft).collect())
        .collect()
}

/// Collects the answers, each error as its text, so that they compare.
fn told(answers: impl Iterator<Item = Result<Vec<Put>, Error>>) -> Vec<Result<Vec<Put>, String>> {
    let answers = answers.map(|answer| answer.map_err(|error| error.to_string()));
    answers.collect()
}

fn one_by_one(store: &Store, batches: Vec<Vec<Draft>>) -> Vec<Result<Vec<Put>, String>> {
    let mut answers = Vec::new();
    for batch in batches {
        answers.push(store.put_batch(batch).map_err(|error| error.to_string()));
        if answers.last().is_some_and(Result::is_err) {
            break;
        }
    }
    answers
}

fn listed(store: &Store) -> Vec<ContentAddress> {
    store.list(None, usize::MAX).unwrap().addresses
}

/// The grains of the first batches, in the order in which they are stored.
fn stored_by(batches: &[Vec<u8>]) -> Vec<ContentAddress> {
    let store = memory();
    drop(one_by_one(&store, drafts(batches)));
    listed(&store)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn batches_are_answered_in_order_as_if_each_were_put_alone(plan in plan()) {
        let (ahead, alone) = (memory(), memory());
        let answers = told(ahead.put_batches(drafts(&plan.batches)));
        prop_assert_eq!(answers, one_by_one(&alone, drafts(&plan.batches)));
        prop_assert_eq!(listed(&ahead), listed(&alone));
        prop_assert_eq!(ahead.maintenance().unwrap().check().unwrap().findings, []);
    }

    #[test]
    fn what_was_answered_stays_when_the_rest_is_given_up(plan in plan()) {
        let store = memory();
        let answers = told(store.put_batches(drafts(&plan.batches)).take(plan.taken));
        let answered = answers.iter().take_while(|answer| answer.is_ok()).count();
        let found = listed(&store);
        let batches = answered..=plan.batches.len();
        let mut prefixes = batches.map(|len| stored_by(&plan.batches[..len]));
        prop_assert!(prefixes.any(|stored| stored == found), "{} of {:?}", found.len(), plan);
    }

    #[test]
    fn a_disk_that_dies_keeps_whole_batches_from_the_first_on(
        ns in prop::collection::vec(prop::collection::vec(0_u8..200, 1..5), 1..8),
        lives in 0_usize..40,
    ) {
        let disk = Counting::default();
        let options = || at(1_768_471_200_000).0;
        drop(Store::open_on(Arc::new(disk.clone()), options()).unwrap());
        let mut dying = disk.clone();
        dying.lives = Some(Arc::new(AtomicUsize::new(lives)));
        let answers = Store::open_on(Arc::new(dying), options()).map(|store| {
            let mut answers = told(store.put_batches(drafts(&ns)));
            // The first error is the last answer.
            answers.retain(Result::is_ok);
            answers.len()
        });
        let answered = answers.unwrap_or(0);
        let found = listed(&Store::open_on(Arc::new(disk), options()).unwrap());
        let mut prefixes = (answered..=ns.len()).map(|len| stored_by(&ns[..len]));
        prop_assert!(prefixes.any(|stored| stored == found), "{answered} answered, {} found", found.len());
    }
}

#[test]
fn a_refused_batch_ends_the_order_and_nothing_behind_it_is_stored() {
    let store = memory();
    let batches = drafts(&[vec![1, 2], vec![3, 201, 4], vec![5]]);
    let mut answers = store.put_batches(batches);
    let first = answers.next().unwrap().unwrap();
    assert_eq!(first.len(), 2);
    let error = answers.next().unwrap().unwrap_err();
    assert!(
        error.to_string().starts_with("grain 1 of the batch"),
        "{error}"
    );
    assert_eq!(error.code(), "ERR_RANGE");
    assert!(answers.next().is_none() && answers.next().is_none());
    drop(answers);
    assert_eq!(listed(&store), addresses_of(&first));
}

#[test]
fn nothing_is_taken_before_it_is_asked_for_and_little_ahead_of_the_answers() {
    let store = memory();
    let taken = AtomicUsize::new(0);
    let source = (0..100_u8).map(|n| {
        taken.fetch_add(1, Ordering::Relaxed);
        [draft(n)]
    });
    let mut answers = store.put_batches(source);
    assert_eq!(taken.load(Ordering::Relaxed), 0);
    for answered in 1..=10 {
        answers.next().unwrap().unwrap();
        let ahead = taken.load(Ordering::Relaxed) - answered;
        assert!(ahead <= 3, "{ahead} batches ahead");
    }
}

#[test]
fn a_narrowed_handle_writes_batches_as_what_it_is() {
    let store = memory();
    let agent = store
        .in_namespace("team")
        .as_actor(&"did:web:agent.example".parse().unwrap());
    let inside = |n: u8| prefers(&n.to_string()).namespace("team");
    let batches = [
        vec![inside(1)],
        vec![inside(2), prefers("elsewhere").namespace("other")],
    ];
    let answers: Vec<_> = agent.put_batches(batches).collect();
    assert!(answers[0].is_ok());
    let refused = answers[1].as_ref().unwrap_err();
    assert_eq!(refused.code(), "ERR_ACCESS_DENIED");
    assert_eq!(listed(&store).len(), 1);
    let grain = store.get(&listed(&store)[0]).unwrap().unwrap();
    assert_eq!(grain.text("author_did"), Some("did:web:agent.example"));
}
