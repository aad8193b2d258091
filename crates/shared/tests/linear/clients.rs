//! Clients that draw operations on a few addresses at a time, and write one history.

use std::thread;

use super::history::{History, Operation};
use super::random::Random;
use super::register::{Answer, Ask};

/// A way to a store.
pub(crate) trait Client: Send {
    /// Does an operation on the grain of a number; `None` if its outcome is unknown.
    fn ask(&mut self, grain: usize, ask: Ask) -> Option<Answer>;
}

/// The size of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) seed: u64,
    /// The operations of each client.
    pub(crate) operations: usize,
}

impl Size {
    /// Returns the number of grains that a run touches, those that supersede others aside.
    pub(crate) const fn grains(self) -> usize {
        (self.operations / PER_STRETCH + 1) * GRAINS
    }
}

/// Lets clients work at once, each with the number of its node; then each asks for every grain once more.
pub(crate) fn run<C: Client>(
    clients: Vec<(usize, C)>,
    size: Size,
    settle: impl Fn(),
) -> Vec<Operation> {
    let history = History::new();
    let clients = thread::scope(|scope| {
        let threads: Vec<_> = clients
            .into_iter()
            .enumerate()
            .map(|(number, (node, mut client))| {
                let history = &history;
                scope.spawn(move || {
                    work(history, (number, node), &mut client, size);
                    (node, client)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    settle();
    for (node, mut client) in clients {
        for grain in 0..size.grains() {
            history.record((grain, node, Ask::Get), || client.ask(grain, Ask::Get));
        }
    }
    history.into_operations()
}

fn work(history: &History, (number, node): (usize, usize), client: &mut impl Client, size: Size) {
    let mut random = Random::new(size.seed.wrapping_mul(1_000).wrapping_add(number as u64));
    for nth in 0..size.operations {
        // All clients come to the same addresses at about the same time.
        let grain = nth / PER_STRETCH * GRAINS + random.one_of(GRAINS);
        let ask = match random.below(20) {
            0..=6 => Ask::Put,
            7..=13 => Ask::Get,
            14..=18 => Ask::Supersede(SUCCESSORS + number * size.operations + nth),
            _ => Ask::Delete,
        };
        history.record((grain, node, ask), || client.ask(grain, ask));
    }
}

/// The addresses that are worked on at a time, and how many operations each client does on them.
const GRAINS: usize = 3;
const PER_STRETCH: usize = 12;

/// The first number of a grain that supersedes another.
const SUCCESSORS: usize = 1_000_000;
