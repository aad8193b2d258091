//! The assemblies that are being streamed: how many a token has, and which are cancelled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::http::failure::Failure;

/// The streams of all tokens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<String, Kept>>>);

#[derive(Debug)]
struct Kept {
    /// The name of the token that asked.
    token: String,
    is_cancelled: Arc<AtomicBool>,
}

/// One stream; it leaves the list when it is dropped.
#[derive(Debug)]
pub(crate) struct Streaming {
    pub(crate) id: String,
    is_cancelled: Arc<AtomicBool>,
    all: Streams,
}

impl Streams {
    /// Begins a stream of a token.
    ///
    /// # Errors
    /// Status 429 for a fourth at a time (CAL 1.9).
    pub(crate) fn begin(&self, id: String, token: &str) -> Result<Streaming, Failure> {
        let mut streams = self.kept();
        let of_token = streams.values().filter(|kept| kept.token == token).count();
        if of_token >= STREAMS_MAX {
            return Err(Failure::busy(429, "ERR_BUSY", "too many streams"));
        }
        let is_cancelled = Arc::<AtomicBool>::default();
        let kept = Kept {
            token: token.to_owned(),
            is_cancelled: Arc::clone(&is_cancelled),
        };
        streams.insert(id.clone(), kept);
        drop(streams);
        Ok(Streaming {
            id,
            is_cancelled,
            all: self.clone(),
        })
    }

    /// Cancels a stream of a token; returns whether there is one.
    pub(crate) fn cancel(&self, id: &str, token: &str) -> bool {
        let streams = self.kept();
        let found = streams.get(id).filter(|kept| kept.token == token);
        let cancelled = found.map(|kept| kept.is_cancelled.store(true, Ordering::Relaxed));
        cancelled.is_some()
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streaming {
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_cancelled.load(Ordering::Relaxed)
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        self.all.kept().remove(&self.id);
    }
}

const STREAMS_MAX: usize = 3;
