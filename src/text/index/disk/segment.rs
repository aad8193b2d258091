//! A segment of the index library with its dictionaries, lengths and columns.

use std::sync::{Arc, OnceLock};

use tantivy::columnar::{Column, ColumnValues};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED};

use super::turn_runs::{TurnRun, TurnRuns};
use crate::ledger::EntryId;
use crate::text::document::Traits;
use crate::text::index::postings::BlockMaxima;
use crate::text::index::schema::{Fields, IMPORTANCE, ORDER, ROW, THREAD, TIME, TRAITS, TermField};

/// A segment of the index library.
pub(in crate::text) struct DiskSegment {
    pub(in crate::text::index) reader: SegmentReader,
    pub(in crate::text::index) stems: Arc<InvertedIndexReader>,
    variants: Arc<InvertedIndexReader>,
    threads: Arc<InvertedIndexReader>,
    pub(in crate::text::index) languages: Arc<InvertedIndexReader>,
    pub(in crate::text::index) lengths: FieldNormReader,
    pub(in crate::text::index) maxima: BlockMaxima,
    row: Values<u64>,
    /// Of each window of documents, known when it was first asked for.
    row_orders: Vec<OnceLock<RowOrder>>,
    /// Found when the first conversation was asked for.
    turn_runs: OnceLock<Option<TurnRuns>>,
    pub(in crate::text::index) order: Values<u64>,
    pub(in crate::text::index) thread: Values<u64>,
    pub(in crate::text::index) time: Values<i64>,
    pub(in crate::text::index) importance: Values<f64>,
    pub(in crate::text::index) traits: Values<u64>,
}

/// The values of a turn of a conversation that ranking reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::text) struct TurnValues {
    pub(in crate::text) document: u32,
    pub(in crate::text) row: EntryId,
    pub(in crate::text) time_ms: i64,
    pub(in crate::text) traits: Traits,
    pub(in crate::text) len_class: u8,
}

/// A value for each document.
type Values<T> = Arc<dyn ColumnValues<T>>;

/// How the rows of the documents of a window follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) enum RowOrder {
    /// One after the other, without a gap.
    Consecutive,
    Ascending,
}

impl DiskSegment {
    pub(super) fn open(reader: &SegmentReader, fields: &Fields) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        let stems = reader.inverted_index(fields.stems)?;
        let lengths = reader.get_fieldnorms_reader(fields.stems)?;
        let windows = reader.max_doc().div_ceil(WINDOW_LEN);
        Ok(Self {
            reader: reader.clone(),
            maxima: BlockMaxima::new(lengths.clone(), stems.total_num_tokens(), reader.max_doc()),
            stems,
            variants: reader.inverted_index(fields.variants)?,
            threads: reader.inverted_index(fields.thread)?,
            languages: reader.inverted_index(fields.languages)?,
            lengths,
            row: row_values(reader)?,
            row_orders: (0..windows).map(|_| OnceLock::new()).collect(),
            turn_runs: OnceLock::new(),
            order: values(fast.u64(ORDER)?, 0),
            thread: values(fast.u64(THREAD)?, 0),
            time: values(fast.i64(TIME)?, 0),
            importance: values(fast.f64(IMPORTANCE)?, 0.0),
            traits: values(fast.u64(TRAITS)?, 0),
        })
    }

    /// Returns whether it is what the reader reads.
    pub(super) fn is_of(&self, reader: &SegmentReader) -> bool {
        self.reader.segment_id() == reader.segment_id()
            && self.reader.delete_opstamp() == reader.delete_opstamp()
    }

    pub(in crate::text::index) fn terms(&self, field: TermField) -> &InvertedIndexReader {
        match field {
            TermField::Stems => &self.stems,
            TermField::Variants => &self.variants,
        }
    }

    /// Returns the row of a document.
    pub(in crate::text::index) fn row(&self, document: u32) -> Option<EntryId> {
        let row = self.row.get_val(document);
        (row != NO_ROW).then(|| EntryId::new(row))
    }

    /// Returns the document of a row.
    pub(in crate::text::index) fn document_of(&self, row: EntryId) -> Option<u32> {
        document_of(&*self.row, row)
    }

    /// Returns how the rows of the documents of a window follow each other.
    pub(in crate::text::index) fn row_order(&self, window: u32) -> RowOrder {
        let known = self.row_orders.get(window as usize);
        known.map_or(RowOrder::Ascending, |known| {
            *known.get_or_init(|| self.read_row_order(window))
        })
    }

    fn read_row_order(&self, window: u32) -> RowOrder {
        let start = window.saturating_mul(WINDOW_LEN);
        let len = WINDOW_LEN.min(self.reader.max_doc().saturating_sub(start));
        let mut rows = vec![0; len as usize];
        self.row.get_range(start.into(), &mut rows);
        RowOrder::of(&rows)
    }

    /// Passes on the turns of a conversation that are not deleted, in the order of documents.
    pub(in crate::text::index) fn each_turn(
        &self,
        fields: &Fields,
        thread: u64,
        mut take: impl FnMut(TurnValues),
    ) -> tantivy::Result<()> {
        if let Some(runs) = self.turn_runs.get_or_init(|| self.find_turn_runs()) {
            for run in runs.of_thread(thread) {
                self.each_of(*run, &mut take);
            }
            return Ok(());
        }
        let term = fields.thread_term(thread);
        let postings = self
            .threads
            .read_postings(&term, IndexRecordOption::Basic)?;
        if let Some(mut postings) = postings {
            while postings.doc() != TERMINATED {
                let document = postings.doc();
                let values = [self.row.get_val(document), self.traits.get_val(document)];
                self.pass_on(document, values, self.time.get_val(document), &mut take);
                postings.advance();
            }
        }
        Ok(())
    }

    /// Returns about how many conversations have turns here: none if none has.
    pub(in crate::text::index) fn conversations(&self) -> usize {
        let runs = self.turn_runs.get_or_init(|| self.find_turn_runs());
        runs.as_ref().map_or(usize::MAX, TurnRuns::len)
    }

    fn find_turn_runs(&self) -> Option<TurnRuns> {
        let len = self.reader.max_doc();
        let windows = (0..len).step_by(WINDOW_LEN as usize);
        let threads = windows.flat_map(|start| {
            let mut threads = vec![0; WINDOW_LEN.min(len - start) as usize];
            self.thread.get_range(start.into(), &mut threads);
            threads
        });
        TurnRuns::of(threads, len)
    }

    /// Reads the rows of documents, one after the other: they ascend, so the first and the last say
    /// whether the others lie between them without a gap.
    fn read_rows(&self, start: u32, rows: &mut [u64]) {
        let steps = u32::try_from(rows.len())
            .unwrap_or_default()
            .saturating_sub(1);
        let first = self.row.get_val(start);
        let last = self.row.get_val(start.saturating_add(steps));
        match first.checked_add(steps.into()) == Some(last) {
            true => rows
                .iter_mut()
                .zip(first..=last)
                .for_each(|(row, nth)| *row = nth),
            false => self.row.get_range(start.into(), rows),
        }
    }

    /// Passes on the documents of a run, whose columns are read range by range.
    fn each_of(&self, run: TurnRun, take: &mut impl FnMut(TurnValues)) {
        let (mut rows, mut times, mut traits) = ([0; RANGE], [0; RANGE], [0; RANGE]);
        for start in (run.first..run.end()).step_by(RANGE) {
            let len = RANGE.min((run.end() - start) as usize);
            let read = rows.get_mut(..len).zip(times.get_mut(..len));
            let read = read.zip(traits.get_mut(..len));
            let Some(((rows, times), traits)) = read else {
                return;
            };
            self.read_rows(start, rows);
            self.time.get_range(start.into(), times);
            self.traits.get_range(start.into(), traits);
            let values = rows.iter().zip(&*times).zip(&*traits);
            for (document, ((row, time_ms), traits)) in (start..).zip(values) {
                self.pass_on(document, [*row, *traits], *time_ms, take);
            }
        }
    }

    /// Passes on a document unless it is deleted.
    fn pass_on(
        &self,
        document: u32,
        [row, traits]: [u64; 2],
        time_ms: i64,
        take: &mut impl FnMut(TurnValues),
    ) {
        if row != NO_ROW && !self.reader.is_deleted(document) {
            take(TurnValues {
                document,
                row: EntryId::new(row),
                time_ms,
                traits: Traits(traits),
                len_class: self.lengths.fieldnorm_id(document),
            });
        }
    }
}

impl RowOrder {
    fn of(rows: &[u64]) -> Self {
        let follows = |pair: &[u64]| matches!(pair, [a, b] if a.checked_add(1) == Some(*b));
        debug_assert!(
            rows.is_sorted_by(|a, b| a < b),
            "the rows of a segment ascend"
        );
        match rows.windows(2).all(follows) {
            true => Self::Consecutive,
            false => Self::Ascending,
        }
    }
}

/// Returns the row of each document of a segment: they ascend.
pub(in crate::text::index) fn row_values(reader: &SegmentReader) -> tantivy::Result<Values<u64>> {
    Ok(values(reader.fast_fields().u64(ROW)?, NO_ROW))
}

/// Returns the document of a row.
pub(in crate::text::index) fn document_of(
    rows: &dyn ColumnValues<u64>,
    row: EntryId,
) -> Option<u32> {
    let row = row.get();
    if row < rows.min_value() || row > rows.max_value() {
        return None;
    }
    let (mut low, mut high) = (0, rows.num_vals());
    while low < high {
        let middle = low + (high - low) / 2;
        if rows.get_val(middle) < row {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low < rows.num_vals() && rows.get_val(low) == row).then_some(low)
}

/// Returns the value of each document. Every document has one in every column; in a file where that
/// is not so `missing` stands for it.
fn values<T: PartialOrd + Copy + Send + Sync + std::fmt::Debug + 'static>(
    column: Column<T>,
    missing: T,
) -> Values<T> {
    match column.get_cardinality().is_full() {
        true => column.values,
        false => column.first_or_default_col(missing),
    }
}

/// The number of documents whose order of rows is known together.
pub(in crate::text) const WINDOW_LEN: u32 = 4_096;

/// No ledger is as long.
const NO_ROW: u64 = u64::MAX;

/// The documents of a conversation that are read together.
const RANGE: usize = 64;
