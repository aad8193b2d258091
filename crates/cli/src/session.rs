use std::path::{Path, PathBuf};

use grainstore::store::Create;
use grainstore::{Options, Store};
use serde_json::json;

use crate::error::{Exit, Problem};
use crate::output::Output;

/// What every command is given: which store, and where to say things.
#[derive(Debug)]
pub(crate) struct Session {
    store: PathBuf,
    pub(crate) out: Output,
}

impl Session {
    pub(crate) const fn new(store: PathBuf, out: Output) -> Self {
        Self { store, out }
    }

    /// Returns the directory of the store.
    pub(crate) fn store_path(&self) -> &Path {
        &self.store
    }

    /// Opens the store that must be there.
    pub(crate) fn open(&self) -> Result<Store, Problem> {
        self.open_or(Create::Never)
    }

    /// Opens the store, or creates it as `create` says, and tells what an open found.
    pub(crate) fn open_or(&self, create: Create) -> Result<Store, Problem> {
        let options = Options {
            create,
            ..Options::default()
        };
        let store = Store::open(&self.store, options)
            .map_err(|error| Problem::of(&error).in_store(&self.store))?;
        if create != Create::New && store.opened().created {
            self.out.note(format!("created {}", self.store.display()));
        }
        self.tell(&store);
        Ok(store)
    }

    /// Says what was done to what.
    pub(crate) fn done(&mut self, did: &str, what: impl std::fmt::Display) -> anyhow::Result<Exit> {
        if self.out.is_json() {
            self.out.json(&json!({ did: what.to_string() }))?;
        } else {
            self.out.line(format!("{did} {what}"))?;
        }
        Ok(Exit::Done)
    }

    /// Opens the store that must be there, and builds anew what is derived in it.
    pub(crate) fn repair(&self) -> Result<Store, Problem> {
        let store = Store::repair(&self.store, Options::default())
            .map_err(|error| Problem::of(&error).in_store(&self.store))?;
        self.tell(&store);
        Ok(store)
    }

    /// Tells what an open found.
    fn tell(&self, store: &Store) {
        let opened = store.opened();
        if let Some(torn) = &opened.torn {
            self.out.note(format!(
                "note: a crash left {} bytes that nobody was told are safe; kept in {}/{}",
                torn.bytes,
                self.store.display(),
                torn.file
            ));
        }
        if let Some(reason) = &opened.index_rebuilt {
            self.out.note(format!("note: index rebuilt: {reason}"));
        }
        if let Some(reason) = &opened.text_rebuilt {
            self.out.note(format!("note: text index rebuilt: {reason}"));
        }
    }
}
