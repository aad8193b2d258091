//! Answers that are given again to a request that is repeated under its `Idempotency-Key`.
//!
//! Storing a grain twice is one grain anyhow; a draft without a time would be two. Only requests that
//! change the store are remembered: their answers name addresses. The newest keys are kept with their
//! answers in memory, and without them in a file beside the tokens: each has the time of its first
//! request, written before that is run. After a restart a repetition runs at the time of the first, so
//! that its grain is the same one. `docs/http.md` describes the form.
//!
//! The hash of a request is keyed with the token, which no file has: a hash of content alone would
//! confirm what somebody guesses of a sealed or an erased grain.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use data_encoding::HEXLOWER;
use grainstore::{ErrorCode, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::failure::Failure;
use super::token::{Open, TokenFile};

/// The keys that were used, and the file that has them.
#[derive(Debug)]
pub(crate) struct Answered(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    tokens: TokenFile,
    /// `None` until the first key is used.
    file: Option<File>,
    is_read: bool,
    lines: usize,
    known: HashMap<Key, State>,
    /// The keys of each token, so that no token takes the room of another.
    of_token: HashMap<String, VecDeque<Key>>,
    /// The bytes of the answers that are kept, and whose they are, oldest first.
    answers_len: usize,
    answered: VecDeque<(Key, usize)>,
}

/// The hash of the token and its key, and that of the request.
pub(crate) type Key = [u8; 32];

#[derive(Debug, Clone)]
struct State {
    token: String,
    request: [u8; 32],
    time: Time,
    is_under_way: bool,
    /// `None` while it is under way, and after a restart.
    answer: Option<(u16, Value)>,
}

/// The way to answer a request.
pub(crate) enum Turn {
    /// Run it, at this time.
    Run(Time),
    Again(u16, Value),
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    /// The name of the token.
    #[serde(default)]
    token: String,
    /// The hash of the request, and the time of the first; `null` for a key that is free again.
    taken: Option<(String, i64)>,
}

impl Answered {
    /// Names the file, which is read when the first key is used.
    pub(crate) fn beside(tokens: &TokenFile) -> Self {
        Self(Mutex::new(Inner {
            tokens: tokens.clone(),
            file: None,
            is_read: false,
            lines: 0,
            known: HashMap::new(),
            of_token: HashMap::new(),
            answers_len: 0,
            answered: VecDeque::new(),
        }))
    }

    /// Takes up a request under a key.
    ///
    /// # Errors
    /// Status 409 while the first is under way, 422 for another request under the same key, and 503
    /// if the key cannot be kept.
    pub(crate) fn begin(
        &self,
        token: &str,
        key: Key,
        request: [u8; 32],
        now: Time,
    ) -> Result<Turn, Failure> {
        let mut inner = self.lock();
        let failed = |_| Failure::busy(503, ErrorCode::Io.as_str(), "the key cannot be kept");
        inner.open().map_err(failed)?;
        let time = match inner.known.get_mut(&key) {
            Some(state) if state.request != request => {
                let message = "the key was used for another request";
                return Err(Failure::new(422, "ERR_IDEMPOTENCY_KEY", message));
            }
            Some(state) if state.is_under_way => {
                let message = "the request under this key is not answered yet";
                return Err(Failure::busy(409, "ERR_IN_PROGRESS", message));
            }
            Some(state) => {
                if let Some((status, value)) = &state.answer {
                    return Ok(Turn::Again(*status, value.clone()));
                }
                state.is_under_way = true;
                state.time
            }
            None => {
                let state = State {
                    token: token.to_owned(),
                    request,
                    time: now,
                    is_under_way: true,
                    answer: None,
                };
                // The time is on disk before the store is changed.
                let written = inner.write(&key, Some(&state));
                written.and_then(|()| inner.sync()).map_err(failed)?;
                inner.insert(key, state);
                now
            }
        };
        Ok(Turn::Run(time))
    }

    /// Keeps an answer; a request without one may be tried again, at the same time.
    pub(crate) fn end(&self, key: Key, answer: Option<(u16, Value)>) {
        let mut inner = self.lock();
        let len = answer
            .as_ref()
            .map_or(0, |(_, value)| value.to_string().len());
        let is_short = len <= ANSWER_LEN_MAX;
        let Some(state) = inner.known.get_mut(&key) else {
            return;
        };
        state.is_under_way = false;
        state.answer = answer.filter(|_| is_short);
        if state.answer.is_some() {
            inner.answered.push_back((key, len));
            inner.answers_len += len;
        }
        while inner.answers_len > ANSWERS_LEN_MAX {
            let Some((oldest, len)) = inner.answered.pop_front() else {
                return;
            };
            inner.answers_len = inner.answers_len.saturating_sub(len);
            if let Some(state) = inner.known.get_mut(&oldest) {
                state.answer = None;
            }
        }
    }

    /// Forgets a request that was refused.
    pub(crate) fn forget(&self, key: Key) {
        let mut inner = self.lock();
        if inner.remove(&key).is_some() {
            // Without this line the key is taken after a restart, and is refused to other requests.
            drop(inner.write(&key, None));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn remove(&mut self, key: &Key) -> Option<State> {
        let state = self.known.remove(key)?;
        if let Some(keys) = self.of_token.get_mut(&state.token) {
            keys.retain(|known| known != key);
            if keys.is_empty() {
                self.of_token.remove(&state.token);
            }
        }
        Some(state)
    }

    fn insert(&mut self, key: Key, state: State) {
        let token = state.token.clone();
        if self.known.insert(key, state).is_none() {
            self.of_token.entry(token).or_default().push_back(key);
        }
        while self.known.len() > KEYS_MAX {
            // Of the token that has the most, the oldest that is not under way: that one has a request
            // to answer.
            let most = self.of_token.values().max_by_key(|keys| keys.len());
            let is_idle = |key: &&Key| !self.known.get(*key).is_some_and(|it| it.is_under_way);
            let oldest = most.and_then(|keys| keys.iter().find(is_idle)).copied();
            if oldest.is_none_or(|oldest| self.remove(&oldest).is_none()) {
                return;
            }
        }
    }

    /// Reads the file, once, and opens it for writing; one that grew long is written anew.
    fn open(&mut self) -> io::Result<()> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        if self.is_read && self.file.is_some() && self.lines <= LINES_MAX {
            return Ok(());
        }
        let (folder, name) = (self.tokens.make()?, self.tokens.keys());
        if !self.is_read {
            if let Some(file) = folder.file(&name, Open::Read)? {
                self.read(file)?;
            }
            self.is_read = true;
        }
        if self.lines > LINES_MAX {
            let new = format!("{name}.new");
            let file = folder.file(&new, Open::Replace)?.ok_or_else(missing)?;
            file.set_len(0)?;
            self.file = Some(file);
            self.lines = 0;
            for (key, state) in self.oldest_first() {
                self.write(&key, Some(&state))?;
            }
            self.sync()?;
            folder.rename(&new, &name)?;
        }
        if self.file.is_none() {
            let mut file = folder.file(&name, Open::Append)?.ok_or_else(missing)?;
            // Ends a line that a crash cut off.
            file.write_all(b"\n")?;
            self.file = Some(file);
        }
        Ok(())
    }

    fn oldest_first(&self) -> Vec<(Key, State)> {
        let known = self.known.iter();
        let mut all: Vec<_> = known.map(|(key, state)| (*key, state.clone())).collect();
        all.sort_by_key(|(_, state)| state.time);
        all
    }

    /// Reads the lines; one that is no line, as the last after a crash, is passed over.
    fn read(&mut self, file: File) -> io::Result<()> {
        for line in BufReader::new(file.take(FILE_LEN_MAX)).split(b'\n') {
            self.lines += 1;
            let Ok(line) = serde_json::from_slice::<Line>(&line?) else {
                continue;
            };
            let hash = |text: &str| -> Option<[u8; 32]> {
                HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
            };
            let Some(key) = hash(&line.key) else { continue };
            let taken = line.taken.and_then(|(text, ms)| Some((hash(&text)?, ms)));
            match taken {
                None => drop(self.remove(&key)),
                Some((request, ms)) => self.insert(
                    key,
                    State {
                        token: line.token,
                        request,
                        time: Time::from_ms(ms),
                        is_under_way: false,
                        answer: None,
                    },
                ),
            }
        }
        Ok(())
    }

    /// Writes the line of a key; without a state, the line that forgets it.
    fn write(&mut self, key: &Key, state: Option<&State>) -> io::Result<()> {
        let line = Line {
            key: HEXLOWER.encode(key),
            token: state.map(|state| state.token.clone()).unwrap_or_default(),
            taken: state.map(|state| (HEXLOWER.encode(&state.request), state.time.ms())),
        };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        self.lines += 1;
        match &mut self.file {
            Some(file) => file.write_all(&text),
            None => Ok(()),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)
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

/// Longer answers are not kept for repetitions: the request runs again.
const ANSWER_LEN_MAX: usize = 128 << 10;

/// Nor are the oldest, when all together are longer.
const ANSWERS_LEN_MAX: usize = 16 << 20;

/// A file of so many lines is written anew with those that count.
const LINES_MAX: usize = 4 * KEYS_MAX;

/// No more is read. A line has fewer than 256 bytes.
const FILE_LEN_MAX: u64 = 256 * LINES_MAX as u64;
