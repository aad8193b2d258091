//! Hits.

use crate::grain;

/// A row that matched.
///
/// ```
/// use grainstore::text::Hit;
///
/// let hit = Hit { row: 7, score: 4.0, fields: 0 };
/// assert_eq!(hit.relevance(), 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The ledger sequence that was fed.
    pub row: u64,
    /// The score by the words and what else ranks: above 0, without an upper end.
    pub score: f32,
    /// The fields of the grain that say what was looked for, as bits; see
    /// [`matched_fields`](Self::matched_fields).
    pub fields: u64,
}

impl Hit {
    /// Returns the score in [0, 1) for the envelope of OMS 28.1: `score / (score + 4)`.
    ///
    /// It grows with the score and looks at nothing else, so the same hit keeps its relevance
    /// whatever is found beside it. 4 is about what one fitting word in a mid-sized store scores.
    pub fn relevance(&self) -> f64 {
        let score = f64::from(self.score);
        score / (score + SCORE_HALF)
    }

    /// Returns the fields of the grain that say what was looked for.
    pub fn matched_fields(&self) -> Vec<&'static str> {
        let fields = (1..).zip(grain::WORDED);
        let matched = fields.filter(|(bit, _)| self.fields >> bit & 1 == 1);
        matched.map(|(_, name)| *name).collect()
    }
}

/// A hit and what was said around it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledHit {
    /// The hit.
    pub hit: Hit,
    /// Its row, and those of the turns around it, in the order in which they were said.
    pub turns: Vec<u64>,
}

/// The best rows, and how many there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    /// How many accepted rows match, up to [`TOTAL_MAX`].
    pub total: usize,
    /// Whether more than [`TOTAL_MAX`] match, so that `total` is where the count stopped.
    pub total_is_lower_bound: bool,
    /// The hits, best first; of equal scores as [`Document::order`](super::super::Document::order) says.
    pub hits: Vec<Hit>,
}

/// Where counting ends.
pub const TOTAL_MAX: usize = 1_000;

/// The score of relevance one half.
const SCORE_HALF: f64 = 4.0;
