//! The embedders of an open store: the grains that wait for a vector of each model.
//!
//! A grain waits if it has text and no vector of the model, which the ledger tells. So no file holds
//! the queue, and under a model with another name every grain waits again. The keeper of
//! the derived files alone embeds, so that no text is embedded twice. The steps of a batch are in
//! `commit/embed.rs`.

use std::sync::Arc;
use std::time::Duration;

use crate::codec::ContentAddress;
use crate::index::RowSet;
use crate::ledger::EntryId;
use crate::process::{Condvar, Mutex, MutexGuard};
use crate::store::Error;
use crate::store::embedder::{Embedder, EmbedderStatus};
use crate::store::error::with_sources;
use crate::store::state::Entry;

/// The embedders of an open store.
#[derive(Debug, Default)]
pub(crate) struct Embeddings {
    pub(super) models: Vec<EmbedQueue>,
    pub(super) signal: Mutex<Signal>,
    pub(super) wake: Condvar,
    /// Held by the thread while it uses the store: closing waits for that, and never for a model.
    pub(super) at_store: Mutex<()>,
}

/// One embedder, and the grains that wait for its vectors.
#[derive(Debug)]
pub(crate) struct EmbedQueue {
    pub(crate) embedder: Arc<dyn Embedder>,
    /// Held for the time of a batch, the answer of the model included.
    turn: Mutex<()>,
    waiting: Mutex<WaitingRows>,
}

/// The grains that wait for a vector of one model.
#[derive(Debug, Default)]
pub(crate) struct WaitingRows {
    /// Whether `rows` has all of them: not before the first batch, and not after another process
    /// kept the files.
    pub(crate) is_known: bool,
    pub(crate) rows: RowSet,
    /// Those whose text failed alone, in a row of failures: the model may be down.
    skipped: RowSet,
    /// Those whose text failed alone while others did not.
    refused: RowSet,
    /// Whether the next batch is one text, since the last one failed.
    is_single: bool,
    /// The vectors stored since the store was opened.
    embedded: u64,
    pub(super) failed: Option<String>,
}

/// A grain that is being embedded.
#[derive(Debug)]
pub(crate) struct EmbedText {
    pub(crate) row: EntryId,
    pub(crate) address: ContentAddress,
    pub(crate) text: String,
}

#[derive(Debug, Default)]
pub(super) struct Signal {
    has_work: bool,
    pub(super) has_ended: bool,
}

/// How the thread rests.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rest {
    /// Until there is work.
    Idle,
    /// Until there is work, or until texts that were refused are tried again.
    Refused,
    /// For this long: the model is down.
    Down(Duration),
}

impl Embeddings {
    pub(in crate::store::engine) fn new(embedders: &[Arc<dyn Embedder>]) -> Self {
        let queue = |embedder: &Arc<dyn Embedder>| EmbedQueue {
            embedder: Arc::clone(embedder),
            turn: Mutex::default(),
            waiting: Mutex::default(),
        };
        Self {
            models: embedders.iter().map(queue).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn models(&self) -> &[EmbedQueue] {
        &self.models
    }

    /// Has the grains among committed entries embedded.
    pub(in crate::store::engine) fn feed(&self, entries: &[Entry<'_>]) {
        if !self.models.is_empty() {
            let grains = entries.iter().filter(|entry| entry.grain().is_some());
            self.add(&grains.map(|entry| entry.row).collect());
        }
    }

    /// Has the grains among rows embedded that lack a vector.
    pub(crate) fn add(&self, rows: &RowSet) {
        if self.models.is_empty() || rows.is_empty() {
            return;
        }
        for model in &self.models {
            model.waiting().rows.unite(rows);
        }
        self.wake();
    }

    /// Has all grains looked at again: another process kept the files.
    pub(in crate::store::engine) fn start_over(&self) {
        for model in &self.models {
            model.waiting().is_known = false;
        }
        self.wake();
    }

    pub(super) fn wake(&self) {
        self.signal.lock().has_work = true;
        self.wake.notify_all();
    }

    /// Rests; returns whether the time is over rather than that there is work, and `None` once the
    /// store is closed.
    pub(super) fn rest(&self, rest: Rest) -> Option<bool> {
        let mut signal = self.signal.lock();
        let idles = |signal: &mut Signal| !signal.has_ended && !signal.has_work;
        signal = match rest {
            Rest::Idle => self.wake.wait_while(signal, idles),
            Rest::Refused => self.wake.wait_while_for(signal, idles, PAUSE_MAX),
            // A put must not have a model asked at once that has just failed.
            Rest::Down(pause) => {
                let is_open = |signal: &mut Signal| !signal.has_ended;
                self.wake.wait_while_for(signal, is_open, pause)
            }
        };
        let has_work = std::mem::take(&mut signal.has_work);
        (!signal.has_ended).then_some(!has_work)
    }
}

impl EmbedQueue {
    pub(crate) fn waiting(&self) -> MutexGuard<'_, WaitingRows> {
        self.waiting.lock()
    }

    /// Waits until no other thread embeds by this model.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock()
    }

    /// Embeds what waits: `next` returns the texts of a batch, none if there are no more, and `keep`
    /// stores the vectors and returns how many. Both return `None` once the store is closed, which ends it, as do three
    /// failures in a row.
    ///
    /// # Errors
    /// Of the last of these failures.
    pub(crate) fn drain(
        &self,
        next: impl Fn() -> Option<Result<Vec<EmbedText>, Error>>,
        keep: impl Fn(&[EmbedText], Vec<Vec<f32>>) -> Option<Result<u64, Error>>,
    ) -> Option<Result<(), Error>> {
        let mut failures = 0;
        loop {
            let (batch, outcome) = match next()? {
                Ok(batch) if batch.is_empty() => return Some(Ok(())),
                Ok(batch) => match self.embed(&batch) {
                    Ok(vectors) => {
                        let kept = keep(&batch, vectors)?;
                        (batch, kept)
                    }
                    Err(error) => (batch, Err(error)),
                },
                Err(error) => (Vec::new(), Err(error)),
            };
            let error = match outcome {
                Ok(stored) => {
                    self.waiting().succeed(&batch, stored);
                    failures = 0;
                    continue;
                }
                Err(error) => error,
            };
            failures += 1;
            let is_down = failures == FAILURES_MAX;
            self.waiting().fail(&batch, &error, is_down);
            if is_down {
                return Some(Err(error));
            }
        }
    }

    /// Asks the model for the vectors of texts.
    fn embed(&self, batch: &[EmbedText]) -> Result<Vec<Vec<f32>>, Error> {
        let texts: Vec<&str> = batch.iter().map(|it| it.text.as_str()).collect();
        let embedder = &*self.embedder;
        let vectors = embedder.embed(&texts);
        let vectors = vectors.map_err(|source| Error::embedder(embedder, source))?;
        if vectors.len() != texts.len() {
            let reason = format!("{} vectors for {} texts", vectors.len(), texts.len());
            return Err(Error::embedder(embedder, reason.into()));
        }
        Ok(vectors)
    }

    /// Returns how far the grains of a ledger of this length are embedded.
    pub(crate) fn status(&self, ledger_len: u64) -> EmbedderStatus {
        let waiting = self.waiting();
        let all = [&waiting.rows, &waiting.skipped, &waiting.refused];
        let first = all.iter().filter_map(|rows| rows.iter().next()).min();
        let watermark = first.map_or(ledger_len, EntryId::get);
        EmbedderStatus {
            model: self.embedder.model().to_owned(),
            watermark: if waiting.is_known { watermark } else { 0 },
            waiting: all.iter().map(|rows| rows.len()).sum(),
            embedded: waiting.embedded,
            failed: waiting.failed.clone(),
        }
    }
}

impl WaitingRows {
    /// Returns the first rows, as many as a batch has.
    pub(crate) fn first(&self) -> RowSet {
        let len = if self.is_single { 1 } else { BATCH_LEN };
        self.rows.iter().take(len).collect()
    }

    /// Has the texts tried again that failed, also those after which no other text came to show
    /// whether the model was down.
    pub(crate) fn retry(&mut self) {
        for failed in [&mut self.refused, &mut self.skipped] {
            self.rows.unite(&std::mem::take(failed));
        }
    }

    fn succeed(&mut self, batch: &[EmbedText], stored: u64) {
        self.embedded += stored;
        batch.iter().for_each(|it| self.rows.remove(it.row));
        self.is_single = false;
        // The model answers: what failed alone is to blame.
        let skipped = std::mem::take(&mut self.skipped);
        self.refused.unite(&skipped);
        if self.refused.is_empty() {
            self.failed = None;
        }
    }

    fn fail(&mut self, batch: &[EmbedText], error: &Error, is_down: bool) {
        self.failed = Some(with_sources(error));
        self.is_single = true;
        if let [alone] = batch {
            self.rows.remove(alone.row);
            self.skipped.insert(alone.row);
        }
        if is_down {
            let skipped = std::mem::take(&mut self.skipped);
            self.rows.unite(&skipped);
        }
    }
}

/// The most texts of a batch.
const BATCH_LEN: usize = 64;

/// After so many failures in a row the model is down.
const FAILURES_MAX: usize = 3;

/// How long a model that is down is left alone: at first, and at most.
pub(super) const PAUSE_MIN: Duration = Duration::from_secs(1);
pub(super) const PAUSE_MAX: Duration = Duration::from_secs(60);
