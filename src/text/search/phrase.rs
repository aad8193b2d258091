use tantivy::TERMINATED;

use crate::text::document::{PLACES, field_of};
use crate::text::index::postings::Cursor;
use crate::text::index::schema::Of;
use crate::text::index::segment_reader::Segment;
use crate::text::query::plan::Planned;

/// The documents of a segment in which a leaf occurs, and where in them.
pub(in crate::text) struct Matching<'a> {
    words: Vec<(u32, Vec<Listed<'a>>)>,
    field: Option<u32>,
    places: [Vec<u32>; 2],
}

/// The list of a name, of which kind it is, and how much an occurrence counts.
type Listed<'a> = (Cursor<'a>, Of, f32);

impl<'a> Matching<'a> {
    /// Opens the lists of a leaf's names.
    pub(in crate::text) fn open(segment: &'a Segment<'a>, leaf: &Planned) -> tantivy::Result<Self> {
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

    /// Returns about how many documents there are at most.
    pub(in crate::text) fn len(&self) -> u64 {
        let words = self.words.iter();
        let of_word = |(_, cursors): &(u32, Vec<Listed<'_>>)| {
            cursors.iter().map(|(cursor, ..)| cursor.len()).sum()
        };
        words.map(of_word).min().unwrap_or(0)
    }

    /// Returns a document that is not behind the next one that matches from `from` on.
    pub(in crate::text) fn lower_bound(&mut self, from: u32) -> u32 {
        let words = self.words.iter_mut();
        let first = |(_, cursors): &mut (u32, Vec<Listed<'_>>)| {
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
            let [places, _] = &mut self.places;
            let counts = cursors.iter_mut().map(|(cursor, of, weight)| {
                places.clear();
                if cursor.seek(document) == document {
                    cursor.places(places);
                }
                let inside = places.iter().filter(|place| field_of(**place) == field);
                let count = u32::try_from(inside.count()).unwrap_or(u32::MAX);
                (*of, f64::from(count) * f64::from(*weight))
            });
            return most(counts);
        }
        self.find_starts(document);
        let [starts, _] = &self.places;
        f64::from(u32::try_from(starts.len()).unwrap_or(u32::MAX))
    }

    /// Returns the fields of a document in which the leaf occurs, each as a bit.
    pub(in crate::text) fn fields(&mut self, document: u32) -> u64 {
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
            let distance = offset.saturating_mul(PLACES);
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
pub(in crate::text) fn most(counts: impl Iterator<Item = (Of, f64)>) -> f64 {
    let (mut stems, mut also) = (0.0, 0.0);
    for (of, count) in counts {
        *(if of == Of::Stems {
            &mut stems
        } else {
            &mut also
        }) += count;
    }
    f64::max(stems, also)
}
