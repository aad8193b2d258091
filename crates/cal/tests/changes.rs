//! ADD, SUPERSEDE and REVERT: what each stores, and what refuses it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use grainstore::policy::Capability;
use grainstore::store::Clock;
use grainstore::{ContentAddress, Draft, Grain, Options as StoreOptions, Store, Time};
use grainstore_cal::{Answer, Body, Cal, Failure, Host, Options, parse};

const NOW: i64 = 1_768_471_200_000;

/// A clock that is set.
#[derive(Debug)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Time {
        Time::from_ms(self.0.load(Ordering::Relaxed))
    }
}

fn options() -> Options {
    Options::at(Time::from_ms(NOW))
}

fn changed(host: &Host, store: &Store, text: &str) -> Result<Answer, Failure> {
    let query = parse(text)?;
    let prepared = host.prepare(store, &query, &options())?;
    host.redeem(store, &prepared.token)?.apply(store)
}

fn stored(host: &Host, store: &Store, text: &str) -> Grain {
    match changed(host, store, text) {
        Ok(Answer {
            body: Body::Changed { address, .. },
            ..
        }) => store.get(&address).unwrap().unwrap(),
        other => panic!("{text}: {other:?}"),
    }
}

fn code(outcome: Result<Answer, Failure>) -> &'static str {
    outcome.unwrap_err().code()
}

fn add(object: &str) -> String {
    format!(
        "ADD belief SET subject = \"alice\" SET relation = \"mg:prefers\" SET object = \"{object}\" \
         REASON \"told\""
    )
}

fn supersede(old: &ContentAddress, object: &str) -> String {
    format!("SUPERSEDE sha256:{old} SET object = \"{object}\" REASON \"changed\"")
}

#[test]
fn each_type_that_can_be_added_has_its_fields_and_defaults() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let host = Host::with_changes().unwrap();
    let belief = stored(&host, &store, &add("tea"));
    assert_eq!(belief.text("object"), Some("tea"));
    assert_eq!(belief.field("confidence").unwrap().as_f64(), Some(1.0));
    assert_eq!(belief.text("x_reason"), Some("told"));

    let first = belief.address().to_string();
    let goal = stored(
        &host,
        &store,
        &format!(
            "ADD goal SET subject = \"alice\" SET relation = \"mg:intends\" SET object = \"ship it\" \
             SET goal_state = \"blocked\" SET deadline = \"2026-03-15\" SET tags = [\"work\"] \
             SET depends_on = [sha256:{}] SET importance = 0.5 REASON \"planned\"",
            &first[..12]
        ),
    );
    assert_eq!(goal.text("description"), Some("ship it"));
    assert_eq!(goal.text("goal_state"), Some("suspended"));
    let links: Vec<&str> = goal.field("depends_on").unwrap().texts().collect();
    assert_eq!(links, [first.as_str()]);
    let dated = store.cal("RECALL goals WHERE deadline = \"2026-03-15\"", &options());
    assert!(dated.unwrap().is_found());

    let seen = stored(
        &host,
        &store,
        "ADD observation SET subject = \"alice\" SET relation = \"mg:perceives\" \
         SET object = \"it rains\" SET observer_id = \"o\" SET observer_type = \"llm\" REASON \"seen\"",
    );
    assert_eq!(seen.text("observer_id"), Some("o"));
    assert_eq!(seen.text("object"), Some("it rains"));
}

#[test]
fn a_supersession_keeps_what_it_does_not_set_and_tells_its_reason() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let host = Host::with_changes().unwrap();
    let tea = Draft::belief("alice", "mg:prefers", "tea").confidence(0.7);
    let tea = store.put(tea.tag("drinks").set("x_n", 3)).unwrap();
    let coffee = stored(&host, &store, &supersede(&tea, "coffee"));
    assert_eq!(coffee.text("object"), Some("coffee"));
    assert_eq!(coffee.field("confidence").unwrap().as_f64(), Some(0.7));
    assert_eq!(coffee.field("x_n").unwrap().as_i64(), Some(3));
    assert_eq!(coffee.text("supersession_justification"), Some("changed"));
    let status = store.status(&tea).unwrap();
    assert_eq!(status.superseded_by, Some(coffee.address()));
    assert_eq!(
        code(changed(&host, &store, &supersede(&tea, "milk"))),
        "CAL-E040"
    );
    let missing = ContentAddress::new([1; 32]);
    assert_eq!(
        code(changed(&host, &store, &supersede(&missing, "milk"))),
        "CAL-E046"
    );
    let event = store.put(Draft::event("hello")).unwrap();
    assert_eq!(
        code(changed(&host, &store, &supersede(&event, "milk"))),
        "CAL-E042"
    );
}

#[test]
fn a_revert_brings_the_content_of_before_as_a_third_version() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let host = Host::with_changes().unwrap();
    let tea = store
        .put(Draft::belief("alice", "mg:prefers", "tea").confidence(0.7))
        .unwrap();
    let coffee = stored(&host, &store, &supersede(&tea, "coffee")).address();
    let milk = stored(&host, &store, &supersede(&coffee, "milk")).address();
    let revert = |of: &ContentAddress| format!("REVERT sha256:{of} REASON \"wrong\"");
    assert_eq!(code(changed(&host, &store, &revert(&tea))), "CAL-E041");
    let again = stored(&host, &store, &revert(&coffee));
    assert_eq!(again.text("object"), Some("tea"));
    assert_eq!(
        store.status(&milk).unwrap().superseded_by,
        Some(again.address())
    );
    assert_eq!(store.history(&tea).unwrap().len(), 4);
}

#[test]
fn a_token_is_of_one_host_for_one_use_within_five_minutes() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let clock = Arc::new(Hand(AtomicI64::new(NOW)));
    let host = Host::with_changes().unwrap().by(clock.clone());
    let prepare = |text: &str| {
        host.prepare(&store, &parse(text).unwrap(), &options())
            .unwrap()
    };
    let spend = |host: &Host, token: &str| {
        host.redeem(&store, token)
            .and_then(|change| change.apply(&store))
    };
    let [one, two] = [prepare(&add("tea")), prepare(&add("milk"))];
    assert_eq!(one.plan["side_effects"][0], "stores a belief");
    assert_eq!(
        code(spend(&Host::with_changes().unwrap(), &one.token)),
        "CAL-E044"
    );
    assert!(spend(&host, &one.token).is_ok());
    assert_eq!(code(spend(&host, &one.token)), "CAL-E044");
    clock.0.store(NOW + 300_000, Ordering::Relaxed);
    assert_eq!(code(spend(&host, &two.token)), "CAL-E044");
    assert_eq!(code(spend(&host, "")), "CAL-E044");
}

#[test]
fn a_token_is_of_the_reach_that_prepared_it() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let host = Host::with_changes().unwrap();
    let reach = |namespace: &str, user: &str| {
        let capability = Capability::default().author(&"did:web:bot".parse().unwrap());
        let capability = capability.inside(namespace).of_user(user);
        store.with_capability(capability).unwrap()
    };
    let spent = |spender: &Store| {
        let query = parse(&add("tea")).unwrap();
        let own = reach("acme", "ana");
        let token = host.prepare(&own, &query, &options()).unwrap().token;
        let change = host.redeem(spender, &token);
        change.and_then(|change| change.apply(spender))
    };
    assert_eq!(code(spent(&reach("other", "ana"))), "CAL-E045");
    assert_eq!(code(spent(&reach("acme:chat", "ana"))), "CAL-E045");
    assert_eq!(code(spent(&reach("acme", "ben"))), "CAL-E044");
    assert_eq!(code(spent(&store)), "CAL-E044");
    assert!(spent(&reach("acme", "ana")).is_ok());
}

#[test]
fn a_minute_has_ten_supersessions_and_five_reverts() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let clock = Arc::new(Hand(AtomicI64::new(NOW)));
    let host = Host::with_changes().unwrap().by(clock.clone());
    let mut last = stored(&host, &store, &add("tea 0")).address();
    for n in 1..=10 {
        last = stored(&host, &store, &supersede(&last, &format!("tea {n}"))).address();
    }
    assert_eq!(
        code(changed(&host, &store, &supersede(&last, "milk"))),
        "CAL-E043"
    );
    for _ in 0..5 {
        clock.0.fetch_add(1, Ordering::Relaxed);
        last = stored(&host, &store, &format!("REVERT sha256:{last} REASON \"r\"")).address();
    }
    let revert = format!("REVERT sha256:{last} REASON \"r\"");
    assert_eq!(code(changed(&host, &store, &revert)), "CAL-E043");
    clock.0.fetch_add(60_000, Ordering::Relaxed);
    assert!(changed(&host, &store, &revert).is_ok());
}

#[test]
fn nothing_changes_without_a_host_a_right_and_a_whole_statement() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let host = Host::with_changes().unwrap();
    assert_eq!(code(store.cal(&add("tea"), &options())), "CAL-E044");
    assert_eq!(
        code(changed(&Host::default(), &store, &add("tea"))),
        "CAL-E044"
    );
    let reader = store.read_only();
    assert_eq!(code(changed(&host, &reader, &add("tea"))), "CAL-E044");
    // Ruling A11: the mistake of the text comes first.
    let untold = "ADD belief SET subject = \"a\" SET relation = \"b\" SET object = \"c\"";
    assert_eq!(code(changed(&Host::default(), &reader, untold)), "CAL-E018");
    assert_eq!(code(changed(&host, &store, "RECALL beliefs")), "CAL-E002");
    let wrong = add("tea").replace("REASON", "SET namespace = \"x\" REASON");
    assert_eq!(code(changed(&host, &store, &wrong)), "CAL-E017");
    assert!(store.list(None, 10).unwrap().addresses.is_empty());
}
