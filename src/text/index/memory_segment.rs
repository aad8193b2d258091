//! An inverted index in memory over a few uncommitted documents.
//!
//! It answers what `Segment` asks of a segment on disk, with the
//! same document lengths, so that scores do not depend on where a document is.

use std::collections::{BTreeMap, BTreeSet};

use tantivy::fieldnorm::FieldNormReader;

use crate::ledger::EntryId;
use crate::text::analysis::token::TermCache;
use crate::text::document::Document;
use crate::text::index::schema::{Fields, TermField};

/// A segment in memory.
pub(in crate::text) struct MemorySegment {
    pub(in crate::text) values: Vec<DocValues>,
    pub(in crate::text) stems: MemoryTerms,
    pub(in crate::text) variants: MemoryTerms,
    pub(in crate::text) threads: BTreeMap<u64, Vec<u32>>,
    pub(in crate::text) languages: BTreeSet<&'static str>,
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
    /// The number of its words, quantized as on disk.
    pub(in crate::text) len_class: u8,
}

/// Terms in order, each with its postings.
#[derive(Default)]
pub(in crate::text) struct MemoryTerms(BTreeMap<String, Vec<Posting>>);

/// A document and the positions of a term in it.
pub(in crate::text) struct Posting {
    pub(in crate::text) document: u32,
    pub(in crate::text) positions: Vec<u32>,
}

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
            languages: BTreeSet::new(),
            len_words: 0,
        };
        let mut cache = TermCache::default();
        for (number, (row, document)) in (0..).zip(documents) {
            memory.add(fields, number, row, document, &mut cache);
        }
        memory
    }

    fn add(
        &mut self,
        fields: &Fields,
        number: u32,
        row: EntryId,
        document: &Document,
        cache: &mut TermCache,
    ) {
        let terms = document.terms(fields.language, cache);
        let len = u32::try_from(terms.len()).unwrap_or(u32::MAX);
        self.len_words += u64::from(len);
        self.values.push(DocValues {
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
        let foreign = document
            .language
            .filter(|language| *language != fields.language);
        self.languages
            .extend(foreign.map(crate::text::analysis::language::Language::code));
        for (position, terms) in terms {
            self.stems.add(number, position, &terms.stem);
            for variant in &terms.variants {
                self.variants.add(number, position, variant);
            }
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

impl MemoryTerms {
    fn add(&mut self, document: u32, position: u32, term: &str) {
        let postings = match self.0.get_mut(term) {
            Some(postings) => postings,
            None => self.0.entry(term.to_owned()).or_default(),
        };
        match postings.last_mut() {
            Some(last) if last.document == document => last.positions.push(position),
            _ => postings.push(Posting {
                document,
                positions: vec![position],
            }),
        }
    }

    /// Returns the postings of a term in the order of documents; empty for an unknown term.
    pub(in crate::text) fn get(&self, term: &str) -> &[Posting] {
        self.0.get(term).map_or(&[], Vec::as_slice)
    }

    /// Returns the terms from `from` on, in order, each with its document frequency.
    pub(in crate::text) fn from<'a>(&'a self, from: &str) -> impl Iterator<Item = (&'a str, u64)> {
        let terms = self
            .0
            .range::<str, _>((std::ops::Bound::Included(from), std::ops::Bound::Unbounded));
        terms.map(|(term, postings)| (term.as_str(), postings.len() as u64))
    }
}
