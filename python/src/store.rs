//! `Store`: the handle of the library, with plain values in and out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use grainstore::codec::{ContentAddress, Value};
use grainstore::crypto::KeySource;
use grainstore::grain::{Status, Verification};
use grainstore::interchange::{Format, ImportFile, Loss, ReadOptions, WriteOptions};
use grainstore::ledger::EntryId;
use grainstore::query::{Cursor, Found, Page, Recall};
use grainstore::store::{
    Authorization, Create, Durability, Embedder, Embedding, Justification, NewGrain, Summary,
};
use grainstore::{Draft, Error, Options, Search, Store as Handle};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use zeroize::Zeroizing;

use crate::audit::Note;
use crate::changes::Changes;
use crate::embedder::PyEmbedder;
use crate::filter::{filter, named, sort};
use crate::grain::Grain;
use crate::held::{Held, Opening};
use crate::recollection::Recollection;
use crate::signing::{Signer, resolver};
use crate::value::{address, draft};
use crate::{error, value};

/// A store, or a handle on it that is narrowed, with the signer of what is stored through it.
#[pyclass(frozen, module = "grainstore")]
pub(crate) struct Store {
    handle: Held<Handle>,
    signer: Option<Signer>,
}

/// Opens the store of a folder, or one in memory if there is no path.
#[pyfunction]
#[pyo3(signature = (path, *, create = "if_missing", read_only = false, durability = "sync", lock_wait = 5.0, search_deadline = 2.0, embedders = Vec::new(), master_key = None, did_documents = Vec::new(), amend_locked = false, since = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn open(
    py: Python<'_>,
    path: Option<PathBuf>,
    create: &str,
    read_only: bool,
    durability: &str,
    lock_wait: f64,
    search_deadline: f64,
    embedders: Vec<Bound<'_, PyAny>>,
    master_key: Option<Key>,
    did_documents: Vec<String>,
    amend_locked: bool,
    since: Option<&Bound<'_, Note>>,
) -> PyResult<Store> {
    let embedders = embedders.iter().map(|object| {
        let embedder: Arc<dyn Embedder> = Arc::new(PyEmbedder::new(object)?);
        Ok(embedder)
    });
    let options = Options {
        create: match create {
            "if_missing" => Create::IfMissing,
            "never" => Create::Never,
            "new" => Create::New,
            other => return Err(crate::filter::unknown("create mode", other)),
        },
        durability: match durability {
            "sync" => Durability::Sync,
            "relaxed" => Durability::Relaxed,
            other => return Err(crate::filter::unknown("durability", other)),
        },
        lock_wait: seconds(lock_wait),
        search_deadline: seconds(search_deadline),
        embedders: embedders.collect::<PyResult<_>>()?,
        master_key: master_key.map(|key| Arc::new(key.source())),
        resolver: Arc::new(resolver(py, &did_documents)?),
        authorized_may_amend_locked: amend_locked,
        since: since.map(|note| note.get().note().clone()),
        ..Options::default()
    };
    let opened = py.detach(|| match &path {
        None => Handle::in_memory(options),
        Some(path) if read_only => Handle::open(path, options.read_only()),
        Some(path) => Handle::open(path, options),
    });
    let opened = opened.map_err(|error| error::of(py, &error))?;
    Ok(Store {
        handle: Held::new(opened, Opening::here(path)),
        signer: None,
    })
}

/// A master key: its bytes, or the file that has them.
#[derive(FromPyObject)]
pub(crate) enum Key {
    Bytes(Vec<u8>),
    File(PathBuf),
}

impl Key {
    fn source(self) -> KeySource {
        match self {
            Self::File(path) => KeySource::File(path),
            Self::Bytes(bytes) => {
                let bytes = Zeroizing::new(bytes);
                KeySource::Callback(Box::new(move || Ok(bytes.clone())))
            }
        }
    }
}

/// A time that no program waits for to the end stands for what is longer than can be said.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

impl Store {
    /// Returns the handle, if this process may use it and has not closed it.
    pub(crate) fn handle(&self, py: Python<'_>) -> PyResult<Handle> {
        self.handle.get(py)
    }

    /// Asks the library without the interpreter's lock.
    pub(crate) fn ask<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl Send + FnOnce(&Handle) -> Result<T, Error>,
    ) -> PyResult<T> {
        let handle = self.handle(py)?;
        py.detach(|| ask(&handle))
            .map_err(|error| error::of(py, &error))
    }

    /// Asks the library about a file, which an error about all of it names.
    fn ask_about<T: Send>(
        &self,
        py: Python<'_>,
        file: &Path,
        ask: impl Send + FnOnce(&Handle) -> Result<T, Error>,
    ) -> PyResult<T> {
        let handle = self.handle(py)?;
        py.detach(|| ask(&handle))
            .map_err(|error| error::of_file(py, &error, file))
    }

    fn narrowed(&self, handle: Handle) -> Self {
        Self {
            handle: Held::new(handle, self.handle.opening().clone()),
            signer: self.signer.clone(),
        }
    }

    /// Returns the same handle with a signer of what is stored through it.
    pub(crate) fn signed(&self, py: Python<'_>, signer: Signer) -> PyResult<Self> {
        let handle = self.narrowed(self.handle(py)?);
        Ok(Self {
            signer: Some(signer),
            ..handle
        })
    }

    /// Returns the grain of a draft, signed if the handle has a signer.
    fn new_grain(&self, store: &Handle, draft: Draft) -> Result<NewGrain, Error> {
        match &self.signer {
            Some(signer) => Ok(signer.sign(store, draft)?.into()),
            None => Ok(draft.into()),
        }
    }
}

#[pymethods]
impl Store {
    fn close(&self, py: Python<'_>) {
        self.handle.close(py);
    }

    #[getter]
    fn get_is_closed(&self) -> bool {
        self.handle.opening().is_closed()
    }

    /// Says which store it is, and what the handle is narrowed to.
    fn __repr__(&self, py: Python<'_>) -> String {
        let opening = self.handle.opening();
        let place = opening.folder().map(|it| it.display().to_string());
        let mut told = place.unwrap_or_else(|| "in memory".to_owned());
        if opening.is_closed() {
            return format!("<grainstore.Store {told}, closed>");
        }
        if let Ok(handle) = self.handle.get(py)
            && let Some(capability) = handle.capability()
        {
            let did = capability.acts_as().map(|did| format!(", as {did}"));
            let user = capability.user().map(|user| format!(", of {user}"));
            let namespace = capability.namespace().map(|name| format!(", in {name}"));
            let reads = capability.authorize_write().err();
            let reads = reads.map(|_| ", read only".to_owned());
            told.extend([did, user, namespace, reads].into_iter().flatten());
        }
        if let Some(signer) = &self.signer {
            told += &format!(", signed by {}", signer.did());
        }
        format!("<grainstore.Store {told}>")
    }

    fn put(&self, py: Python<'_>, fields: &Bound<'_, PyAny>) -> PyResult<String> {
        let draft = draft(fields)?;
        let stored = self.ask(py, |store| store.put(self.new_grain(store, draft)?))?;
        Ok(stored.to_string())
    }

    fn insert(&self, py: Python<'_>, fields: &Bound<'_, PyAny>) -> PyResult<(String, bool)> {
        let draft = draft(fields)?;
        let put = self.ask(py, |store| store.insert(self.new_grain(store, draft)?))?;
        Ok((put.address.to_string(), put.is_new))
    }

    fn put_batch(&self, py: Python<'_>, grains: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let drafts = grains.try_iter()?.map(|fields| draft(&fields?));
        let drafts = drafts.collect::<PyResult<Vec<_>>>()?;
        let stored = self.ask(py, |store| {
            let grains = drafts.into_iter().enumerate().map(|(index, draft)| {
                let grain = self.new_grain(store, draft);
                grain.map_err(|source| Error::Batch {
                    index,
                    source: Box::new(source),
                })
            });
            store.put_batch(grains.collect::<Result<Vec<_>, _>>()?)
        })?;
        Ok(stored.iter().map(|put| put.address.to_string()).collect())
    }

    fn get(&self, py: Python<'_>, of: &Bound<'_, PyAny>) -> PyResult<Option<Grain>> {
        let address = address(of)?;
        Ok(self.ask(py, |store| store.get(&address))?.map(Grain::new))
    }

    fn get_batch(&self, py: Python<'_>, of: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Grain>>> {
        let addresses = addresses(of)?;
        let found = self.ask(py, |store| store.get_batch(&addresses))?;
        Ok(found
            .into_iter()
            .map(|grain| grain.map(Grain::new))
            .collect())
    }

    fn status(&self, py: Python<'_>, of: &Bound<'_, PyAny>) -> PyResult<Standing> {
        let address = address(of)?;
        let status = self.ask(py, |store| store.status(&address))?;
        Ok(standing(&status))
    }

    fn search(
        &self,
        py: Python<'_>,
        text: &str,
        is_plain: bool,
        limit: usize,
        conditions: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Answer> {
        let filter = filter(conditions)?;
        let envelope = self.ask(py, |store| match is_plain {
            true => store.find(&Search::words(text).filter(&filter).limit(limit)),
            false => store.search(text, &filter, limit),
        })?;
        Ok(answer(envelope))
    }

    fn query(
        &self,
        py: Python<'_>,
        order: Option<&str>,
        limit: usize,
        cursor: Option<&str>,
        conditions: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Answer> {
        let filter = filter(conditions)?;
        let sort = sort(order, &filter)?;
        let envelope = self.ask(py, |store| {
            let after = cursor.map(str::parse::<Cursor>).transpose()?;
            store.query(&filter.sorted(sort), limit, after)
        })?;
        Ok(answer(envelope))
    }

    fn recall(
        &self,
        py: Python<'_>,
        question: &str,
        budget: usize,
        is_precise: bool,
        conditions: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Recollection> {
        let filter = filter(conditions)?;
        let recall = Recall {
            budget,
            ..Recall::default()
        };
        let recall = if is_precise { recall.precise() } else { recall };
        let found = self.ask(py, |store| store.recall(question, &filter, &recall))?;
        Ok(Recollection::new(found))
    }

    fn supersede(
        &self,
        py: Python<'_>,
        old: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyAny>,
        reason: Option<&str>,
        auth: Vec<Vec<u8>>,
    ) -> PyResult<String> {
        let old = address(old)?;
        let add =
            |draft: Draft, signature| draft.push("supersession_auth", Value::Bytes(signature));
        let draft = auth.into_iter().fold(draft(fields)?.replacing(old), add);
        let stored = self.ask(py, |store| {
            store.supersede(&old, self.new_grain(store, draft)?, reason)
        })?;
        Ok(stored.to_string())
    }

    /// Stores the next version of a grain, with these fields set, or removed where they are `None`.
    fn correct(
        &self,
        py: Python<'_>,
        of: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        reason: Option<&str>,
    ) -> PyResult<String> {
        let old = address(of)?;
        let changes = value::changes(fields)?;
        let stored = self.ask(py, |store| {
            let grain = store.get(&old)?.ok_or(Error::NotFound { address: old })?;
            let draft = Draft::next_version(&grain).derived_from(old);
            let draft = changes
                .into_iter()
                .fold(draft, |draft, (name, value)| draft.set(name, value));
            store.supersede(&old, self.new_grain(store, draft)?, reason)
        })?;
        Ok(stored.to_string())
    }

    fn contradict(
        &self,
        py: Python<'_>,
        of: &Bound<'_, PyAny>,
        reason: Option<&str>,
        auth: Vec<Vec<u8>>,
    ) -> PyResult<()> {
        let address = address(of)?;
        let grounds = Justification {
            justification: reason,
            signatures: &auth,
        };
        self.ask(py, |store| store.contradict(&address, grounds))
    }

    fn verify(
        &self,
        py: Python<'_>,
        of: &Bound<'_, PyAny>,
        status: &Bound<'_, PyAny>,
        reason: Option<&str>,
        auth: Vec<Vec<u8>>,
    ) -> PyResult<()> {
        let address = address(of)?;
        let status = named("verification", status, Verification::named)?;
        let grounds = Justification {
            justification: reason,
            signatures: &auth,
        };
        self.ask(py, |store| {
            store.set_verification(&address, status, grounds)
        })
    }

    /// Deletes grains and returns the exception of each that was not.
    fn delete(
        &self,
        py: Python<'_>,
        of: &Bound<'_, PyAny>,
        reason: &str,
        authority: &str,
    ) -> PyResult<Vec<Option<PyErr>>> {
        let addresses = addresses(of)?;
        let by = Authorization { reason, authority };
        let outcomes = self.ask(py, |store| store.admin()?.delete_batch(&addresses, by))?;
        let outcomes = outcomes.into_iter();
        Ok(outcomes
            .map(|outcome| outcome.err().map(|it| error::of(py, &it)))
            .collect())
    }

    fn history(&self, py: Python<'_>, of: &Bound<'_, PyAny>) -> PyResult<Vec<Version>> {
        let address = address(of)?;
        let versions = self.ask(py, |store| store.history(&address))?;
        let versions = versions.into_iter().map(|version| {
            let standing = standing(&version.status);
            let stored_at = version.stored_at.ms();
            (
                Grain::new(version.grain),
                standing,
                stored_at,
                version.stored_by,
            )
        });
        Ok(versions.collect())
    }

    fn changes(
        &self,
        py: Python<'_>,
        since: Option<u64>,
        conditions: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Changes> {
        let filter = conditions.map(|dict| filter(Some(dict))).transpose()?;
        let store = self.handle.get(py)?;
        let from = match since {
            Some(entry) => EntryId::new(entry),
            None => store.changes(EntryId::FIRST).end(),
        };
        let feed = store.changes(from);
        let feed = match filter {
            Some(filter) => feed.matching(filter),
            None => feed,
        };
        Ok(Changes::new(Held::new(feed, self.handle.opening().clone())))
    }

    fn import_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&Bound<'_, PyAny>>,
        user: Option<String>,
        is_preview: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Imported> {
        let format = format
            .map(|it| named("format", it, Format::named))
            .transpose()?;
        let options = ReadOptions {
            user,
            ..ReadOptions::default()
        };
        let mut raised = None;
        let summary = self.ask_about(py, &path, |store| {
            let reading = ImportFile::open(&path, format, &options)?;
            if is_preview {
                return store.admin()?.preview_import(reading);
            }
            store.import_with(reading, &mut |done| {
                if let (Some(progress), None) = (&progress, &raised) {
                    raised = Python::attach(|py| progress.call1(py, (done,)).err());
                }
            })
        })?;
        match raised {
            Some(error) => Err(error),
            None => Ok(imported(&summary)),
        }
    }

    fn export(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: &Bound<'_, PyAny>,
        history: bool,
        conditions: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(u64, u64, BTreeMap<String, u64>, u64)> {
        let format = named("format", format, Format::named)?;
        let filter = filter(conditions)?;
        let options = WriteOptions {
            history,
            ..WriteOptions::default()
        };
        let report = self.ask_about(py, &path, |store| {
            store.admin()?.export_file(format, &filter, &options, &path)
        })?;
        Ok((
            report.grains,
            report.files,
            counted(&report.loss),
            report.next,
        ))
    }

    /// Stores vectors, each of an address, a model and the bytes of little-endian floats.
    fn put_embeddings(
        &self,
        py: Python<'_>,
        vectors: Vec<(Bound<'_, PyAny>, String, Vec<u8>)>,
    ) -> PyResult<()> {
        let vectors = vectors
            .iter()
            .map(|(of, model, bytes)| Ok(Embedding::new(address(of)?, model, &floats(bytes))));
        let vectors = vectors.collect::<PyResult<Vec<_>>>()?;
        self.ask(py, |store| store.put_embeddings(&vectors))
    }

    fn embedding<'py>(
        &self,
        py: Python<'py>,
        of: &Bound<'py, PyAny>,
        model: &str,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let address = address(of)?;
        let found = self.ask(py, |store| store.embedding(&address, model))?;
        let bytes = found.map(|it| {
            it.into_iter()
                .flat_map(f32::to_le_bytes)
                .collect::<Vec<_>>()
        });
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    fn nearest(
        &self,
        py: Python<'_>,
        model: &str,
        vector: Vec<u8>,
        limit: usize,
        conditions: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Answer> {
        let filter = filter(conditions)?;
        let envelope = self.ask(py, |store| {
            let vector = floats(&vector);
            store.find(&Search::near(model, &vector).filter(&filter).limit(limit))
        })?;
        Ok(answer(envelope))
    }

    fn as_actor(&self, py: Python<'_>, did: &str) -> PyResult<Self> {
        let did = value::did(py, did)?;
        Ok(self.narrowed(self.handle.get(py)?.as_actor(&did)))
    }

    fn of_user(&self, py: Python<'_>, user: &str) -> PyResult<Self> {
        Ok(self.narrowed(self.handle.get(py)?.of_user(user)))
    }

    fn in_namespace(&self, py: Python<'_>, namespace: &str) -> PyResult<Self> {
        Ok(self.narrowed(self.handle.get(py)?.in_namespace(namespace)))
    }

    fn read_only(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(self.narrowed(self.handle.get(py)?.read_only()))
    }

    fn store_id(&self, py: Python<'_>) -> PyResult<String> {
        let stats = self.ask(py, |store| store.maintenance()?.stats())?;
        Ok(stats.store_id.to_string())
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, |store| store.maintenance()?.flush_text())
    }

    fn backup(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.ask(py, |store| store.maintenance()?.backup(path).map(drop))
    }
}

pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect()
}

fn addresses(of: &Bound<'_, PyAny>) -> PyResult<Vec<ContentAddress>> {
    of.try_iter()?.map(|item| address(&item?)).collect()
}

/// Whether a grain is current, what replaced it, its verification and whether it is contradicted.
type Standing = (bool, Option<String>, &'static str, bool);

fn standing(status: &Status) -> Standing {
    let by = status.superseded_by.map(|by| by.to_string());
    (
        status.is_current(),
        by,
        status.verification.name(),
        status.contradicted,
    )
}

/// A grain of a history, its standing, when it was stored and by which author.
type Version = (Grain, Standing, i64, Option<String>);

/// A grain, its standing, its score, the fields that matched, and its signer with the trust in it.
type Answered = (
    Grain,
    Standing,
    f64,
    Vec<&'static str>,
    Option<(String, &'static str)>,
);

/// The results, their number in all, whether that is a lower bound, whether the search was cut off,
/// the words that were read as others, and the cursor of the next page.
type Answer = (
    Vec<Answered>,
    u64,
    bool,
    bool,
    Vec<(String, String)>,
    Option<String>,
);

fn answer(envelope: Page) -> Answer {
    let results = envelope.results.into_iter().map(|found| {
        let Found {
            grain,
            status,
            score,
            matched_fields,
            signature,
            ..
        } = found;
        let signer = signature.map(|it| (it.signer.to_string(), it.trust.name()));
        (
            Grain::new(grain),
            standing(&status),
            score,
            matched_fields,
            signer,
        )
    });
    (
        results.collect(),
        envelope.total,
        envelope.total_is_lower_bound,
        envelope.is_partial || envelope.is_cut,
        envelope.read_as,
        envelope.next_cursor.map(|cursor| cursor.to_string()),
    )
}

/// The counts of an import, the places and reasons of what was refused, and what was lost.
type Imported = (
    BTreeMap<&'static str, u64>,
    Vec<(String, String, &'static str)>,
    BTreeMap<String, u64>,
);

fn imported(summary: &Summary) -> Imported {
    let counts = BTreeMap::from([
        ("inserted", summary.inserted),
        ("updated", summary.updated),
        ("corrected", summary.corrected),
        ("held", summary.held),
        ("unchanged", summary.unchanged),
        ("embedded", summary.embedded),
        ("conflicts", summary.conflicts.len() as u64),
        ("unapplied", summary.unapplied.len() as u64),
        ("denied", summary.denied.len() as u64),
        ("refused", summary.refused.len() as u64),
        ("erased", summary.erased.len() as u64),
    ]);
    let refused = summary.refused.iter();
    let refused = refused.map(|it| (it.place().to_string(), it.to_string(), it.code().as_str()));
    (counts, refused.collect(), counted(&summary.loss))
}

fn counted(loss: &Loss) -> BTreeMap<String, u64> {
    loss.iter()
        .map(|(field, count)| (field.to_owned(), count))
        .collect()
}
