//! Conversation-aware ranking: a turn is scored by its own words, its neighbours and its whole
//! session.
//!
//! An answer often repeats few words of the question but stands beside turns that do. Only the
//! conversations of the best candidates are read; no text is stored twice for it.

use std::collections::HashMap;

use crate::ledger::EntryId;
use crate::text::index::schema::Fields;
use crate::text::index::segment_reader::{Segment, len_of_class};
use crate::text::query::plan::Plan;
use crate::text::search::bm25::{evaluate, norm, saturation};
use crate::text::search::postings_cursor::PostingsCursor;
use crate::text::search::ranking::Ranking;
use crate::text::search::top_docs::Candidate;

/// A turn of a conversation that contains a candidate.
struct Turn {
    segment: usize,
    document: u32,
    row: EntryId,
    time_ms: i64,
    len_class: u8,
    /// The score of its own words, whether it matches the query or not.
    own: f64,
    /// The score of its match; `None` if it does not match.
    score: Option<f64>,
}

/// A conversation: its turns in chronological order.
pub(in crate::text) struct Conversation {
    turns: Vec<Turn>,
    /// The frequency of each leaf of the plan in all turns together.
    counts: Vec<f64>,
    len_words: f64,
}

/// The conversations that were read, by their identifier.
pub(in crate::text) type Conversations = HashMap<u64, Conversation>;

/// Rescores candidates (given best first) by the turns around them, and adds the other matches in
/// their conversations.
///
/// Only the conversations of the best candidates are read; other turns score as if they stood
/// alone. Returns the conversations.
pub(in crate::text) fn rank(
    candidates: &mut Vec<Candidate>,
    segments: &[Segment<'_>],
    fields: &Fields,
    plan: &Plan,
    norms: &[f64; 256],
    ranking: &Ranking,
    accept: &(dyn Fn(EntryId) -> bool + Sync),
) -> tantivy::Result<Conversations> {
    let mut conversations = read(candidates, segments, fields, accept)?;
    count(&mut conversations, segments, plan, norms)?;
    let together = |own: f64, around: f64, session: f64| {
        let more = ranking.neighbours * around + ranking.session * session;
        (own + more) / (1.0 + ranking.session)
    };
    candidates.retain_mut(|candidate| {
        let segment = segments.get(candidate.segment);
        let thread = segment.map_or(0, |segment| segment.thread(candidate.document));
        candidate.score = together(candidate.score, 0.0, candidate.score);
        !conversations.contains_key(&thread)
    });
    let len_sum: f64 = conversations.values().map(|thread| thread.len_words).sum();
    let len_mean = len_sum / crate::text::query::plan::as_f64(conversations.len().max(1) as u64);
    for thread in conversations.values() {
        let session = thread.score(plan, len_mean);
        for (at, turn) in thread.turns.iter().enumerate() {
            let found = turn.score.zip(segments.get(turn.segment));
            candidates.extend(found.map(|(score, segment)| Candidate {
                row: turn.row,
                order: segment.order(turn.document),
                score: together(score, thread.around(at), session),
                segment: turn.segment,
                document: turn.document,
            }));
        }
    }
    Ok(conversations)
}

/// Reads the conversations of the candidates.
fn read(
    candidates: &[Candidate],
    segments: &[Segment<'_>],
    fields: &Fields,
    accept: &(dyn Fn(EntryId) -> bool + Sync),
) -> tantivy::Result<HashMap<u64, Conversation>> {
    let mut conversations: HashMap<u64, Conversation> = HashMap::new();
    let mut turns_left = TURNS_MAX;
    for candidate in candidates {
        let segment = segments.get(candidate.segment);
        let thread = segment.map_or(0, |segment| segment.thread(candidate.document));
        if thread == 0 || conversations.contains_key(&thread) {
            continue;
        }
        if conversations.len() == CONVERSATIONS_MAX || turns_left == 0 {
            break;
        }
        let turns = turns_of(thread, segments, fields, accept)?;
        turns_left = turns_left.saturating_sub(turns.len());
        conversations.insert(thread, Conversation::of(turns));
    }
    Ok(conversations)
}

/// Returns the turns of a conversation in chronological order.
fn turns_of(
    thread: u64,
    segments: &[Segment<'_>],
    fields: &Fields,
    accept: &(dyn Fn(EntryId) -> bool + Sync),
) -> tantivy::Result<Vec<Turn>> {
    let mut turns = Vec::new();
    for (number, segment) in segments.iter().enumerate() {
        for document in segment.turns(fields, thread)? {
            let row = segment.row(document).filter(|row| accept(*row));
            if let Some(row) = row.filter(|_| segment.is_alive(document)) {
                turns.push(Turn {
                    segment: number,
                    document,
                    row,
                    time_ms: segment.time_ms(document),
                    len_class: segment.len_class(document),
                    own: 0.0,
                    score: None,
                });
            }
        }
    }
    // The turns are usually in order already, which makes the sort cheap.
    turns.sort_by_key(|turn| (turn.time_ms, turn.row));
    Ok(turns)
}

/// Returns for each candidate the rows of the turns up to `reach` before and after it, its own
/// included.
pub(in crate::text) fn around(
    candidates: &[Candidate],
    mut conversations: Conversations,
    segments: &[Segment<'_>],
    fields: &Fields,
    reach: usize,
    accept: &(dyn Fn(EntryId) -> bool + Sync),
) -> tantivy::Result<Vec<Vec<EntryId>>> {
    let mut all = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let segment = segments.get(candidate.segment);
        let thread = segment.map_or(0, |segment| segment.thread(candidate.document));
        if thread != 0 && !conversations.contains_key(&thread) {
            let turns = turns_of(thread, segments, fields, accept)?;
            conversations.insert(thread, Conversation::of(turns));
        }
        let time_ms = segment.map_or(0, |segment| segment.time_ms(candidate.document));
        let near = conversations.get(&thread).and_then(|thread| {
            let at = thread.place(time_ms, candidate.row)?;
            let end = at.saturating_add(reach).saturating_add(1);
            let end = end.min(thread.turns.len());
            thread.turns.get(at.saturating_sub(reach)..end)
        });
        let rows = near.map(|near| near.iter().map(|turn| turn.row).collect());
        all.push(rows.unwrap_or_else(|| vec![candidate.row]));
    }
    Ok(all)
}

/// Counts each leaf in every turn, and decides which turns match.
fn count(
    conversations: &mut HashMap<u64, Conversation>,
    segments: &[Segment<'_>],
    plan: &Plan,
    norms: &[f64; 256],
) -> tantivy::Result<()> {
    let leaves = plan.leaves.len();
    let mut by_place = Vec::new();
    for thread in conversations.values_mut() {
        thread.counts = vec![0.0; leaves];
        let counts = thread.counts.as_mut_slice();
        let counts = std::rc::Rc::new(std::cell::RefCell::new(counts));
        for turn in &mut thread.turns {
            by_place.push((turn, std::rc::Rc::clone(&counts)));
        }
    }
    by_place.sort_by_key(|(turn, _)| (turn.segment, turn.document));
    // The score of each leaf in each turn of a segment.
    let mut added: Vec<Option<f64>> = Vec::new();
    for of_segment in by_place.chunk_by_mut(|(a, _), (b, _)| a.segment == b.segment) {
        let segment = of_segment
            .first()
            .and_then(|(turn, _)| segments.get(turn.segment));
        let Some(segment) = segment else {
            continue;
        };
        added.clear();
        added.resize(of_segment.len().saturating_mul(leaves), None);
        for (number, leaf) in plan.leaves.iter().enumerate() {
            let mut cursor = PostingsCursor::open(segment, leaf)?;
            let slots = added.iter_mut().skip(number).step_by(leaves);
            for ((turn, counts), slot) in of_segment.iter_mut().zip(slots) {
                let count = cursor.count(turn.document);
                if count > 0.0 {
                    let norm = norms.get(usize::from(turn.len_class));
                    let score = leaf.weight * saturation(count, norm.copied().unwrap_or(1.0));
                    *slot = Some(score);
                    if leaf.is_scored {
                        turn.own += f64::from(leaf.uses) * score;
                        if let Some(sum) = counts.borrow_mut().get_mut(number) {
                            *sum += count;
                        }
                    }
                }
            }
        }
        for ((turn, _), added) in of_segment.iter_mut().zip(added.chunks(leaves.max(1))) {
            turn.score = evaluate(&plan.root, &|number| added.get(number).copied().flatten());
        }
    }
    Ok(())
}

impl Conversation {
    fn of(turns: Vec<Turn>) -> Self {
        let lengths = turns.iter();
        let lengths = lengths.map(|turn| f64::from(len_of_class(turn.len_class)));
        Self {
            len_words: lengths.sum(),
            counts: Vec::new(),
            turns,
        }
    }

    /// Returns the index of a turn.
    fn place(&self, time_ms: i64, row: EntryId) -> Option<usize> {
        let place = |turn: &Turn| (turn.time_ms, turn.row);
        self.turns.binary_search_by_key(&(time_ms, row), place).ok()
    }

    /// Returns the sum of the scores of the turns before and after one, by their own words.
    fn around(&self, at: usize) -> f64 {
        let before = at.checked_sub(1).and_then(|at| self.turns.get(at));
        let after = self.turns.get(at.saturating_add(1));
        before.into_iter().chain(after).map(|turn| turn.own).sum()
    }

    /// Returns the score of all turns as one document, normalized by the mean length of
    /// conversations.
    fn score(&self, plan: &Plan, len_mean: f64) -> f64 {
        let norm = norm(self.len_words, len_mean);
        let leaves = plan.leaves.iter().zip(&self.counts);
        leaves
            .map(|(leaf, count)| f64::from(leaf.uses) * leaf.weight * saturation(*count, norm))
            .sum()
    }
}

/// The maximum number of conversations that a search reads.
const CONVERSATIONS_MAX: usize = 32;

/// The number of turns after which a search reads no further conversation.
const TURNS_MAX: usize = 20_000;
