//! The builder of a segment: inverts documents and writes the files of the index library.
//!
//! The library's own writer takes the words of a document as text, tokenizes it and looks each term
//! up in a table of its own, which costs more than the inversion. Here a word that was met before is
//! a number, and the postings of a segment are one list that is sorted by counting. The files are
//! written by the serializers of the library, as its own writer does it.

use std::collections::HashMap;
use std::mem;

use tantivy::TantivyDocument;
use tantivy::directory::TerminatingWrite;
use tantivy::fastfield::FastFieldsWriter;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer, FieldNormsWriter};
use tantivy::index::{Segment, SegmentComponent, SegmentId};
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::Field;
use tantivy::store::StoreWriter;

use crate::ledger::EntryId;
use crate::text::analysis::token::TermCache;
use crate::text::document::Document;
use crate::text::index::schema::Fields;

/// A segment in the making.
pub(super) struct SegmentBuilder<'a> {
    fields: &'a Fields,
    segment: Segment,
    /// Its terms carry the numbers of `stems` and `variants`.
    cache: TermCache,
    stems: Inverted,
    variants: Inverted,
    /// Each value with its document; numbers as the library writes them in terms.
    languages: Vec<(&'static str, u32)>,
    rows: Vec<([u8; 8], u32)>,
    threads: Vec<([u8; 8], u32)>,
    lengths: FieldNormsWriter,
    columns: FastFieldsWriter,
    documents: u32,
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
    pub(super) fn new(fields: &'a Fields, segment: Segment) -> tantivy::Result<Self> {
        let tokenizers = segment.index().fast_field_tokenizer().clone();
        Ok(Self {
            fields,
            lengths: FieldNormsWriter::for_schema(&fields.schema),
            columns: FastFieldsWriter::from_schema_and_tokenizer_manager(
                &fields.schema,
                tokenizers,
            )?,
            segment,
            cache: TermCache::default(),
            stems: Inverted::default(),
            variants: Inverted::default(),
            languages: Vec::new(),
            rows: Vec::new(),
            threads: Vec::new(),
            documents: 0,
        })
    }

    /// Adds the document of a row.
    pub(super) fn add(&mut self, row: EntryId, document: &Document) -> tantivy::Result<()> {
        let number = self.documents;
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
        self.lengths
            .record(number, self.fields.stems, stems.end_document());
        self.lengths
            .record(number, self.fields.variants, variants.end_document());
        self.lengths.record(number, self.fields.row, 1);
        self.lengths.record(number, self.fields.thread, 1);
        self.rows.push((row.get().to_be_bytes(), number));
        self.threads.push((document.thread.to_be_bytes(), number));
        let foreign = document.language.filter(|of| *of != self.fields.language);
        if let Some(language) = foreign {
            self.lengths.record(number, self.fields.languages, 1);
            self.languages.push((language.code(), number));
        }
        let values = self.fields.columns(row, document, document.traits(cues));
        self.columns.add_document(&values)?;
        self.documents = number.saturating_add(1);
        Ok(())
    }

    /// Returns the memory that the documents take, in bytes, about.
    pub(super) fn len_bytes(&self) -> usize {
        let documents = self.documents as usize * PER_DOCUMENT;
        let of_terms = self
            .stems
            .len_bytes()
            .saturating_add(self.variants.len_bytes());
        of_terms + documents + self.columns.mem_usage()
    }

    /// Writes the files of the segment. Returns its name and the number of its documents.
    pub(super) fn finish(mut self) -> tantivy::Result<(SegmentId, u32)> {
        self.lengths.fill_up_to_max_doc(self.documents);
        let lengths = self.segment.open_write(SegmentComponent::FieldNorms)?;
        let lengths = FieldNormsSerializer::from_write(lengths)?;
        self.lengths.serialize(lengths, None)?;
        self.write_postings()?;
        let mut columns = self.segment.open_write(SegmentComponent::FastFields)?;
        self.columns.serialize(&mut columns, None)?;
        columns.terminate()?;
        self.write_store()?;
        Ok((self.segment.id(), self.documents))
    }

    fn write_postings(&mut self) -> tantivy::Result<()> {
        let lengths = self.segment.open_read(SegmentComponent::FieldNorms)?;
        let lengths = FieldNormReaders::open(lengths)?;
        let mut files = InvertedIndexSerializer::open(&self.segment)?;
        let fields = self.fields;
        for (field, inverted) in [
            (fields.stems, mem::take(&mut self.stems)),
            (fields.variants, mem::take(&mut self.variants)),
        ] {
            inverted.write(field, &mut files, &lengths)?;
        }
        // In the order of fields.
        write_lists(&mut self.languages, fields.languages, &mut files, &lengths)?;
        write_lists(&mut self.rows, fields.row, &mut files, &lengths)?;
        write_lists(&mut self.threads, fields.thread, &mut files, &lengths)?;
        files.close()?;
        Ok(())
    }

    /// Writes the store of documents, which are empty: the ledger holds the text.
    fn write_store(&self) -> tantivy::Result<()> {
        let file = self.segment.open_write(SegmentComponent::Store)?;
        let settings = self.segment.index().settings();
        let mut store = StoreWriter::new(
            file,
            settings.docstore_compression,
            settings.docstore_blocksize,
            settings.docstore_compress_dedicated_thread,
        )?;
        let empty = TantivyDocument::new();
        for _ in 0..self.documents {
            store.store(&empty, &self.fields.schema)?;
        }
        store.close()?;
        Ok(())
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
        files: &mut InvertedIndexSerializer,
        lengths: &FieldNormReaders,
    ) -> tantivy::Result<()> {
        if self.occurrences.is_empty() {
            return Ok(());
        }
        let total = self.occurrences.len() as u64;
        let mut terms: Vec<_> = self.numbers.into_iter().collect();
        terms.sort_unstable();
        let mut places = by_term(&terms, &self.counts, &self.occurrences, &self.ends);
        let mut rest = places.as_mut_slice();
        let mut file = files.new_field(field, total, lengths.get_field(field)?)?;
        let mut deltas = Vec::new();
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
            let documents = of_term.chunk_by(|(a, _), (b, _)| a == b);
            let frequency = u32::try_from(documents.clone().count()).unwrap_or(u32::MAX);
            file.new_term(term.as_bytes(), frequency, true)?;
            for of_document in documents {
                let mut last = 0;
                deltas.clear();
                deltas.extend(of_document.iter().map(|(_, position)| {
                    let delta = position.wrapping_sub(last);
                    last = *position;
                    delta
                }));
                if let Some((document, _)) = of_document.first() {
                    let count = u32::try_from(deltas.len()).unwrap_or(u32::MAX);
                    file.write_doc(*document, count, &deltas);
                }
            }
            file.close_term()?;
        }
        file.close()?;
        Ok(())
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
    files: &mut InvertedIndexSerializer,
    lengths: &FieldNormReaders,
) -> tantivy::Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    values.sort_unstable();
    let mut file = files.new_field(field, values.len() as u64, lengths.get_field(field)?)?;
    for of_value in values.chunk_by(|(a, _), (b, _)| a == b) {
        if let Some((value, _)) = of_value.first() {
            file.new_term_without_freq(value.as_ref())?;
        }
        for (_, document) in of_value {
            file.write_doc(*document, 0, &[]);
        }
        file.close_term()?;
    }
    file.close()?;
    Ok(())
}

/// An occurrence, and its place among those of its term, in bytes.
const PER_OCCURRENCE: usize = 16;

/// A term in the table, in bytes, about.
const PER_TERM: usize = 64;

/// The memory of a document without its words and columns, in bytes.
const PER_DOCUMENT: usize = 48;
