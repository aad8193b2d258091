//! The background thread that commits uncommitted documents.
//!
//! It decides when to commit. The commit itself is in `view.rs`, and works without this thread.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::process::{Condvar, Mutex};
use crate::text::index::uncommitted::Uncommitted;
use crate::text::index::view::View;

/// The background thread that commits while other threads feed.
pub(in crate::text) struct Committer {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Signal {
    requests: Mutex<Requests>,
    changed: Condvar,
}

#[derive(Default)]
struct Requests {
    to_commit: bool,
    to_end: bool,
}

impl Committer {
    pub(in crate::text) fn start(view: &Arc<View>) -> std::io::Result<Self> {
        let signal = Arc::new(Signal::default());
        let (view, shared) = (Arc::clone(view), Arc::clone(&signal));
        let thread = thread::Builder::new().name("grainstore-text".into());
        let thread = thread.spawn(move || shared.serve(&view))?;
        Ok(Self {
            signal,
            thread: Some(thread),
        })
    }

    pub(in crate::text) fn wake(&self) {
        self.signal.requests.lock().to_commit = true;
        self.signal.changed.notify_one();
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.signal.requests.lock().to_end = true;
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
        let mut last_watermark = 0;
        loop {
            let may_commit = view.uncommitted_is(Uncommitted::is_worth_committing);
            let mut requests = self.requests.lock();
            if requests.to_commit || requests.to_end {
                // The signal arrived while the thread was not waiting.
            } else if may_commit {
                requests = self.changed.wait_for(requests, IDLE);
            } else {
                requests = self.changed.wait(requests);
            }
            if requests.to_end {
                return;
            }
            requests.to_commit = false;
            drop(requests);
            let watermark = view.watermark();
            let is_idle = watermark == last_watermark
                && view.uncommitted_is(Uncommitted::is_worth_committing);
            last_watermark = watermark;
            if (is_idle || view.uncommitted_is(Uncommitted::is_due))
                && let Err(error) = view.flush()
            {
                // The documents stay searchable, and the ledger still holds them.
                tracing::warn!(%error, "the text view was not committed");
            }
            if let Err(error) = view.merge_due() {
                tracing::warn!(%error, "segments of the text view were not merged");
            }
        }
    }
}

/// How long the feed must be idle before a short queue is committed.
const IDLE: Duration = Duration::from_secs(1);
