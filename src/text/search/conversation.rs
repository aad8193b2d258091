//! Conversations: the turns around the candidates of a search, read from the index and scored by
//! their own words.
//!
//! An answer often repeats few words of the question but stands beside turns that do. Only the
//! conversations of the best candidates are read; no text is stored twice for it. How the scores of
//! turns combine is in `rerank.rs`.

use std::collections::{BTreeMap, HashMap};

use crate::ledger::EntryId;
use crate::text::document::Traits;
use crate::text::index::disk::TurnValues;
use crate::text::index::schema::Fields;
use crate::text::index::segment_reader::{Segment, Snapshot, len_of_class};
use crate::text::query::ast::Role;
use crate::text::query::plan::{Plan, PlanNode};
use crate::text::search::bm25::{evaluate, norm, saturation};
use crate::text::search::hit::KnownLine;
use crate::text::search::postings_cursor::PostingsCursor;
use crate::text::search::top_docs::Candidate;

/// A turn of a conversation that contains a candidate, or a candidate outside any.
#[derive(Debug, Clone, Copy)]
pub(in crate::text) struct Turn {
    pub(in crate::text) segment: usize,
    pub(in crate::text) document: u32,
    pub(in crate::text) row: EntryId,
    pub(in crate::text) time_ms: i64,
    pub(in crate::text) traits: Traits,
    len_class: u8,
    /// The score of its own words, whether it matches the query or not.
    pub(in crate::text) words: f64,
    /// The score of its meaning.
    pub(in crate::text) meaning: f64,
    /// The score of its match; `None` if it may not be a hit.
    pub(in crate::text) matched: Option<f64>,
}

/// A conversation: its turns in chronological order.
pub(in crate::text) struct Conversation {
    pub(in crate::text) turns: Vec<Turn>,
    /// Its passages, which are scored as one text each: the whole, or the windows of a long one.
    pub(in crate::text) passages: Vec<Passage>,
}

/// The turns around the hits of a recall, which are found when they are asked for: the budget of most
/// is full before.
pub(crate) struct Surroundings {
    snapshot: Snapshot,
    conversations: Conversations,
    /// The hits, best first.
    hits: Vec<Candidate>,
    /// The turns before and after a hit.
    reach: usize,
}

/// Turns of a conversation as one text.
pub(in crate::text) struct Passage {
    /// The frequency of each leaf of the plan in all turns together.
    counts: Vec<f64>,
    pub(in crate::text) len_words: f64,
}

/// The conversations that were read, by their identifier.
pub(in crate::text) type Conversations = BTreeMap<u64, Conversation>;

/// Reads the conversations of the candidates, which are given best first.
pub(in crate::text) fn read(
    candidates: &[Candidate],
    segments: &[Segment<'_>],
    fields: &Fields,
    accept: &(dyn Fn(EntryId) -> bool + Sync),
) -> tantivy::Result<Conversations> {
    let mut conversations = Conversations::new();
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

/// Returns whether no candidate behind these changes which conversations [`read`] reads.
pub(in crate::text) fn are_decided(candidates: &[Candidate], segments: &[Segment<'_>]) -> bool {
    let mut threads = Vec::with_capacity(CONVERSATIONS_MAX);
    for candidate in candidates {
        let segment = segments.get(candidate.segment);
        let thread = segment.map_or(0, |segment| segment.thread(candidate.document));
        if thread != 0 && !threads.contains(&thread) {
            threads.push(thread);
        }
        if threads.len() == CONVERSATIONS_MAX {
            return true;
        }
    }
    false
}

/// Returns the turns of a conversation in chronological order.
fn turns_of(
    thread: u64,
    segments: &[Segment<'_>],
    fields: &Fields,
    accept: &(dyn Fn(EntryId) -> bool + Sync),
) -> tantivy::Result<Vec<Turn>> {
    let mut turns = Vec::with_capacity(TURNS_ABOUT);
    for (number, segment) in segments.iter().enumerate() {
        segment.each_turn(fields, thread, |values| {
            if accept(values.row) {
                turns.push(Turn::with(number, &values));
            }
        })?;
    }
    // The turns are usually in order already.
    let place = |turn: &Turn| (turn.time_ms, turn.row);
    if !turns.is_sorted_by_key(place) {
        turns.sort_by_key(place);
    }
    Ok(turns)
}

/// Returns the rows of each conversation, in the order in which they began.
pub(in crate::text) fn in_order(
    segments: &[Segment<'_>],
    accept: &(dyn Fn(EntryId) -> bool + Sync),
) -> Vec<Vec<EntryId>> {
    let mut threads: HashMap<u64, (i64, Vec<EntryId>)> = HashMap::new();
    for segment in segments {
        for document in (0..segment.len()).filter(|document| segment.is_alive(*document)) {
            let thread = segment.thread(document);
            let row = segment
                .row(document)
                .filter(|row| thread != 0 && accept(*row));
            let Some(row) = row else {
                continue;
            };
            let time_ms = segment.time_ms(document);
            let (begun, rows) = threads.entry(thread).or_insert((time_ms, Vec::new()));
            *begun = time_ms.min(*begun);
            rows.push(row);
        }
    }
    let mut threads: Vec<_> = threads.into_values().collect();
    threads.sort_unstable_by_key(|(begun, rows)| (*begun, rows.first().copied()));
    threads.into_iter().map(|(_, rows)| rows).collect()
}

/// Counts each leaf in every turn of conversations and in turns outside any, scores their words,
/// and decides which may be hits.
pub(in crate::text) fn count(
    conversations: &mut Conversations,
    alone: &mut [Turn],
    segments: &[Segment<'_>],
    plan: &Plan,
    norms: &[f64; 256],
) -> tantivy::Result<()> {
    let leaves = plan.leaves.len();
    let passages = conversations.values().map(|thread| thread.passages.len());
    let mut counting = Counting {
        plan,
        norms,
        counts: vec![vec![0.0; leaves]; passages.sum()],
        added: Vec::new(),
    };
    let mut first = 0;
    let mut by_place: Vec<Placed<'_>> = Vec::new();
    // Conversations mostly stand behind each other, each in order: then all are.
    let mut threads: Vec<&mut Conversation> = conversations.values_mut().collect();
    threads.sort_unstable_by_key(|thread| thread.turns.first().map(Turn::place));
    for thread in &mut threads {
        let window = thread.window();
        let turns = thread.turns.iter_mut().enumerate();
        by_place.extend(turns.map(|(at, turn)| Placed::of(turn, Some(first + at / window))));
        first += thread.passages.len();
    }
    by_place.extend(alone.iter_mut().map(|turn| Placed::of(turn, None)));
    by_place.sort_unstable_by_key(|placed| placed.place);
    for of_segment in by_place.chunk_by_mut(|a, b| a.turn.segment == b.turn.segment) {
        let segment = of_segment
            .first()
            .and_then(|placed| segments.get(placed.turn.segment));
        if let Some(segment) = segment {
            counting.count(segment, of_segment)?;
        }
    }
    let passages = threads.into_iter();
    let passages = passages.flat_map(|thread| thread.passages.iter_mut());
    for (passage, counts) in passages.zip(counting.counts) {
        passage.counts = counts;
    }
    Ok(())
}

/// The words of turns and passages while they are counted.
struct Counting<'a> {
    plan: &'a Plan,
    norms: &'a [f64; 256],
    /// The frequency of each leaf in each passage.
    counts: Vec<Vec<f64>>,
    /// The score of each leaf in each turn of a segment.
    added: Vec<Option<f64>>,
}

impl Counting<'_> {
    /// Scores the words of turns of a segment, which are in the order of documents, and decides which
    /// may be hits.
    fn count(&mut self, segment: &Segment<'_>, turns: &mut [Placed<'_>]) -> tantivy::Result<()> {
        let plan = self.plan;
        let leaves = plan.leaves.len();
        // The score of a flat plan is what the words sum up to, and no word of it rules a turn out.
        let is_evaluated = !plan.is_flat || cfg!(debug_assertions);
        self.added.clear();
        if is_evaluated {
            self.added.resize(turns.len().saturating_mul(leaves), None);
        }
        let documents = turns.iter().map(|placed| placed.turn.document);
        let documents: Vec<u32> = documents.collect();
        for (number, leaf) in plan.leaves.iter().enumerate() {
            let mut cursor = PostingsCursor::open(segment, leaf)?;
            cursor.each_of(&documents, |at, count| {
                if let Some(placed) = turns.get_mut(at).filter(|_| count > 0.0) {
                    self.add(placed, number, count, at * leaves + number);
                }
            });
        }
        for (number, Placed { turn, .. }) in turns.iter_mut().enumerate() {
            let from = number * leaves;
            let added = |leaf: usize| self.added.get(from + leaf).copied().flatten();
            if is_evaluated {
                let matched = evaluate(&plan.root, &added);
                debug_assert!(!plan.is_flat || turn.matched == matched);
                turn.matched = matched;
            }
            let is_admitted = || match plan.is_flat {
                true => plan.is_loose,
                false => admits(plan, &added),
            };
            if turn.matched.is_none() && is_admitted() {
                turn.matched = Some(0.0);
            }
        }
        Ok(())
    }

    /// Adds the occurrences of a leaf in a turn; its score has a place among those of all.
    fn add(&mut self, placed: &mut Placed<'_>, number: usize, count: f64, place: usize) {
        let Some(leaf) = self.plan.leaves.get(number) else {
            return;
        };
        let norm = self.norms.get(usize::from(placed.turn.len_class));
        let score = leaf.weight * saturation(count, norm.copied().unwrap_or(1.0));
        if let Some(slot) = self.added.get_mut(place) {
            *slot = Some(score);
        }
        if leaf.is_scored {
            placed.turn.words += f64::from(leaf.uses) * score;
            placed.turn.matched = Some(placed.turn.words);
            let passage = placed.passage.and_then(|it| self.counts.get_mut(it));
            if let Some(sum) = passage.and_then(|counts| counts.get_mut(number)) {
                *sum += count;
            }
        }
    }
}

/// A turn in the order of segments and documents, with the number of its passage.
struct Placed<'a> {
    /// At hand, for the turns of conversations that alternate are far apart.
    place: u64,
    turn: &'a mut Turn,
    passage: Option<usize>,
}

impl<'a> Placed<'a> {
    fn of(turn: &'a mut Turn, passage: Option<usize>) -> Self {
        Self {
            place: turn.place(),
            turn,
            passage,
        }
    }
}

/// Returns whether a turn of a conversation that was read may be a hit without any word of the query:
/// if the query has loose words alone, and nothing that it rules out is there.
fn admits(plan: &Plan, added: &impl Fn(usize) -> Option<f64>) -> bool {
    let is_ruled_out = |(role, node): &(Role, PlanNode)| {
        *role == Role::MustNot
            && match node {
                PlanNode::Leaf(number) => added(*number).is_some(),
                PlanNode::Group(inner) => evaluate(inner, added).is_some(),
            }
    };
    plan.is_loose && !plan.root.iter().any(is_ruled_out)
}

impl Turn {
    /// Returns the turn of a document that was found otherwise.
    pub(in crate::text) fn of(
        segment: &Segment<'_>,
        number: usize,
        document: u32,
        row: EntryId,
    ) -> Self {
        let values = TurnValues {
            document,
            row,
            time_ms: segment.time_ms(document),
            traits: segment.traits(document),
            len_class: segment.len_class(document),
        };
        Self::with(number, &values)
    }

    const fn with(segment: usize, values: &TurnValues) -> Self {
        Self {
            segment,
            document: values.document,
            row: values.row,
            time_ms: values.time_ms,
            traits: values.traits,
            len_class: values.len_class,
            words: 0.0,
            meaning: 0.0,
            matched: None,
        }
    }

    /// Returns the segment and the document in one number.
    fn place(&self) -> u64 {
        (self.segment as u64) << 32 | u64::from(self.document)
    }

    /// Returns its own score, whether it may be a hit or not.
    pub(in crate::text) fn own(&self) -> f64 {
        self.words + self.meaning
    }
}

impl Surroundings {
    pub(in crate::text) const fn new(
        snapshot: Snapshot,
        conversations: Conversations,
        hits: Vec<Candidate>,
        reach: usize,
    ) -> Self {
        Self {
            snapshot,
            conversations,
            hits,
            reach,
        }
    }

    /// Returns the rows of the turns around a hit for which `accept` returns true, its own included, in
    /// chronological order, each with what is known of its line.
    pub(in crate::text) fn turns(
        &mut self,
        hit: usize,
        fields: &Fields,
        accept: &(dyn Fn(EntryId) -> bool + Sync),
    ) -> tantivy::Result<Vec<(EntryId, KnownLine)>> {
        let Some(hit) = self.hits.get(hit) else {
            return Ok(Vec::new());
        };
        let segments = self.snapshot.segments(fields)?;
        let segment = segments.get(hit.segment);
        let thread = segment.map_or(0, |segment| segment.thread(hit.document));
        if thread != 0 && !self.conversations.contains_key(&thread) {
            let turns = turns_of(thread, &segments, fields, accept)?;
            self.conversations.insert(thread, Conversation::of(turns));
        }
        let time_ms = segment.map_or(0, |segment| segment.time_ms(hit.document));
        let near = self.conversations.get(&thread).and_then(|thread| {
            let at = thread.place(time_ms, hit.row)?;
            let end = at.saturating_add(self.reach).saturating_add(1);
            let end = end.min(thread.turns.len());
            thread.turns.get(at.saturating_sub(self.reach)..end)
        });
        let known = |turn: &Turn| (turn.row, KnownLine::of(turn.traits));
        let rows = near.map(|near| near.iter().map(known).collect());
        Ok(rows.unwrap_or_else(|| vec![(hit.row, KnownLine::default())]))
    }
}

impl Conversation {
    fn of(turns: Vec<Turn>) -> Self {
        let windows = turns.chunks(window_of(turns.len()));
        let passages = windows.map(|window| {
            let lengths = window.iter();
            let lengths = lengths.map(|turn| f64::from(len_of_class(turn.len_class)));
            Passage {
                len_words: lengths.sum(),
                counts: Vec::new(),
            }
        });
        Self {
            passages: passages.collect(),
            turns,
        }
    }

    /// Returns the number of turns of a passage.
    pub(in crate::text) fn window(&self) -> usize {
        window_of(self.turns.len())
    }

    /// Returns the index of a turn.
    fn place(&self, time_ms: i64, row: EntryId) -> Option<usize> {
        let place = |turn: &Turn| (turn.time_ms, turn.row);
        self.turns.binary_search_by_key(&(time_ms, row), place).ok()
    }
}

impl Passage {
    /// Returns the score of its turns as one document, normalized by the mean length of passages.
    pub(in crate::text) fn score(&self, plan: &Plan, len_mean: f64) -> f64 {
        let norm = norm(self.len_words, len_mean);
        let leaves = plan.leaves.iter().zip(&self.counts);
        leaves
            .map(|(leaf, count)| f64::from(leaf.uses) * leaf.weight * saturation(*count, norm))
            .sum()
    }
}

/// Returns the number of turns of a passage of a conversation of some turns: about [`WINDOW`].
fn window_of(turns: usize) -> usize {
    let windows = turns.saturating_add(WINDOW / 2) / WINDOW;
    turns.div_ceil(windows.max(1)).max(1)
}

/// A long conversation is of many subjects, and all of it as one text tells none from another.
const WINDOW: usize = 16;

/// The turns of most conversations.
const TURNS_ABOUT: usize = 48;

/// The maximum number of conversations that a search reads.
pub(in crate::text) const CONVERSATIONS_MAX: usize = 32;

/// The number of turns after which a search reads no further conversation.
const TURNS_MAX: usize = 20_000;
