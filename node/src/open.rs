//! Opening a store, with its options.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use grainstore::crypto::KeySource;
use grainstore::store::{Create, Durability, Embedder};
use grainstore::{Options, Store as Handle};
use napi::bindgen_prelude::{Either, Result, Uint8Array};
use napi_derive::napi;
use zeroize::Zeroizing;

use crate::ask::{Ask, Promised};
use crate::audit;
use crate::embedder::{Ask as AskModel, JsEmbedder};
use crate::failure::{self, unknown};
use crate::held::{Held, Opening};
use crate::signing::resolver;
use crate::store::Store;

/// How a store is opened; `lib/options.ts` says what each means.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct Opened {
    /// `ifMissing`, `never` or `new`.
    pub create: Option<String>,
    /// Changes nothing, and delays no writer.
    pub read_only: Option<bool>,
    /// `sync` or `relaxed`.
    pub durability: Option<String>,
    /// Seconds.
    pub lock_wait: Option<f64>,
    /// Seconds.
    pub search_deadline: Option<f64>,
    /// The bytes of the master key, or the file that has them.
    pub master_key: Option<Either<Uint8Array, String>>,
    /// The documents of each `did:web`, as JSON.
    pub did_documents: Option<Vec<String>>,
    /// Whether the agreement of a DID that is authorized replaces a grain of mode `locked`.
    pub amend_locked: Option<bool>,
    /// The text of a note that the ledger must begin with.
    pub since: Option<String>,
}

/// Opens the store of a folder, or one in memory if there is no path.
#[napi(ts_return_type = "Promise<Store>")]
pub fn open(path: Option<String>, options: Opened, models: Vec<Model>) -> Result<Promised<Store>> {
    let is_read_only = options.read_only.unwrap_or_default();
    let mut options = options_of(options)?;
    options.embedders = models.into_iter().map(Model::embedder).collect();
    Ok(Ask::promise(None, move || {
        let path = path.map(PathBuf::from);
        let opened = match &path {
            None => Handle::in_memory(options),
            Some(path) if is_read_only => Handle::open(path, options.read_only()),
            Some(path) => Handle::open(path, options),
        };
        let opened = opened.map_err(|error| failure::of(&error))?;
        Ok(Store::of(Held::new(opened, &Opening::of(path)), None))
    }))
}

fn options_of(given: Opened) -> Result<Options> {
    let defaults = Options::default();
    let note = given.since.as_deref().map(audit::read).transpose()?;
    Ok(Options {
        create: match given.create.as_deref() {
            None | Some("ifMissing") => Create::IfMissing,
            Some("never") => Create::Never,
            Some("new") => Create::New,
            Some(other) => return Err(unknown("create mode", other)),
        },
        durability: match given.durability.as_deref() {
            None | Some("sync") => Durability::Sync,
            Some("relaxed") => Durability::Relaxed,
            Some(other) => return Err(unknown("durability", other)),
        },
        lock_wait: given.lock_wait.map_or(defaults.lock_wait, seconds),
        search_deadline: given
            .search_deadline
            .map_or(defaults.search_deadline, seconds),
        master_key: given.master_key.map(|key| Arc::new(key_source(key))),
        resolver: Arc::new(resolver(&given.did_documents.unwrap_or_default())?),
        authorized_may_amend_locked: given.amend_locked.unwrap_or_default(),
        since: note,
        ..defaults
    })
}

fn key_source(key: Either<Uint8Array, String>) -> KeySource {
    match key {
        Either::B(path) => KeySource::File(path.into()),
        Either::A(bytes) => {
            let bytes = Zeroizing::new(bytes.to_vec());
            KeySource::Callback(Box::new(move || Ok(bytes.clone())))
        }
    }
}

/// A time that no program waits for to the end stands for what is longer than can be said.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// A model of the program that makes vectors of texts.
#[napi(object, object_to_js = false)]
pub struct Model {
    /// Its name with its version.
    pub model: String,
    /// The number of numbers of each vector.
    pub dimensions: u32,
    /// Is told which texts to embed, and whether they are questions; `embedded` takes the answer.
    #[napi(ts_type = "(question: number, texts: string[], areQuestions: boolean) => void")]
    pub ask: AskModel,
}

impl Model {
    fn embedder(self) -> Arc<dyn Embedder> {
        Arc::new(JsEmbedder::new(
            self.model,
            self.dimensions as usize,
            self.ask,
        ))
    }
}
