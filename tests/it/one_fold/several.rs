//! Stores that several processes write in turn: each decides and answers as if it had written alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;

/// Stores on one disk, as processes have them open. One of them keeps the derived files.
struct Several {
    world: World,
    writers: Vec<Store>,
}

impl Several {
    fn new() -> Self {
        let world = World::new();
        let more = [
            open(&world.disk, &world.clock),
            open(&world.disk, &world.clock),
        ];
        let writers = [world.store.clone()].into_iter().chain(more).collect();
        Self { world, writers }
    }

    /// Does a step in one of the processes, while the others do what is waited for.
    fn step(&mut self, who: usize, step: Step) {
        if let Step::Reopen = step {
            let none = Store::in_memory(Options::default()).unwrap();
            self.world.store = none.clone();
            self.writers[who] = none;
            self.writers[who] = open(&self.world.disk, &self.world.clock);
            self.world.attend(&self.writers[who]);
            return;
        }
        self.world.store = self.writers[who].clone();
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            if step.erases() {
                scope.spawn(|| {
                    while !is_done.load(Ordering::Acquire) {
                        self.writers
                            .iter()
                            .for_each(|store| store.maintenance().unwrap().tend().unwrap());
                        thread::yield_now();
                    }
                });
            }
            self.world.step(step);
            is_done.store(true, Ordering::Release);
        });
        if let Step::Unlock(_) | Step::Lock(_) = step {
            self.writers
                .iter()
                .for_each(|store| self.world.attend(store));
        }
    }
}

#[test]
fn stores_that_are_written_in_turn_answer_alike_after_each_step() {
    let config = ProptestConfig::with_cases(crate::random::cases(40));
    let steps = prop::collection::vec((0_usize..3, step()), 1..60);
    proptest!(config, |(steps in steps)| {
        let mut several = Several::new();
        for (who, step) in steps {
            several.step(who, step);
            let written = several.world.answers(&several.writers[who]);
            for (other, store) in several.writers.iter().enumerate() {
                let seen = several.world.answers(store);
                prop_assert_eq!(&seen, &written, "after {:?} by {}, {}", step, who, other);
                let report = store.maintenance().unwrap().check().unwrap();
                prop_assert_eq!(&report.findings, &[], "after {:?} by {}, {}", step, who, other);
            }
            prop_assert_eq!(several.world.answers(&several.world.follower), written);
        }
    });
}
