use crate::text::index::segment_reader::{Segment, len_of_class};
use crate::text::query::ast::Role;
use crate::text::query::plan::{Plan, Planned, Step};
use crate::text::search::postings_cursor::Occurring;
use crate::text::search::score_block::{Bits, SPAN, Stretch};
use crate::text::search::top_docs::{Best, as_f32};

/// Evaluates a plan over one segment.
///
/// Documents are looked at in stretches. As long as every match counts, all leaves are looked up
/// in all of a stretch. Then only what may be among the best is of interest: the leaves that are
/// worth most decide which documents may, and the others are looked up in those (MaxScore). What
/// is left is scored as ever, so that what is skipped changes no result.
pub(in crate::text) struct Scoring<'a> {
    segment: &'a Segment<'a>,
    plan: &'a Plan,
    /// The part of BM25 that a length is responsible for, by class.
    norms: &'a [f64; 256],
    /// In the order in which they are looked up.
    leaves: Vec<Leaf<'a>>,
    /// What each leaf of the plan adds in the stretch, by its number.
    stretches: Vec<Stretch>,
    /// Whether the first leaf must occur.
    is_led: bool,
    start: u32,
    /// The documents of the stretch that may be found.
    left: Vec<u32>,
}

struct Leaf<'a> {
    number: usize,
    planned: &'a Planned,
    occurring: Occurring<'a>,
    /// What this leaf and all behind it add to a score at most.
    rest: f64,
    /// About how many documents of a stretch have it.
    dense: u64,
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

/// Returns what an occurrence is worth, of 1, when there are `count` of them: less than `K1 + 1`.
pub(in crate::text) fn saturation(count: f64, norm: f64) -> f64 {
    count * (K1 + 1.0) / (count + norm)
}

impl<'a> Scoring<'a> {
    pub(in crate::text) fn open(
        segment: &'a Segment<'a>,
        plan: &'a Plan,
        norms: &'a [f64; 256],
    ) -> tantivy::Result<Self> {
        let mut leaves = Vec::with_capacity(plan.leaves.len());
        for (number, planned) in plan.leaves.iter().enumerate() {
            let occurring = Occurring::open(segment, planned)?;
            let dense = occurring.len() * u64::from(SPAN) / u64::from(segment.len().max(1));
            leaves.push(Leaf {
                number,
                planned,
                occurring,
                rest: planned.bound(),
                dense,
            });
        }
        leaves.sort_by(|a, b| {
            let wanted_first = b.planned.is_wanted.cmp(&a.planned.is_wanted);
            wanted_first.then(b.rest.total_cmp(&a.rest))
        });
        let leader = leader(plan, &leaves);
        if let Some(leader) = leader {
            let leaf = leaves.remove(leader);
            leaves.insert(0, leaf);
        }
        let mut rest = 0.0;
        for leaf in leaves.iter_mut().rev() {
            rest += leaf.rest;
            leaf.rest = rest;
        }
        let stretches = leaves.iter().map(|_| Stretch::new()).collect();
        Ok(Self {
            segment,
            plan,
            norms,
            leaves,
            stretches,
            is_led: leader.is_some(),
            start: 0,
            left: Vec::new(),
        })
    }

    /// Offers the documents that match, in order; once the count of matches has ended, only those
    /// that may be among the best.
    ///
    /// Scores are added up in the order of the query, so that the last bit of a sum is the same in
    /// every segment.
    pub(in crate::text) fn offer(mut self, number: usize, best: &mut Best<'_>) {
        let mut from = 0;
        loop {
            let floor = best.floor();
            let deciding = self.deciding(floor);
            let Some(start) = self.next_start(from, deciding) else {
                return;
            };
            self.start = start;
            self.collect(deciding, floor);
            for at in &self.left {
                let document = start + at;
                let added = |leaf: usize| self.stretches.get(leaf)?.score(*at);
                if self.segment.is_alive(document)
                    && let Some(score) = judge(&self.plan.root, &added)
                {
                    best.offer(self.segment, number, document, score);
                }
            }
            from = start.saturating_add(SPAN);
        }
    }

    /// Returns how many leaves decide what is looked at: documents that have none of them do not
    /// reach the floor. None decide where nothing does.
    fn deciding(&self, floor: f32) -> usize {
        let reaches = |leaf: &&Leaf<'_>| leaf.planned.is_wanted && may_reach(leaf.rest, floor);
        let deciding = self.leaves.iter().take_while(reaches).count();
        if self.is_led {
            deciding.min(1)
        } else {
            deciding
        }
    }

    /// Returns the first document from `from` on that may match.
    fn next_start(&mut self, from: u32, deciding: usize) -> Option<u32> {
        let leaves = self.leaves.iter_mut().take(deciding);
        let next = leaves.map(|leaf| leaf.occurring.lower_bound(from)).min()?;
        (next < self.segment.len()).then_some(next)
    }

    /// Finds the documents of the stretch that may reach the floor, and what the leaves add there.
    fn collect(&mut self, deciding: usize, floor: f32) {
        let (start, segment, norms) = (self.start, self.segment, self.norms);
        let norm = |at: u32| {
            let class = segment.len_class(start + at);
            norms.get(usize::from(class)).copied().unwrap_or(K1)
        };
        let mut any = Bits::EMPTY;
        for leaf in self.leaves.iter_mut().take(deciding) {
            if let Some(stretch) = self.stretches.get_mut(leaf.number) {
                leaf.fill(stretch, start, norm);
                any.unite(stretch.has());
            }
        }
        self.left.clear();
        self.left.extend(any.iter());
        self.drop_below(floor, deciding);
        for place in deciding..self.leaves.len() {
            if self.left.is_empty() {
                return;
            }
            let Some(leaf) = self.leaves.get_mut(place) else {
                continue;
            };
            if let Some(stretch) = self.stretches.get_mut(leaf.number) {
                if leaf.dense <= self.left.len() as u64 * SEEK_COST {
                    leaf.fill(stretch, start, norm);
                } else {
                    leaf.look_up(stretch, start, &self.left, norm);
                }
            }
            self.drop_below(floor, place + 1);
        }
    }

    /// Leaves out what cannot reach the floor after so many leaves were looked up.
    fn drop_below(&mut self, floor: f32, looked_up: usize) {
        if floor == f32::NEG_INFINITY {
            return;
        }
        let (done, rest) = self.leaves.split_at(looked_up.min(self.leaves.len()));
        let rest = rest.first().map_or(0.0, |leaf| leaf.rest);
        let stretches = &self.stretches;
        self.left.retain(|at| {
            let of = |leaf: &Leaf<'_>| stretches.get(leaf.number)?.score(*at);
            let sum: f64 = done
                .iter()
                .filter(|leaf| leaf.planned.is_wanted)
                .filter_map(of)
                .sum();
            may_reach(sum + rest, floor)
        });
    }
}

impl Leaf<'_> {
    /// Finds the leaf in every document of a stretch.
    fn fill(&mut self, stretch: &mut Stretch, start: u32, norm: impl Fn(u32) -> f64) {
        let worth = self.planned.worth;
        let score = |at: u32, count: f64| worth * saturation(count, norm(at));
        self.occurring.fill(stretch, start, score);
    }

    /// Finds the leaf in some documents of a stretch.
    fn look_up(
        &mut self,
        stretch: &mut Stretch,
        start: u32,
        documents: &[u32],
        norm: impl Fn(u32) -> f64,
    ) {
        stretch.clear();
        for at in documents {
            let count = self.occurring.count(start + at);
            if count > 0.0 {
                stretch.put(*at, self.planned.worth * saturation(count, norm(*at)));
            }
        }
    }
}

/// Returns the score of a document by clauses, if they match it; `added` is what a leaf adds to it,
/// none where it does not occur.
pub(in crate::text) fn judge(
    clauses: &[(Role, Step)],
    added: &impl Fn(usize) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut matches) = (0.0, false);
    for (role, step) in clauses {
        let score = match step {
            Step::Leaf(number) => added(*number),
            Step::Group(inner) => judge(inner, added),
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
fn leader(plan: &Plan, leaves: &[Leaf<'_>]) -> Option<usize> {
    let must = |leaf: &Leaf<'_>| {
        plan.root.iter().any(|(role, step)| {
            *role == Role::Must && matches!(step, Step::Leaf(number) if *number == leaf.number)
        })
    };
    let places = (0_usize..).zip(leaves).filter(|(_, leaf)| must(leaf));
    let rarest = places.min_by_key(|(_, leaf)| leaf.occurring.len());
    rarest.map(|(place, _)| place)
}

/// Returns whether a score may come to a floor: sums differ in the last bits by their order.
fn may_reach(score: f64, floor: f32) -> bool {
    as_f32(score * SLACK).total_cmp(&floor).is_ge()
}

impl Planned {
    /// Returns what it adds to a score at most.
    fn bound(&self) -> f64 {
        if self.is_wanted {
            self.worth.max(0.0) * (K1 + 1.0)
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
