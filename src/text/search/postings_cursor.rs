use tantivy::TERMINATED;

use crate::text::index::postings::Counts;
use crate::text::index::schema::Of;
use crate::text::index::segment_reader::Segment;
use crate::text::query::plan::Planned;
use crate::text::search::phrase::{Matching, most};
use crate::text::search::score_block::{SPAN, Stretch};

/// The documents of a segment in which a leaf occurs, and how often.
pub(in crate::text) enum Occurring<'a> {
    /// One word, wherever it stands: the list of each of its names, of which kind that is, and how
    /// much an occurrence counts.
    Word(Vec<(Counts<'a>, Of, f32)>),
    /// Several words that must stand together, or one in a field.
    Placed(Box<Matching<'a>>),
}

impl<'a> Occurring<'a> {
    /// Opens the lists of a leaf's names.
    pub(in crate::text) fn open(segment: &'a Segment<'a>, leaf: &Planned) -> tantivy::Result<Self> {
        let ([(_, names)], None) = (leaf.words.as_slice(), leaf.field) else {
            return Ok(Self::Placed(Box::new(Matching::open(segment, leaf)?)));
        };
        let mut lists = Vec::new();
        for name in names {
            if let Some(counts) = segment.counts(name.of, &name.text)? {
                lists.push((counts, name.of, name.weight));
            }
        }
        Ok(Self::Word(lists))
    }

    /// Returns about how many documents there are at most.
    pub(in crate::text) fn len(&self) -> u64 {
        match self {
            Self::Word(lists) => lists.iter().map(|(counts, ..)| counts.len()).sum(),
            Self::Placed(matching) => matching.len(),
        }
    }

    /// Returns a document that is not behind the next one that matches from `from` on.
    pub(in crate::text) fn lower_bound(&mut self, from: u32) -> u32 {
        match self {
            Self::Word(lists) => {
                let next = lists.iter_mut().map(|(counts, ..)| counts.seek(from)).min();
                next.unwrap_or(TERMINATED)
            }
            Self::Placed(matching) => matching.lower_bound(from),
        }
    }

    /// Returns how often the leaf occurs in a document that is not behind the cursors.
    pub(in crate::text) fn count(&mut self, document: u32) -> f64 {
        match self {
            Self::Word(lists) => most(lists.iter_mut().map(|(counts, of, weight)| {
                let is_there = counts.seek(document) == document;
                let count = if is_there { counts.count() } else { 0 };
                (*of, f64::from(count) * f64::from(*weight))
            })),
            Self::Placed(matching) => matching.count(document),
        }
    }

    /// Finds the leaf in every document of a stretch; `score` is of a document and how often it
    /// occurs there.
    pub(in crate::text) fn fill(
        &mut self,
        stretch: &mut Stretch,
        start: u32,
        score: impl Fn(u32, f64) -> f64,
    ) {
        let end = start.saturating_add(SPAN);
        stretch.clear();
        let lists = match self {
            Self::Word(lists) => lists.as_mut_slice(),
            Self::Placed(matching) => {
                return matching.each(start, end, |document, count| {
                    let at = document - start;
                    stretch.put(at, score(at, count));
                });
            }
        };
        if let [(counts, _, weight)] = lists {
            let weight = f64::from(*weight);
            counts.seek(start);
            return counts.each_below(end, |document, count| {
                let at = document - start;
                stretch.put(at, score(at, f64::from(count) * weight));
            });
        }
        for (counts, of, weight) in lists {
            let (of, weight) = (*of, f64::from(*weight));
            counts.seek(start);
            counts.each_below(end, |document, count| {
                stretch.count(document - start, of, f64::from(count) * weight);
            });
        }
        stretch.settle(score);
    }
}
