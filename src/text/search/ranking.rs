//! `Ranking`: the parameters of ranking besides BM25 (conversation, recency, importance).
//!
//! The defaults apply to every caller. `conversation.rs` evaluates the first group.

/// The parameters of ranking besides the words of a hit.
///
/// The score of a turn is the sum of its own score, `neighbours` times the scores of the turns
/// before and after it, and `session` times the score of the whole session as one document, divided
/// by (1 + `session`). A row outside any session is a session of its own, so that turns and single
/// facts compare. Recency and importance then multiply the score.
///
/// ```
/// use grainstore::text::{Ranking, Recency};
///
/// let fresh = Ranking {
///     recency: Some(Recency { weight: 0.5, half_life_ms: 86_400_000, now_ms: 1_700_000_000_000 }),
///     ..Ranking::default()
/// };
/// assert_ne!(fresh, Ranking::WORDS);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// The factor of the neighbours' scores.
    pub neighbours: f64,
    /// The factor of the session's score.
    pub session: f64,
    /// The boost of newer hits; `None` for no boost.
    pub recency: Option<Recency>,
    /// The boost of important hits: the score is multiplied by 1 + this × the importance.
    pub importance: f64,
}

/// The boost of newer hits: the score is multiplied by 1 + weight × 2^(-age / half-life).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recency {
    /// The boost at age 0.
    pub weight: f64,
    /// The age at which half of the boost is left, in milliseconds.
    pub half_life_ms: u64,
    /// The reference time of ages, in milliseconds since 1970.
    pub now_ms: i64,
}

impl Ranking {
    /// Ranks by words alone.
    pub const WORDS: Self = Self {
        neighbours: 0.0,
        session: 0.0,
        recency: None,
        importance: 0.0,
    };

    /// Returns whether conversations affect the ranking.
    pub(in crate::text) fn uses_conversation(&self) -> bool {
        self.neighbours > 0.0 || self.session > 0.0
    }

    /// Returns whether time or importance affects the ranking.
    pub(in crate::text) fn uses_signals(&self) -> bool {
        self.recency.is_some() || self.importance > 0.0
    }

    /// Returns whether anything but the words affects the ranking.
    pub(in crate::text) fn reranks(&self) -> bool {
        self.uses_conversation() || self.uses_signals()
    }

    /// Returns the product of the boosts.
    pub(in crate::text) fn signals(&self, time_ms: i64, importance: f64) -> f64 {
        let recency = self.recency.map_or(0.0, |recency| recency.of(time_ms));
        let importance = self.importance * importance.clamp(0.0, 1.0);
        (1.0 + recency) * (1.0 + importance)
    }
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            neighbours: 0.5,
            session: 0.5,
            ..Self::WORDS
        }
    }
}

impl Recency {
    fn of(&self, time_ms: i64) -> f64 {
        let age = crate::text::query::plan::as_f64(
            self.now_ms.saturating_sub(time_ms).max(0).unsigned_abs(),
        );
        let half_life = crate::text::query::plan::as_f64(self.half_life_ms.max(1));
        self.weight * (-age / half_life).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_or_important_counts_more_and_never_less() {
        let recency = Recency {
            weight: 1.0,
            half_life_ms: 100,
            now_ms: 1_000,
        };
        let ranking = Ranking {
            recency: Some(recency),
            importance: 1.0,
            ..Ranking::WORDS
        };
        assert_eq!(ranking.signals(1_000, 0.0), 2.0);
        assert_eq!(ranking.signals(900, 0.5), 1.5 * 1.5);
        assert_eq!(ranking.signals(5_000, 0.0), 2.0);
        assert!(ranking.signals(i64::MIN, 0.0) >= 1.0);
    }
}
