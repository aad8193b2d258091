//! Notes that are signed without being asked for: every so many entries and at closing, appended to
//! a file that is shipped elsewhere, and handed to the program.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::crypto::{Note, SigningKey};
use crate::ledger;
use crate::store::Error;
use crate::store::instance::Inner;

/// When a store signs notes of its ledger, and where they go: [`Options::notes`](crate::store::Options::notes).
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
/// use grainstore::store::NoteSchedule;
/// use grainstore::{Draft, Options, Store};
///
/// let told = Arc::new(Mutex::new(Vec::new()));
/// let outbox = Arc::clone(&told);
/// let key = Arc::new(SigningKey::generate(Algorithm::Ed25519, &OsRandom)?);
/// let schedule = NoteSchedule::new(2, key).to(move |note| outbox.lock().unwrap().push(note.clone()));
/// let store = Store::in_memory(Options { notes: Some(schedule), ..Options::default() })?;
/// for text in ["a", "b", "c"] {
///     store.put(Draft::event(text))?;
/// }
/// drop(store);
/// let entries: Vec<_> = told.lock().unwrap().iter().map(|note| note.entries()).collect();
/// assert_eq!(entries, [2, 3]);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Clone)]
pub struct NoteSchedule {
    every: u64,
    key: Arc<SigningKey>,
    file: Option<PathBuf>,
    deliver: Option<Arc<Deliver>>,
}

type Deliver = dyn Fn(&Note) + Send + Sync;

impl NoteSchedule {
    /// Signs with an Ed25519 key when `every` more entries are durable, and at closing if there are
    /// any. Each note reads the headers of the entries since the last; the first, of all.
    pub fn new(every: u64, key: Arc<SigningKey>) -> Self {
        Self {
            every: every.max(1),
            key,
            file: None,
            deliver: None,
        }
    }

    /// Appends each note to a file, as a line of JSON: `{"note":"…"}`.
    #[must_use]
    pub fn append_to(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Hands each note to the program. The store must not be used in `deliver`, which runs inside
    /// the change that makes the note due.
    #[must_use]
    pub fn to(mut self, deliver: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        self.deliver = Some(Arc::new(deliver));
        self
    }
}

impl fmt::Debug for NoteSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoteSchedule")
            .field("every", &self.every)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// Signs and delivers a note if it is due. A failure costs only the note: the entries are
    /// durable, and the next change tries again.
    pub(crate) fn note_if_due(&self, is_closing: bool) {
        let Some(schedule) = &self.options().notes else {
            return;
        };
        let (noted, len) = (*self.noted().lock(), self.ledger().len());
        let due_after = if is_closing { 1 } else { schedule.every };
        if len.saturating_sub(noted) < due_after {
            return;
        }
        if let Err(error) = self.deliver_note(schedule) {
            tracing::warn!(%error, "no note of the ledger was delivered");
        }
    }

    fn deliver_note(&self, schedule: &NoteSchedule) -> Result<(), Error> {
        // A note must not state entries that a crash could still remove. This thread has the right to
        // write, or the store closes and is synced.
        if self.ledger().durable() < self.ledger().len() {
            self.ledger().sync()?;
        }
        let mut note = self.note(None)?;
        note.sign(&schedule.key)?;
        if let Some(file) = &schedule.file {
            let name = file.display().to_string();
            append(file, &note).map_err(|source| ledger::Error::io("append to", &name, source))?;
        }
        if let Some(deliver) = &schedule.deliver {
            deliver(&note);
        }
        *self.noted().lock() = note.entries();
        Ok(())
    }
}

fn append(file: &Path, note: &Note) -> std::io::Result<()> {
    let line = serde_json::json!({ "note": note.to_string() });
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_data()
}
