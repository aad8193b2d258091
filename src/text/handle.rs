//! Handle.

use std::fmt;
use std::sync::Arc;

use tantivy::TantivyError;

use super::document::Document;
use super::error::Error;
use super::index::committer::Committer;
use super::index::open::{OpenOutcome, TextLocation};
use super::index::uncommitted::Uncommitted;
use super::index::view::View;
use super::options::TextOptions;
use super::query::lowering::Query;
use super::search::highlight::Highlighter;
use super::search::hit::{Hits, RecalledHit};
use super::search::ranking::Ranking;

/// A full-text view of a ledger, open for feeding and searching from any thread.
///
/// Rows are fed in order by one feeder. What was fed is found at once. It is committed in the
/// background when 50,000 documents or 32 MiB wait, or when 1,024 do and a second passes without
/// more; by [`flush`](Self::flush); and by a search that finds more than 4,096 documents waiting.
///
/// ```
/// use grainstore::text::{Document, TextOptions, TextLocation, Query, Ranking, Text};
///
/// let (text, _) = Text::open(&TextLocation::Memory, 0, TextOptions::default())?;
/// text.add(0, Document::from("prefers green tea"))?;
/// let hits = text.search(&Query::words("teas"), &Ranking::default(), 10, &|_| true)?;
/// assert_eq!(hits.hits[0].row, 0);
/// assert_eq!(text.watermark(), 1);
/// # Ok::<(), grainstore::text::Error>(())
/// ```
pub struct Text {
    pub(in crate::text) view: Arc<View>,
    committer: Option<Committer>,
}

impl Text {
    /// Opens the view at `place` of a ledger of `ledger_len` entries.
    ///
    /// An index that cannot be trusted is deleted, not an error: [`OpenOutcome`] says so, and the caller
    /// feeds from [`watermark`](Self::watermark) as always.
    ///
    /// # Errors
    /// `ERR_TEXT` where the folder cannot be read or written.
    pub fn open(
        place: &TextLocation,
        ledger_len: u64,
        options: TextOptions,
    ) -> Result<(Self, OpenOutcome), Error> {
        let (view, opened) = View::open(place, ledger_len, options)?;
        let view = Arc::new(view);
        // Without a thread the caller commits: slower, and nothing else is different.
        let committer = match options.background {
            true => Committer::start(&view).ok(),
            false => None,
        };
        Ok((Self { view, committer }, opened))
    }

    /// Returns how many ledger entries the view covers: the row to feed next.
    pub fn watermark(&self) -> u64 {
        self.view.watermark()
    }

    /// Returns how many ledger entries the committed index covers: what the next open starts from.
    pub fn committed(&self) -> u64 {
        self.view.committed()
    }

    /// Feeds the text of `row`; rows below the watermark are covered already and change nothing.
    ///
    /// Waits for a commit where 200,000 documents or 128 MiB have not been committed yet.
    ///
    /// # Errors
    /// `ERR_TEXT` where so much waits and cannot be committed: then nothing was taken.
    pub fn add(&self, row: u64, document: Document) -> Result<(), Error> {
        let Some(committer) = &self.committer else {
            self.view.commit_if(|state| state.tail.is_due())?;
            self.view.push(row, document, |_| ());
            return Ok(());
        };
        if self.view.uncommitted_is(Uncommitted::is_full) {
            self.view.commit_if(|state| state.tail.is_full())?;
        }
        if self.view.push(row, document, Uncommitted::needs_committer) {
            committer.wake();
        }
        Ok(())
    }

    /// Covers the rows below `watermark` that were not fed because they say nothing.
    pub fn advance(&self, watermark: u64) {
        self.view.advance(watermark);
    }

    /// Forgets what rows said, in the files too: when this returns, no word of theirs that no other
    /// row says is left in the index (the library itself keeps the words of deleted documents).
    ///
    /// # Errors
    /// `ERR_TEXT` where the index could not be written; then it must be asked again, or rebuilt.
    pub fn erase(&self, rows: &[u64]) -> Result<(), Error> {
        self.view.erase(rows)
    }

    /// Commits what was fed, so that it need not be fed again after the next open.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index could not be written: what was fed stays searchable.
    pub fn flush(&self) -> Result<(), Error> {
        self.view.flush()
    }

    /// Commits what was fed, and waits until small segments are merged and the writer is gone.
    ///
    /// A process that ends without it loses nothing, but leaves merging to the next: many short
    /// runs would leave many small segments. Feeding may go on afterwards.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index could not be written.
    pub fn close(&self) -> Result<(), Error> {
        self.view.close()
    }

    /// Returns the best `limit` rows that match `query` and for which `accept` holds.
    ///
    /// A row scores by BM25 (k1 1.2, b 0.75) over everything fed, accepted or not: the sum of the
    /// words and phrases that occur in it; then by what `ranking` says. `accept` may be asked about
    /// any row that matches, or is a turn of the same conversation, in no order.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub fn search(
        &self,
        query: &Query,
        ranking: &Ranking,
        limit: usize,
        accept: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Hits, Error> {
        self.view.search(query, ranking, limit, accept)
    }
}

impl Text {
    /// Returns the best `limit` rows as [`search`](Self::search) does, each with the `reach` turns
    /// of its conversation before and after it for which `accept` holds.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub fn recall(
        &self,
        query: &Query,
        ranking: &Ranking,
        limit: usize,
        reach: usize,
        accept: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Vec<RecalledHit>, Error> {
        self.view.recall(query, ranking, limit, reach, accept)
    }

    /// Returns what finds in a text what `query` looks for.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub fn highlighter(&self, query: &Query) -> Result<Highlighter, Error> {
        self.view.highlighter(query)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text")
            .field("watermark", &self.watermark())
            .field("committed", &self.committed())
            .finish_non_exhaustive()
    }
}

impl Text {
    /// Reads every byte of the committed files and returns in words what does not match its
    /// checksum.
    ///
    /// # Errors
    /// `ERR_TEXT` where the list of files cannot be read.
    pub fn verify(&self) -> Result<Vec<String>, Error> {
        self.view.verify()
    }

    /// Commits what was fed, and merges all segments into one.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index could not be written: what was fed stays searchable.
    pub fn compact(&self) -> Result<(), Error> {
        // What the library merges by itself must be done before.
        self.close()?;
        self.view.merge_all()?;
        self.close()
    }

    /// Returns how many segments were committed, and their length together in bytes.
    ///
    /// # Errors
    /// `ERR_TEXT` where a file cannot be read.
    pub fn size(&self) -> Result<(usize, u64), Error> {
        let committed = self.view.state.lock().committed.searcher.clone();
        let space = committed.space_usage();
        let space = space.map_err(TantivyError::from);
        let space = space.map_err(Error::index("measuring it"))?;
        let segments = committed.segment_readers().len();
        Ok((segments, space.total().get_bytes()))
    }
}
