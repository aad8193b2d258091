//! Rogue agents: the answers and possibilities of a victim are the same with and without the calls
//! of an agent that is confined to another namespace, except for what the owner granted.
//!
//! Two stores take the same steps of the owner and the victim; one takes those of the rogue too.
//! `GRAINSTORE_TIMES` lengthens the campaigns, as in `one_fold`.

mod calls;
mod files;
mod world;

use crate::random::{Random, cases, seeds};

use world::Twins;

/// Steps of the rogue in a round, and rounds in a world.
const CALLS: usize = 20;
const ROUNDS: usize = 5;

#[test]
fn a_confined_agent_changes_no_answer_and_no_possibility_of_another() {
    campaign(20, calls::step);
}

#[test]
fn a_file_of_a_rogue_changes_no_grain_and_no_possibility_that_was_here_before() {
    campaign(10, |twins, random| match random.below(3) {
        0 => files::step(twins, random),
        _ => calls::step(twins, random),
    });
}

fn campaign(worlds: u32, rogue: impl Fn(&mut Twins, &mut Random)) {
    let mut steps = 0;
    for seed in seeds(cases(worlds).into()) {
        let random = &mut Random::new(seed);
        let mut twins = Twins::new();
        for _ in 0..ROUNDS {
            for _ in 0..CALLS {
                rogue(&mut twins, random);
                steps += 1;
            }
            twins.compare();
            twins.step(random);
            steps += 1;
        }
        twins.compare();
    }
    println!("rogue: {steps} steps");
}
