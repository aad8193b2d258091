//! The trusted clock beside the steady clock (ruling I21): many steps that are no leap each, over
//! one opening and over many; a clock that goes right; and the repair of one that went wrong.

use std::sync::Arc;

use grainstore::ledger::MemoryDisk;
use grainstore::store::{Authorization, Clock, Options, Until};
use grainstore::{ContentAddress, Draft, Store};
use proptest::prelude::*;

use crate::store::{SetClock, at};

const OPERATOR: Authorization<'static> = Authorization {
    reason: "compared with a watch",
    authority: "the operator",
};
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Some time in 2026.
const BEGIN: i64 = 1_770_000_000_000;
/// Some time in 2176.
const WRONG: i64 = 6_500_000_000_000;

fn open(disk: &MemoryDisk, clock: &Arc<SetClock>) -> Store {
    let options = Options {
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        ballast_bytes: 0,
        text: None,
        ..Options::default()
    };
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

/// A machine that was just started, and the belief of a store that is locked until a time.
fn locked_until(disk: &MemoryDisk, until: i64) -> (Arc<SetClock>, ContentAddress) {
    let clock = at(BEGIN).1;
    clock.start();
    let json = format!(
        r#"{{"type":"belief","subject":"rent","relation":"is","object":"900","confidence":1.0,
            "created_at":1,"invalidation_policy":{{"mode":"timed","locked_until":{},
            "fallback_mode":"open"}}}}"#,
        until / 1000
    );
    let locked = open(disk, &clock).put(Draft::from_json(&json).unwrap());
    (clock, locked.unwrap())
}

fn opens(store: &Store, locked: &ContentAddress) -> bool {
    store.contradict(locked, Some("too much")).is_ok()
}

fn note(n: usize) -> Draft {
    Draft::event(format!("note {n}"))
}

#[test]
fn many_steps_below_a_day_in_a_short_time_open_nothing() {
    for reopens in [false, true] {
        let disk = MemoryDisk::default();
        let (clock, locked) = locked_until(&disk, BEGIN + 400 * DAY);
        let mut store = open(&disk, &clock);
        for n in 0..403 {
            clock.leap(clock.now().ms() + DAY - 6 * MINUTE);
            store.put(note(n)).unwrap();
            if reopens {
                drop(store);
                store = open(&disk, &clock);
            }
        }
        assert!(!opens(&store, &locked), "reopened: {reopens}");
        let state = store.admin().unwrap().clock_state();
        assert!(state.is_doubted);
        assert!(state.measured.ms() < BEGIN + 2 * DAY, "{state:?}");
        store.admin().unwrap().accept_clock(OPERATOR).unwrap();
        assert!(!store.admin().unwrap().clock_state().is_doubted);
        assert!(opens(&store, &locked), "the operator accepted the clock");
    }
}

#[test]
fn a_clock_that_goes_back_after_a_leap_is_followed_again() {
    let disk = MemoryDisk::default();
    let (clock, locked) = locked_until(&disk, BEGIN + 9 * DAY);
    let store = open(&disk, &clock);
    clock.leap(BEGIN + 100 * DAY);
    store.put(note(0)).unwrap();
    assert!(store.admin().unwrap().clock_state().is_doubted);
    clock.leap(BEGIN);
    for day in 1..=9 {
        assert!(!opens(&store, &locked));
        clock.set(BEGIN + day * DAY);
        assert!(!store.admin().unwrap().clock_state().is_doubted);
    }
    assert!(opens(&store, &locked));
}

#[test]
fn a_sleep_of_three_weeks_is_a_leap_that_the_operator_accepts() {
    let disk = MemoryDisk::default();
    let (clock, locked) = locked_until(&disk, BEGIN + 20 * DAY);
    let store = open(&disk, &clock);
    clock.set(BEGIN + 21 * DAY);
    assert!(!opens(&store, &locked));
    let state = store.admin().unwrap().clock_state();
    assert!(state.is_doubted && state.measured == state.now);
    store.admin().unwrap().accept_clock(OPERATOR).unwrap();
    assert!(opens(&store, &locked));
}

#[test]
fn entries_after_a_repair_are_dated_by_the_clock_again() {
    let disk = MemoryDisk::default();
    let clock = at(WRONG).1;
    let store = open(&disk, &clock);
    let wrong = store.put(note(0)).unwrap();
    clock.leap(BEGIN);
    let behind = store.put(note(1)).unwrap();
    let dated = |store: &Store, address| {
        let found = store.history(address).unwrap();
        found[0].stored_at.ms()
    };
    assert_eq!(dated(&store, &behind), WRONG);
    let nobody = Authorization {
        authority: " ",
        ..OPERATOR
    };
    let refused = store.admin().unwrap().repair_clock(nobody).unwrap_err();
    assert_eq!(refused.code(), "ERR_AUTHORITY");
    store.admin().unwrap().repair_clock(OPERATOR).unwrap();
    clock.set(BEGIN + HOUR);
    let right = store.put(note(2)).unwrap();
    assert_eq!(dated(&store, &right), BEGIN + HOUR);
    let before = store.admin().unwrap().clock_state();
    assert_eq!(before.trusted.unwrap().ms(), BEGIN + HOUR);
    drop(store);

    let store = open(&disk, &clock);
    let state = store.admin().unwrap().clock_state();
    assert_eq!(state.trusted, before.trusted);
    assert_eq!(state.dated, before.dated);
    assert_eq!(dated(&store, &wrong), WRONG, "an entry keeps its time");
    clock.set(BEGIN + 2 * HOUR);
    let later = store.put(note(3)).unwrap();
    assert_eq!(dated(&store, &later), BEGIN + 2 * HOUR);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_store_is_restored_to_a_time_across_entries_that_a_wrong_clock_dated() {
    let home = tempfile::tempdir().unwrap();
    let (old, new) = (home.path().join("old"), home.path().join("new"));
    let (options, clock) = at(WRONG);
    let store = Store::open(&old, options.clone()).unwrap();
    let wrong = store.put(note(0)).unwrap();
    clock.leap(BEGIN);
    store.admin().unwrap().repair_clock(OPERATOR).unwrap();
    let right = store.put(note(1)).unwrap();
    clock.set(BEGIN + HOUR);
    let late = store.put(note(2)).unwrap();
    drop(store);
    let until = Until::Time(grainstore::grain::Time::from_ms(BEGIN + MINUTE));
    let (store, _) = grainstore::recovery::restore(&old, &new, until, options).unwrap();
    assert!(store.exists(&wrong).unwrap() && store.exists(&right).unwrap());
    assert!(!store.exists(&late).unwrap());
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Time passes.
    Pass(i64),
    /// The clock is set.
    Leap(i64),
    /// The clock is set, and an entry written by it.
    Creep(i64),
    Put,
    Ask,
    Reopen,
    /// The machine is off for so long.
    Restart(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..20 * HOUR).prop_map(Step::Pass),
        2 => (-30 * HOUR..DAY).prop_map(Step::Leap),
        20 => (20 * HOUR..=DAY).prop_map(Step::Creep),
        2 => Just(Step::Put),
        6 => Just(Step::Ask),
        6 => Just(Step::Reopen),
        1 => (0..20 * HOUR).prop_map(Step::Restart),
    ]
}

/// The most that a lock opens early for each start of the machine: the step of a day, an hour in
/// which a clock may still be corrected, and the first hour of a store.
const EARLY_MAX: i64 = DAY + 2 * HOUR;

#[test]
fn no_lock_opens_early_whatever_the_clock_does_and_however_often_the_store_is_opened() {
    let config = ProptestConfig::with_cases(crate::random::cases(60));
    proptest!(config, |(steps in prop::collection::vec(step(), 1..120))| {
        let disk = MemoryDisk::default();
        let (clock, locked) = locked_until(&disk, BEGIN + 8 * DAY);
        let mut store = open(&disk, &clock);
        let (mut elapsed, mut starts) = (0, 1);
        for (n, step) in steps.into_iter().enumerate() {
            let now = clock.now().ms();
            match step {
                Step::Pass(ms) => {
                    clock.set(now + ms);
                    elapsed += ms;
                }
                Step::Leap(ms) => clock.leap(now + ms),
                Step::Creep(ms) => {
                    clock.leap(now + ms);
                    store.put(note(n)).unwrap();
                }
                Step::Put => drop(store.put(note(n)).unwrap()),
                Step::Ask if opens(&store, &locked) => {
                    prop_assert!(elapsed + starts * EARLY_MAX >= 8 * DAY, "{elapsed}");
                    return Ok(());
                }
                Step::Ask => {}
                Step::Reopen => {
                    drop(store);
                    store = open(&disk, &clock);
                }
                Step::Restart(ms) => {
                    drop(store);
                    clock.leap(now + ms);
                    clock.start();
                    elapsed += ms;
                    starts += 1;
                    store = open(&disk, &clock);
                }
            }
        }
    });
}

#[test]
fn a_clock_that_goes_right_is_never_stopped() {
    let config = ProptestConfig::with_cases(crate::random::cases(60));
    // What passes, the correction of the clock, and whether the store or the machine starts anew.
    let step = (0..23 * HOUR, -15 * MINUTE..15 * MINUTE, 0_u8..6);
    proptest!(config, |(steps in prop::collection::vec(step, 1..60))| {
        let disk = MemoryDisk::default();
        let (clock, locked) = locked_until(&disk, BEGIN + 8 * DAY);
        let mut store = open(&disk, &clock);
        let mut now = BEGIN;
        for (n, (passes, off, kind)) in steps.into_iter().enumerate() {
            now += passes;
            if kind == 0 {
                clock.leap(now);
                clock.start();
            } else {
                clock.set(clock.now().ms() + passes);
            }
            if kind < 3 {
                drop(store);
                store = open(&disk, &clock);
            }
            clock.leap(now + off);
            let state = store.admin().unwrap().clock_state();
            prop_assert!(!state.is_doubted, "step {n}: {state:?}");
            prop_assert_eq!(store.put(note(n)).err().map(|e| e.to_string()), None);
        }
        if now + HOUR < BEGIN + 8 * DAY {
            return Ok(());
        }
        clock.set(clock.now().ms() + 2 * HOUR);
        prop_assert!(opens(&store, &locked));
    });
}
