//! Answers that are given again to a request that is repeated under its `Idempotency-Key`.
//!
//! Storing a grain twice is one grain anyhow; a draft without a time would be two. The newest keys
//! are kept with their answers in memory, and without them in a file beside the tokens: each has the
//! time of its first request, written before that is run. After a restart a repetition runs at the
//! time of the first, so that its grain is the same one. `docs/http.md` describes the form.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use data_encoding::HEXLOWER;
use grainstore::{ErrorCode, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::failure::Failure;

/// The keys that were used, and the file that has them.
#[derive(Debug)]
pub(crate) struct Answered(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    path: PathBuf,
    /// `None` until the first key is used.
    file: Option<File>,
    is_read: bool,
    lines: usize,
    known: HashMap<Key, State>,
    oldest_first: VecDeque<Key>,
}

/// The hash of the token and its key, and that of the request.
pub(crate) type Key = [u8; 32];

#[derive(Debug, Clone)]
struct State {
    request: [u8; 32],
    time: Time,
    is_under_way: bool,
    is_kept: bool,
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
    /// The hash of the request, and the time of the first; `null` for a key that is free again.
    taken: Option<(String, i64)>,
}

impl Answered {
    /// Names the file, which is read when the first key is used.
    pub(crate) fn beside(tokens: &Path) -> Self {
        let mut name = tokens.as_os_str().to_owned();
        name.push(".keys");
        Self(Mutex::new(Inner {
            path: name.into(),
            ..Inner::default()
        }))
    }

    /// Takes up a request under a key.
    ///
    /// # Errors
    /// Status 409 while the first is under way, 422 for another request under the same key, and 503
    /// if the key cannot be kept.
    pub(crate) fn begin(
        &self,
        key: Key,
        request: [u8; 32],
        now: Time,
        is_kept: bool,
    ) -> Result<Turn, Failure> {
        let mut inner = self.lock();
        let failed = |_| Failure::busy(503, ErrorCode::Io.as_str(), "the key cannot be kept");
        if is_kept {
            inner.open().map_err(failed)?;
        }
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
                    request,
                    time: now,
                    is_under_way: true,
                    is_kept,
                    answer: None,
                };
                if is_kept {
                    // The time is on disk before the store is changed.
                    let written = inner.write(&key, Some(&state));
                    written.and_then(|()| inner.sync()).map_err(failed)?;
                }
                inner.insert(key, state);
                now
            }
        };
        Ok(Turn::Run(time))
    }

    /// Keeps an answer; a request without one may be tried again, at the same time.
    pub(crate) fn end(&self, key: Key, answer: Option<(u16, Value)>) {
        if let Some(state) = self.lock().known.get_mut(&key) {
            state.is_under_way = false;
            state.answer = answer;
        }
    }

    /// Forgets a request that was refused.
    pub(crate) fn forget(&self, key: Key) {
        let mut inner = self.lock();
        let Some(state) = inner.remove(&key) else {
            return;
        };
        if state.is_kept {
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
        self.oldest_first.retain(|known| known != key);
        Some(state)
    }

    fn insert(&mut self, key: Key, state: State) {
        if self.known.insert(key, state).is_none() {
            self.oldest_first.push_back(key);
        }
        // The oldest that is not under way: that one has a request to answer.
        while self.oldest_first.len() > KEYS_MAX {
            let Some(oldest) = self.oldest_first.pop_front() else {
                return;
            };
            match self.known.get(&oldest) {
                Some(state) if state.is_under_way => self.oldest_first.push_back(oldest),
                _ => drop(self.known.remove(&oldest)),
            }
        }
    }

    /// Reads the file, once, and opens it for writing; one that grew long is written anew.
    fn open(&mut self) -> io::Result<()> {
        if !self.is_read {
            self.read()?;
            self.is_read = true;
        }
        if self.lines > LINES_MAX {
            let new = self.path.with_extension("keys.new");
            self.file = Some(owner_only().write(true).truncate(true).open(&new)?);
            self.lines = 0;
            for key in Vec::from_iter(self.oldest_first.iter().copied()) {
                if let Some(state) = self.known.get(&key).filter(|state| state.is_kept).cloned() {
                    self.write(&key, Some(&state))?;
                }
            }
            self.sync()?;
            fs::rename(&new, &self.path)?;
        }
        if self.file.is_none() {
            let mut file = owner_only().append(true).open(&self.path)?;
            // Ends a line that a crash cut off.
            file.write_all(b"\n")?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// Reads the lines; one that is no line, as the last after a crash, is passed over.
    fn read(&mut self) -> io::Result<()> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
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
                        request,
                        time: Time::from_ms(ms),
                        is_under_way: false,
                        is_kept: true,
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

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
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

/// A file of so many lines is written anew with those that count.
const LINES_MAX: usize = 4 * KEYS_MAX;

/// No more is read. A line has fewer than 256 bytes.
const FILE_LEN_MAX: u64 = 256 * LINES_MAX as u64;
