//! Random choices made of one number: a test that draws them by the hundred thousand spends its
//! time on what it tests, and the number of a case that fails is all that it takes to run it again.

/// How many cases a campaign has: `short`, as often as `GRAINSTORE_TIMES` says when this is run.
///
/// The short forms find what a change breaks outright; `.ci/run` and `just` run the long ones.
#[expect(
    clippy::disallowed_methods,
    reason = "another length of a campaign is no reason to build it again"
)]
pub(crate) fn cases(short: u32) -> u32 {
    let times = std::env::var("GRAINSTORE_TIMES");
    short * times.map_or(1, |times| times.parse::<u32>().unwrap())
}

/// The numbers of the cases to run: all below `count`, or the one that a build was told.
pub(crate) fn seeds(count: u64) -> std::ops::Range<u64> {
    match option_env!("GRAINSTORE_SEED") {
        Some(seed) => {
            let seed = seed.parse().unwrap();
            seed..seed + 1
        }
        None => 0..count,
    }
}

/// A sequence of choices that its seed determines.
pub(crate) struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    /// A step by an odd number never repeats before 2^64 steps; each state is mixed until every
    /// bit of it moves every bit of the number (this is SplitMix64).
    pub(crate) const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % u64::try_from(end).unwrap()).unwrap()
    }

    /// Draws a number of `range`.
    pub(crate) fn within(&mut self, range: std::ops::Range<usize>) -> usize {
        range.start + self.below(range.len())
    }

    pub(crate) const fn flag(&mut self) -> bool {
        self.number().is_multiple_of(2)
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Draws as many of what `draw` draws as `len` allows.
    pub(crate) fn many<T, C: FromIterator<T>>(
        &mut self,
        len: std::ops::Range<usize>,
        mut draw: impl FnMut(&mut Self) -> T,
    ) -> C {
        (0..self.within(len)).map(|_| draw(self)).collect()
    }
}

impl Drop for Random {
    /// Names the case that is failing, whatever failed in it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("this case alone: GRAINSTORE_SEED={} cargo test", self.seed);
        }
    }
}
