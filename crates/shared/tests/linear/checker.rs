//! Whether a history is linearizable: the search of Wing and Gong, with the memory of Lowe's.
//!
//! A history is a set of operations and an order that must be kept (an operation that was answered before
//! another was called). It is linearizable if all that were answered fit in one sequence that keeps this
//! order and in which a model gives each the answer that it got. One without an answer may have been done
//! at any time after its call, or never.

use std::collections::HashSet;
use std::hash::Hash;

/// A set of operations, by their places.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Set(Vec<u64>);

impl Set {
    fn none(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    fn add(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn has(&self, place: usize) -> bool {
        self.0[place / 64] & (1 << (place % 64)) != 0
    }

    fn has_all(&self, others: &Self) -> bool {
        self.0
            .iter()
            .zip(&others.0)
            .all(|(all, few)| few & !all == 0)
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// A history for the search.
pub(crate) struct Search<'a, S> {
    /// The number of operations.
    pub(crate) len: usize,
    /// Whether an operation was answered.
    pub(crate) is_answered: &'a dyn Fn(usize) -> bool,
    /// Whether the first operation must stand before the second.
    pub(crate) precedes: &'a dyn Fn(usize, usize) -> bool,
    /// Returns the state after an operation; `None` if its answer is not that of the state.
    pub(crate) step: &'a dyn Fn(&S, usize) -> Option<S>,
}

/// One point of the search: a state that a prefix leads to.
struct Point<S> {
    state: S,
    done: Set,
    /// The next operation to try here.
    next: usize,
}

impl<S: Clone + Eq + Hash> Search<'_, S> {
    /// Looks for a sequence from a state on; if there is none, returns the operations that stand in none
    /// of the longest ones.
    pub(crate) fn run(&self, first: S) -> Result<(), Vec<usize>> {
        let before: Vec<Set> = (0..self.len).map(|place| self.before(place)).collect();
        let mut must = Set::none(self.len);
        (0..self.len)
            .filter(|place| (self.is_answered)(*place))
            .for_each(|place| must.add(place));
        let mut seen = HashSet::new();
        let mut longest = Set::none(self.len);
        let mut path = vec![self.settled(first, Set::none(self.len), &before)];
        while let Some(point) = path.last_mut() {
            if point.done.has_all(&must) {
                return Ok(());
            }
            if point.done.len() > longest.len() {
                longest = point.done.clone();
            }
            let Some(place) =
                (point.next..self.len).find(|place| is_open(*place, &point.done, &before))
            else {
                path.pop();
                continue;
            };
            point.next = place + 1;
            let Some(state) = (self.step)(&point.state, place) else {
                continue;
            };
            // One without an answer that changes nothing here is as well left out.
            if !must.has(place) && state == point.state {
                continue;
            }
            let mut done = point.done.clone();
            done.add(place);
            let new = self.settled(state, done, &before);
            if seen.insert((new.state.clone(), new.done.clone())) {
                path.push(new);
            }
        }
        Err((0..self.len)
            .filter(|place| must.has(*place) && !longest.has(*place))
            .collect())
    }

    fn before(&self, place: usize) -> Set {
        let mut before = Set::none(self.len);
        (0..self.len)
            .filter(|other| (self.precedes)(*other, place))
            .for_each(|other| before.add(other));
        before
    }

    /// Takes in every open operation that was answered and leaves the state as it is: in no later state
    /// of a register has it this answer and another effect, so it may as well stand here.
    fn settled(&self, state: S, mut done: Set, before: &[Set]) -> Point<S> {
        while let Some(place) = (0..self.len).find(|place| {
            (self.is_answered)(*place)
                && is_open(*place, &done, before)
                && (self.step)(&state, *place).as_ref() == Some(&state)
        }) {
            done.add(place);
        }
        Point {
            state,
            done,
            next: 0,
        }
    }
}

/// Whether an operation may stand next.
fn is_open(place: usize, done: &Set, before: &[Set]) -> bool {
    !done.has(place) && done.has_all(&before[place])
}
