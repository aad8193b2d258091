//! The trusted clock (ruling I21): leaps, setbacks and acceptance by an operator.

use grainstore::ledger::{Kind, MemoryDisk};
use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Store};

use super::opened_at;

const OPERATOR: Authorization<'static> = Authorization {
    reason: "the machine was off over the holidays",
    authority: "the operator",
};
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// A belief that is open from this time on, in milliseconds.
fn timed(until_ms: i64) -> Draft {
    let json = format!(
        r#"{{"type":"belief","subject":"rent","relation":"is","object":"900","confidence":1.0,
            "created_at":1,"invalidation_policy":{{"mode":"timed","locked_until":{},
            "fallback_mode":"open"}}}}"#,
        until_ms / 1000
    );
    Draft::from_json(&json).unwrap()
}

/// The rule that keeps a grain from being contradicted; none if nothing does, and then it is done.
fn denied(store: &Store, address: &ContentAddress) -> Option<String> {
    let error = store.contradict(address, Some("x")).err()?;
    assert_eq!(error.code(), "ERR_INVALIDATION_DENIED");
    Some(error.to_string())
}

#[test]
fn a_leap_of_the_clock_opens_nothing_however_often_one_asks_or_opens_the_store() {
    let disk = MemoryDisk::default();
    let (store, clock) = opened_at(&disk, DAY);
    let locked = store.put(timed(9 * DAY)).unwrap();
    assert!(denied(&store, &locked).unwrap().contains("timed"));
    clock.set(10 * DAY);
    for _ in 0..3 {
        // The denial is an entry too, and written by the clock that is not believed.
        assert!(denied(&store, &locked).unwrap().contains("timed"));
        store.put(Draft::event("meanwhile")).ok();
    }
    drop(store);
    for _ in 0..2 {
        let (store, _) = opened_at(&disk, 10 * DAY + HOUR);
        assert!(store.admin().unwrap().clock_state().is_doubted);
        assert!(denied(&store, &locked).is_some());
    }
    let (store, _) = opened_at(&disk, 10 * DAY + HOUR);
    let nobody = Authorization {
        authority: " ",
        ..OPERATOR
    };
    assert_eq!(
        store
            .admin()
            .unwrap()
            .accept_clock(nobody)
            .unwrap_err()
            .code(),
        "ERR_AUTHORITY"
    );
    assert!(denied(&store, &locked).is_some());
    store.admin().unwrap().accept_clock(OPERATOR).unwrap();
    assert!(!store.admin().unwrap().clock_state().is_doubted);
    assert_eq!(denied(&store, &locked), None);
}

#[test]
fn what_is_due_already_stays_locked_while_the_clock_is_not_believed() {
    let disk = MemoryDisk::default();
    let (store, clock) = opened_at(&disk, 0);
    let locked = store.put(timed(DAY)).unwrap();
    clock.set(DAY + 1);
    assert!(denied(&store, &locked).unwrap().contains("clock"));
    // Set right, it goes on as if nothing had been.
    clock.set(DAY);
    assert_eq!(denied(&store, &locked), None);
}

#[test]
fn a_clock_that_goes_by_steps_is_followed() {
    let disk = MemoryDisk::default();
    let (store, clock) = opened_at(&disk, 0);
    let locked = store.put(timed(3 * DAY)).unwrap();
    for day in 1..=3 {
        assert!(denied(&store, &locked).unwrap().contains("timed"), "{day}");
        clock.set(day * DAY);
    }
    assert_eq!(denied(&store, &locked), None);
    assert!(
        store
            .maintenance()
            .unwrap()
            .index_snapshot()
            .of_kind(Kind::Policy)
            .next()
            .is_none()
    );
}

#[test]
fn a_clock_that_was_set_right_is_not_mistaken_for_the_ledgers_time() {
    // The ledger's time cannot go back; what was accepted is what the clock said.
    let disk = MemoryDisk::default();
    let (store, clock) = opened_at(&disk, 0);
    let locked = store.put(timed(50 * DAY)).unwrap();
    clock.set(100 * DAY);
    store.put(Draft::event("by the wrong clock")).unwrap();
    clock.set(2 * DAY);
    store.admin().unwrap().accept_clock(OPERATOR).unwrap();
    assert!(denied(&store, &locked).unwrap().contains("timed"));
    drop(store);
    let (store, clock) = opened_at(&disk, 2 * DAY + HOUR);
    assert!(denied(&store, &locked).unwrap().contains("timed"));
    clock.set(60 * DAY);
    assert!(denied(&store, &locked).is_some());
}

#[test]
fn a_leap_and_who_accepted_it_are_in_the_ledger() {
    let disk = MemoryDisk::default();
    let (store, clock) = opened_at(&disk, 0);
    store.put(Draft::event("one")).unwrap();
    clock.set(5 * DAY);
    store.put(Draft::event("two")).unwrap();
    store.put(Draft::event("three")).unwrap();
    let entries = |store: &Store| {
        let rows = store
            .maintenance()
            .unwrap()
            .index_snapshot()
            .of_kind(Kind::Policy)
            .rows()
            .unwrap();
        rows.len()
    };
    assert_eq!(entries(&store), 1, "one leap is one entry");
    store.admin().unwrap().accept_clock(OPERATOR).unwrap();
    assert_eq!(entries(&store), 2);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}
