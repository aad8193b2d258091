//! The files of terms, postings and positions of a segment, written as the index library reads them.
//!
//! Its own serializer computes 256 scores for every term, for the best of each full block of
//! documents. Most terms have too few documents for a block, and are written here; the others are
//! left to the serializers of the library.

use std::io::{self, Write};
use std::mem;

use tantivy::directory::CompositeWrite;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{Segment, SegmentComponent};
use tantivy::positions::PositionSerializer;
use tantivy::postings::TermInfo;
use tantivy::postings::serializer::PostingsSerializer;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::termdict::TermDictionaryBuilder;

/// The three files of a segment, in which field follows field.
pub(super) struct TermFiles {
    terms: CompositeWrite,
    postings: CompositeWrite,
    positions: CompositeWrite,
}

/// Writes the terms of one field, in order.
pub(super) struct FieldWriter<W: Write> {
    terms: TermDictionaryBuilder<W>,
    postings: W,
    positions: W,
    option: IndexRecordOption,
    /// The lengths of the documents, where the best document of a block is noted, and their mean.
    lengths: Option<FieldNormReader>,
    len_mean: f32,
    /// How much of the postings and of the positions is written.
    postings_end: usize,
    positions_end: usize,
    buffer: Vec<u8>,
}

/// The lengths of the documents in a field.
pub(super) struct Lengths {
    pub(super) of_documents: FieldNormReader,
    /// Their sum.
    pub(super) words: u64,
}

/// The documents of a term, in ascending order, and where it occurs in each.
#[derive(Debug, Default)]
pub(super) struct TermPostings {
    pub(super) documents: Vec<u32>,
    /// For each document how often the term occurs; none in a field without.
    pub(super) counts: Vec<u32>,
    /// The positions in each document, from the one before in the same document.
    pub(super) deltas: Vec<u32>,
}

impl TermFiles {
    pub(super) fn create(segment: &Segment) -> tantivy::Result<Self> {
        let file = |component| segment.open_write(component).map(CompositeWrite::wrap);
        Ok(Self {
            terms: file(SegmentComponent::Terms)?,
            postings: file(SegmentComponent::Postings)?,
            positions: file(SegmentComponent::Positions)?,
        })
    }

    /// Starts a field, given the lengths of its documents if it has them.
    pub(super) fn field(
        &mut self,
        field: Field,
        option: IndexRecordOption,
        lengths: Option<&Lengths>,
    ) -> io::Result<FieldWriter<impl Write>> {
        let postings = self.postings.for_field(field);
        let words = lengths.map_or(0, |lengths| lengths.words);
        postings.write_all(&words.to_le_bytes())?;
        Ok(FieldWriter {
            terms: TermDictionaryBuilder::create(self.terms.for_field(field))?,
            postings,
            positions: self.positions.for_field(field),
            option,
            len_mean: lengths.map_or(0.0, Lengths::mean),
            lengths: lengths.map(|lengths| lengths.of_documents.clone()),
            postings_end: 0,
            positions_end: 0,
            buffer: Vec::new(),
        })
    }

    pub(super) fn close(self) -> io::Result<()> {
        self.terms.close()?;
        self.postings.close()?;
        self.positions.close()
    }
}

impl<W: Write> FieldWriter<W> {
    /// Writes the next term.
    pub(super) fn write(&mut self, term: &[u8], of_term: &TermPostings) -> io::Result<()> {
        let (postings_start, positions_start) = (self.postings_end, self.positions_end);
        let documents = u32::try_from(of_term.documents.len()).unwrap_or(u32::MAX);
        self.buffer.clear();
        if of_term.documents.len() < BLOCK_LEN {
            let mut last = 0;
            for document in &of_term.documents {
                put_number(document.wrapping_sub(last), &mut self.buffer);
                last = *document;
            }
            put_numbers(&of_term.counts, &mut self.buffer);
        } else {
            self.put_blocks(documents, of_term)?;
        }
        self.postings.write_all(&self.buffer)?;
        self.postings_end += self.buffer.len();
        if self.option.has_positions() {
            self.buffer.clear();
            self.put_positions(&of_term.deltas)?;
            self.positions.write_all(&self.buffer)?;
            self.positions_end += self.buffer.len();
        }
        let places = TermInfo {
            doc_freq: documents,
            postings_range: postings_start..self.postings_end,
            positions_range: positions_start..self.positions_end,
        };
        self.terms.insert(term, &places)
    }

    fn put_blocks(&mut self, documents: u32, of_term: &TermPostings) -> io::Result<()> {
        let lengths = self.lengths.clone();
        let mut blocks = PostingsSerializer::new(self.len_mean, self.option, lengths);
        blocks.new_term(documents, !of_term.counts.is_empty());
        let mut counts = of_term.counts.iter();
        for document in &of_term.documents {
            blocks.write_doc(*document, counts.next().copied().unwrap_or_default());
        }
        blocks.close_term(documents, &mut self.buffer)
    }

    fn put_positions(&mut self, deltas: &[u32]) -> io::Result<()> {
        if deltas.len() < BLOCK_LEN {
            // No block is before the numbers.
            self.buffer.push(LAST_BYTE);
            put_numbers(deltas, &mut self.buffer);
            return Ok(());
        }
        let mut positions = PositionSerializer::new(&mut self.buffer);
        positions.write_positions_delta(deltas);
        positions.close_term()?;
        positions.close()
    }

    pub(super) fn close(self) -> io::Result<()> {
        self.terms.finish()?;
        Ok(())
    }
}

impl Lengths {
    /// Returns the mean as the library computes it when it reads the segment, to the last bit.
    #[expect(clippy::cast_precision_loss, reason = "a mean in single precision")]
    fn mean(&self) -> f32 {
        self.words as f32 / self.of_documents.num_docs() as f32
    }
}

impl TermPostings {
    pub(super) fn clear(&mut self) {
        self.documents.clear();
        self.counts.clear();
        self.deltas.clear();
    }

    /// Adds a document without saying where the term occurs.
    pub(super) fn push(&mut self, document: u32) {
        self.documents.push(document);
    }

    /// Adds a document with the positions of the term, in ascending order.
    pub(super) fn push_at(&mut self, document: u32, positions: impl Iterator<Item = u32>) {
        let before = self.deltas.len();
        let mut last = 0;
        self.deltas.extend(positions.map(|position| {
            let delta = position.wrapping_sub(last);
            last = position;
            delta
        }));
        let count = self.deltas.len().saturating_sub(before);
        self.documents.push(document);
        self.counts.push(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Puts the documents into ascending order.
    pub(super) fn sort(&mut self) {
        if self.documents.is_sorted() {
            return;
        }
        let mut places: Vec<_> = (0..self.documents.len()).collect();
        places.sort_unstable_by_key(|place| self.documents.get(*place));
        let mut starts = Vec::with_capacity(self.counts.len());
        let mut start = 0_usize;
        for count in &self.counts {
            starts.push(start);
            start = start.saturating_add(*count as usize);
        }
        let unsorted = mem::take(self);
        for place in places {
            self.documents.extend(unsorted.documents.get(place));
            let (Some(count), Some(start)) = (unsorted.counts.get(place), starts.get(place)) else {
                continue;
            };
            self.counts.push(*count);
            let deltas = unsorted.deltas.get(*start..).unwrap_or_default();
            let of_document = deltas.get(..*count as usize).unwrap_or_default();
            self.deltas.extend_from_slice(of_document);
        }
    }
}

fn put_numbers(numbers: &[u32], bytes: &mut Vec<u8>) {
    for number in numbers {
        put_number(*number, bytes);
    }
}

/// Appends a number, seven bits at a time, the lowest first; the last byte is marked.
fn put_number(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= u32::from(LAST_BYTE) {
        bytes.push((number & 0x7f) as u8);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8 | LAST_BYTE);
}

/// Marks the last byte of a number.
pub(super) const LAST_BYTE: u8 = 0x80;

/// The number of documents, or positions, that the library packs together. The rest of a list, and
/// a list that is shorter, is numbers one after the other.
pub(super) const BLOCK_LEN: usize = 128;
