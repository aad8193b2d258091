//! `Statistics`: how many documents there are, how long they are, and how many have a word.
//!
//! A score depends on them. For a caller who must not learn of documents of others even that they
//! are there, only those that the search may return are counted ([`OwnRows`]).

use crate::ledger::EntryId;
use crate::text::index::schema::TermField;
use crate::text::index::segment_reader::{Segment, len_of_class};

/// The rows that a search may return, where its statistics are those of these rows alone.
#[derive(Debug)]
pub(crate) struct OwnRows {
    /// Their number.
    pub(crate) count: u64,
    /// Some of them, whose mean length stands for that of all.
    pub(crate) sample: Vec<EntryId>,
}

/// The statistics of the documents of all segments together, or of those that are accepted.
pub(in crate::text) struct Statistics<'a> {
    segments: &'a [Segment<'a>],
    /// `None` where all documents count.
    accept: Option<&'a (dyn Fn(EntryId) -> bool + Sync)>,
    /// The number of documents.
    pub(in crate::text) documents: u64,
    /// Their mean length in words.
    pub(in crate::text) len_mean: f64,
}

impl<'a> Statistics<'a> {
    /// Counts all documents, including deleted ones.
    pub(in crate::text) fn of_all(segments: &'a [Segment<'a>]) -> Self {
        let documents = segments.iter().map(|it| u64::from(it.len())).sum::<u64>();
        let words = segments.iter().map(Segment::len_words).sum();
        Self {
            segments,
            accept: None,
            documents,
            len_mean: as_f64(words) / as_f64(documents.max(1)),
        }
    }

    /// Counts the documents of `own`, which are those that `accept` accepts.
    pub(in crate::text) fn of_own(
        segments: &'a [Segment<'a>],
        own: &OwnRows,
        accept: &'a (dyn Fn(EntryId) -> bool + Sync),
    ) -> Self {
        let (mut sampled, mut words) = (0_u64, 0_u64);
        for row in &own.sample {
            for segment in segments {
                if let Some(document) = segment.document_of(*row) {
                    sampled += 1;
                    words += u64::from(len_of_class(segment.len_class(document)));
                    break;
                }
            }
        }
        Self {
            segments,
            accept: Some(accept),
            documents: own.count,
            len_mean: as_f64(words.max(1)) / as_f64(sampled.max(1)),
        }
    }

    /// Returns whether only some documents count.
    pub(in crate::text) const fn is_own(&self) -> bool {
        self.accept.is_some()
    }

    /// Returns the number of documents with a term.
    pub(in crate::text) fn documents_with(
        &self,
        field: TermField,
        term: &str,
    ) -> tantivy::Result<u64> {
        let mut with = 0;
        for segment in self.segments {
            with += match self.accept {
                None => segment.documents_with(field, term)?,
                Some(accept) => segment.accepted_with(field, term, accept)?,
            };
        }
        Ok(with)
    }

    /// Returns the codes of the languages that documents are in besides the default.
    pub(in crate::text) fn languages(&self) -> tantivy::Result<Vec<String>> {
        let mut codes = Vec::new();
        for segment in self.segments {
            segment.languages(self.accept, &mut codes)?;
        }
        codes.sort_unstable();
        codes.dedup();
        Ok(codes)
    }
}

/// Converts a count, which is far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "a count of what is on a disk")]
pub(in crate::text) const fn as_f64(count: u64) -> f64 {
    count as f64
}
