//! Matching of phrases and of words in a field, by positions.
//!
//! Words without a field restriction are matched in `postings_cursor.rs`, without reading
//! positions.

use tantivy::TERMINATED;

use crate::text::document::{FIELD_SLOTS, field_of};
use crate::text::index::postings::TermPositions;
use crate::text::index::schema::TermField;
use crate::text::index::segment_reader::Segment;
use crate::text::query::plan::PlannedLeaf;

/// The documents of a segment in which a leaf occurs, with positions.
pub(in crate::text) struct PhraseMatcher<'a> {
    /// Each word with its distance from the first, the rarest first.
    words: Vec<(u32, Vec<TermCursor<'a>>)>,
    field: Option<u32>,
    positions: [Vec<u32>; 2],
}

/// The positions of a term, its field and its frequency factor.
type TermCursor<'a> = (TermPositions<'a>, TermField, f32);

impl<'a> PhraseMatcher<'a> {
    /// Opens the postings of a leaf.
    pub(in crate::text) fn open(
        segment: &'a Segment<'a>,
        leaf: &PlannedLeaf,
    ) -> tantivy::Result<Self> {
        let mut words = Vec::new();
        for (offset, terms) in &leaf.words {
            let mut cursors = Vec::new();
            for term in terms {
                if let Some(cursor) = segment.positions(term.field, &term.text)? {
                    cursors.push((cursor, term.field, term.factor));
                }
            }
            words.push((*offset, cursors));
        }
        if words.iter().any(|(_, cursors)| cursors.is_empty()) {
            words.clear();
        }
        words.sort_by_key(|(_, cursors)| len_of(cursors));
        Ok(Self {
            words,
            field: leaf.field,
            positions: [Vec::new(), Vec::new()],
        })
    }

    /// Returns an upper estimate of the number of documents.
    pub(in crate::text) fn len(&self) -> u64 {
        let rarest = self.words.first();
        rarest.map_or(0, |(_, cursors)| len_of(cursors))
    }

    /// Returns a lower bound of the next matching document at or after `from`: the first that has all
    /// words.
    pub(in crate::text) fn lower_bound(&mut self, from: u32) -> u32 {
        let Some(((_, rarest), others)) = self.words.split_first_mut() else {
            return TERMINATED;
        };
        let mut document = seek_any(rarest, from);
        while document != TERMINATED {
            let mut next = others.iter_mut().map(|(_, word)| seek_any(word, document));
            match next.find(|next| *next > document) {
                None => break,
                Some(TERMINATED) => return TERMINATED,
                Some(next) => document = seek_any(rarest, next),
            }
        }
        document
    }

    /// Calls `found` with each document in `start..end` that is needed and in which the leaf occurs,
    /// and its frequency.
    pub(in crate::text) fn each(
        &mut self,
        start: u32,
        end: u32,
        needs: impl Fn(u32) -> bool,
        mut found: impl FnMut(u32, f64),
    ) {
        let mut document = self.lower_bound(start);
        while document < end {
            if needs(document) {
                let count = self.count(document);
                if count > 0.0 {
                    found(document, count);
                }
            }
            document = self.lower_bound(document + 1);
        }
    }

    /// Returns the frequency of the leaf in a document; documents must be asked in ascending order.
    pub(in crate::text) fn count(&mut self, document: u32) -> f64 {
        if let ([(_, cursors)], Some(field)) = (self.words.as_mut_slice(), self.field) {
            let [positions, _] = &mut self.positions;
            let counts = cursors.iter_mut().map(|(cursor, kind, factor)| {
                positions.clear();
                if cursor.seek(document) == document {
                    cursor.positions(positions);
                }
                let inside = positions
                    .iter()
                    .filter(|position| field_of(**position) == field);
                let count = u32::try_from(inside.count()).unwrap_or(u32::MAX);
                (*kind, f64::from(count) * f64::from(*factor))
            });
            return max_by_field(counts);
        }
        self.find_starts(document);
        let [starts, _] = &self.positions;
        f64::from(u32::try_from(starts.len()).unwrap_or(u32::MAX))
    }

    /// Returns the fields of a document in which the leaf occurs, as bits.
    pub(in crate::text) fn fields(&mut self, document: u32) -> u64 {
        self.find_starts(document);
        let [starts, _] = &self.positions;
        starts
            .iter()
            .fold(0, |fields, position| fields | 1 << field_of(*position))
    }

    /// Finds the positions in a document at which the words of the leaf occur in sequence.
    fn find_starts(&mut self, document: u32) {
        let [starts, positions] = &mut self.positions;
        starts.clear();
        for (at, (offset, cursors)) in self.words.iter_mut().enumerate() {
            positions.clear();
            for (cursor, ..) in cursors.iter_mut() {
                if cursor.seek(document) == document {
                    cursor.positions(positions);
                }
            }
            if cursors.len() > 1 {
                positions.sort_unstable();
                positions.dedup();
            }
            let distance = offset.saturating_mul(FIELD_SLOTS);
            if at == 0 {
                let from = positions.iter();
                starts.extend(from.filter_map(|position| position.checked_sub(distance)));
            } else {
                starts.retain(|start| {
                    positions
                        .binary_search(&start.saturating_add(distance))
                        .is_ok()
                });
            }
            if starts.is_empty() {
                return;
            }
        }
        if let Some(field) = self.field {
            starts.retain(|position| field_of(*position) == field);
        }
    }
}

/// Returns the first document at or after `from` that has one of the terms.
fn seek_any(cursors: &mut [TermCursor<'_>], from: u32) -> u32 {
    let documents = cursors.iter_mut().map(|(cursor, ..)| cursor.seek(from));
    documents.min().unwrap_or(TERMINATED)
}

/// Returns an upper estimate of the number of documents that have one of the terms.
fn len_of(cursors: &[TermCursor<'_>]) -> u64 {
    cursors.iter().map(|(cursor, ..)| cursor.len()).sum()
}

/// Returns the frequency of a word: the sum over its stems or over its variants, whichever is
/// greater, since one occurrence is indexed as both.
pub(in crate::text) fn max_by_field(counts: impl Iterator<Item = (TermField, f64)>) -> f64 {
    let (mut stems, mut variants) = (0.0, 0.0);
    for (field, count) in counts {
        *(if field == TermField::Stems {
            &mut stems
        } else {
            &mut variants
        }) += count;
    }
    f64::max(stems, variants)
}
