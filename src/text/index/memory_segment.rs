use std::collections::{BTreeMap, BTreeSet};

use tantivy::fieldnorm::FieldNormReader;

use crate::text::document::Document;
use crate::text::index::schema::{Fields, Of};

/// An index in memory over a few documents: what [`Segment`](super::segment_reader::Segment) asks of one
/// on disk, answered from maps.
pub(in crate::text) struct Memory {
    pub(in crate::text) facts: Vec<Facts>,
    pub(in crate::text) stems: Names,
    pub(in crate::text) also: Names,
    pub(in crate::text) threads: BTreeMap<u64, Vec<u32>>,
    pub(in crate::text) languages: BTreeSet<&'static str>,
    /// How many words the documents have.
    pub(in crate::text) len_words: u64,
}

/// What a document is beside its words.
pub(in crate::text) struct Facts {
    pub(in crate::text) row: u64,
    pub(in crate::text) order: u64,
    pub(in crate::text) thread: u64,
    pub(in crate::text) time_ms: i64,
    pub(in crate::text) importance: f64,
    /// The number of its words, as coarsely as on disk.
    pub(in crate::text) len_class: u8,
}

/// Names, each with the documents that have it.
#[derive(Default)]
pub(in crate::text) struct Names(BTreeMap<String, Vec<Posting>>);

/// A document and where in it a name stands.
pub(in crate::text) struct Posting {
    pub(in crate::text) document: u32,
    pub(in crate::text) places: Vec<u32>,
}

impl Memory {
    /// Indexes documents in the order of their rows.
    pub(in crate::text) fn of<'a>(
        fields: &Fields,
        documents: impl Iterator<Item = (u64, &'a Document)>,
    ) -> Self {
        let mut memory = Self {
            facts: Vec::new(),
            stems: Names::default(),
            also: Names::default(),
            threads: BTreeMap::new(),
            languages: BTreeSet::new(),
            len_words: 0,
        };
        for (number, (row, document)) in (0..).zip(documents) {
            memory.add(fields, number, row, document);
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
        self.languages
            .extend(foreign.map(crate::text::analysis::language::Language::code));
        self.stems.add(number, named.stems);
        self.also.add(number, named.also);
    }
}

impl Memory {
    pub(in crate::text) const fn names(&self, of: Of) -> &Names {
        match of {
            Of::Stems => &self.stems,
            Of::Also => &self.also,
        }
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
    pub(in crate::text) fn get(&self, name: &str) -> &[Posting] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the names from `from` on, in order, each with its number of documents.
    pub(in crate::text) fn from<'a>(&'a self, from: &str) -> impl Iterator<Item = (&'a str, u64)> {
        let names = self
            .0
            .range::<str, _>((std::ops::Bound::Included(from), std::ops::Bound::Unbounded));
        names.map(|(name, postings)| (name.as_str(), postings.len() as u64))
    }
}
