//! A history: what each client asked, when, and what it was told.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::checker::Search;
use super::register::{Answer, Ask, State, step};

/// An operation on one address.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// The number of the grain.
    pub(crate) grain: usize,
    /// The node that was asked.
    pub(crate) node: usize,
    pub(crate) ask: Ask,
    pub(crate) called: Duration,
    /// When the answer came, and which; `None` if none came, or one that leaves the outcome open.
    pub(crate) answered: Option<(Duration, Answer)>,
}

/// The promise to the one who reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Each answer holds all that was acknowledged when it was asked.
    Fresh,
    /// An answer holds all that its node has acknowledged or shown, and all that is older than this.
    Within(Duration),
}

/// Operations by many threads, on one clock.
#[derive(Debug)]
pub(crate) struct History {
    began: Instant,
    operations: Mutex<Vec<Operation>>,
}

impl History {
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            operations: Mutex::default(),
        }
    }

    /// Asks, and writes down the answer.
    pub(crate) fn record(
        &self,
        (grain, node, ask): (usize, usize, Ask),
        run: impl FnOnce() -> Option<Answer>,
    ) {
        let called = self.began.elapsed();
        let answer = run();
        let answered = answer.map(|answer| (self.began.elapsed(), answer));
        self.operations.lock().unwrap().push(Operation {
            grain,
            node,
            ask,
            called,
            answered,
        });
    }

    pub(crate) fn into_operations(self) -> Vec<Operation> {
        self.operations.into_inner().unwrap()
    }
}

/// Returns the addresses whose operations no register could have answered, each with those that do not fit.
pub(crate) fn violations(operations: &[Operation], reads: Reads) -> Vec<String> {
    let mut grains: BTreeMap<usize, Vec<&Operation>> = BTreeMap::new();
    for operation in operations {
        grains.entry(operation.grain).or_default().push(operation);
    }
    let checked = grains.into_iter().filter_map(|(grain, mut of)| {
        of.sort_by_key(|operation| operation.called);
        let left = check(&of, reads).err()?;
        let left: Vec<_> = left
            .into_iter()
            .map(|place| format!("{:?}", of[place]))
            .collect();
        let all: Vec<_> = of
            .iter()
            .map(|operation| format!("{operation:?}"))
            .collect();
        Some(format!(
            "grain {grain}: no order has\n  {}\nof\n  {}",
            left.join("\n  "),
            all.join("\n  ")
        ))
    });
    checked.collect()
}

fn check(of: &[&Operation], reads: Reads) -> Result<(), Vec<usize>> {
    let search = Search {
        len: of.len(),
        is_answered: &|place| of[place].answered.is_some(),
        precedes: &|one, other| precedes(of[one], of[other], reads),
        step: &|state: &State, place| {
            let Operation { ask, answered, .. } = of[place];
            step(*state, *ask, answered.map(|(_, answer)| answer))
        },
    };
    search.run(State::default())
}

fn precedes(one: &Operation, other: &Operation, reads: Reads) -> bool {
    let Some((answered, _)) = one.answered else {
        return false;
    };
    let may_be_old = match reads {
        Reads::Within(age) if other.ask == Ask::Get && one.node != other.node => age,
        Reads::Within(_) | Reads::Fresh => Duration::ZERO,
    };
    answered.saturating_add(may_be_old) < other.called
}
