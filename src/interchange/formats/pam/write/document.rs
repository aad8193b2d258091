//! A store that is small enough to be held, for tests and tools of this repository.

use std::collections::BTreeMap;
use std::io::Write;

use crate::codec::Value;
use crate::interchange::{Entry, Error, Files, WriteOptions, Written};

use super::super::names::STORE;
use super::store::{EMBEDDINGS, write_files};

/// A memory store and the files beside it, as they are written.
#[derive(Debug)]
pub struct Document {
    /// The store; goes to `memory-store.json` where there are conversations.
    pub store: Value,
    /// Conversation documents by the path below the store's directory.
    pub conversations: BTreeMap<String, Value>,
    /// The embeddings file, where there are vectors.
    pub embeddings: Option<Value>,
    /// The summary.
    pub written: Written,
}

impl Document {
    /// Builds the document of grains; `with_files` says whether conversations can be files beside
    /// it.
    ///
    /// # Errors
    /// As [`write()`](super::store::write).
    pub fn new(entries: &[Entry], options: &WriteOptions, with_files: bool) -> Result<Self, Error> {
        let mut held = Held {
            files: BTreeMap::new(),
            with_files,
        };
        let written = write_files(&mut held, entries, options)?;
        let mut files = held.files;
        Ok(Self {
            store: files.remove(STORE).unwrap_or(Value::Nil),
            embeddings: files.remove(EMBEDDINGS),
            conversations: files,
            written,
        })
    }
}

struct Held {
    files: BTreeMap<String, Value>,
    with_files: bool,
}

impl Files<Error> for Held {
    fn write(
        &mut self,
        path: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut text = Vec::new();
        write(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let value = Value::from_json(&text).unwrap_or(Value::Nil);
        self.files.insert(path.to_owned(), value);
        Ok(())
    }

    fn may_be_many(&self) -> bool {
        self.with_files
    }
}
