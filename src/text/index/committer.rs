use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::text::document::Document;
use crate::text::error::Error;
use crate::text::index::open::Opened;
use crate::text::index::open::Place;
use crate::text::index::uncommitted::Tail;
use crate::text::index::view::Options;
use crate::text::index::view::View;
use crate::text::query::ast::Query;
use crate::text::search::highlight::Highlighter;
use crate::text::search::ranking::Ranking;
use crate::text::search::top_docs::Around;
use crate::text::search::top_docs::Hits;

/// A full-text view of a ledger, open for feeding and searching from any thread.
///
/// Rows are fed in order by one feeder. What was fed is found at once. It is committed in the
/// background when 50,000 documents or 32 MiB wait, or when 1,024 do and a second passes without
/// more; by [`flush`](Self::flush); and by a search that finds more than 4,096 documents waiting.
///
/// ```
/// use grainstore::text::{Document, Options, Place, Query, Ranking, Text};
///
/// let (text, _) = Text::open(&Place::Memory, 0, Options::default())?;
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
    /// An index that cannot be trusted is deleted, not an error: [`Opened`] says so, and the caller
    /// feeds from [`watermark`](Self::watermark) as always.
    ///
    /// # Errors
    /// `ERR_TEXT` where the folder cannot be read or written.
    pub fn open(place: &Place, ledger_len: u64, options: Options) -> Result<(Self, Opened), Error> {
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
        if self.view.tail_is(Tail::is_full) {
            self.view.commit_if(|state| state.tail.is_full())?;
        }
        if self.view.push(row, document, Tail::wants_attention) {
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
    ) -> Result<Vec<Around>, Error> {
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

/// The thread that commits while others feed.
struct Committer {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Signal {
    asked: Mutex<Asked>,
    changed: Condvar,
}

#[derive(Default)]
struct Asked {
    to_commit: bool,
    to_end: bool,
}

impl Committer {
    fn start(view: &Arc<View>) -> std::io::Result<Self> {
        let signal = Arc::new(Signal::default());
        let (view, theirs) = (Arc::clone(view), Arc::clone(&signal));
        let thread = thread::Builder::new().name("grainstore-text".into());
        let thread = thread.spawn(move || theirs.serve(&view))?;
        Ok(Self {
            signal,
            thread: Some(thread),
        })
    }

    fn wake(&self) {
        self.signal.asked.lock().to_commit = true;
        self.signal.changed.notify_one();
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.signal.asked.lock().to_end = true;
        self.signal.changed.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::warn!("the thread that commits the text view had panicked");
        }
    }
}

impl Signal {
    fn serve(&self, view: &View) {
        let mut before = 0;
        loop {
            let is_worth = view.tail_is(Tail::is_worth_a_commit);
            let mut asked = self.asked.lock();
            if asked.to_commit || asked.to_end {
                // Asked while nobody listened.
            } else if is_worth {
                self.changed.wait_for(&mut asked, IDLE);
            } else {
                self.changed.wait(&mut asked);
            }
            if asked.to_end {
                return;
            }
            asked.to_commit = false;
            drop(asked);
            let watermark = view.watermark();
            let is_idle = watermark == before && view.tail_is(Tail::is_worth_a_commit);
            before = watermark;
            if (is_idle || view.tail_is(Tail::is_due))
                && let Err(error) = view.flush()
            {
                // What was fed stays searchable, and the ledger has it.
                tracing::warn!(%error, "the text view was not committed");
            }
        }
    }
}

/// How long nobody must feed before a short tail is committed.
const IDLE: Duration = Duration::from_secs(1);
