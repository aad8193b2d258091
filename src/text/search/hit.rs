//! The results of a search: hits, their total, and hits with the turns around them.
//!
//! Selecting the best is the task of `top_docs.rs`.

use crate::grain;
use crate::ledger::EntryId;
use crate::render::LineShape;
use crate::text::document::Traits;
use crate::text::index::segment_reader::Segment;
use crate::text::query::plan::Plan;
use crate::text::search::phrase::PhraseMatcher;
use crate::text::search::top_docs::{Candidate, as_f32};

/// A row that matched.
///
/// ```
/// use grainstore::ledger::EntryId;
/// use grainstore::text::Hit;
///
/// let hit = Hit { row: EntryId::new(7), score: 4.0, fields: 0 };
/// assert_eq!(hit.relevance(), 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The row.
    pub row: EntryId,
    /// The score by words and ranking signals: above 0, without an upper bound.
    pub score: f32,
    /// The grain fields that matched, as bits; see [`matched_fields`](Self::matched_fields).
    pub fields: u64,
}

impl Hit {
    /// Returns the score in [0, 1) for the envelope of OMS 28.1: `score / (score + 4)`.
    ///
    /// It is monotonic in the score and depends on nothing else, so a hit keeps its relevance
    /// whatever else is found. 4 is about the score of one matching word in a mid-sized store.
    pub fn relevance(&self) -> f64 {
        relevance(self.score)
    }

    /// Returns the names of the grain fields that matched.
    pub fn matched_fields(&self) -> Vec<&'static str> {
        let fields = (1..).zip(grain::SEARCHABLE_FIELDS);
        let matched = fields.filter(|(bit, _)| self.fields >> bit & 1 == 1);
        matched.map(|(_, name)| *name).collect()
    }
}

/// Returns a score in [0, 1).
pub(in crate::text) fn relevance(score: f32) -> f64 {
    let score = f64::from(score);
    score / (score + SCORE_HALF)
}

/// A hit of a recall, with the turns around it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledHit {
    /// The hit.
    pub hit: Hit,
    /// The rows of the hit and of the turns around it, in chronological order.
    pub turns: Vec<EntryId>,
    /// Whether the hit is of a conversation, even of one turn.
    pub has_thread: bool,
}

/// A hit of a recall, with what is known of it before it is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ShapedHit {
    pub(crate) hit: Hit,
    /// Whether it is of a conversation, even of one turn.
    pub(crate) has_thread: bool,
    pub(crate) line: KnownLine,
}

/// The facts about the line of a row that are known before its grain is read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct KnownLine {
    /// The room that it takes.
    pub(crate) shape: LineShape,
    /// Whether every handle sees it that reaches its namespace and its person.
    pub(crate) is_open: bool,
}

impl KnownLine {
    pub(in crate::text) const fn of(traits: Traits) -> Self {
        Self {
            shape: traits.shape(),
            is_open: traits.is_open(),
        }
    }
}

/// Returns candidates as hits, with the fields that matched if `tells_fields` says so.
pub(in crate::text) fn hits(
    candidates: &[Candidate],
    segments: &[Segment<'_>],
    plan: &Plan,
    tells_fields: bool,
) -> tantivy::Result<Vec<Hit>> {
    let mut hits: Vec<(usize, &Candidate, Hit)> = Vec::with_capacity(candidates.len());
    for (rank, candidate) in candidates.iter().enumerate() {
        let hit = Hit {
            row: candidate.row,
            score: as_f32(candidate.score),
            fields: 0,
        };
        hits.push((rank, candidate, hit));
    }
    if !tells_fields {
        return Ok(hits.into_iter().map(|(.., hit)| hit).collect());
    }
    hits.sort_unstable_by_key(|(_, at, _)| (at.segment, at.document));
    for of_segment in hits.chunk_by_mut(|(_, a, _), (_, b, _)| a.segment == b.segment) {
        let segment = of_segment
            .first()
            .and_then(|(_, at, _)| segments.get(at.segment));
        let Some(segment) = segment else {
            continue;
        };
        for leaf in plan.leaves.iter().filter(|leaf| leaf.is_scored) {
            let mut matcher = PhraseMatcher::open(segment, leaf)?;
            for (_, at, hit) in of_segment.iter_mut() {
                hit.fields |= matcher.fields(at.document);
            }
        }
    }
    hits.sort_unstable_by_key(|(rank, ..)| *rank);
    Ok(hits.into_iter().map(|(.., hit)| hit).collect())
}

/// Returns the hits of a recall, each with what is known of it before it is read.
pub(in crate::text) fn shaped(
    candidates: &[Candidate],
    hits: &[Hit],
    segments: &[Segment<'_>],
) -> Vec<ShapedHit> {
    let shaped = |(candidate, hit): (&Candidate, &Hit)| {
        let segment = segments.get(candidate.segment);
        let thread = segment.map_or(0, |segment| segment.thread(candidate.document));
        let traits = segment.map(|segment| segment.traits(candidate.document));
        let traits = traits.unwrap_or_default();
        ShapedHit {
            hit: *hit,
            has_thread: thread != 0,
            line: KnownLine::of(traits),
        }
    };
    candidates.iter().zip(hits).map(shaped).collect()
}

/// The best hits and the number of matches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    /// The number of accepted rows that match, up to [`TOTAL_MAX`].
    pub total: usize,
    /// Whether more than [`TOTAL_MAX`] rows match.
    pub total_is_lower_bound: bool,
    /// The hits, best first; ties are broken by [`Document::order`](super::super::Document::order).
    pub hits: Vec<Hit>,
    /// The number of hits that were left out as less relevant ([`Ranking::share`](crate::text::Ranking::share)).
    pub less_relevant: usize,
    /// Words that no text has, each with the one that it was read as.
    pub respelled: Vec<(String, String)>,
    /// The rows that a question counts which asks how often or how long.
    pub counted: Vec<EntryId>,
    /// Whether the search ended before it had looked at every row.
    pub is_partial: bool,
}

/// The number of matches at which counting stops.
pub const TOTAL_MAX: usize = 1_000;

/// The score whose relevance is one half.
const SCORE_HALF: f64 = 4.0;
