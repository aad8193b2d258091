//! The context of a run: the directory of the store, and the output.
//!
//! Commands open the store here, so that what opening repaired is always reported.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use grainstore::crypto::{DidDocuments, KeySource};
use grainstore::index::Addresses;
use grainstore::store::{Create, RecoveryReport};
use grainstore::text::TextOptions;
use grainstore::{ErrorCode, Maintenance, Options, Store};
use serde_json::json;

use crate::args::{MasterKeyArgs, read_document};
use crate::embedder::EmbedArgs;
use crate::error::{CliError, Exit};
use crate::output::Output;
use crate::place::Place;
use crate::trace::Opening;

/// The context of one run: the directory of the store, and the output.
#[derive(Debug)]
pub(crate) struct Session {
    /// The directory: the store, or the cache of a shared ledger.
    store: PathBuf,
    place: Place,
    resolver: Arc<DidDocuments>,
    master_key: Option<Arc<KeySource>>,
    /// The sealed persons whom a command unlocks.
    persons: Vec<String>,
    /// How long a command that writes waits for another process.
    wait: Duration,
    /// The model of a command that searches, embeds or serves.
    embed: Option<EmbedArgs>,
    pub(crate) out: Output,
}

impl Session {
    /// Starts a run with the DID documents of these files, and a master key if there is one.
    pub(crate) fn new(
        place: Place,
        documents: &[PathBuf],
        master_key: &MasterKeyArgs,
        wait: Duration,
        out: Output,
    ) -> Result<Self, CliError> {
        let mut resolver = DidDocuments::default();
        for path in documents {
            let text = read_document(&path.to_string_lossy())?;
            let added = resolver.add(&text);
            added.map_err(|error| CliError::of(&error).at(path.display()))?;
        }
        Ok(Self {
            store: place.path().to_owned(),
            place,
            resolver: Arc::new(resolver),
            master_key: master_key.source()?.map(Arc::new),
            persons: master_key.persons().to_vec(),
            wait,
            embed: None,
            out,
        })
    }

    /// Names the model of the run.
    pub(crate) fn with_model(self, embed: EmbedArgs) -> Self {
        let embed = Some(embed).filter(EmbedArgs::is_some);
        Self { embed, ..self }
    }

    /// Names where the long frames of a shared ledger lie that is to be created.
    pub(crate) fn put_bodies_in(&mut self, bodies: &str) -> Result<(), CliError> {
        self.place.put_bodies_in(bodies)
    }

    /// Returns the options that name the model.
    pub(crate) fn model_arguments(&self) -> Vec<String> {
        self.embed
            .as_ref()
            .map(EmbedArgs::arguments)
            .unwrap_or_default()
    }

    /// Returns whether a model was named.
    pub(crate) const fn has_model(&self) -> bool {
        self.embed.is_some()
    }

    /// Returns the keys of the DID documents that were given.
    pub(crate) fn resolver(&self) -> Arc<DidDocuments> {
        Arc::clone(&self.resolver)
    }

    /// Returns whether a master key was given.
    pub(crate) const fn has_master_key(&self) -> bool {
        self.master_key.is_some()
    }

    fn counts_accesses(&self) -> bool {
        self.store.join("index/accesses").is_file()
    }

    fn options(&self) -> Options {
        Options {
            resolver: self.resolver(),
            master_key: self.master_key.clone(),
            lock_wait: self.wait,
            // A store whose program counts retrievals goes on counting here (OMS 22.10).
            accesses: self.counts_accesses().then_some(COUNTED_WITHIN),
            shared: self.place.shared(),
            stale_ok: self.place.is_stale_ok(),
            ..Options::default()
        }
    }

    /// Returns the directory of the store.
    pub(crate) fn store_path(&self) -> &Path {
        &self.store
    }

    /// Opens the store, which must exist.
    pub(crate) fn open(&self) -> Result<Store, CliError> {
        self.open_or(Create::Never)
    }

    /// Opens the store, which must exist, for a command that only reads: beside a process that has
    /// it open, and in a directory that can only be read.
    pub(crate) fn open_to_read(&self) -> Result<Store, CliError> {
        self.open_to_read_with(self.options())
    }

    /// Opens the store to show what an import would bring: where there is none, an empty one in memory.
    pub(crate) fn open_to_preview(&self) -> Result<Store, CliError> {
        match self.store.exists() || self.place.shared().is_some() {
            true => self.open_to_read(),
            false => Store::in_memory(self.options()).map_err(|error| CliError::of(&error)),
        }
    }

    /// Opens the store as [`Session::open_to_read`] does, with the model that was named.
    pub(crate) fn open_with_model(&self) -> Result<Store, CliError> {
        self.open_to_read_with(self.options_with_model()?)
    }

    /// Opens the store for a question: with the model that was named, which embeds what waits.
    pub(crate) fn open_to_ask(&self) -> Result<Store, CliError> {
        let store = self.open_with_model()?;
        if self.has_model() {
            self.embed_waiting(&store)?;
        }
        Ok(store)
    }

    /// Opens the store to serve it: with the model that was named; creates it if there is none.
    pub(crate) fn open_to_serve(&self) -> Result<Store, CliError> {
        let store = self.open_with(Options {
            create: Create::IfMissing,
            ..self.options_with_model()?
        })?;
        self.warn_of_loss();
        Ok(store)
    }

    fn warn_of_loss(&self) {
        if let Some(warning) = self.place.warning() {
            self.out.note(warning);
        }
    }

    fn options_with_model(&self) -> Result<Options, CliError> {
        let embedders = self.embed.as_ref().map(EmbedArgs::start).transpose()?;
        Ok(Options {
            embedders: embedders.unwrap_or_default(),
            ..self.options()
        })
    }

    /// Embeds the grains that wait; returns how many were.
    pub(crate) fn embed_waiting(&self, store: &Store) -> Result<u64, CliError> {
        let statuses = || {
            let stats = store.maintenance().and_then(Maintenance::stats);
            let stats = stats.map_err(|error| CliError::of(&error))?;
            Ok::<_, CliError>(stats.embedders)
        };
        let waiting: u64 = statuses()?.iter().map(|it| it.waiting).sum();
        if waiting >= TOLD_FROM {
            self.out.note(format!("embedding {waiting} grains"));
        }
        let flushed = store.maintenance().and_then(Maintenance::flush_text);
        flushed.map_err(|error| CliError::of(&error))?;
        Ok(statuses()?.iter().map(|it| it.embedded).sum())
    }

    fn open_to_read_with(&self, options: Options) -> Result<Store, CliError> {
        let options = Options {
            create: Create::Never,
            ..options
        };
        let beside = [ErrorCode::StoreLocked, ErrorCode::StorageReadOnly];
        let opening = Opening::of(self.store.display().to_string(), &self.out);
        let store = match Store::open(&self.store, options.clone()) {
            Err(error) if beside.iter().any(|code| error.code() == *code) => {
                Store::open(&self.store, options.read_only())
            }
            opened => opened,
        };
        drop(opening);
        let store = store.map_err(|error| CliError::of(&error).in_store(&self.store))?;
        self.report_recovery(&store)?;
        self.unlock(&store)?;
        Ok(store)
    }

    /// Returns the sealed persons that the command unlocks.
    pub(crate) fn unlocked(&self) -> &[String] {
        &self.persons
    }

    /// Unlocks the persons of the run. A command that only reads waits for no process that has the
    /// store, but for one that changes the keys, for as long as it was told to.
    fn unlock(&self, store: &Store) -> Result<(), CliError> {
        let began = Instant::now();
        for user in &self.persons {
            loop {
                match store.admin().and_then(|admin| admin.unlock(user)) {
                    Ok(()) => break,
                    Err(error)
                        if error.code() == ErrorCode::StoreLocked
                            && began.elapsed() < self.wait => {}
                    Err(error) => return Err(CliError::of(&error).in_store(&self.store)),
                }
            }
        }
        Ok(())
    }

    /// Opens the store, which must exist; `amends_locked` is
    /// [`Options::authorized_may_amend_locked`].
    pub(crate) fn open_to_supersede(&self, amends_locked: bool) -> Result<Store, CliError> {
        self.open_with(Options {
            create: Create::Never,
            authorized_may_amend_locked: amends_locked,
            ..self.options()
        })
    }

    /// Opens the store for adding a few grains, or creates it. The text view is left alone: the next question
    /// brings it to the end of the ledger.
    pub(crate) fn open_to_add(&self) -> Result<Store, CliError> {
        self.open_with(Options {
            create: Create::IfMissing,
            text: None,
            ..self.brief_options()
        })
    }

    /// Opens the store for adding the grains of a file, or creates it: much is written once and little of it
    /// read again, so that smaller caches and batches serve as well and the memory does not grow with the file.
    pub(crate) fn open_to_import(&self) -> Result<Store, CliError> {
        let mut options = self.options();
        options.index.flush_rows = IMPORT_ROWS;
        options.index.cache_bytes = IMPORT_CACHE;
        options.index.result_cache_bytes = IMPORT_CACHE;
        options.text = options.text.map(|text| TextOptions {
            budget_bytes: IMPORT_BUDGET,
            ..text
        });
        self.open_with(Options {
            create: Create::IfMissing,
            ..options
        })
    }

    /// Opens the store, which must exist, for one question.
    pub(crate) fn open_for_question(&self) -> Result<Store, CliError> {
        self.open_to_read_with(self.brief_options())
    }

    /// Returns the options of a process that looks up few grains: it is over before a map of all of their
    /// addresses would be worth its making.
    fn brief_options(&self) -> Options {
        let mut options = self.options();
        options.index.addresses = Addresses::Filters;
        options
    }

    /// Opens the store, or creates it as `create` allows, and reports what recovery did.
    pub(crate) fn open_or(&self, create: Create) -> Result<Store, CliError> {
        self.open_with(Options {
            create,
            ..self.options()
        })
    }

    fn open_with(&self, options: Options) -> Result<Store, CliError> {
        let create = options.create;
        let opening = Opening::of(self.store.display().to_string(), &self.out);
        let store = Store::open(&self.store, options);
        drop(opening);
        let store = store.map_err(|error| CliError::of(&error).in_store(&self.store))?;
        if create == Create::New {
            self.warn_of_loss();
        }
        let opened = self.report_recovery(&store)?;
        if create != Create::New && opened.created {
            self.out.note(format!("created {}", self.store.display()));
        }
        self.unlock(&store)?;
        Ok(store)
    }

    /// Reports a change: the verb as the JSON key and the first word, the object after it.
    pub(crate) fn report_change(
        &mut self,
        did: &str,
        what: impl std::fmt::Display,
    ) -> anyhow::Result<Exit> {
        if self.out.is_json() {
            self.out.json(&json!({ did: what.to_string() }))?;
        } else {
            self.out.line(format!("{did} {what}"))?;
        }
        Ok(Exit::Done)
    }

    /// Opens the store, which must exist, and rebuilds its derived files.
    pub(crate) fn repair(&self) -> Result<Store, CliError> {
        let store = grainstore::recovery::repair(&self.store, self.options())
            .map_err(|error| CliError::of(&error).in_store(&self.store))?;
        self.report_recovery(&store)?;
        Ok(store)
    }

    /// Reports and returns what recovery did when the store was opened.
    fn report_recovery<'s>(&self, store: &'s Store) -> Result<&'s RecoveryReport, CliError> {
        let maintenance = store.maintenance().map_err(|error| CliError::of(&error))?;
        let opened = maintenance.recovery_report();
        if let Some(since) = opened.stale_since {
            self.out.note(format!(
                "note: the shared ledger does not answer; this is what was read from it before, up to {since}"
            ));
        }
        if let Some(fault) = &opened.manifest_repaired {
            self.out
                .note(format!("note: {fault}; it was written anew from its copy"));
        }
        if let Some(torn) = &opened.torn {
            self.out.note(format!(
                "note: the last {} bytes of ledger segment {}, from byte {}, are no whole frame; kept in \
                 {}/{}. A crash inside a write leaves that, and nothing acknowledged is in them. If the \
                 file was cut or damaged, acknowledged entries from {} on may be missing: nothing \
                 here says how many there were",
                torn.bytes,
                torn.segment,
                torn.offset,
                self.store.display(),
                torn.file,
                torn.sequence,
            ));
        }
        if let Some(reason) = &opened.index_rebuilt {
            self.out.note(format!("note: index rebuilt: {reason}"));
        }
        if let Some(reason) = &opened.text_rebuilt {
            self.out.note(format!("note: text index rebuilt: {reason}"));
        }
        if let Some(reason) = &opened.text_unavailable {
            let message = format!("note: no search until the text index can be built: {reason}");
            self.out.note(message);
        }
        for row in &opened.damaged {
            self.out.note(format!(
                "note: the grain of ledger entry {row} is damaged and left out; `check --deep` says \
                 more, and a backup may hold it"
            ));
        }
        if let Some(reason) = &opened.erasure_waits {
            self.out.note(format!("note: an erasure waits: {reason}"));
        }
        Ok(opened)
    }
}

/// From so many grains on a command says that it embeds them.
const TOLD_FROM: u64 = 64;

/// The entries that wait in the index of an import, a quarter of what others let wait.
const IMPORT_ROWS: u64 = 16_384;
/// The caches of an import, which looks for ids that it mostly does not find.
const IMPORT_CACHE: usize = 8 << 20;
/// The memory of a segment of text in an import.
const IMPORT_BUDGET: usize = 15 << 20;

/// How long a count of retrievals may be in memory only.
const COUNTED_WITHIN: Duration = Duration::from_secs(60);
