//! An attacker of rules: an agent that calls all that its handle has, and hands its owner files to
//! import, against a store with protected goals and beliefs, holds, quorums, retention, demanded
//! consents and privileged grains. Whatever it does, the invariants in `invariants` stand.

mod files;
mod invariants;
mod mutation;
mod world;

use std::collections::BTreeMap;

use crate::random::{Random, cases, seeds};

use world::World;

/// An invariant that was found broken, by the part of the rules that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Broken {
    GoalWords,
    Evidence,
    Export,
    Retention,
    Withdrawal,
    DemandedConsent,
    Quorum,
    Ownership,
    Dependency,
    Retraction,
    Cycle,
    OpaqueStatus,
    Normalization,
    Protection,
}

/// The first case of each kind that was found.
type Findings = BTreeMap<Broken, String>;

const STEPS: usize = 400;

#[test]
fn an_agent_gets_around_no_rule() {
    let mut findings = Findings::new();
    let (mut steps, mut accepted, mut conflicts) = (0, 0, 0);
    let mut taken = BTreeMap::new();
    for seed in seeds(cases(50).into()) {
        let mut random = Random::new(seed);
        let mut world = World::new();
        for step in 0..STEPS {
            world.attack(&mut random);
            world.check_last(&mut findings);
            if step % 100 == 99 {
                world.check_all(&mut findings);
            }
            steps += 1;
        }
        accepted += world.accepted;
        conflicts += world.conflicts;
        for (format, count) in world.taken {
            *taken.entry(format).or_insert(0) += count;
        }
        for text in findings
            .values_mut()
            .filter(|text| !text.starts_with("seed"))
        {
            *text = format!("seed {seed}: {text}");
        }
    }
    println!("attacker: {steps} steps, {accepted} of them accepted");
    println!("files that brought a grain: {taken:?}; conflicts settled: {conflicts}");
    for (broken, text) in &findings {
        println!("{broken:?}: {text}");
    }
    assert!(findings.is_empty(), "{} kinds", findings.len());
    // A campaign whose files were all refused would prove nothing.
    assert!(
        accepted > 0 && conflicts > 0 && taken.len() == 9,
        "{taken:?}"
    );
}
