//! What has expired is left out of answers and of nothing else (ruling I23).

use grainstore::codec::{Map, Value};
use grainstore::interchange::{Format, WriteOptions};
use grainstore::query::{QueryPlan, Recall};
use grainstore::render;
use grainstore::store::Embedding;
use grainstore::{ContentAddress, Draft, Filter, Search, Store, Time};

use crate::sample::addresses_of;
use crate::store::at;

const NOW: i64 = 100 * 3_600_000;

fn lent(to: &str, until: i64) -> Draft {
    let belief = Draft::belief("mira", "has_lent_the_drill_to", to).confidence(0.9);
    belief.namespace("home").valid_to(Time::from_ms(until))
}

fn goal(what: &str, deadline: i64) -> Draft {
    Draft::goal(what).set("deadline", deadline)
}

fn found(store: &Store, filter: &Filter) -> Vec<ContentAddress> {
    let found = store.query(filter, 100, None).unwrap();
    assert_eq!(found.total, found.results.len() as u64);
    assert_eq!(
        store
            .maintenance()
            .unwrap()
            .explain(filter)
            .unwrap()
            .total(),
        found.total
    );
    found.results.iter().map(|found| found.address).collect()
}

fn says(plan: &QueryPlan) -> bool {
    plan.steps
        .iter()
        .any(|step| step.condition == "not expired")
}

#[test]
fn what_is_no_longer_true_is_left_out_of_every_answer_and_shown_to_whoever_asks() {
    let (options, clock) = at(NOW);
    let store = Store::in_memory(options).unwrap();
    let address = store.put(lent("Noor", NOW)).unwrap();
    let bot = store.in_namespace("home");
    let answers = |filter: &Filter| {
        let recall = Recall::default();
        let nearest = store.find(
            &Search::words("drill")
                .vector("m", &[1.0, 0.0])
                .filter(filter)
                .limit(9),
        );
        let texts = [
            &store.recall("drill?", filter, &recall),
            &bot.recall("drill?", filter, &recall),
        ]
        .map(|known| {
            known
                .as_ref()
                .unwrap()
                .render(render::Format::Text)
                .is_empty()
        });
        let totals = [
            store.query(filter, 9, None).unwrap().total,
            bot.query(filter, 9, None).unwrap().total,
            store.search("drill", filter, 9).unwrap().total,
            bot.search("drill", filter, 9).unwrap().total,
            store
                .find(&Search::near("m", &[1.0, 0.0]).filter(filter).limit(9))
                .unwrap()
                .total,
            nearest.unwrap().total,
            u64::from(!texts[0]),
            u64::from(!texts[1]),
        ];
        assert!(totals.iter().all(|total| *total == totals[0]), "{totals:?}");
        totals[0]
    };
    store
        .put_embeddings(&[Embedding::new(address, "m", &[1.0, 0.0])])
        .unwrap();
    // To the last millisecond it is true.
    assert_eq!(answers(&Filter::new()), 1);
    clock.set(NOW + 1);
    assert_eq!(answers(&Filter::new()), 0);
    assert_eq!(answers(&Filter::new().with_expired()), 1);
    assert_eq!(answers(&Filter::new().valid_at(Time::from_ms(NOW))), 1);
    assert_eq!(answers(&Filter::new().known_at(Time::from_ms(NOW))), 1);
    assert_eq!(answers(&Filter::new().with_superseded()), 1);
}

#[test]
fn what_has_expired_is_here_as_it_was() {
    let (options, clock) = at(NOW);
    let store = Store::in_memory(options).unwrap();
    let address = store.put(lent("Noor", NOW)).unwrap();
    clock.set(NOW + 3_600_000);
    assert_eq!(found(&store, &Filter::new()), []);
    assert!(store.get(&address).unwrap().is_some());
    assert!(store.status(&address).unwrap().is_current());
    assert_eq!(store.list(None, 9).unwrap().addresses, [address]);
    assert_eq!(store.history(&address).unwrap().len(), 1);
    for format in [
        Format::Mg,
        Format::Jsonl,
        Format::Pam,
        Format::Aimem,
        Format::Omi,
    ] {
        let mut file = Vec::new();
        let options = WriteOptions::default();
        let exported = store
            .admin()
            .unwrap()
            .export(format, &Filter::new(), &options, &mut file)
            .unwrap();
        assert_eq!(exported.grains, 1, "{format}");
    }
    // It can be put right as any other.
    let longer = lent("Noor", NOW + 7_200_000).derived_from(address);
    let longer = store.supersede(&address, longer, None).unwrap();
    assert_eq!(found(&store, &Filter::new()), [longer]);
}

#[test]
fn an_observed_window_a_consent_and_a_goal_without_an_expiry_policy_do_not_expire() {
    let store = Store::in_memory(at(NOW).0).unwrap();
    let past = Time::from_ms(NOW - 1);
    let seen = Draft::observation("cam", "camera")
        .set("subject", "yard")
        .valid_to(past);
    let consent = Draft::consent("did:a", "did:b", ["store"]).valid_to(past);
    let kept = [seen, consent, goal("tidy up", NOW - 1)];
    let kept = kept.map(|draft| store.put(draft).unwrap());
    let policy = |goal: Draft| goal.set("expiry_policy", "drop it");
    for draft in [
        policy(goal("call", NOW - 1)),
        goal("write", NOW + 1).valid_to(past),
        Draft::event("on call").valid_to(past),
    ] {
        store.put(draft).unwrap();
    }
    let due = store.put(policy(goal("pay", NOW))).unwrap();
    let open = store.put(policy(Draft::goal("learn"))).unwrap();
    let kept = [kept.as_slice(), &[due, open]].concat();
    assert_eq!(found(&store, &Filter::new()), kept);
    assert_eq!(found(&store, &Filter::new().with_expired()).len(), 8);
}

#[test]
fn a_goal_that_has_expired_is_protected_as_before() {
    let store = Store::in_memory(at(NOW).0).unwrap();
    let locked = Map::from_iter([("mode", Value::from("locked"))]);
    let draft = goal("pay", NOW - 1).set("expiry_policy", "drop it");
    let draft = draft.set("invalidation_policy", locked);
    let old = store.put(draft).unwrap();
    assert_eq!(found(&store, &Filter::new()), []);
    let new = goal("pay", NOW + 1).derived_from(old);
    let refused = store.supersede(&old, new, None).unwrap_err();
    assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED");
}

#[test]
fn it_is_a_step_only_where_it_takes_something_away() {
    let (options, clock) = at(NOW);
    let store = Store::in_memory(options).unwrap();
    store.put(lent("Noor", NOW)).unwrap();
    store.put(Draft::event("a drill")).unwrap();
    assert!(!says(
        &store
            .maintenance()
            .unwrap()
            .explain(&Filter::new())
            .unwrap()
    ));
    clock.set(NOW + 1);
    assert!(says(
        &store
            .maintenance()
            .unwrap()
            .explain(&Filter::new())
            .unwrap()
    ));
    let elsewhere = Filter::new().subject("noor");
    assert!(!says(
        &store.maintenance().unwrap().explain(&elsewhere).unwrap()
    ));
    assert!(!says(
        &store
            .maintenance()
            .unwrap()
            .explain(&Filter::new().with_expired())
            .unwrap()
    ));
}

#[test]
fn many_expire_hour_by_hour_whatever_is_remembered_of_the_hours_before() {
    let (options, clock) = at(NOW);
    let store = Store::in_memory(options).unwrap();
    // A grain every two seconds, for five hours.
    let drafts = (0..9_000).map(|n| lent(&format!("neighbour {n}"), NOW + n * 2_000));
    store.put_batch(drafts).unwrap();
    let left = |now: i64| {
        clock.set(now);
        store.query(&Filter::new(), 1, None).unwrap().total
    };
    for is_compact in [false, true] {
        if is_compact {
            store.maintenance().unwrap().compact().unwrap();
        }
        for minutes in [0, 1, 59, 60, 61, 119, 120, 121, 200, 300, 150, 3] {
            let passed = minutes * 60_000;
            let gone = u64::try_from(passed / 2_000).unwrap();
            assert_eq!(left(NOW + passed), 9_000 - gone, "{minutes}");
            assert_eq!(
                left(NOW + passed + 1),
                9_000 - (gone + 1).min(9_000),
                "{minutes}"
            );
        }
    }
}

#[test]
fn nothing_expires_between_the_pages_of_one_answer() {
    let (options, clock) = at(NOW);
    let store = Store::in_memory(options).unwrap();
    let drafts = (0..5).map(|n| lent(&format!("neighbour {n}"), NOW + n));
    let all = addresses_of(&store.put_batch(drafts).unwrap());
    let home = store.in_namespace("home");
    let first = store.query(&Filter::new(), 2, None).unwrap();
    let seen = home.query(&Filter::new(), 2, None).unwrap();
    clock.set(NOW + 4);
    let cursor = first.next_cursor.unwrap().to_string();
    let rest = store.query(&Filter::new(), 9, Some(cursor.parse().unwrap()));
    let rest_seen = home.query(&Filter::new(), 9, seen.next_cursor).unwrap();
    for rest in [rest.unwrap(), rest_seen] {
        let addresses = rest.results.iter().map(|found| found.address);
        assert_eq!(addresses.collect::<Vec<_>>(), all[2..]);
    }
    assert_eq!(found(&store, &Filter::new()), all[4..]);
}
