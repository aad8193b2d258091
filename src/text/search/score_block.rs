use crate::text::index::schema::Of;

/// What a leaf adds to the scores of [`SPAN`] documents in a row, by their distance from the first.
pub(in crate::text) struct Stretch {
    has: Bits,
    /// Of documents that are not in `has`, what is left of another stretch.
    scores: Vec<f64>,
    /// How often a word occurs by names of each kind; zero when not in use, empty until needed.
    counts: [Vec<f64>; 2],
}

/// A set of documents of a stretch.
#[derive(Clone, Copy)]
pub(in crate::text) struct Bits([u64; WORDS]);

impl Stretch {
    pub(in crate::text) fn new() -> Self {
        Self {
            has: Bits::EMPTY,
            scores: vec![0.0; SPAN as usize],
            counts: [Vec::new(), Vec::new()],
        }
    }

    /// Starts another stretch.
    pub(in crate::text) fn clear(&mut self) {
        self.has = Bits::EMPTY;
    }

    /// Returns the documents in which the leaf occurs.
    pub(in crate::text) const fn has(&self) -> &Bits {
        &self.has
    }

    /// Returns what the leaf adds to the score of a document; none if it does not occur there.
    #[inline]
    pub(in crate::text) fn score(&self, at: u32) -> Option<f64> {
        let is_there = self.has.contains(at);
        self.scores.get(at as usize).copied().filter(|_| is_there)
    }

    #[inline]
    pub(in crate::text) fn put(&mut self, at: u32, score: f64) {
        if let Some(slot) = self.scores.get_mut(at as usize) {
            *slot = score;
            self.has.insert(at);
        }
    }

    /// Counts occurrences by names of a kind.
    #[inline]
    pub(in crate::text) fn count(&mut self, at: u32, of: Of, count: f64) {
        let [stems, also] = &mut self.counts;
        let counts = if of == Of::Stems { stems } else { also };
        if counts.is_empty() {
            counts.resize(SPAN as usize, 0.0);
        }
        if let Some(slot) = counts.get_mut(at as usize) {
            *slot += count;
            self.has.insert(at);
        }
    }

    /// Makes scores of what was counted: of the kind of which there is more.
    pub(in crate::text) fn settle(&mut self, score: impl Fn(u32, f64) -> f64) {
        let mut take = |of: usize, at: u32| {
            let slot = self.counts.get_mut(of)?.get_mut(at as usize)?;
            Some(std::mem::take(slot))
        };
        for at in self.has.iter() {
            let (stems, also) = (take(0, at), take(1, at));
            let count = f64::max(stems.unwrap_or(0.0), also.unwrap_or(0.0));
            if let Some(slot) = self.scores.get_mut(at as usize) {
                *slot = score(at, count);
            }
        }
    }
}

impl Bits {
    pub(in crate::text) const EMPTY: Self = Self([0; WORDS]);

    #[inline]
    fn contains(&self, at: u32) -> bool {
        let word = self.0.get(at as usize / 64).copied().unwrap_or(0);
        word >> (at % 64) & 1 == 1
    }

    #[inline]
    fn insert(&mut self, at: u32) {
        if let Some(word) = self.0.get_mut(at as usize / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// Adds what another set has.
    pub(in crate::text) fn unite(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    /// Returns the documents in order.
    pub(in crate::text) fn iter(&self) -> impl Iterator<Item = u32> + use<> {
        let words = (0_u32..).zip(self.0);
        words.flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.checked_sub(1)?;
                Some(word * u64::BITS + bit)
            })
        })
    }
}

/// How many documents are looked at together.
pub(in crate::text) const SPAN: u32 = 4_096;

const WORDS: usize = SPAN as usize / 64;
