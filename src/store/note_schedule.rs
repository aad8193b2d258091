//! Notes that are signed without being asked for: when they are due, and where they go.
//!
//! Every so many entries and at closing, appended to a file that is shipped elsewhere, and handed to
//! the program. The store decides that one is due; see `engine/note.rs`.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::crypto::{Note, SigningKey};
use crate::ledger;

use super::Error;

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
    pub(in crate::store) every: u64,
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

    /// Signs a note, appends it to the file, and hands it to the program.
    ///
    /// # Errors
    /// `ERR_KEY`; `ERR_STORAGE_IO` for the file.
    pub(in crate::store) fn deliver(&self, note: &mut Note) -> Result<(), Error> {
        note.sign(&self.key)?;
        if let Some(file) = &self.file {
            let name = file.display().to_string();
            append(file, note).map_err(|source| ledger::Error::io("append to", &name, source))?;
        }
        if let Some(deliver) = &self.deliver {
            deliver(note);
        }
        Ok(())
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

fn append(file: &Path, note: &Note) -> std::io::Result<()> {
    let line = serde_json::json!({ "note": note.to_string() });
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_data()
}
