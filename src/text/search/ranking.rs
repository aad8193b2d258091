//! `Ranking`: the parameters of ranking besides BM25 (conversation, recency, importance).
//!
//! The defaults apply to every caller. `conversation.rs` evaluates the first group.

use crate::grain::Time;

/// The parameters of ranking besides the words of a hit.
///
/// The own score of a turn is that of its words, with `meaning` in a hybrid search. Its score is its
/// own, `neighbours` times the own scores of the turns before and after it, `answer` times that of the
/// question it answers, and `session` times the score of the whole session as one document, divided by
/// (1 + `session`). A row outside any session is a session of its own, so that turns and single facts compare. The
/// factors, recency and importance then multiply the score.
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
    /// The share of its score that a person's question gives to the answer of another person.
    pub answer: f64,
    /// The factor of a turn that asks such a question.
    pub question: f64,
    /// The factor of a turn of the one speaker of its conversation whom the question names.
    pub speaker: f64,
    /// The factor of a turn that was said when the question says.
    pub date: f64,
    /// The score that such a turn has beside that of its words.
    pub within: f64,
    /// The factor of a text with a time, if the question is when, or a number, if it is how many.
    pub answer_type: f64,
    /// The factor of the words of the same family, where no text has a word of the question.
    pub relatives: f64,
    /// The factor of how much nearer in meaning than the mean a text is, in standard deviations;
    /// of hybrid searches only.
    pub meaning: f64,
    /// The factor of the words that are spelt most like one of the question that no text has.
    pub spelling: f64,
    /// The share of the best hit's relevance below which a hit is left out.
    pub share: f64,
    /// The share of the weight of the question's words below which a hit is left out.
    pub coverage: f64,
    /// The boost of newer hits; `None` for no boost.
    pub recency: Option<Recency>,
    /// The moment at which the question is asked; `None` for the clock of the store.
    pub now: Option<Time>,
    /// How far the clock of the one who asks is ahead of UTC, in minutes ([`utc_offset`]).
    pub utc_offset_minutes: i16,
    /// Whether weeks begin on Sunday, not on Monday.
    pub weeks_from_sunday: bool,
    /// The boost of important hits: the score is multiplied by 1 + this × the importance.
    pub importance: f64,
    /// Whether each result says how the rules changed its score
    /// ([`Found::explanation`](crate::query::Found::explanation)).
    pub explains: bool,
    /// Whether how frequent words are counts among the grains that may be found alone, and not in
    /// the whole store: scores and order then tell nothing of any other grain.
    pub own_statistics: bool,
}

/// The clock and the calendar by which a question is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Calendar {
    pub(crate) now: Option<Time>,
    pub(crate) offset_minutes: i16,
    pub(crate) starts_on_sunday: bool,
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

/// How each rule of a [`Ranking`] changed the score of a hit: the score is the sum of the first six
/// times the product of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::text) struct RankingExplanation {
    /// The words of the query.
    pub(in crate::text) words: f64,
    /// The vector of a hybrid search.
    pub(in crate::text) meaning: f64,
    /// The time that the question names.
    pub(in crate::text) within: f64,
    /// The turns beside it.
    pub(in crate::text) neighbours: f64,
    /// The question that it answers.
    pub(in crate::text) answer: f64,
    /// Its whole session.
    pub(in crate::text) session: f64,
    /// The factor of a question that is answered.
    pub(in crate::text) question: f64,
    /// The factor of the speaker whom the question names.
    pub(in crate::text) speaker: f64,
    /// The factor of a date that the question names.
    pub(in crate::text) date: f64,
    /// The factor of the kind of answer.
    pub(in crate::text) answer_type: f64,
    /// The factor of recency and importance.
    pub(in crate::text) signals: f64,
}

impl RankingExplanation {
    /// Returns the score.
    pub(in crate::text) fn score(&self) -> f64 {
        let sum = self.words + self.meaning + self.within;
        let sum = sum + self.neighbours + self.answer + self.session;
        let product = self.question * self.speaker * self.date * self.answer_type;
        sum * product * self.signals
    }

    /// Returns the name and value of each rule that changed the score.
    pub(in crate::text) fn parts(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let added = [
            ("words", self.words),
            ("meaning", self.meaning),
            ("within", self.within),
            ("neighbours", self.neighbours),
            ("answer", self.answer),
            ("session", self.session),
        ];
        let factors = [
            ("question", self.question),
            ("speaker", self.speaker),
            ("date", self.date),
            ("answer_type", self.answer_type),
            ("signals", self.signals),
        ];
        let added = added.into_iter().filter(|(_, value)| *value != 0.0);
        added.chain(factors.into_iter().filter(|(_, factor)| *factor != 1.0))
    }
}

impl Default for RankingExplanation {
    fn default() -> Self {
        Self {
            words: 0.0,
            meaning: 0.0,
            within: 0.0,
            neighbours: 0.0,
            answer: 0.0,
            session: 0.0,
            question: 1.0,
            speaker: 1.0,
            date: 1.0,
            answer_type: 1.0,
            signals: 1.0,
        }
    }
}

impl Ranking {
    /// Ranks by words alone.
    pub const WORDS: Self = Self {
        neighbours: 0.0,
        session: 0.0,
        answer: 0.0,
        question: 1.0,
        speaker: 1.0,
        date: 1.0,
        within: 0.0,
        answer_type: 1.0,
        relatives: 0.0,
        meaning: 0.0,
        spelling: 0.0,
        share: 0.0,
        coverage: 0.0,
        recency: None,
        now: None,
        utc_offset_minutes: 0,
        weeks_from_sunday: false,
        importance: 0.0,
        explains: false,
        own_statistics: false,
    };

    /// Returns the ranking with only what is relevant: hits of nine tenths of the best one's relevance
    /// that cover enough of the question. Of a question that nothing answers nothing is left.
    ///
    /// ```
    /// use grainstore::text::Ranking;
    ///
    /// assert_eq!(Ranking::default().precise().share, 0.9);
    /// ```
    #[must_use]
    pub const fn precise(self) -> Self {
        Self {
            share: 0.9,
            coverage: 0.45,
            ..self
        }
    }

    /// Returns the calendar in which the question names times.
    pub(crate) const fn calendar(&self) -> Calendar {
        Calendar {
            now: self.now,
            offset_minutes: self.utc_offset_minutes,
            starts_on_sunday: self.weeks_from_sunday,
        }
    }

    /// Returns whether conversations affect the ranking.
    pub(in crate::text) fn uses_conversation(&self) -> bool {
        let of_signals = Self {
            recency: self.recency,
            now: self.now,
            utc_offset_minutes: self.utc_offset_minutes,
            weeks_from_sunday: self.weeks_from_sunday,
            importance: self.importance,
            relatives: self.relatives,
            spelling: self.spelling,
            share: self.share,
            coverage: self.coverage,
            explains: self.explains,
            own_statistics: self.own_statistics,
            ..Self::WORDS
        };
        *self != of_signals
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
            neighbours: 0.25,
            session: 0.5,
            answer: 0.5,
            question: 0.85,
            speaker: 1.1,
            date: 1.3,
            within: 1.0,
            answer_type: 1.15,
            relatives: 0.5,
            meaning: 2.0,
            spelling: 0.5,
            share: 0.0,
            coverage: 0.0,
            recency: None,
            now: None,
            utc_offset_minutes: 0,
            weeks_from_sunday: false,
            importance: 0.0,
            explains: false,
            own_statistics: false,
        }
    }
}

/// Reads an offset from UTC, in minutes: `Z`, `+02:00`, `-0530` or `+2`.
///
/// ```
/// use grainstore::text::utc_offset;
///
/// assert_eq!(utc_offset("-05:30"), Ok(-330));
/// ```
///
/// # Errors
/// The form of an offset.
pub fn utc_offset(text: &str) -> Result<i16, String> {
    let parsed = || {
        let (sign, rest) = match text.split_at_checked(1)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            ("Z" | "z", "") => return Some(0),
            _ => return None,
        };
        let (hours, minutes) = match (rest.split_once(':'), rest.len()) {
            (Some(parts), _) => parts,
            (None, 4) => rest.split_at_checked(2)?,
            (None, _) => (rest, "0"),
        };
        let number = |part: &str| {
            let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<i16>().ok().filter(|_| is_number)
        };
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes))
    };
    parsed().ok_or_else(|| "an offset is written +02:00, -0530 or Z".into())
}

impl Recency {
    fn of(&self, time_ms: i64) -> f64 {
        let age = crate::text::query::statistics::as_f64(
            self.now_ms.saturating_sub(time_ms).max(0).unsigned_abs(),
        );
        let half_life = crate::text::query::statistics::as_f64(self.half_life_ms.max(1));
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
