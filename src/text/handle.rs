//! `Text`: the public handle of the text view.
//!
//! It joins the view and its background committer, and delegates. The index is in `index/`, the
//! evaluation of a search in `search/`.

use std::fmt;
use std::sync::Arc;

use tantivy::TantivyError;

use crate::ledger::{Disk, EntryId};

use super::document::Document;
use super::error::Error;
use super::index::committer::Committer;
use super::index::open::{Fingerprint, OpenOutcome};
use super::index::partitions::Partitions;
use super::index::uncommitted::Uncommitted;
use super::index::view::View;
use super::options::TextOptions;
use super::query::lowering::Query;
use super::search::conversation::Surroundings;
use super::search::execute::{Search, Searched};
use super::search::highlight::Highlighter;
use super::search::hit::{Hits, KnownLine, RecalledHit};
use super::search::ranking::Ranking;
use super::search::rerank::Dated;
use crate::text::search::{execute, highlight};

/// A full-text view of a ledger. Any thread may feed and search it.
///
/// Rows are fed in order by one writer and are searchable at once. They are committed in the
/// background when 16,384 documents or 12 MiB are queued, or when 1,024 are queued and a second
/// passes without more; by [`flush`](Self::flush); and by a search that finds more than 4,096
/// documents queued.
///
/// ```
/// use std::sync::Arc;
/// use grainstore::ledger::{Disk, EntryId, MemoryDisk};
/// use grainstore::text::{Document, TextOptions, Query, Ranking, Text};
///
/// let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
/// let (text, _) = Text::open(&disk, 0, TextOptions::default())?;
/// text.add(EntryId::FIRST, Document::from("prefers green tea"))?;
/// let hits = text.search(&Query::words("teas"), &Ranking::default(), 10, &|_| true)?;
/// assert_eq!(hits.hits[0].row, EntryId::new(0));
/// assert_eq!(text.watermark(), 1);
/// # Ok::<(), grainstore::text::Error>(())
/// ```
pub struct Text {
    pub(in crate::text) view: Arc<View>,
    committer: Option<Committer>,
}

impl Text {
    /// Opens the view of a ledger of `ledger_len` entries, in the folder `text` of a disk.
    ///
    /// An index that cannot be trusted is deleted and is not an error. [`OpenOutcome`] reports it,
    /// and the caller feeds from [`watermark`](Self::watermark) as always.
    ///
    /// # Errors
    /// `ERR_TEXT` where the folder cannot be read or written.
    pub fn open(
        disk: &Arc<dyn Disk>,
        ledger_len: u64,
        options: TextOptions,
    ) -> Result<(Self, OpenOutcome), Error> {
        let of_any: Fingerprint = Arc::new(|_| Some([0; 8]));
        Self::open_of(disk, ledger_len, &of_any, &Arc::default(), options)
    }

    /// Opens the view as [`open`](Self::open) does, of a ledger whose first entries have a
    /// `fingerprint`: a view that covers others is rebuilt. Searches see the documents of
    /// `partitions` too, which another view of the ledger may have left.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn open_of(
        disk: &Arc<dyn Disk>,
        ledger_len: u64,
        fingerprint: &Fingerprint,
        partitions: &Arc<Partitions>,
        options: TextOptions,
    ) -> Result<(Self, OpenOutcome), Error> {
        let (view, opened) = View::open(disk, ledger_len, fingerprint, partitions, options)?;
        let view = Arc::new(view);
        // If the thread cannot be started, the caller commits: slower, with the same results.
        let committer = match options.background {
            true => Committer::start(&view).ok(),
            false => None,
        };
        Ok((Self { view, committer }, opened))
    }

    /// Returns the number of ledger entries that the view covers, which is the row to feed next.
    pub fn watermark(&self) -> u64 {
        self.view.watermark()
    }

    /// Returns the number of ledger entries that the committed index covers, which is where the
    /// next open starts.
    pub fn committed(&self) -> u64 {
        self.view.committed()
    }

    /// Feeds the text of `row`. A row below the watermark is covered already and changes nothing.
    ///
    /// Blocks for a commit if 65,536 documents or 24 MiB are uncommitted.
    ///
    /// # Errors
    /// `ERR_TEXT` if that commit fails; the document is not taken then.
    pub fn add(&self, row: EntryId, document: Document) -> Result<(), Error> {
        let Some(committer) = &self.committer else {
            if self.view.uncommitted_is(Uncommitted::is_due) {
                self.close()?;
            }
            self.view.push(row, document, |_| ());
            return Ok(());
        };
        if self.view.uncommitted_is(Uncommitted::is_full) {
            self.view.commit_if(|state| state.uncommitted.is_full())?;
        }
        if self.view.push(row, document, Uncommitted::needs_committer) {
            committer.wake();
        }
        Ok(())
    }

    /// Marks the rows below `watermark` as covered; those that were not fed have no text.
    pub fn advance(&self, watermark: u64) {
        self.view.advance(watermark);
    }

    /// Erases the text of rows, in the files and partitions too. After it returns, the index contains no word that
    /// only these rows contained (the index library alone keeps the terms of deleted documents).
    ///
    /// # Errors
    /// `ERR_TEXT` if the index cannot be written; the caller must repeat the call or rebuild the
    /// index.
    pub fn erase(&self, rows: &[EntryId]) -> Result<(), Error> {
        self.view.erase(rows)
    }

    /// Deletes the files of the view, for good: later commits fail, and the view is opened again
    /// instead.
    ///
    /// # Errors
    /// `ERR_TEXT` if a file cannot be removed.
    pub fn remove(&self) -> Result<(), Error> {
        self.view.remove()
    }

    /// Commits the rows fed so far, so that they need not be fed again after the next open.
    ///
    /// # Errors
    /// `ERR_TEXT` if the index cannot be written; the rows stay searchable.
    pub fn flush(&self) -> Result<(), Error> {
        self.view.flush()
    }

    /// Commits the rows fed so far and merges small segments.
    ///
    /// A process that ends without this call loses nothing but leaves the merging to the next one:
    /// many short runs would leave many small segments. The view can be fed again afterwards.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index could not be written.
    pub fn close(&self) -> Result<(), Error> {
        self.view.flush()?;
        self.view.merge_due()
    }

    /// Returns the best `limit` rows that match `query` and for which `accept` returns true.
    ///
    /// The score is BM25 (k1 1.2, b 0.75), summed over the words and phrases of the query that
    /// occur; statistics count all rows, accepted or not. Then `ranking` applies. `accept` may be
    /// called, in any order, for every row that matches or that is a turn of the same conversation.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub fn search(
        &self,
        query: &Query,
        ranking: &Ranking,
        limit: usize,
        accept: &(dyn Fn(EntryId) -> bool + Sync),
    ) -> Result<Hits, Error> {
        let found = self.find(&Search {
            query,
            ranking,
            limit,
            accept,
            accepted: None,
            own: None,
            is_over: &|| false,
            meaning: None,
            dated: Dated::default(),
            reach: None,
            tells_fields: true,
        });
        Ok(found?.hits)
    }

    /// Does what [`search`](Self::search) does, with all that a search can have.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub(crate) fn find(&self, search: &Search<'_>) -> Result<Searched, Error> {
        execute::search(&self.view, search)
    }

    /// Returns the best `limit` rows as [`search`](Self::search) does, each with up to `reach`
    /// turns of its conversation before and after it for which `accept` returns true.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub fn recall(
        &self,
        query: &Query,
        ranking: &Ranking,
        limit: usize,
        reach: usize,
        accept: &(dyn Fn(EntryId) -> bool + Sync),
    ) -> Result<Vec<RecalledHit>, Error> {
        let found = self.find(&Search {
            query,
            ranking,
            limit,
            accept,
            accepted: None,
            own: None,
            is_over: &|| false,
            meaning: None,
            dated: Dated::default(),
            reach: Some(reach),
            tells_fields: true,
        })?;
        let mut around = found.around;
        let recalled = (0..).zip(found.shaped).map(|(at, shaped)| {
            let turns = self.turns_around(around.as_mut(), at, accept)?;
            Ok(RecalledHit {
                hit: shaped.hit,
                turns: turns.into_iter().map(|(row, _)| row).collect(),
                has_thread: shaped.has_thread,
            })
        });
        recalled.collect()
    }

    /// Returns the rows of a hit of a recall and of the turns around it for which `accept` returns true,
    /// in chronological order, each with what is known of its line.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub(crate) fn turns_around(
        &self,
        around: Option<&mut Surroundings>,
        hit: usize,
        accept: &(dyn Fn(EntryId) -> bool + Sync),
    ) -> Result<Vec<(EntryId, KnownLine)>, Error> {
        let Some(around) = around else {
            return Ok(Vec::new());
        };
        let turns = around.turns(hit, &self.view.fields, accept);
        turns.map_err(Error::index("reading conversations"))
    }

    /// Returns the rows of each conversation for which `accept` returns true, in the order in which the
    /// conversations began.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub(crate) fn sessions(
        &self,
        accept: &(dyn Fn(EntryId) -> bool + Sync),
    ) -> Result<Vec<Vec<EntryId>>, Error> {
        execute::sessions(&self.view, accept)
    }

    /// Returns a highlighter for `query`.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index cannot be read.
    pub fn highlighter(&self, query: &Query) -> Result<Highlighter, Error> {
        highlight::highlighter(&self.view, query)
    }
}

impl Text {
    /// Feeds the text of `row` to the partition of a person, which is in memory only: no file
    /// contains its words, terms or statistics. Searches rank its rows as if they were fed to the
    /// view. Covers the row if it is the next one to feed.
    ///
    /// The rows of one partition are fed in order; a row that is not above those fed before changes
    /// nothing.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use grainstore::ledger::{Disk, EntryId, MemoryDisk};
    /// use grainstore::text::{TextOptions, Query, Ranking, Text};
    ///
    /// let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    /// let (text, _) = Text::open(&disk, 0, TextOptions::default())?;
    /// text.add_to_partition([7; 16], EntryId::FIRST, "green tea".into());
    /// let total = || text.search(&Query::words("tea"), &Ranking::WORDS, 9, &|_| true);
    /// assert_eq!(total()?.total, 1);
    /// text.drop_partition([7; 16]);
    /// assert_eq!(total()?.total, 0);
    /// # Ok::<(), grainstore::text::Error>(())
    /// ```
    pub fn add_to_partition(&self, partition: [u8; 16], row: EntryId, document: Document) {
        self.view.push_to_partition(partition, row, document);
    }

    /// Erases the text of rows from one partition, without looking for them in the files.
    pub fn erase_in_partition(&self, partition: [u8; 16], rows: &[EntryId]) {
        self.view.partitions.erase_in(partition, rows);
    }

    /// Drops a partition: its words are in no later search, and nothing counts them. A partition
    /// that is not there changes nothing.
    pub fn drop_partition(&self, partition: [u8; 16]) {
        self.view.partitions.drop_partition(partition);
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
    /// Reads every byte of the committed files and describes each checksum mismatch.
    ///
    /// # Errors
    /// `ERR_TEXT` where the list of files cannot be read.
    pub fn verify(&self) -> Result<Vec<String>, Error> {
        self.view.verify()
    }

    /// Commits the rows fed so far and merges all segments into as few as possible: one, below
    /// 96 MiB.
    ///
    /// # Errors
    /// `ERR_TEXT` if the index cannot be written; the rows stay searchable.
    pub fn compact(&self) -> Result<(), Error> {
        self.view.flush()?;
        self.view.merge_all()
    }

    /// Returns the number of committed segments and their total size in bytes.
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
