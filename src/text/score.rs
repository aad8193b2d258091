use super::document::field_of;
use super::plan::{Plan, Planned, Step};
use super::query::Role;
use super::segment::{Cursor, Of, Segment, len_of_class};
use tantivy::TERMINATED;

/// Evaluates a plan over one segment.
pub(super) struct Scoring<'a> {
    segment: &'a Segment<'a>,
    plan: &'a Plan,
    leaves: Vec<Matching<'a>>,
    /// The part of BM25 that a length is responsible for, by class.
    norms: &'a [f64; 256],
}

/// The documents of a segment in which a leaf occurs.
pub(super) struct Matching<'a> {
    words: Vec<(u32, Vec<Listed<'a>>)>,
    field: Option<u32>,
    places: [Vec<u32>; 2],
}

/// The list of a name, of which kind it is, and how much an occurrence counts.
type Listed<'a> = (Cursor<'a>, Of, f32);

/// What was found in a stretch of documents.
struct Window {
    start: u32,
    matched: Bits,
    scores: Vec<f64>,
}

type Bits = [u64; WORDS];

/// Returns the norms of a plan: `k1 (1 - b + b length / mean length)`.
pub(super) fn norms(plan: &Plan) -> [f64; 256] {
    std::array::from_fn(|class| {
        let len = len_of_class(u8::try_from(class).unwrap_or(u8::MAX));
        norm(f64::from(len), plan.len_mean)
    })
}

/// Returns the norm of a length beside the mean length.
pub(super) fn norm(len: f64, len_mean: f64) -> f64 {
    let share = if len_mean > 0.0 { len / len_mean } else { 1.0 };
    K1 * (1.0 - B + B * share)
}

/// Returns what an occurrence is worth, of 1, when there are `count` of them.
pub(super) fn saturation(count: f64, norm: f64) -> f64 {
    count * (K1 + 1.0) / (count + norm)
}

impl<'a> Scoring<'a> {
    pub(super) fn open(
        segment: &'a Segment<'a>,
        plan: &'a Plan,
        norms: &'a [f64; 256],
    ) -> tantivy::Result<Self> {
        let leaves = plan.leaves.iter();
        let leaves = leaves.map(|leaf| Matching::open(segment, leaf));
        Ok(Self {
            segment,
            plan,
            leaves: leaves.collect::<tantivy::Result<_>>()?,
            norms,
        })
    }

    /// Calls `found` with each document that matches, in order, and its score.
    ///
    /// With `among`, sorted, only those are looked at. Scores are added up in the order of the
    /// query, so that the last bit of a sum is the same in every segment.
    pub(super) fn for_each(mut self, among: Option<&[u32]>, found: &mut dyn FnMut(u32, f64)) {
        let mut window = Window::new();
        let mut from = 0;
        let mut among = among;
        while let Some(start) = self.next_start(from, &mut among) {
            window.start = start;
            evaluate(
                &mut self.leaves,
                self.segment,
                self.plan,
                self.norms,
                &self.plan.root,
                among,
                &mut window,
            );
            for document in window.documents() {
                if self.segment.is_alive(document) {
                    found(document, window.score(document));
                }
            }
            window.clear();
            from = start.saturating_add(SPAN);
        }
    }

    /// Returns the first document from `from` on that may match.
    fn next_start(&mut self, from: u32, among: &mut Option<&[u32]>) -> Option<u32> {
        let mut from = from;
        if let Some(documents) = among {
            let skipped = documents.partition_point(|document| *document < from);
            *documents = documents.get(skipped..).unwrap_or_default();
            from = *documents.first()?;
        }
        let wanted = self.plan.leaves.iter().zip(&mut self.leaves);
        let wanted = wanted.filter(|(leaf, _)| leaf.is_wanted);
        let next = wanted.map(|(_, leaf)| leaf.lower_bound(from)).min()?;
        (next < self.segment.len()).then_some(next)
    }
}

/// Adds to `window` what the clauses find in it.
fn evaluate(
    leaves: &mut [Matching<'_>],
    segment: &Segment<'_>,
    plan: &Plan,
    norms: &[f64; 256],
    clauses: &[(Role, Step)],
    among: Option<&[u32]>,
    window: &mut Window,
) {
    let mut admitted = None;
    let mut ruled_out = [0; WORDS];
    let mut any = [0; WORDS];
    for (role, step) in clauses {
        let mut bits = [0; WORDS];
        match step {
            Step::Leaf(number) => {
                if let (Some(leaf), Some(planned)) =
                    (leaves.get_mut(*number), plan.leaves.get(*number))
                {
                    let worth = if *role == Role::MustNot {
                        0.0
                    } else {
                        planned.worth
                    };
                    leaf.in_window(window.start, among, |document, count| {
                        let at = (document - window.start) as usize;
                        set(&mut bits, at);
                        let class = segment.len_class(document);
                        if let (Some(score), Some(norm)) =
                            (window.scores.get_mut(at), norms.get(usize::from(class)))
                        {
                            *score += worth * saturation(count, *norm);
                        }
                    });
                }
            }
            Step::Group(inner) => {
                let mut group = Window::new();
                group.start = window.start;
                evaluate(leaves, segment, plan, norms, inner, among, &mut group);
                bits = group.matched;
                if *role != Role::MustNot {
                    for document in group.documents() {
                        let at = (document - window.start) as usize;
                        if let Some(score) = window.scores.get_mut(at) {
                            *score += group.score(document);
                        }
                    }
                }
            }
        }
        match role {
            Role::Should => each(&mut any, &bits, |any, bits| any | bits),
            Role::MustNot => each(&mut ruled_out, &bits, |out, bits| out | bits),
            Role::Must => {
                let both = admitted.get_or_insert([u64::MAX; WORDS]);
                each(both, &bits, |both, bits| both & bits);
                each(&mut any, &bits, |any, bits| any | bits);
            }
        }
    }
    if let Some(admitted) = admitted {
        each(&mut any, &admitted, |any, admitted| any & admitted);
    }
    each(&mut any, &ruled_out, |any, out| any & !out);
    window.matched = any;
}

impl<'a> Matching<'a> {
    /// Opens the lists of a leaf's names.
    pub(super) fn open(segment: &'a Segment<'a>, leaf: &Planned) -> tantivy::Result<Self> {
        let mut words = Vec::new();
        for (offset, names) in &leaf.words {
            let mut cursors = Vec::new();
            for name in names {
                if let Some(cursor) = segment.postings(name.of, &name.text)? {
                    cursors.push((cursor, name.of, name.weight));
                }
            }
            words.push((*offset, cursors));
        }
        if words.iter().any(|(_, cursors)| cursors.is_empty()) {
            words.clear();
        }
        Ok(Self {
            words,
            field: leaf.field,
            places: [Vec::new(), Vec::new()],
        })
    }

    /// Returns a document that is not behind the next one that matches from `from` on.
    fn lower_bound(&mut self, from: u32) -> u32 {
        let words = self.words.iter_mut();
        let first = |(_, cursors): &mut (u32, Vec<Listed<'_>>)| {
            let cursors = cursors.iter_mut();
            cursors.map(|(cursor, ..)| cursor.seek(from)).min()
        };
        words.filter_map(first).max().unwrap_or(TERMINATED)
    }

    /// Calls `found` with each document of a window in which the leaf occurs, and how often.
    fn in_window(
        &mut self,
        start: u32,
        mut among: Option<&[u32]>,
        mut found: impl FnMut(u32, f64),
    ) {
        let end = start.saturating_add(SPAN);
        let mut target = start;
        loop {
            if let Some(documents) = &mut among {
                let skipped = documents.partition_point(|document| *document < target);
                *documents = documents.get(skipped..).unwrap_or_default();
                match documents.first() {
                    Some(next) => target = *next,
                    None => return,
                }
            }
            let document = self.lower_bound(target);
            if document >= end {
                return;
            }
            if document == target || among.is_none() {
                let count = self.count(document);
                if count > 0.0 {
                    found(document, count);
                }
                target = document + 1;
            } else {
                target = document;
            }
        }
    }

    /// Returns how often the leaf occurs in a document that is not behind the cursors.
    pub(super) fn count(&mut self, document: u32) -> f64 {
        match self.words.as_mut_slice() {
            [] => 0.0,
            [(_, cursors)] => match self.field {
                None => count_of(cursors, document, |cursor| f64::from(cursor.count())),
                Some(field) => {
                    let [places, _] = &mut self.places;
                    count_of(cursors, document, |cursor| {
                        places.clear();
                        cursor.places(places);
                        let inside = places.iter().filter(|place| field_of(**place) == field);
                        f64::from(u32::try_from(inside.count()).unwrap_or(u32::MAX))
                    })
                }
            },
            _ => {
                self.find_starts(document);
                let [starts, _] = &self.places;
                f64::from(u32::try_from(starts.len()).unwrap_or(u32::MAX))
            }
        }
    }

    /// Returns the fields of a document in which the leaf occurs, each as a bit.
    pub(super) fn fields(&mut self, document: u32) -> u64 {
        self.find_starts(document);
        let [starts, _] = &self.places;
        starts
            .iter()
            .fold(0, |fields, place| fields | 1 << field_of(*place))
    }

    /// Finds the places in a document where the words of the leaf stand together.
    fn find_starts(&mut self, document: u32) {
        let [starts, places] = &mut self.places;
        starts.clear();
        for (at, (offset, cursors)) in self.words.iter_mut().enumerate() {
            places.clear();
            for (cursor, ..) in cursors {
                if cursor.seek(document) == document {
                    cursor.places(places);
                }
            }
            places.sort_unstable();
            places.dedup();
            let distance = offset.saturating_mul(super::document::PLACES);
            if at == 0 {
                std::mem::swap(starts, places);
            } else {
                starts.retain(|start| {
                    places
                        .binary_search(&start.saturating_add(distance))
                        .is_ok()
                });
            }
            if starts.is_empty() {
                return;
            }
        }
        if let Some(field) = self.field {
            starts.retain(|place| field_of(*place) == field);
        }
    }
}

/// Returns how often names occur in a document: as stems, or as other names of the same words,
/// whichever is more.
fn count_of(
    cursors: &mut [Listed<'_>],
    document: u32,
    mut count: impl FnMut(&mut Cursor<'_>) -> f64,
) -> f64 {
    if let [(cursor, _, weight)] = cursors {
        let is_there = cursor.seek(document) == document;
        return if is_there {
            count(cursor) * f64::from(*weight)
        } else {
            0.0
        };
    }
    let (mut stems, mut also) = (0.0, 0.0);
    for (cursor, of, weight) in cursors {
        if cursor.seek(document) == document {
            let counted = count(cursor) * f64::from(*weight);
            *(if *of == Of::Stems {
                &mut stems
            } else {
                &mut also
            }) += counted;
        }
    }
    f64::max(stems, also)
}

impl Window {
    fn new() -> Self {
        Self {
            start: 0,
            matched: [0; WORDS],
            scores: vec![0.0; SPAN as usize],
        }
    }

    fn documents(&self) -> impl Iterator<Item = u32> {
        let start = self.start;
        let words = (0_u32..).zip(self.matched);
        words.flat_map(move |(word, mut bits)| {
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.checked_sub(1)?;
                Some(start + word * u64::BITS + bit)
            })
        })
    }

    fn score(&self, document: u32) -> f64 {
        let at = (document - self.start) as usize;
        self.scores.get(at).copied().unwrap_or(0.0)
    }

    fn clear(&mut self) {
        self.scores.fill(0.0);
        self.matched = [0; WORDS];
    }
}

fn set(bits: &mut Bits, at: usize) {
    if let Some(word) = bits.get_mut(at / 64) {
        *word |= 1 << (at % 64);
    }
}

fn each(bits: &mut Bits, others: &Bits, combine: impl Fn(u64, u64) -> u64) {
    for (word, other) in bits.iter_mut().zip(others) {
        *word = combine(*word, *other);
    }
}

/// How many documents are evaluated at a time.
const SPAN: u32 = 4_096;

const WORDS: usize = SPAN as usize / 64;

/// How fast more occurrences stop counting.
const K1: f64 = 1.2;

/// How much longer documents lose.
const B: f64 = 0.75;
