//! Reranking: the score of a candidate by its words, its meaning, and the conversation around it.
//!
//! Every rule is a parameter of [`Ranking`], and [`RankingExplanation`] has what each gave to a hit.

use std::collections::HashMap;
use std::ops::Range;

use crate::ledger::EntryId;
use crate::text::index::schema::Fields;
use crate::text::index::segment_reader::Segment;
use crate::text::query::asked::Asked;
use crate::text::query::plan::Plan;
use crate::text::query::statistics::as_f64;
use crate::text::search::conversation::{self, Conversation, Conversations, Turn};
use crate::text::search::in_order::Order;
use crate::text::search::ranking::{Ranking, RankingExplanation};
use crate::text::search::top_docs::Candidate;

/// The vectors of a hybrid search.
pub(crate) struct Meaning<'a> {
    /// The rows nearest to the question.
    pub(crate) nearest: Vec<EntryId>,
    /// Returns for each row how much nearer than the mean it is, in standard deviations: at least
    /// 0, and 0 for a row without a vector.
    pub(crate) of: &'a dyn Fn(&[EntryId]) -> Vec<f64>,
}

/// The times that a question names, and the order that it asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Dated<'a> {
    pub(crate) order: Option<Order>,
    /// In milliseconds since 1970.
    pub(crate) windows: &'a [Range<i64>],
    /// Rows of these times, which are hits without any word of the question.
    pub(crate) rows: &'a [EntryId],
}

/// The explanations of the candidates, by their rows.
pub(in crate::text) type Explanations = HashMap<EntryId, RankingExplanation>;

/// The values that a search is reranked by.
pub(in crate::text) struct Reranker<'a> {
    pub(in crate::text) segments: &'a [Segment<'a>],
    pub(in crate::text) fields: &'a Fields,
    pub(in crate::text) plan: &'a Plan,
    pub(in crate::text) norms: &'a [f64; 256],
    pub(in crate::text) ranking: &'a Ranking,
    pub(in crate::text) asked: &'a Asked,
    pub(in crate::text) accept: &'a (dyn Fn(EntryId) -> bool + Sync),
    pub(in crate::text) meaning: Option<&'a Meaning<'a>>,
    pub(in crate::text) dated: Dated<'a>,
}

impl Reranker<'_> {
    /// Rescores candidates (given best first) by the turns around them, and adds the other turns
    /// of their conversations and the rows nearest in meaning, as far as the query admits them: in
    /// any order, and without their tie-breakers.
    ///
    /// Only the conversations of the best candidates are read; other turns score as if they stood
    /// alone. Returns the conversations.
    pub(in crate::text) fn rank(
        &self,
        candidates: &mut Vec<Candidate>,
        mut explanations: Option<&mut Explanations>,
    ) -> tantivy::Result<Conversations> {
        let has_others = self.meaning.is_some() || !self.dated.rows.is_empty();
        let matches: HashMap<EntryId, f64> = match has_others {
            true => candidates.iter().map(|it| (it.row, it.score)).collect(),
            false => HashMap::new(),
        };
        self.add_rows(self.dated.rows, candidates, &matches);
        self.add_nearest(candidates, &matches);
        let (segments, fields) = (self.segments, self.fields);
        let mut conversations = conversation::read(candidates, segments, fields, self.accept)?;
        let mut alone = Vec::new();
        let mut unmatched = Vec::new();
        for candidate in candidates.drain(..) {
            let Some(segment) = segments.get(candidate.segment) else {
                continue;
            };
            if conversations.contains_key(&segment.thread(candidate.document)) {
                continue;
            }
            let (number, document) = (candidate.segment, candidate.document);
            let mut turn = Turn::of(segment, number, document, candidate.row);
            let score = match has_others {
                true => matches.get(&candidate.row).copied(),
                false => Some(candidate.score),
            };
            match score {
                Some(score) => {
                    turn.words = score;
                    turn.matched = Some(score);
                    alone.push(turn);
                }
                None => unmatched.push(turn),
            }
        }
        let (plan, norms) = (self.plan, self.norms);
        let (known, others) = (&mut conversations, &mut unmatched);
        conversation::count(known, others, segments, plan, norms)?;
        alone.append(&mut unmatched);
        self.add_meaning(&mut conversations, &mut alone);
        let mut rank = |turn: &Turn, explanation: RankingExplanation| {
            let score = explanation.score();
            // A hybrid search shows what is far, too, behind the rest.
            if score > 0.0 || self.meaning.is_some() {
                candidates.push(Candidate {
                    row: turn.row,
                    // Read of the best alone.
                    order: 0,
                    score,
                    segment: turn.segment,
                    document: turn.document,
                });
                if let Some(explanations) = &mut explanations {
                    explanations.insert(turn.row, explanation);
                }
            }
        };
        for turn in &alone {
            if let Some(matched) = turn.matched {
                rank(turn, self.of_turn(turn, matched, 0.0, 0.0, matched));
            }
        }
        let passages = || conversations.values().flat_map(|thread| &thread.passages);
        let len_sum: f64 = passages().map(|passage| passage.len_words).sum();
        let len_mean = len_sum / as_f64(passages().count().max(1) as u64);
        for thread in conversations.values() {
            self.rank_thread(thread, len_mean, &mut rank);
        }
        Ok(conversations)
    }

    /// Adds the rows nearest in meaning, and orders all by words and meaning together.
    fn add_nearest(&self, candidates: &mut Vec<Candidate>, matches: &HashMap<EntryId, f64>) {
        let Some(meaning) = self.meaning else {
            return;
        };
        let dated = self.dated.rows;
        let nearest = meaning.nearest.iter().filter(|row| !dated.contains(row));
        let nearest: Vec<EntryId> = nearest.copied().collect();
        self.add_rows(&nearest, candidates, matches);
        let rows: Vec<EntryId> = candidates.iter().map(|candidate| candidate.row).collect();
        for (candidate, nearness) in candidates.iter_mut().zip((meaning.of)(&rows)) {
            candidate.score += self.ranking.meaning * nearness;
        }
        candidates.sort_unstable_by(Candidate::best_first);
    }

    /// Adds rows that are no matches.
    fn add_rows(
        &self,
        rows: &[EntryId],
        candidates: &mut Vec<Candidate>,
        matches: &HashMap<EntryId, f64>,
    ) {
        for row in rows.iter().filter(|row| !matches.contains_key(row)) {
            for (number, segment) in self.segments.iter().enumerate() {
                if let Some(document) = segment.document_of(*row) {
                    candidates.push(Candidate {
                        row: *row,
                        order: segment.order(document),
                        score: 0.0,
                        segment: number,
                        document,
                    });
                    break;
                }
            }
        }
    }

    /// Sets the score of the meaning of every turn.
    fn add_meaning(&self, conversations: &mut Conversations, alone: &mut [Turn]) {
        let Some(meaning) = self.meaning else {
            return;
        };
        let threads = conversations.values_mut();
        let turns = threads.flat_map(|thread| thread.turns.iter_mut());
        let mut turns: Vec<&mut Turn> = turns.chain(alone).collect();
        let rows: Vec<EntryId> = turns.iter().map(|turn| turn.row).collect();
        for (turn, nearness) in turns.iter_mut().zip((meaning.of)(&rows)) {
            turn.meaning = self.ranking.meaning * nearness;
        }
    }

    /// Passes on each turn of a conversation that may be a hit.
    fn rank_thread(
        &self,
        thread: &Conversation,
        len_mean: f64,
        rank: &mut impl FnMut(&Turn, RankingExplanation),
    ) {
        let passages = thread.passages.iter();
        let sessions: Vec<f64> = passages
            .map(|passage| passage.score(self.plan, len_mean))
            .collect();
        let window = thread.window();
        let speaker = self.named_speaker(thread);
        let turns = thread.turns.as_slice();
        for (at, turn) in turns.iter().enumerate() {
            let Some(matched) = turn.matched else {
                continue;
            };
            let around = self.around(turns, at);
            let question = at.checked_sub(1).and_then(|at| turns.get(at));
            let question = question.filter(|question| is_answered_by(question, turn));
            let answer = self.ranking.answer * question.map_or(0.0, Turn::own);
            let session = sessions.get(at / window).copied().unwrap_or(0.0);
            let mut explanation = self.of_turn(turn, matched, around, answer, session);
            let next = at.checked_add(1).and_then(|at| turns.get(at));
            if next.is_some_and(|next| is_answered_by(turn, next)) {
                explanation.question = self.ranking.question;
            }
            if speaker.is_some_and(|speaker| turn.traits.speaker() == speaker) {
                explanation.speaker = self.ranking.speaker;
            }
            rank(turn, explanation);
        }
    }

    fn is_dated(&self, time_ms: i64) -> bool {
        self.dated
            .windows
            .iter()
            .any(|window| window.contains(&time_ms))
    }

    /// Returns the weighted sum of the scores of the turns beside one.
    fn around(&self, turns: &[Turn], at: usize) -> f64 {
        // A turn at the end of so short a session has none beside it by no fault of its own.
        let missing = match turns.len() {
            2..=SHORT_MAX => 0.5 * turns.get(at).map_or(0.0, Turn::own),
            _ => 0.0,
        };
        let before = at.checked_sub(1).and_then(|at| turns.get(at));
        let after = at.checked_add(1).and_then(|at| turns.get(at));
        let weight = self.ranking.neighbours;
        weight * before.map_or(missing, Turn::own) + weight * after.map_or(missing, Turn::own)
    }

    /// Returns the speaker of a conversation whom the question names, if it names one alone.
    fn named_speaker(&self, thread: &Conversation) -> Option<u32> {
        if self.ranking.speaker == 1.0 {
            return None;
        }
        let speakers = thread.turns.iter().map(|turn| turn.traits.speaker());
        let mut speakers: Vec<u32> = speakers.filter(|speaker| *speaker != 0).collect();
        speakers.sort_unstable();
        speakers.dedup();
        let mut named = speakers.into_iter().filter(|it| self.asked.names(*it));
        named.next().filter(|_| named.next().is_none())
    }

    /// Returns the explanation of a turn, with the factors that are its own.
    fn of_turn(
        &self,
        turn: &Turn,
        matched: f64,
        around: f64,
        answer: f64,
        session: f64,
    ) -> RankingExplanation {
        let ranking = self.ranking;
        let share = 1.0 / (1.0 + ranking.session);
        let factor = |applies: bool, factor: f64| if applies { factor } else { 1.0 };
        let is_dated = self.is_dated(turn.time_ms);
        RankingExplanation {
            words: share * matched,
            meaning: share * turn.meaning,
            within: if is_dated {
                share * ranking.within
            } else {
                0.0
            },
            neighbours: share * around,
            answer: share * answer,
            session: share * ranking.session * session,
            date: factor(is_dated, ranking.date),
            answer_type: factor(
                self.asked.cues & turn.traits.cues() != 0,
                ranking.answer_type,
            ),
            ..RankingExplanation::default()
        }
    }
}

/// Multiplies the scores by the signals of the candidates.
pub(in crate::text) fn weigh(
    candidates: &mut [Candidate],
    segments: &[Segment<'_>],
    ranking: &Ranking,
    mut explanations: Option<&mut Explanations>,
) {
    for candidate in candidates {
        let Some(segment) = segments.get(candidate.segment) else {
            continue;
        };
        let time_ms = segment.time_ms(candidate.document);
        let signals = ranking.signals(time_ms, segment.importance(candidate.document));
        if let Some(explanations) = &mut explanations {
            let explanation = explanations.entry(candidate.row);
            let explanation = explanation.or_insert_with(|| by_words(candidate.score));
            explanation.signals = signals;
        }
        candidate.score *= signals;
    }
}

/// Returns the parts of the score of each candidate.
pub(in crate::text) fn parts(
    candidates: &[Candidate],
    explanations: &Explanations,
) -> Vec<Vec<(&'static str, f64)>> {
    let parts = |candidate: &Candidate| {
        let explanation = explanations.get(&candidate.row).copied();
        let explanation = explanation.unwrap_or_else(|| by_words(candidate.score));
        explanation.parts().collect()
    };
    candidates.iter().map(parts).collect()
}

/// Returns the explanation of a score by words alone.
fn by_words(words: f64) -> RankingExplanation {
    RankingExplanation {
        words,
        ..RankingExplanation::default()
    }
}

/// Returns whether a turn asks and the next is the answer of another person.
fn is_answered_by(turn: &Turn, next: &Turn) -> bool {
    let (asking, answering) = (turn.traits, next.traits);
    let are_persons = asking.is_person() && answering.is_person();
    asking.asks() && are_persons && asking.speaker() != answering.speaker()
}

/// A session of so many turns is short.
const SHORT_MAX: usize = 4;
