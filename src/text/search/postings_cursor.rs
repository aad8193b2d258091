//! A cursor over the documents of a leaf: a word by frequencies alone, anything else by positions.
//!
//! It joins the terms of a word, since an occurrence of the word may be indexed under several.

use tantivy::TERMINATED;

use crate::text::index::postings::TermFreqs;
use crate::text::index::schema::TermField;
use crate::text::index::segment_reader::Segment;
use crate::text::query::plan::PlannedLeaf;
use crate::text::search::phrase::{PhraseMatcher, max_by_field};
use crate::text::search::score_block::{BLOCK_LEN, ScoreBlock};

/// The documents of a segment in which a leaf occurs, with its frequency.
pub(in crate::text) enum PostingsCursor<'a> {
    /// One word in any field: for each term its frequencies, its field and its frequency factor.
    Word(Vec<(TermFreqs<'a>, TermField, f32)>),
    /// A phrase, or a word in one field.
    Phrase(Box<PhraseMatcher<'a>>),
}

impl<'a> PostingsCursor<'a> {
    /// Opens the postings of a leaf.
    pub(in crate::text) fn open(
        segment: &'a Segment<'a>,
        leaf: &PlannedLeaf,
    ) -> tantivy::Result<Self> {
        let ([(_, terms)], None) = (leaf.words.as_slice(), leaf.field) else {
            return Ok(Self::Phrase(Box::new(PhraseMatcher::open(segment, leaf)?)));
        };
        let mut lists = Vec::new();
        for term in terms {
            if let Some(freqs) = segment.freqs(term.field, &term.text)? {
                lists.push((freqs, term.field, term.factor));
            }
        }
        // Sums of whole numbers are the same in any order: the longest list comes last, and its
        // blocks can be passed over.
        if are_whole(&lists) {
            lists.sort_by_key(|(freqs, ..)| freqs.len());
        }
        Ok(Self::Word(lists))
    }

    /// Returns an upper estimate of the number of documents.
    pub(in crate::text) fn len(&self) -> u64 {
        match self {
            Self::Word(lists) => lists.iter().map(|(freqs, ..)| freqs.len()).sum(),
            Self::Phrase(phrase) => phrase.len(),
        }
    }

    /// Returns a lower bound of the next matching document at or after `from`.
    pub(in crate::text) fn lower_bound(&mut self, from: u32) -> u32 {
        match self {
            Self::Word(lists) => {
                let next = lists.iter_mut().map(|(freqs, ..)| freqs.seek(from)).min();
                next.unwrap_or(TERMINATED)
            }
            Self::Phrase(phrase) => phrase.lower_bound(from),
        }
    }

    /// Returns the frequency of the leaf in a document; documents must be asked in ascending order.
    pub(in crate::text) fn count(&mut self, document: u32) -> f64 {
        match self {
            Self::Word(lists) => max_by_field(lists.iter_mut().map(|(freqs, field, factor)| {
                let is_there = freqs.seek(document) == document;
                let count = if is_there { freqs.count() } else { 0 };
                (*field, f64::from(count) * f64::from(*factor))
            })),
            Self::Phrase(phrase) => phrase.count(document),
        }
    }

    /// Calls `found` for each of `documents`, in ascending order, in which the leaf may occur: with its
    /// place among them and the frequency.
    pub(in crate::text) fn each_of(
        &mut self,
        documents: &[u32],
        mut found: impl FnMut(usize, f64),
    ) {
        // A word mostly has one term.
        if let Self::Word(lists) = self
            && let [(freqs, _, factor)] = lists.as_mut_slice()
        {
            let factor = f64::from(*factor);
            return freqs.each_of(documents, |place, count| {
                found(place, f64::from(count) * factor);
            });
        }
        let mut place = 0;
        while let Some(document) = documents.get(place) {
            let next = self.lower_bound(*document);
            if next > *document {
                let rest = documents.get(place..).unwrap_or_default();
                place += rest.iter().take_while(|it| **it < next).count();
                continue;
            }
            found(place, self.count(*document));
            place += 1;
        }
    }

    /// Scores the leaf in every document of a block; `score` maps a document and a frequency to a
    /// score, or to `None` for a document to leave out.
    ///
    /// Documents that are stored together are passed over unless `needs` holds: it is given the
    /// first and the last of them, and a lower bound of their length normalization divided by their
    /// frequency.
    pub(in crate::text) fn fill(
        &mut self,
        block: &mut ScoreBlock,
        start: u32,
        needs: impl Fn(u32, u32, f64) -> bool,
        score: impl Fn(u32, f64) -> Option<f64>,
    ) {
        let end = start.saturating_add(BLOCK_LEN);
        block.clear();
        let lists = match self {
            Self::Word(lists) => lists.as_mut_slice(),
            Self::Phrase(phrase) => {
                let needs = |document| needs(document - start, document - start, 0.0);
                return phrase.each(start, end, needs, |document, count| {
                    let at = document - start;
                    block.put(at, score(at, count));
                });
            }
        };
        if let [(freqs, _, factor)] = lists {
            let factor = f64::from(*factor);
            freqs.seek(start);
            let needs = |first, last, norm_min: f64| {
                needs(first - start, last - start, norm_min / factor.max(1.0))
            };
            return freqs.each_below(end, needs, |document, count| {
                let at = document - start;
                block.put(at, score(at, f64::from(count) * factor));
            });
        }
        let is_whole = are_whole(lists);
        let Some((longest, others)) = lists.split_last_mut() else {
            return;
        };
        for (freqs, field, factor) in others {
            let (field, factor) = (*field, f64::from(*factor));
            freqs.seek(start);
            let needs = |first, last, _| needs(first - start, last - start, 0.0);
            freqs.each_below(end, needs, |document, count| {
                block.count(document - start, field, f64::from(count) * factor);
            });
        }
        let (freqs, field, factor) = longest;
        let (field, factor) = (*field, f64::from(*factor));
        // The count of the other lists adds to the frequency: the bound is not of these documents.
        let counted = *block.has();
        let needs = |first, last, norm_min| {
            let (first, last) = (first - start, last - start);
            let norm_min = if is_whole { norm_min } else { 0.0 };
            needs(first, last, norm_min) || counted.has_in(first, last)
        };
        freqs.seek(start);
        freqs.each_below(end, needs, |document, count| {
            block.count(document - start, field, f64::from(count) * factor);
        });
        block.score_counts(score);
    }
}

/// Returns whether the frequencies of all lists are counted as they are.
fn are_whole(lists: &[(TermFreqs<'_>, TermField, f32)]) -> bool {
    lists.iter().all(|(.., factor)| *factor == 1.0)
}
