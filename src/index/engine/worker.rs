//! The background thread that writes and merges runs.
//!
//! A writer waits for it only while too much is waiting to be written and writing succeeds.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::shared::Engine;
use crate::index::Error;

/// The number of sets of immutable memtables beyond which the writer waits.
const IMMUTABLE_MAX: usize = 2;

pub(super) fn spawn(engine: &Arc<Engine>) -> io::Result<JoinHandle<()>> {
    let engine = Arc::clone(engine);
    let builder = Builder::new().name("grainstore-index".into());
    builder.spawn(move || work(&engine))
}

/// Wakes the worker, and waits while too many memtables are immutable and writing succeeds.
pub(super) fn request(engine: &Engine) {
    let mut signal = engine.signal.lock();
    signal.is_pending = true;
    engine.work.notify_one();
    while engine.version().immutable.len() > IMMUTABLE_MAX && signal.failure.is_none() {
        signal = engine.room.wait(signal);
    }
    if let Some(failure) = &signal.failure {
        let waiting = engine.version().immutable.len();
        tracing::warn!(%failure, waiting, "the index cannot be written and stays in memory");
    }
}

/// Tells the worker to write the immutable memtables and to end.
pub(super) fn stop(engine: &Engine) {
    engine.signal.lock().is_stopping = true;
    engine.work.notify_one();
}

fn work(engine: &Engine) {
    // However this thread ends, waiting writers must be woken.
    let _ending = Ending(engine);
    loop {
        let is_stopping = {
            let mut signal = engine.signal.lock();
            while !signal.is_pending && !signal.is_stopping {
                signal = engine.work.wait(signal);
            }
            if !signal.is_pending {
                return;
            }
            signal.is_pending = false;
            signal.is_stopping
        };
        let maintenance = &mut *engine.maintenance.lock();
        let mut outcome = engine.flush(maintenance);
        if outcome.is_ok() && !is_stopping {
            outcome = engine.merge_due(maintenance);
        }
        let failure = match outcome {
            Ok(()) | Err(Error::Stopped) => None,
            Err(error) => Some(describe(&error)),
        };
        engine.signal.lock().failure = failure;
        engine.room.notify_all();
    }
}

fn describe(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

struct Ending<'a>(&'a Engine);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut signal = self.0.signal.lock();
        if std::thread::panicking() {
            signal.failure = Some("the thread that writes it panicked".into());
        }
        self.0.room.notify_all();
    }
}
