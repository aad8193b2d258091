//! An inverted index in memory over a few uncommitted documents.
//!
//! It answers what `Segment` asks of a segment on disk, with the
//! same document lengths, so that scores do not depend on where a document is.

use std::collections::{BTreeMap, HashMap};

use tantivy::fieldnorm::FieldNormReader;

use crate::ledger::EntryId;
use crate::text::analysis::token::TermCache;
use crate::text::document::{Document, Traits};
use crate::text::index::schema::{Fields, TermField};

/// A segment in memory.
pub(in crate::text) struct MemorySegment {
    pub(in crate::text) values: Vec<DocValues>,
    pub(in crate::text) stems: MemoryTerms,
    pub(in crate::text) variants: MemoryTerms,
    pub(in crate::text) threads: BTreeMap<u64, Vec<u32>>,
    /// The documents of each language but the default.
    pub(in crate::text) languages: BTreeMap<&'static str, Vec<u32>>,
    /// The number of words of all documents.
    pub(in crate::text) len_words: u64,
}

/// The values of a document besides its words.
pub(in crate::text) struct DocValues {
    pub(in crate::text) row: EntryId,
    pub(in crate::text) order: u64,
    pub(in crate::text) thread: u64,
    pub(in crate::text) time_ms: i64,
    pub(in crate::text) importance: f64,
    pub(in crate::text) traits: Traits,
    /// The number of its words, quantized as on disk.
    pub(in crate::text) len_class: u8,
}

/// Terms in order, each with its postings, side by side: a term of a few documents needs no memory
/// of its own.
#[derive(Default)]
pub(in crate::text) struct MemoryTerms {
    /// Each with the end of its postings, which begin where those of the term before end.
    terms: Vec<(Box<str>, usize)>,
    postings: Vec<Posting>,
    positions: Vec<u32>,
}

/// A document and the positions of a term in it.
pub(in crate::text) struct Posting {
    pub(in crate::text) document: u32,
    /// The number of positions.
    pub(in crate::text) count: u32,
    /// The place of the first position among those of all terms.
    first: usize,
}

/// The documents and positions of terms while documents are added.
#[derive(Default)]
struct Occurrences(HashMap<Box<str>, Vec<(u32, u32)>>);

impl MemorySegment {
    /// Indexes documents, each with its row, in the order of rows.
    pub(in crate::text) fn of<'a>(
        fields: &Fields,
        documents: impl Iterator<Item = (EntryId, &'a Document)>,
    ) -> Self {
        let mut memory = Self {
            values: Vec::new(),
            stems: MemoryTerms::default(),
            variants: MemoryTerms::default(),
            threads: BTreeMap::new(),
            languages: BTreeMap::new(),
            len_words: 0,
        };
        let mut cache = TermCache::default();
        let (mut stems, mut variants) = (Occurrences::default(), Occurrences::default());
        for (number, (row, document)) in (0..).zip(documents) {
            let terms = document.terms(fields.language, &mut cache);
            let cues = terms.iter().fold(0, |cues, (_, terms)| cues | terms.cues);
            let len = FieldNormReader::fieldnorm_to_id(memory.count(terms.len()));
            memory.add(fields, number, document);
            memory.values.push(DocValues {
                row,
                order: document.order,
                thread: document.thread,
                time_ms: document.time_ms,
                importance: document.importance,
                traits: document.traits(cues),
                len_class: len,
            });
            for (position, terms) in terms {
                stems.add(number, position, &terms.stem);
                for variant in &terms.variants {
                    variants.add(number, position, variant);
                }
            }
        }
        memory.stems = stems.into_terms();
        memory.variants = variants.into_terms();
        memory
    }

    /// Counts the words of a document, and returns their number.
    fn count(&mut self, len: usize) -> u32 {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.len_words += u64::from(len);
        len
    }

    /// Adds the conversation and the language of a document.
    fn add(&mut self, fields: &Fields, number: u32, document: &Document) {
        self.threads
            .entry(document.thread)
            .or_default()
            .push(number);
        let foreign = document
            .language
            .filter(|language| *language != fields.language);
        if let Some(language) = foreign {
            let documents = self.languages.entry(language.code()).or_default();
            documents.push(number);
        }
    }
}

impl MemorySegment {
    pub(in crate::text) const fn terms(&self, field: TermField) -> &MemoryTerms {
        match field {
            TermField::Stems => &self.stems,
            TermField::Variants => &self.variants,
        }
    }
}

impl Occurrences {
    fn add(&mut self, document: u32, position: u32, term: &str) {
        match self.0.get_mut(term) {
            Some(places) => places.push((document, position)),
            None => drop(self.0.insert(term.into(), vec![(document, position)])),
        }
    }

    fn into_terms(self) -> MemoryTerms {
        let mut places_of: Vec<_> = self.0.into_iter().collect();
        places_of.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut memory = MemoryTerms::default();
        memory.terms.reserve_exact(places_of.len());
        let count = places_of.iter().map(|(_, places)| places.len()).sum();
        memory.positions.reserve_exact(count);
        for (term, places) in places_of {
            for of_document in places.chunk_by(|(a, _), (b, _)| a == b) {
                memory
                    .postings
                    .extend(of_document.first().map(|(document, _)| Posting {
                        document: *document,
                        count: u32::try_from(of_document.len()).unwrap_or(u32::MAX),
                        first: memory.positions.len(),
                    }));
                let positions = of_document.iter().map(|(_, position)| *position);
                memory.positions.extend(positions);
            }
            memory.terms.push((term, memory.postings.len()));
        }
        memory
    }
}

impl MemoryTerms {
    /// Returns the postings of a term in the order of documents; empty for an unknown term.
    pub(in crate::text) fn get(&self, term: &str) -> &[Posting] {
        let found = self
            .terms
            .binary_search_by(|(other, _)| (**other).cmp(term));
        found.map_or(&[], |at| self.postings_at(at))
    }

    fn postings_at(&self, at: usize) -> &[Posting] {
        let end_of = |at: usize| self.terms.get(at).map_or(0, |(_, end)| *end);
        let start = at.checked_sub(1).map_or(0, end_of);
        self.postings.get(start..end_of(at)).unwrap_or_default()
    }

    /// Returns the positions of a posting, in ascending order.
    pub(in crate::text) fn positions(&self, posting: &Posting) -> &[u32] {
        let positions = self.positions.get(posting.first..).unwrap_or_default();
        positions.get(..posting.count as usize).unwrap_or_default()
    }

    /// Returns the terms from `from` on, in order, each with its document frequency.
    pub(in crate::text) fn from<'a>(&'a self, from: &str) -> impl Iterator<Item = (&'a str, u64)> {
        let start = self.terms.partition_point(|(term, _)| **term < *from);
        let terms = self.terms.iter().enumerate().skip(start);
        terms.map(|(at, (term, _))| (&**term, self.postings_at(at).len() as u64))
    }
}
