//! The source of every decision of a run: numbers drawn from a seed.
//!
//! Nothing else is random, so the seed replays the run.

use std::collections::VecDeque;

/// A generator whose numbers are the same in every run (SplitMix64), or a tape of bytes that a
/// fuzzer wrote.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
    tape: Option<VecDeque<u8>>,
}

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self {
            state: seed,
            tape: None,
        }
    }

    /// Decides by what the bytes say, and by zeros once they are used up.
    pub(crate) fn tape(bytes: &[u8]) -> Self {
        Self {
            state: 0,
            tape: Some(bytes.iter().copied().collect()),
        }
    }

    /// A generator for one purpose, so that what another one draws does not change it.
    pub(crate) fn of(parts: &[u64]) -> Self {
        let mut random = Self::new(0x6772_6169_6e73);
        for part in parts {
            random.state ^= part.wrapping_mul(0xff51_afd7_ed55_8ccd);
            random.state = random.next();
        }
        random
    }

    /// Returns whether a tape is used up; a generator never is.
    pub(crate) fn is_spent(&self) -> bool {
        self.tape.as_ref().is_some_and(VecDeque::is_empty)
    }

    pub(crate) fn next(&mut self) -> u64 {
        if let Some(tape) = &mut self.tape {
            return tape.pop_front().map_or(0, u64::from);
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`; 0 if that is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        usize::try_from(self.next().checked_rem(end).unwrap_or(0)).unwrap_or(0)
    }

    /// True in `percent` of a hundred cases.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}
