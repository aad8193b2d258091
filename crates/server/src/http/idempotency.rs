//! Answers that are given again to a request that is repeated under its `Idempotency-Key`.
//!
//! Storing a grain twice is one grain anyhow; a draft without a time would be two. Keys are kept in
//! memory, the newest ones, and are forgotten at a restart.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::failure::Failure;

#[derive(Debug, Default)]
pub(crate) struct Answered(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    known: HashMap<Key, State>,
    oldest_first: VecDeque<Key>,
}

/// The hash of the token and its key, and that of the request.
pub(crate) type Key = [u8; 32];

#[derive(Debug)]
struct State {
    request: [u8; 32],
    /// `None` while it is under way.
    answer: Option<(u16, Value)>,
}

/// The way to answer a request.
pub(crate) enum Turn {
    First,
    Again(u16, Value),
}

impl Answered {
    /// Takes up a request under a key.
    ///
    /// # Errors
    /// Status 409 while the first is under way, and 422 for another request under the same key.
    pub(crate) fn begin(&self, key: Key, request: [u8; 32]) -> Result<Turn, Failure> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.known.get(&key) {
            Some(state) if state.request != request => Err(Failure::new(
                422,
                "ERR_IDEMPOTENCY_KEY",
                "the key was used for another request",
            )),
            Some(State { answer: None, .. }) => Err(Failure::busy(
                409,
                "ERR_IN_PROGRESS",
                "the request under this key is not answered yet",
            )),
            Some(State {
                answer: Some((status, value)),
                ..
            }) => Ok(Turn::Again(*status, value.clone())),
            None => {
                inner.known.insert(
                    key,
                    State {
                        request,
                        answer: None,
                    },
                );
                inner.oldest_first.push_back(key);
                if inner.oldest_first.len() > KEYS_MAX
                    && let Some(oldest) = inner.oldest_first.pop_front()
                {
                    inner.known.remove(&oldest);
                }
                Ok(Turn::First)
            }
        }
    }

    /// Keeps an answer, or forgets the request if there was none to keep: it may be tried again.
    pub(crate) fn end(&self, key: Key, answer: Option<(u16, Value)>) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (answer, inner.known.get_mut(&key)) {
            (Some(answer), Some(state)) => state.answer = Some(answer),
            (None, Some(_)) => {
                inner.known.remove(&key);
                inner.oldest_first.retain(|known| *known != key);
            }
            (_, None) => {}
        }
    }
}

/// Returns the hash of parts, each with its length.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

const KEYS_MAX: usize = 4_096;
