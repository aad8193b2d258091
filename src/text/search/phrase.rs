use tantivy::TERMINATED;

use crate::text::document::{FIELD_SLOTS, field_of};
use crate::text::index::postings::TermPositions;
use crate::text::index::schema::TermField;
use crate::text::index::segment_reader::Segment;
use crate::text::query::plan::PlannedLeaf;

/// The documents of a segment in which a leaf occurs, and where in them.
pub(in crate::text) struct PhraseMatcher<'a> {
    words: Vec<(u32, Vec<TermCursor<'a>>)>,
    field: Option<u32>,
    positions: [Vec<u32>; 2],
}

/// The list of a term, of which kind it is, and how much an occurrence counts.
type TermCursor<'a> = (TermPositions<'a>, TermField, f32);

impl<'a> PhraseMatcher<'a> {
    /// Opens the lists of a leaf's terms.
    pub(in crate::text) fn open(
        segment: &'a Segment<'a>,
        leaf: &PlannedLeaf,
    ) -> tantivy::Result<Self> {
        let mut words = Vec::new();
        for (offset, terms) in &leaf.words {
            let mut cursors = Vec::new();
            for term in terms {
                if let Some(cursor) = segment.positions(term.of, &term.text)? {
                    cursors.push((cursor, term.of, term.factor));
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
            positions: [Vec::new(), Vec::new()],
        })
    }

    /// Returns about how many documents there are at max_by_field.
    pub(in crate::text) fn len(&self) -> u64 {
        let words = self.words.iter();
        let of_word = |(_, cursors): &(u32, Vec<TermCursor<'_>>)| {
            cursors.iter().map(|(cursor, ..)| cursor.len()).sum()
        };
        words.map(of_word).min().unwrap_or(0)
    }

    /// Returns a document that is not behind the next one that matches from `from` on.
    pub(in crate::text) fn lower_bound(&mut self, from: u32) -> u32 {
        let words = self.words.iter_mut();
        let first = |(_, cursors): &mut (u32, Vec<TermCursor<'_>>)| {
            let cursors = cursors.iter_mut();
            cursors.map(|(cursor, ..)| cursor.seek(from)).min()
        };
        words.filter_map(first).max().unwrap_or(TERMINATED)
    }

    /// Calls `found` with each document from `start` on and below `end` in which the leaf occurs,
    /// and how often.
    pub(in crate::text) fn each(&mut self, start: u32, end: u32, mut found: impl FnMut(u32, f64)) {
        let mut document = self.lower_bound(start);
        while document < end {
            let count = self.count(document);
            if count > 0.0 {
                found(document, count);
            }
            document = self.lower_bound(document + 1);
        }
    }

    /// Returns how often the leaf occurs in a document that is not behind the cursors.
    pub(in crate::text) fn count(&mut self, document: u32) -> f64 {
        if let ([(_, cursors)], Some(field)) = (self.words.as_mut_slice(), self.field) {
            let [positions, _] = &mut self.positions;
            let counts = cursors.iter_mut().map(|(cursor, of, factor)| {
                positions.clear();
                if cursor.seek(document) == document {
                    cursor.positions(positions);
                }
                let inside = positions
                    .iter()
                    .filter(|position| field_of(**position) == field);
                let count = u32::try_from(inside.count()).unwrap_or(u32::MAX);
                (*of, f64::from(count) * f64::from(*factor))
            });
            return max_by_field(counts);
        }
        self.find_starts(document);
        let [starts, _] = &self.positions;
        f64::from(u32::try_from(starts.len()).unwrap_or(u32::MAX))
    }

    /// Returns the fields of a document in which the leaf occurs, each as a bit.
    pub(in crate::text) fn fields(&mut self, document: u32) -> u64 {
        self.find_starts(document);
        let [starts, _] = &self.positions;
        starts
            .iter()
            .fold(0, |fields, position| fields | 1 << field_of(*position))
    }

    /// Finds the positions in a document where the words of the leaf stand together.
    fn find_starts(&mut self, document: u32) {
        let [starts, positions] = &mut self.positions;
        starts.clear();
        for (at, (offset, cursors)) in self.words.iter_mut().enumerate() {
            positions.clear();
            for (cursor, ..) in cursors {
                if cursor.seek(document) == document {
                    cursor.positions(positions);
                }
            }
            positions.sort_unstable();
            positions.dedup();
            let distance = offset.saturating_mul(FIELD_SLOTS);
            if at == 0 {
                std::mem::swap(starts, positions);
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

/// Returns how often terms occur in a document: as stems, or as other terms of the same words,
/// whichever is more.
pub(in crate::text) fn max_by_field(counts: impl Iterator<Item = (TermField, f64)>) -> f64 {
    let (mut stems, mut variants) = (0.0, 0.0);
    for (of, count) in counts {
        *(if of == TermField::Stems {
            &mut stems
        } else {
            &mut variants
        }) += count;
    }
    f64::max(stems, variants)
}
