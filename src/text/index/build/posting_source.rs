//! The postings of a field of a segment, as a merge reads them: term after term.

use std::io;

use tantivy::directory::{CompositeFile, FileSlice};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, HasLen, InvertedIndexReader, TERMINATED};

use super::merge::ERASED;
use super::term_files::{BLOCK_LEN, LAST_BYTE, TermPostings};

/// The postings of a field.
pub(super) struct PostingSource<'a> {
    reader: &'a InvertedIndexReader,
    option: IndexRecordOption,
    /// Behind the number of words.
    postings: FileSlice,
    positions: FileSlice,
    /// The documents of a term, and how often each has it.
    documents: Vec<u32>,
    counts: Vec<u32>,
    found: Vec<u32>,
}

impl<'a> PostingSource<'a> {
    pub(super) fn open(
        segment: &Segment,
        reader: &'a InvertedIndexReader,
        field: Field,
        option: IndexRecordOption,
    ) -> tantivy::Result<Self> {
        let of_field = |component| -> tantivy::Result<FileSlice> {
            let file = CompositeFile::open(&segment.open_read(component)?)?;
            Ok(file.open_read(field).unwrap_or_else(FileSlice::empty))
        };
        let postings = of_field(SegmentComponent::Postings)?;
        let start = WORDS_LEN.min(postings.len());
        Ok(Self {
            reader,
            option,
            postings: postings.slice_from(start),
            positions: of_field(SegmentComponent::Positions)?,
            documents: Vec::new(),
            counts: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Adds the documents of a term that are kept, with the numbers that they get.
    pub(super) fn read(
        &mut self,
        places: &TermInfo,
        numbers: &[u32],
        to: &mut TermPostings,
    ) -> tantivy::Result<()> {
        let is_short = (places.doc_freq as usize) < BLOCK_LEN;
        if !is_short || !self.read_short(places, numbers, to)? {
            self.read_blocks(places, numbers, to)?;
        }
        Ok(())
    }

    /// Reads a term without a block; false of one with a block of positions.
    fn read_short(
        &mut self,
        places: &TermInfo,
        numbers: &[u32],
        to: &mut TermPostings,
    ) -> tantivy::Result<bool> {
        let bytes = self
            .postings
            .read_bytes_slice(places.postings_range.clone())?;
        let (mut bytes, mut last) = (bytes.as_slice(), 0_u32);
        self.documents.clear();
        for _ in 0..places.doc_freq {
            last = last.wrapping_add(number(&mut bytes)?);
            self.documents.push(last);
        }
        if !self.option.has_positions() {
            let kept = self.documents.iter().filter_map(|it| kept(*it, numbers));
            kept.for_each(|document| to.push(document));
            return Ok(true);
        }
        self.counts.clear();
        let mut occurrences = 0_usize;
        for _ in 0..places.doc_freq {
            let count = number(&mut bytes)?;
            occurrences = occurrences.saturating_add(count as usize);
            self.counts.push(count);
        }
        if occurrences >= BLOCK_LEN {
            return Ok(false);
        }
        let bytes = self
            .positions
            .read_bytes_slice(places.positions_range.clone())?;
        let (blocks, mut bytes) = bytes.as_slice().split_first().ok_or_else(cut_short)?;
        debug_assert_eq!(*blocks, LAST_BYTE, "it has no block");
        for (document, count) in self.documents.iter().zip(&self.counts) {
            let kept_as = kept(*document, numbers);
            for _ in 0..*count {
                let delta = number(&mut bytes)?;
                if kept_as.is_some() {
                    to.deltas.push(delta);
                }
            }
            if let Some(document) = kept_as {
                to.documents.push(document);
                to.counts.push(*count);
            }
        }
        Ok(true)
    }

    fn read_blocks(
        &mut self,
        places: &TermInfo,
        numbers: &[u32],
        to: &mut TermPostings,
    ) -> tantivy::Result<()> {
        let mut of_term = self
            .reader
            .read_postings_from_terminfo(places, self.option)?;
        while of_term.doc() != TERMINATED {
            match kept(of_term.doc(), numbers) {
                Some(document) if self.option.has_positions() => {
                    of_term.positions(&mut self.found);
                    to.push_at(document, self.found.iter().copied());
                }
                Some(document) => to.push(document),
                None => {}
            }
            of_term.advance();
        }
        Ok(())
    }
}

/// Returns the number that a document gets; `None` if it is left out.
fn kept(document: u32, numbers: &[u32]) -> Option<u32> {
    let number = numbers.get(document as usize).copied();
    number.filter(|number| *number != ERASED)
}

/// Reads a number, seven bits at a time.
fn number(bytes: &mut &[u8]) -> io::Result<u32> {
    let (mut number, mut shift) = (0_u32, 0_u32);
    loop {
        let (byte, rest) = bytes.split_first().ok_or_else(cut_short)?;
        *bytes = rest;
        let bits = u32::from(*byte & !LAST_BYTE);
        number |= bits.checked_shl(shift).unwrap_or_default();
        if *byte & LAST_BYTE != 0 {
            return Ok(number);
        }
        shift += 7;
    }
}

fn cut_short() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// The number of words of the field, before its postings.
const WORDS_LEN: usize = 8;
