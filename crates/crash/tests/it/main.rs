//! The crash programme in short; `just crash` runs it in long.

#![expect(
    clippy::print_stdout,
    reason = "the figures are printed by the runs themselves"
)]

use std::thread;

#[cfg(unix)]
use grainstore_crash::random_planted;
use grainstore_crash::{
    Campaign, Interleaving, KeyErasure, PersonErasure, Planted, Sweep, backups, bit_flips,
    erase_persons, key_erasure_faults, random_ops, recoveries, seeded_faults, shared_faults,
};

#[test]
fn whatever_a_crash_leaves_the_store_is_a_prefix_of_what_was_written() {
    let campaign = Campaign {
        states_max: 700,
        steps: 12,
        second_percent: 25,
        jobs: 2,
        ..Campaign::default()
    };
    let report = campaign.run();
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.states >= 700 && report.doubles > 100, "{report}");
}

#[test]
fn the_master_key_and_every_byte_of_every_file_give_no_erased_key_away() {
    let report = KeyErasure::default().run();
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.states >= 300 && report.doubles > 50, "{report}");
}

#[test]
fn the_attacker_recovers_erased_keys_whose_root_is_never_destroyed() {
    let campaign = KeyErasure {
        planted: true,
        ..KeyErasure::default()
    };
    let report = campaign.run();
    assert!(report.leaks > 0, "{report}");
}

#[test]
fn the_attacker_of_a_store_finds_no_key_and_no_word_of_an_erased_person() {
    let reports = thread::scope(|scope| {
        let campaigns = [1, 1_000_000].map(|seed| PersonErasure {
            seed,
            states_max: 70 * times(),
            ..PersonErasure::default()
        });
        let running = campaigns.map(|campaign| scope.spawn(move || campaign.run()));
        running.map(|campaign| campaign.join().unwrap())
    });
    for report in reports {
        println!("{report}");
        assert!(report.failures.is_empty(), "{report}");
        assert!(report.doubles > 5 && report.restores > 1, "{report}");
        assert!(report.imports > 1 && report.rotten > 1, "{report}");
    }
}

#[test]
fn the_attacker_of_a_store_finds_each_fault_that_is_planted_in_an_erasure() {
    for planted in [Planted::RootKept, Planted::KeyFirst, Planted::NoSwap] {
        let campaign = PersonErasure {
            planted: Some(planted),
            states_max: 1_000,
            ..PersonErasure::default()
        };
        let report = campaign.run();
        println!("{planted:?}: {report}");
        assert!(!report.failures.is_empty(), "{planted:?}: {report}");
        let leaks = planted != Planted::KeyFirst;
        assert_eq!(report.leaks > 0, leaks, "{planted:?}: {report}");
    }
}

#[test]
fn whatever_operation_of_an_erasure_fails_repeating_it_completes_it() {
    let runs = key_erasure_faults(5).unwrap();
    println!("{runs} failed operations");
    assert!(runs >= 36, "{runs}");
}

#[test]
fn whatever_operation_fails_and_however_nothing_acknowledged_is_lost() {
    // The second backs up after a batch that failed; in the third the index is not published, and
    // then a grain is deleted that it has; in the fourth the sync of a redaction fails.
    for (seed, steps, every) in [(2, 6, 3), (1, 10, 13), (7, 10, 14), (16, 10, 14)] {
        let sweep = Sweep { seed, steps, every };
        let report = sweep.run();
        println!("{report}");
        assert!(report.failures.is_empty(), "{report}");
        assert!(report.writes > 50 && report.full > 2 && report.reads > 5);
    }
}

#[test]
fn a_backup_that_is_interrupted_leaves_the_earlier_one_or_the_new_one() {
    let report = backups();
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.states > 300 && report.faults > 200, "{report}");
}

#[test]
fn whatever_a_crash_leaves_of_an_erasure_a_person_is_there_whole_or_gone_from_every_file() {
    let report = erase_persons(0..3 * times());
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.states > 700 && report.doubles > 600, "{report}");
}

#[test]
fn every_seeded_fault_is_found() {
    // One at a time they would be what the others wait for.
    let half = |part| seeded_faults(4_000, (part, 2), &mut |one| println!("{one}"));
    let found = thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        let mut found = half(0);
        found.extend(other.join().unwrap());
        found
    });
    let missed = found.iter();
    let mut missed = missed.filter(|one| one.is_applicable && one.states.is_none());
    assert_eq!(missed.next(), None);
    let count = found.iter().filter(|one| one.states.is_some()).count();
    assert_eq!(count, found.len(), "each is about something the store does");
}

#[test]
fn however_processes_are_interleaved_killed_and_held_up_they_answer_as_one_ledger() {
    let campaign = Interleaving {
        seeds: 0..40 * times(),
        ..Interleaving::default()
    };
    let report = campaign.run();
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(
        report.deaths > 10 && report.crashes >= 120 && report.answers > 300,
        "{report}"
    );
}

#[test]
fn every_fault_that_only_several_processes_show_is_found() {
    for (name, found) in shared_faults(3_000) {
        println!("{name}: {found:?}");
        assert!(found.is_some(), "{name}");
    }
}

#[test]
fn a_flipped_bit_is_reported_or_read_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let flips = bit_flips(folder.path(), 1, 211).unwrap();
    println!("{flips}");
    for (name, of) in &flips.files {
        assert!(of.failures.is_empty(), "{flips}");
        let is_sign = ["LOCK", "WRITER", "END"].contains(&name.as_str());
        let may_be_silent = is_sign || name.starts_with("text/");
        assert!(may_be_silent || of.unreferenced.is_empty(), "{flips}");
    }
}

#[test]
fn all_but_what_was_hit_comes_out_of_a_damaged_store() {
    let report = recoveries(7, 120, 60 * times(), 30 * times()).unwrap();
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    // Most bytes are of a grain's own entry, and some of those hits lose it.
    assert!(report.lost > 0);
}

#[test]
fn operations_are_what_a_plain_map_says() {
    let seeds = 12 * times();
    let operations: u64 = (1..=seeds).map(|seed| random_ops(seed, 200).unwrap()).sum();
    println!("{operations} operations as the map says");
    assert_eq!(operations, 200 * seeds);
}

/// How often the short form of a campaign is run: `GRAINSTORE_TIMES`, as in the tests of the store.
#[expect(
    clippy::disallowed_methods,
    reason = "another length of a campaign is no reason to build it again"
)]
fn times() -> u64 {
    std::env::var("GRAINSTORE_TIMES").map_or(1, |times| times.parse().expect("a number"))
}

#[cfg(unix)]
#[test]
fn whatever_lies_in_the_directory_of_a_store_nothing_outside_changes() {
    let home = tempfile::tempdir().unwrap();
    for seed in 0..40 {
        let planted = random_planted(seed, &home.path().join("planted"));
        assert_eq!(planted, Ok(()), "seed {seed}");
    }
}
