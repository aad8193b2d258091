//! The builder of a segment: inverts documents and writes the files of the index library.
//!
//! The library's own writer takes the words of a document as text, tokenizes it and looks each term
//! up in a table of its own, which costs more than the inversion. Here a word that was met before is
//! a number, and the postings of a segment are one list that is sorted by counting.

use std::collections::HashMap;
use std::mem;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{Segment, SegmentId};
use tantivy::schema::{Field, IndexRecordOption};

use super::columns::{Columns, write_lengths, write_no_documents};
use super::term_files::{Lengths, TermFiles, TermPostings};
use crate::ledger::EntryId;
use crate::text::analysis::token::TermCache;
use crate::text::document::Document;
use crate::text::index::schema::Fields;

/// A segment in the making.
pub(in crate::text::index) struct SegmentBuilder<'a> {
    fields: &'a Fields,
    segment: Segment,
    /// Its terms carry the numbers of `stems` and `variants`.
    cache: TermCache,
    stems: Inverted,
    variants: Inverted,
    /// Each value with its document; numbers as the library writes them in terms.
    languages: Vec<(&'static str, u32)>,
    threads: Vec<([u8; 8], u32)>,
    /// The number of stems of each document, quantized.
    lengths: Vec<u8>,
    columns: Columns,
}

/// The terms of a field, and where each occurs.
#[derive(Default)]
struct Inverted {
    /// Each term with its number.
    numbers: HashMap<Box<str>, u32>,
    /// How often each term occurs, by its number.
    counts: Vec<u32>,
    /// The occurrences in the order of documents: the number of the term, and the position.
    occurrences: Vec<(u32, u32)>,
    /// For each document, the number of occurrences in it and those before.
    ends: Vec<u32>,
}

impl<'a> SegmentBuilder<'a> {
    pub(in crate::text::index) fn new(fields: &'a Fields, segment: Segment) -> Self {
        Self {
            fields,
            segment,
            cache: TermCache::default(),
            stems: Inverted::default(),
            variants: Inverted::default(),
            languages: Vec::new(),
            threads: Vec::new(),
            lengths: Vec::new(),
            columns: Columns::default(),
        }
    }

    /// Adds the document of a row, which is above those of the documents before.
    pub(in crate::text::index) fn add(&mut self, row: EntryId, document: &Document) {
        let number = self.columns.len();
        let (stems, variants) = (&mut self.stems, &mut self.variants);
        let mut cues = 0;
        document.each_term(self.fields.language, &mut self.cache, |position, terms| {
            cues |= terms.cues;
            let numbers = terms.numbers.get_or_init(|| {
                let others = terms.variants.iter().map(|term| variants.number(term));
                [stems.number(&terms.stem)]
                    .into_iter()
                    .chain(others)
                    .collect()
            });
            if let Some((stem, others)) = numbers.split_first() {
                stems.push(*stem, position);
                others
                    .iter()
                    .for_each(|other| variants.push(*other, position));
            }
        });
        variants.end_document();
        let len = stems.end_document();
        self.lengths.push(FieldNormReader::fieldnorm_to_id(len));
        self.threads.push((document.thread.to_be_bytes(), number));
        let foreign = document.language.filter(|of| *of != self.fields.language);
        if let Some(language) = foreign {
            self.languages.push((language.code(), number));
        }
        self.columns.add(row, document, document.traits(cues));
    }

    /// Returns the memory that the documents take, in bytes, about.
    pub(in crate::text::index) fn len_bytes(&self) -> usize {
        let documents = self.lengths.len() * PER_DOCUMENT;
        let of_terms = self
            .stems
            .len_bytes()
            .saturating_add(self.variants.len_bytes());
        of_terms + documents + self.columns.len_bytes()
    }

    /// Writes the files of the segment. Returns its name and the number of its documents.
    pub(in crate::text::index) fn finish(mut self) -> tantivy::Result<(SegmentId, u32)> {
        let documents = self.columns.len();
        let words = self.stems.occurrences.len() as u64;
        let lengths = write_lengths(&self.segment, self.fields, &self.lengths, words)?;
        self.write_terms(&lengths)?;
        self.columns.write(&self.segment)?;
        write_no_documents(&self.segment)?;
        Ok((self.segment.id(), documents))
    }

    /// Writes the terms in the order of fields.
    fn write_terms(&mut self, lengths: &Lengths) -> tantivy::Result<()> {
        let mut files = TermFiles::create(&self.segment)?;
        let fields = self.fields;
        mem::take(&mut self.stems).write(fields.stems, &mut files, Some(lengths))?;
        mem::take(&mut self.variants).write(fields.variants, &mut files, None)?;
        write_lists(&mut self.languages, fields.languages, &mut files)?;
        write_lists(&mut self.threads, fields.thread, &mut files)?;
        Ok(files.close()?)
    }
}

impl Inverted {
    /// Returns the number of a term.
    fn number(&mut self, term: &str) -> u32 {
        if let Some(known) = self.numbers.get(term) {
            return *known;
        }
        let number = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(term.into(), number);
        self.counts.push(0);
        number
    }

    fn push(&mut self, term: u32, position: u32) {
        if let Some(count) = self.counts.get_mut(term as usize) {
            *count += 1;
            self.occurrences.push((term, position));
        }
    }

    /// Ends a document, and returns the number of occurrences in it.
    fn end_document(&mut self) -> u32 {
        let before = self.ends.last().copied().unwrap_or_default();
        let end = u32::try_from(self.occurrences.len()).unwrap_or(u32::MAX);
        self.ends.push(end);
        end.saturating_sub(before)
    }

    fn len_bytes(&self) -> usize {
        self.occurrences.len() * PER_OCCURRENCE + self.counts.len() * PER_TERM
    }

    /// Writes the terms of a field in order, each with its documents and positions.
    fn write(
        self,
        field: Field,
        files: &mut TermFiles,
        lengths: Option<&Lengths>,
    ) -> tantivy::Result<()> {
        if self.occurrences.is_empty() {
            return Ok(());
        }
        let mut terms: Vec<_> = self.numbers.into_iter().collect();
        terms.sort_unstable();
        let mut places = by_term(&terms, &self.counts, &self.occurrences, &self.ends);
        let mut rest = places.as_mut_slice();
        let option = IndexRecordOption::WithFreqsAndPositions;
        let mut file = files.field(field, option, lengths)?;
        let mut postings = TermPostings::default();
        for (term, number) in &terms {
            let count = self
                .counts
                .get(*number as usize)
                .copied()
                .unwrap_or_default();
            let of_term;
            (of_term, rest) = rest.split_at_mut((count as usize).min(rest.len()));
            // In a document of several passages, those of one may lie before those of another.
            if !of_term.is_sorted() {
                of_term.sort_unstable();
            }
            postings.clear();
            for of_document in of_term.chunk_by(|(a, _), (b, _)| a == b) {
                if let Some((document, _)) = of_document.first() {
                    let positions = of_document.iter().map(|(_, position)| *position);
                    postings.push_at(*document, positions);
                }
            }
            file.write(term.as_bytes(), &postings)?;
        }
        Ok(file.close()?)
    }
}

/// Returns the document and the position of each occurrence, those of one term side by side.
fn by_term(
    terms: &[(Box<str>, u32)],
    counts: &[u32],
    occurrences: &[(u32, u32)],
    ends: &[u32],
) -> Vec<(u32, u32)> {
    let mut starts = vec![0_u32; counts.len()];
    let mut sum = 0_u32;
    for (_, number) in terms {
        let number = *number as usize;
        if let (Some(start), Some(count)) = (starts.get_mut(number), counts.get(number)) {
            *start = sum;
            sum = sum.saturating_add(*count);
        }
    }
    let mut places = vec![(0, 0); occurrences.len()];
    let mut from = 0;
    for (document, end) in (0..).zip(ends) {
        let of_document = occurrences.get(from..*end as usize).unwrap_or_default();
        from = *end as usize;
        for (term, position) in of_document {
            if let Some(next) = starts.get_mut(*term as usize)
                && let Some(place) = places.get_mut(*next as usize)
            {
                *place = (document, *position);
                *next += 1;
            }
        }
    }
    places
}

/// Writes the values of a field in order, each with its documents and nothing else.
fn write_lists<T: AsRef<[u8]> + Ord>(
    values: &mut [(T, u32)],
    field: Field,
    files: &mut TermFiles,
) -> tantivy::Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    values.sort_unstable();
    let mut file = files.field(field, IndexRecordOption::Basic, None)?;
    let mut postings = TermPostings::default();
    for of_value in values.chunk_by(|(a, _), (b, _)| a == b) {
        postings.clear();
        for (_, document) in of_value {
            postings.push(*document);
        }
        if let Some((value, _)) = of_value.first() {
            file.write(value.as_ref(), &postings)?;
        }
    }
    Ok(file.close()?)
}

/// An occurrence, and its place among those of its term, in bytes.
const PER_OCCURRENCE: usize = 16;

/// A term in the table, in bytes, about.
const PER_TERM: usize = 64;

/// The memory of a document without its words and columns, in bytes.
const PER_DOCUMENT: usize = 48;
