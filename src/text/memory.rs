use std::collections::{BTreeMap, BTreeSet};

use tantivy::fieldnorm::FieldNormReader;

use super::document::{Document, Fields};
use super::tail::Fed;

/// An index in memory over a few documents: what [`Segment`](super::segment::Segment) asks of one
/// on disk, answered from maps.
pub(super) struct Memory {
    pub(super) facts: Vec<Facts>,
    pub(super) stems: Names,
    pub(super) also: Names,
    pub(super) threads: BTreeMap<u64, Vec<u32>>,
    pub(super) languages: BTreeSet<&'static str>,
    /// How many words the documents have.
    pub(super) len_words: u64,
}

/// What a document is beside its words.
pub(super) struct Facts {
    pub(super) row: u64,
    pub(super) order: u64,
    pub(super) thread: u64,
    pub(super) time_ms: i64,
    pub(super) importance: f64,
    /// The number of its words, as coarsely as on disk.
    pub(super) len_class: u8,
}

/// Names, each with the documents that have it.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, Vec<Posting>>);

/// A document and where in it a name stands.
pub(super) struct Posting {
    pub(super) document: u32,
    pub(super) places: Vec<u32>,
}

impl Memory {
    /// Indexes documents in the order of their rows.
    pub(super) fn of<'a>(fields: &Fields, documents: impl Iterator<Item = &'a Fed>) -> Self {
        let mut memory = Self {
            facts: Vec::new(),
            stems: Names::default(),
            also: Names::default(),
            threads: BTreeMap::new(),
            languages: BTreeSet::new(),
            len_words: 0,
        };
        for (number, fed) in (0..).zip(documents) {
            memory.add(fields, number, fed.row, &fed.document);
        }
        memory
    }

    fn add(&mut self, fields: &Fields, number: u32, row: u64, document: &Document) {
        let named = document.names(fields.language);
        let len = u32::try_from(named.stems.len()).unwrap_or(u32::MAX);
        self.len_words += u64::from(len);
        self.facts.push(Facts {
            row,
            order: document.order,
            thread: document.thread,
            time_ms: document.time_ms,
            importance: document.importance,
            len_class: FieldNormReader::fieldnorm_to_id(len),
        });
        self.threads
            .entry(document.thread)
            .or_default()
            .push(number);
        let foreign = document.language.filter(|of| *of != fields.language);
        self.languages.extend(foreign.map(super::Language::code));
        self.stems.add(number, named.stems);
        self.also.add(number, named.also);
    }
}

impl Names {
    fn add(&mut self, document: u32, names: Vec<(u32, String)>) {
        for (place, name) in names {
            let postings = self.0.entry(name).or_default();
            match postings.last_mut() {
                Some(last) if last.document == document => last.places.push(place),
                _ => postings.push(Posting {
                    document,
                    places: vec![place],
                }),
            }
        }
    }

    /// Returns the documents that have a name, in order.
    pub(super) fn get(&self, name: &str) -> &[Posting] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the names from `from` on, in order, each with its number of documents.
    pub(super) fn from<'a>(&'a self, from: &str) -> impl Iterator<Item = (&'a str, u64)> {
        let names = self
            .0
            .range::<str, _>((std::ops::Bound::Included(from), std::ops::Bound::Unbounded));
        names.map(|(name, postings)| (name.as_str(), postings.len() as u64))
    }
}
