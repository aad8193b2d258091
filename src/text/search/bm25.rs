//! BM25 scoring of one segment, with MaxScore and block-max pruning.
//!
//! It works the same on segments on disk and in memory. Sums are in `f64`, in the order of the
//! query, and rounded once to `f32`, so that a document has the same score in every segment, to the
//! last bit.

use crate::index::RowSet;
use crate::text::index::segment_reader::{Segment, len_of_class};
use crate::text::query::ast::Role;
use crate::text::query::plan::{Plan, PlanNode, PlannedLeaf};
use crate::text::query::statistics::as_f64;
use crate::text::search::accepted::accepted_documents;
use crate::text::search::postings_cursor::PostingsCursor;
use crate::text::search::score_block::{BLOCK_LEN, DocBits, ScoreBlock};
use crate::text::search::top_docs::{TopDocs, as_f32};

/// Evaluates a plan over one segment, block by block.
///
/// Documents that the search does not accept are left out first, where few are accepted. While
/// matches are counted, every leaf is evaluated in the whole block. After that only documents
/// that can enter the top are of interest (MaxScore): the leaves with the highest maximum scores
/// are essential and select candidates, and the other leaves are looked up for those candidates
/// only. A document without the leaves before one is no candidate if its score by that leaf and the
/// maximum of those after it do not suffice: the last essential leaf, which is the most frequent
/// one, selects few of its documents. Where even the best document of a block of postings does not
/// suffice, none of the block is looked at (block maxima). Candidates are scored in full, so pruning
/// does not change any result.
pub(in crate::text) struct SegmentScorer<'a> {
    segment: &'a Segment<'a>,
    plan: &'a Plan,
    /// The length normalization of BM25, for each quantized length.
    norms: &'a [f64; 256],
    /// A lower bound of the length normalization by the mean length of the plan, as a share of that
    /// by the mean length of the segment.
    norm_share: f64,
    /// The accepted rows, if they are few.
    accepted: Option<&'a RowSet>,
    /// In the order of evaluation.
    leaves: Vec<ScoredLeaf<'a>>,
    /// The scores of each leaf of the plan in the current block, by leaf index.
    blocks: &'a mut [ScoreBlock],
    /// Whether the first leaf is required.
    has_lead: bool,
    start: u32,
    /// The accepted documents of the current block; `None` if they were not looked for.
    allowed: Option<DocBits>,
    /// The documents of the current block that can still match.
    candidates: Vec<u32>,
    /// The sum that the leaves so far have given to each document of the block: meant for candidates
    /// alone.
    sums: &'a mut [f64],
}

struct ScoredLeaf<'a> {
    number: usize,
    planned: &'a PlannedLeaf,
    cursor: PostingsCursor<'a>,
    /// The maximum that this leaf and all leaves after it can add to a score.
    max_remaining: f64,
    /// The approximate number of its documents in a block.
    docs_per_block: u64,
}

/// Returns the length normalization of each quantized length: `k1 (1 - b + b length / mean
/// length)`.
pub(in crate::text) fn norms(plan: &Plan) -> [f64; 256] {
    std::array::from_fn(|class| {
        let len = len_of_class(u8::try_from(class).unwrap_or(u8::MAX));
        norm(f64::from(len), plan.len_mean)
    })
}

/// Returns the length normalization of a length.
pub(in crate::text) fn norm(len: f64, len_mean: f64) -> f64 {
    let share = if len_mean > 0.0 { len / len_mean } else { 1.0 };
    K1 * (1.0 - B + B * share)
}

/// Returns the saturated term frequency of `count` occurrences: below `K1 + 1`.
pub(in crate::text) fn saturation(count: f64, norm: f64) -> f64 {
    count * (K1 + 1.0) / (count + norm)
}

impl<'a> SegmentScorer<'a> {
    /// Opens the postings of a segment; `blocks` has one for each leaf of the plan and `sums` a number
    /// for each document of a block, whatever they were used for before.
    pub(in crate::text) fn open(
        segment: &'a Segment<'a>,
        plan: &'a Plan,
        norms: &'a [f64; 256],
        accepted: Option<&'a RowSet>,
        (blocks, sums): (&'a mut [ScoreBlock], &'a mut [f64]),
    ) -> tantivy::Result<Self> {
        let mut leaves = Vec::with_capacity(plan.leaves.len());
        for (number, planned) in plan.leaves.iter().enumerate() {
            let cursor = PostingsCursor::open(segment, planned)?;
            let docs_per_block =
                cursor.len() * u64::from(BLOCK_LEN) / u64::from(segment.len().max(1));
            leaves.push(ScoredLeaf {
                number,
                planned,
                cursor,
                max_remaining: max_score(planned),
                docs_per_block,
            });
        }
        leaves.sort_by(|a, b| {
            let scored_first = b.planned.is_scored.cmp(&a.planned.is_scored);
            scored_first.then(b.max_remaining.total_cmp(&a.max_remaining))
        });
        let lead = lead(plan, &leaves);
        if let Some(lead) = lead {
            let leaf = leaves.remove(lead);
            leaves.insert(0, leaf);
        }
        let mut max_remaining = 0.0;
        for leaf in leaves.iter_mut().rev() {
            max_remaining += leaf.max_remaining;
            leaf.max_remaining = max_remaining;
        }
        Ok(Self {
            segment,
            plan,
            norms,
            norm_share: norm_share(segment, plan),
            accepted,
            leaves,
            blocks,
            has_lead: lead.is_some(),
            start: 0,
            allowed: None,
            candidates: Vec::new(),
            sums,
        })
    }

    /// Offers the matching documents in order; after the count of matches has ended, only those
    /// that can enter the top.
    ///
    /// Scores are summed in the order of the query, so that the last bit of a sum is the same in
    /// every segment.
    pub(in crate::text) fn offer(mut self, number: usize, top: &mut TopDocs<'_>) {
        let mut from = 0;
        while !top.is_over() {
            let threshold = top.threshold();
            let essential = self.essential(threshold);
            let Some(start) = self.next_block(from, essential) else {
                return;
            };
            // Aligned, so that what is known of the rows of a block is known of the next search's.
            let start = start - start % BLOCK_LEN;
            from = start.saturating_add(BLOCK_LEN);
            self.start = start;
            self.allowed = self
                .accepted
                .and_then(|rows| accepted_documents(rows, self.segment, start));
            if self.allowed.as_ref().is_some_and(DocBits::is_empty) {
                continue;
            }
            self.collect(essential, threshold);
            let is_flat = self.plan.is_flat;
            if is_flat {
                self.add_in_order();
            }
            for at in &self.candidates {
                let added = |leaf: usize| self.blocks.get(leaf)?.score(*at);
                let evaluated = || evaluate(&self.plan.root, &added);
                let sum = self.sums.get(*at as usize).copied();
                debug_assert!(!is_flat || evaluated() == sum);
                let score = match is_flat {
                    true => sum,
                    false => evaluated(),
                };
                let document = start + at;
                if self.segment.is_alive(document)
                    && let Some(score) = score
                {
                    top.offer(self.segment, number, document, score);
                }
            }
        }
    }

    /// Sums the scores of each candidate anew in the order of the query, of a plan that is flat: a
    /// candidate has one of its leaves.
    fn add_in_order(&mut self) {
        if self.candidates.is_empty() {
            return;
        }
        self.start_sums();
        for block in self.blocks.iter() {
            block.add_to(self.sums, 1.0);
        }
    }

    /// Starts the sums of the candidates.
    fn start_sums(&mut self) {
        for at in &self.candidates {
            if let Some(sum) = self.sums.get_mut(*at as usize) {
                *sum = 0.0;
            }
        }
    }

    /// Returns the number of essential leaves: a document without any of them cannot reach the
    /// threshold. 0 if no document can.
    fn essential(&self, threshold: f32) -> usize {
        let reaches = |leaf: &&ScoredLeaf<'_>| {
            leaf.planned.is_scored && may_reach(leaf.max_remaining, threshold)
        };
        let essential = self.leaves.iter().take_while(reaches).count();
        if self.has_lead {
            essential.min(1)
        } else {
            essential
        }
    }

    /// Returns the first document at or after `from` that can match.
    fn next_block(&mut self, from: u32, essential: usize) -> Option<u32> {
        let leaves = self.leaves.iter_mut().take(essential);
        let next = leaves.map(|leaf| leaf.cursor.lower_bound(from)).min()?;
        (next < self.segment.len()).then_some(next)
    }

    /// Collects the documents of the block that can reach the threshold, and the scores of their
    /// leaves.
    fn collect(&mut self, essential: usize, threshold: f32) {
        let (start, segment, norms) = (self.start, self.segment, self.norms);
        let norm = |at: u32| {
            let class = segment.len_class(start + at);
            norms.get(usize::from(class)).copied().unwrap_or(K1)
        };
        let (allowed, norm_share) = (self.allowed, self.norm_share);
        let needed = needed(threshold);
        let mut any = DocBits::EMPTY;
        for place in 0..essential {
            let demand = Demand {
                allowed: allowed.as_ref(),
                chosen: &any,
                floor: needed - self.max_remaining(place + 1),
                norm_share,
            };
            let Some(leaf) = self.leaves.get_mut(place) else {
                continue;
            };
            if let Some(block) = self.blocks.get_mut(leaf.number) {
                leaf.fill(block, start, norm, &demand);
                any.unite(block.has());
            }
        }
        self.candidates.clear();
        self.candidates.extend(any.iter());
        // Without a threshold no sum is too low.
        let prunes = threshold > f32::NEG_INFINITY;
        if prunes {
            self.start_sums();
            for place in 0..essential {
                self.add(place);
            }
            self.prune(threshold, essential);
        }
        for place in essential..self.leaves.len() {
            if self.candidates.is_empty() {
                return;
            }
            let Some(leaf) = self.leaves.get_mut(place) else {
                continue;
            };
            if let Some(block) = self.blocks.get_mut(leaf.number) {
                if leaf.docs_per_block <= self.candidates.len() as u64 * SEEK_COST {
                    let demand = Demand {
                        allowed: None,
                        chosen: &any,
                        floor: f64::INFINITY,
                        norm_share,
                    };
                    leaf.fill(block, start, norm, &demand);
                } else {
                    leaf.look_up(block, start, &self.candidates, norm);
                }
            }
            if prunes {
                self.add(place);
                self.prune(threshold, place + 1);
            }
        }
    }

    /// Adds the score of a leaf to the sums of the candidates.
    fn add(&mut self, place: usize) {
        let Some(leaf) = self.leaves.get(place).filter(|leaf| leaf.planned.is_scored) else {
            return;
        };
        let Some(block) = self.blocks.get(leaf.number) else {
            return;
        };
        block.add_to(self.sums, f64::from(leaf.planned.uses));
    }

    /// Removes the candidates that cannot reach the threshold, given the first `looked_up` leaves.
    fn prune(&mut self, threshold: f32, looked_up: usize) {
        let max_remaining = self.max_remaining(looked_up);
        let reaches = |sum: &f64| may_reach(*sum + max_remaining, threshold);
        let (candidates, sums) = (&mut self.candidates, &*self.sums);
        candidates.retain(|at| sums.get(*at as usize).is_some_and(reaches));
    }

    /// Returns the maximum that the leaves from a place on can add to a score.
    fn max_remaining(&self, place: usize) -> f64 {
        self.leaves
            .get(place)
            .map_or(0.0, |leaf| leaf.max_remaining)
    }
}

/// Which documents of a block a leaf is scored for.
struct Demand<'a> {
    allowed: Option<&'a DocBits>,
    /// Those that other leaves have selected.
    chosen: &'a DocBits,
    /// The least that the leaf must add to a document that is not among them.
    floor: f64,
    norm_share: f64,
}

impl ScoredLeaf<'_> {
    /// Scores the documents of a block that the leaf occurs in and that are demanded.
    fn fill(
        &mut self,
        block: &mut ScoreBlock,
        start: u32,
        norm: impl Fn(u32) -> f64,
        demand: &Demand<'_>,
    ) {
        let planned = self.planned;
        let (weight, uses) = (planned.weight, f64::from(planned.uses));
        let Demand { chosen, floor, .. } = *demand;
        let is_allowed = |at| demand.allowed.is_none_or(|allowed| allowed.contains(at));
        let needs = |first, last, norm_min: f64| {
            let allowed = demand.allowed;
            let max = max_added(planned) / (1.0 + demand.norm_share * norm_min);
            allowed.is_none_or(|allowed| allowed.has_in(first, last))
                && (max >= floor || chosen.has_in(first, last))
        };
        let may_suffice = max_added(planned) >= floor;
        self.cursor.fill(block, start, needs, |at, count| {
            let is_chosen = chosen.contains(at);
            if !is_allowed(at) || !(is_chosen || may_suffice) {
                return None;
            }
            let score = weight * saturation(count, norm(at));
            // A negative score must not exclude what a later leaf would select.
            (is_chosen || (uses * score).max(0.0) >= floor).then_some(score)
        });
    }

    /// Scores the leaf for some documents of a block.
    fn look_up(
        &mut self,
        block: &mut ScoreBlock,
        start: u32,
        documents: &[u32],
        norm: impl Fn(u32) -> f64,
    ) {
        block.clear();
        for at in documents {
            let count = self.cursor.count(start + at);
            if count > 0.0 {
                let score = self.planned.weight * saturation(count, norm(*at));
                block.put(*at, Some(score));
            }
        }
    }
}

/// Returns the score of a document, or `None` if the clauses do not match; `added` is the score of
/// a leaf, `None` if it does not occur.
pub(in crate::text) fn evaluate(
    clauses: &[(Role, PlanNode)],
    added: &impl Fn(usize) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut matches) = (0.0, false);
    for (role, node) in clauses {
        // Most clauses are loose words.
        if let (Role::Should, PlanNode::Leaf(number)) = (role, node) {
            if let Some(score) = added(*number) {
                sum += score;
                matches = true;
            }
            continue;
        }
        let score = match node {
            PlanNode::Leaf(number) => added(*number),
            PlanNode::Group(inner) => evaluate(inner, added),
        };
        match (role, score) {
            (Role::MustNot, Some(_)) | (Role::Must, None) => return None,
            (Role::MustNot, None) | (Role::Should, None) => {}
            (Role::Must | Role::Should, Some(score)) => {
                sum += score;
                matches = true;
            }
        }
    }
    matches.then_some(sum)
}

/// Returns the index of the rarest required leaf, if any.
fn lead(plan: &Plan, leaves: &[ScoredLeaf<'_>]) -> Option<usize> {
    let must = |leaf: &ScoredLeaf<'_>| {
        plan.root.iter().any(|(role, node)| {
            *role == Role::Must && matches!(node, PlanNode::Leaf(number) if *number == leaf.number)
        })
    };
    let places = (0_usize..).zip(leaves).filter(|(_, leaf)| must(leaf));
    let rarest = places.min_by_key(|(_, leaf)| leaf.cursor.len());
    rarest.map(|(place, _)| place)
}

/// Returns a lower bound of the length normalization of any document by the mean length of the plan,
/// as a share of that by the mean length of the segment.
///
/// The normalization is a constant and a part that is inverse to the mean length: with a greater
/// mean it falls at most as that part does, with a smaller one it grows.
fn norm_share(segment: &Segment<'_>, plan: &Plan) -> f64 {
    let len_mean = as_f64(segment.len_words()) / f64::from(segment.len().max(1));
    let share = len_mean / plan.len_mean;
    if share.is_finite() {
        share.min(1.0)
    } else {
        0.0
    }
}

/// Returns the minimum sum, in any order, of a score that can reach a threshold.
fn needed(threshold: f32) -> f64 {
    let threshold = f64::from(threshold);
    threshold - threshold.abs() * ROUNDING
}

/// Returns whether a score can reach a threshold; the slack covers sums in another order.
fn may_reach(score: f64, threshold: f32) -> bool {
    as_f32(score * SLACK).total_cmp(&threshold).is_ge()
}

/// Returns the maximum that the leaf can add to a score.
fn max_score(leaf: &PlannedLeaf) -> f64 {
    if leaf.is_scored { max_added(leaf) } else { 0.0 }
}

/// Returns the limit of what the leaf adds where it occurs, scored or not: for an endless
/// frequency.
fn max_added(leaf: &PlannedLeaf) -> f64 {
    f64::from(leaf.uses) * leaf.weight.max(0.0) * (K1 + 1.0)
}

/// The cost of one seek in a postings list, in documents read sequentially.
const SEEK_COST: u64 = 30;

/// More than the rounding error of a sum.
const SLACK: f64 = 1.0 + 1e-9;

/// More than the rounding error of a sum and of its conversion to `f32`.
const ROUNDING: f64 = 1e-6;

/// Term frequency saturation.
const K1: f64 = 1.2;

/// Length normalization.
const B: f64 = 0.75;
