use crate::text::index::segment_reader::{Segment, len_of_class};
use crate::text::query::ast::Role;
use crate::text::query::plan::{Plan, PlanNode, PlannedLeaf};
use crate::text::search::postings_cursor::PostingsCursor;
use crate::text::search::score_block::{BLOCK_LEN, DocBits, ScoreBlock};
use crate::text::search::top_docs::{TopDocs, as_f32};

/// Evaluates a plan over one segment.
///
/// Documents are looked at in blocks. As long as every match counts, all leaves are looked up
/// in all of a block. Then only what may be among the top is of interest: the leaves that are
/// weight most decide which documents may, and the others are looked up in those (MaxScore). What
/// is candidates is scored as ever, so that what is skipped changes no result.
pub(in crate::text) struct SegmentScorer<'a> {
    segment: &'a Segment<'a>,
    plan: &'a Plan,
    /// The part of BM25 that a length is responsible for, by class.
    norms: &'a [f64; 256],
    /// In the order in which they are looked up.
    leaves: Vec<ScoredLeaf<'a>>,
    /// What each leaf of the plan adds in the block, by its number.
    blocks: Vec<ScoreBlock>,
    /// Whether the first leaf must occur.
    has_lead: bool,
    start: u32,
    /// The documents of the block that may be found.
    candidates: Vec<u32>,
}

struct ScoredLeaf<'a> {
    number: usize,
    planned: &'a PlannedLeaf,
    cursor: PostingsCursor<'a>,
    /// What this leaf and all behind it add to a score at most.
    max_remaining: f64,
    /// About how many documents of a block have it.
    docs_per_block: u64,
}

/// Returns the norms of a plan: `k1 (1 - b + b length / mean length)`.
pub(in crate::text) fn norms(plan: &Plan) -> [f64; 256] {
    std::array::from_fn(|class| {
        let len = len_of_class(u8::try_from(class).unwrap_or(u8::MAX));
        norm(f64::from(len), plan.len_mean)
    })
}

/// Returns the norm of a length beside the mean length.
pub(in crate::text) fn norm(len: f64, len_mean: f64) -> f64 {
    let share = if len_mean > 0.0 { len / len_mean } else { 1.0 };
    K1 * (1.0 - B + B * share)
}

/// Returns what an occurrence is weight, of 1, when there are `count` of them: less than `K1 + 1`.
pub(in crate::text) fn saturation(count: f64, norm: f64) -> f64 {
    count * (K1 + 1.0) / (count + norm)
}

impl<'a> SegmentScorer<'a> {
    pub(in crate::text) fn open(
        segment: &'a Segment<'a>,
        plan: &'a Plan,
        norms: &'a [f64; 256],
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
                max_remaining: planned.max_score(),
                docs_per_block,
            });
        }
        leaves.sort_by(|a, b| {
            let wanted_first = b.planned.is_scored.cmp(&a.planned.is_scored);
            wanted_first.then(b.max_remaining.total_cmp(&a.max_remaining))
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
        let blocks = leaves.iter().map(|_| ScoreBlock::new()).collect();
        Ok(Self {
            segment,
            plan,
            norms,
            leaves,
            blocks,
            has_lead: lead.is_some(),
            start: 0,
            candidates: Vec::new(),
        })
    }

    /// Offers the documents that match, in order; once the count of matches has ended, only those
    /// that may be among the top.
    ///
    /// Scores are added up in the order of the query, so that the last bit of a sum is the same in
    /// every segment.
    pub(in crate::text) fn offer(mut self, number: usize, top: &mut TopDocs<'_>) {
        let mut from = 0;
        loop {
            let threshold = top.threshold();
            let essential = self.essential(threshold);
            let Some(start) = self.next_block(from, essential) else {
                return;
            };
            self.start = start;
            self.collect(essential, threshold);
            for at in &self.candidates {
                let document = start + at;
                let added = |leaf: usize| self.blocks.get(leaf)?.score(*at);
                if self.segment.is_alive(document)
                    && let Some(score) = evaluate(&self.plan.root, &added)
                {
                    top.offer(self.segment, number, document, score);
                }
            }
            from = start.saturating_add(BLOCK_LEN);
        }
    }

    /// Returns how many leaves decide what is looked at: documents that have none of them do not
    /// reach the threshold. None decide where nothing does.
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

    /// Returns the first document from `from` on that may match.
    fn next_block(&mut self, from: u32, essential: usize) -> Option<u32> {
        let leaves = self.leaves.iter_mut().take(essential);
        let next = leaves.map(|leaf| leaf.cursor.lower_bound(from)).min()?;
        (next < self.segment.len()).then_some(next)
    }

    /// Finds the documents of the block that may reach the threshold, and what the leaves add there.
    fn collect(&mut self, essential: usize, threshold: f32) {
        let (start, segment, norms) = (self.start, self.segment, self.norms);
        let norm = |at: u32| {
            let class = segment.len_class(start + at);
            norms.get(usize::from(class)).copied().unwrap_or(K1)
        };
        let mut any = DocBits::EMPTY;
        for leaf in self.leaves.iter_mut().take(essential) {
            if let Some(block) = self.blocks.get_mut(leaf.number) {
                leaf.fill(block, start, norm);
                any.unite(block.has());
            }
        }
        self.candidates.clear();
        self.candidates.extend(any.iter());
        self.prune(threshold, essential);
        for place in essential..self.leaves.len() {
            if self.candidates.is_empty() {
                return;
            }
            let Some(leaf) = self.leaves.get_mut(place) else {
                continue;
            };
            if let Some(block) = self.blocks.get_mut(leaf.number) {
                if leaf.docs_per_block <= self.candidates.len() as u64 * SEEK_COST {
                    leaf.fill(block, start, norm);
                } else {
                    leaf.look_up(block, start, &self.candidates, norm);
                }
            }
            self.prune(threshold, place + 1);
        }
    }

    /// Leaves out what cannot reach the threshold after so many leaves were looked up.
    fn prune(&mut self, threshold: f32, looked_up: usize) {
        if threshold == f32::NEG_INFINITY {
            return;
        }
        let (done, max_remaining) = self.leaves.split_at(looked_up.min(self.leaves.len()));
        let max_remaining = max_remaining.first().map_or(0.0, |leaf| leaf.max_remaining);
        let blocks = &self.blocks;
        self.candidates.retain(|at| {
            let of = |leaf: &ScoredLeaf<'_>| blocks.get(leaf.number)?.score(*at);
            let sum: f64 = done
                .iter()
                .filter(|leaf| leaf.planned.is_scored)
                .filter_map(of)
                .sum();
            may_reach(sum + max_remaining, threshold)
        });
    }
}

impl ScoredLeaf<'_> {
    /// Finds the leaf in every document of a block.
    fn fill(&mut self, block: &mut ScoreBlock, start: u32, norm: impl Fn(u32) -> f64) {
        let weight = self.planned.weight;
        let score = |at: u32, count: f64| weight * saturation(count, norm(at));
        self.cursor.fill(block, start, score);
    }

    /// Finds the leaf in some documents of a block.
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
                block.put(*at, self.planned.weight * saturation(count, norm(*at)));
            }
        }
    }
}

/// Returns the score of a document by clauses, if they match it; `added` is what a leaf adds to it,
/// none where it does not occur.
pub(in crate::text) fn evaluate(
    clauses: &[(Role, PlanNode)],
    added: &impl Fn(usize) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut matches) = (0.0, false);
    for (role, node) in clauses {
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

/// Returns the place of the rarest leaf that must occur, if one must.
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

/// Returns whether a score may come to a threshold: sums differ in the last bits by their order.
fn may_reach(score: f64, threshold: f32) -> bool {
    as_f32(score * SLACK).total_cmp(&threshold).is_ge()
}

impl PlannedLeaf {
    /// Returns what it adds to a score at most.
    fn max_score(&self) -> f64 {
        if self.is_scored {
            self.weight.max(0.0) * (K1 + 1.0)
        } else {
            0.0
        }
    }
}

/// How many documents of a list can be read while one is looked up in it.
const SEEK_COST: u64 = 30;

/// More than rounding can make of a sum.
const SLACK: f64 = 1.0 + 1e-9;

/// How fast more occurrences stop counting.
const K1: f64 = 1.2;

/// How much longer documents lose.
const B: f64 = 0.75;
