//! The threads behind an open store: one follows other processes, one has grains embedded.

use std::sync::{Arc, Weak};

use crate::ledger::Lock;
use crate::store::Error;

use super::queue::{EmbedQueue, EmbedText, Embeddings, PAUSE_MAX, PAUSE_MIN, Rest};
use crate::store::engine::instance::Engine;

/// The steps of these threads, which rooms below this one carry out.
#[derive(Clone, Copy)]
pub(crate) struct Background {
    pub(crate) tend: Tend,
    /// Returns the texts that a model is asked about next.
    pub(crate) next_to_embed: fn(&Engine, &EmbedQueue) -> Result<Vec<EmbedText>, Error>,
    pub(crate) keep_embedded: KeepEmbedded,
}

impl Background {
    /// Starts the threads. The one that embeds ends with what is returned.
    pub(crate) fn start(self, engine: &Arc<Engine>) -> Option<Arc<EmbedWorker>> {
        // Where no other process can have the store open, nothing is looked for.
        if engine.disk().file_system_path("").is_some() || !engine.peers().writes() {
            engine.watch_others(self.tend);
        }
        EmbedWorker::start(engine, self)
    }
}

impl Embeddings {
    /// Uses the store, if it is still open.
    fn at_store<T>(&self, store: &Weak<Engine>, step: impl FnOnce(&Engine) -> T) -> Option<T> {
        let _at_store = self.at_store.lock();
        if self.signal.lock().has_ended {
            return None;
        }
        // Dropped before the lock is: the last handle of the caller closes the store.
        store.upgrade().map(|engine| step(&engine))
    }

    /// Embeds what waits for each model; returns how to rest then. `None` once the store is closed.
    fn embed_all(
        &self,
        store: &Weak<Engine>,
        steps: Background,
        is_retry: bool,
        before: Rest,
    ) -> Option<Rest> {
        let mut rest = Rest::Idle;
        for model in &self.models {
            let _turn = model.turn();
            if is_retry {
                model.waiting().retry();
            }
            let next = || self.at_store(store, |engine| (steps.next_to_embed)(engine, model));
            let keep = |batch: &[EmbedText], vectors: Vec<Vec<f32>>| {
                self.at_store(store, |engine| {
                    (steps.keep_embedded)(engine, model, batch, vectors)
                })
            };
            if let Err(error) = model.drain(next, keep)? {
                tracing::warn!(%error, "grains wait for a vector");
                let longer = match before {
                    Rest::Down(pause) => PAUSE_MAX.min(pause.saturating_mul(2)),
                    _ => PAUSE_MIN,
                };
                rest = Rest::Down(longer);
            } else if matches!(rest, Rest::Idle) && model.waiting().failed.is_some() {
                rest = Rest::Refused;
            }
        }
        Some(rest)
    }
}

/// The thread that has grains embedded; dropped with the last handle on the store, and before the
/// store itself.
#[derive(Debug)]
pub(crate) struct EmbedWorker(Arc<Embeddings>);

impl EmbedWorker {
    /// Starts the thread for a store with embedders that may write; `None` for another.
    pub(super) fn start(engine: &Arc<Engine>, steps: Background) -> Option<Arc<Self>> {
        let embeddings = Arc::clone(engine.embeddings());
        if embeddings.models.is_empty() || !engine.peers().writes() {
            return None;
        }
        embeddings.wake();
        let (store, shared) = (Arc::downgrade(engine), Arc::clone(&embeddings));
        let work = move || {
            let mut rest = Rest::Idle;
            while let Some(is_retry) = shared.rest(rest) {
                match shared.embed_all(&store, steps, is_retry, rest) {
                    Some(next) => rest = next,
                    None => return,
                }
            }
        };
        let thread = std::thread::Builder::new().name("grainstore-embed".to_owned());
        match thread.spawn(work) {
            Ok(_) => Some(Arc::new(Self(embeddings))),
            Err(error) => {
                tracing::warn!(%error, "grains are embedded by flush_text alone");
                None
            }
        }
    }
}

impl Drop for EmbedWorker {
    fn drop(&mut self) {
        self.0.signal.lock().has_ended = true;
        self.0.wake.notify_all();
        // Else the thread might hold the store last, and close it later.
        drop(self.0.at_store.lock());
    }
}

/// Does what a process does without being asked, with the lock of a keeper that ended.
pub(in crate::store::engine) type Tend = fn(&Engine, Option<Lock>) -> Result<(), Error>;

/// Stores the vectors of texts, and returns how many.
type KeepEmbedded = fn(&Engine, &EmbedQueue, &[EmbedText], Vec<Vec<f32>>) -> Result<u64, Error>;
