//! The audit trail: notes of the ledger, proofs under their roots, and the export.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use grainstore::crypto::{self, NoteKey};
use grainstore::ledger::EntryId;
use grainstore::store::Audit;
use grainstore::{Error, ErrorCode};
use grainstore_cli as cli;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::error;
use crate::signing::SigningKey;
use crate::store::Store;
use crate::value::address;

/// A checkpoint of a ledger as text, which others may sign too (C2SP signed-note). Kept elsewhere it tells
/// whether the store was rolled back, cut short or rewritten since.
///
/// >>> import grainstore
/// >>> store, key = grainstore.in_memory(), grainstore.SigningKey.generate()
/// >>> note = store.audit_head(key)
/// >>> read = grainstore.Note.read(str(note))
/// >>> read == note, read.entries, read.is_signed_by(note.log_key(key))
/// (True, 0, True)
#[pyclass(frozen, module = "grainstore")]
pub(crate) struct Note(crypto::Note);

impl Note {
    pub(crate) const fn note(&self) -> &crypto::Note {
        &self.0
    }
}

#[pymethods]
impl Note {
    /// Reads a note, signed or not.
    ///
    /// Raises `Corrupt` for any other text.
    #[staticmethod]
    fn read(py: Python<'_>, text: &str) -> PyResult<Self> {
        let note = text.parse().map(Self);
        note.map_err(|source: crypto::Error| error::of(py, &source.into()))
    }

    /// The name of the log: `grainstore/` and the id of the store.
    #[getter]
    fn get_origin(&self) -> &str {
        self.0.origin()
    }

    /// The number of entries of the ledger, those included that were erased.
    #[getter]
    const fn get_entries(&self) -> u64 {
        self.0.entries()
    }

    /// The root of the Merkle tree over the entries, as 64 hexadecimal digits.
    #[getter]
    fn get_root(&self) -> String {
        hex(&self.0.root())
    }

    /// Returns the public key under which `is_signed_by` finds a signature of the store's operator:
    /// `NAME+ID+KEY`, as `grainstore audit head` prints it.
    ///
    /// Raises `Key` for a key that is not Ed25519.
    fn log_key(&self, py: Python<'_>, key: &Bound<'_, SigningKey>) -> PyResult<String> {
        let named = NoteKey::log(self.0.origin(), key.get().key().verifying_key());
        let named = named.map_err(|source| error::of(py, &source.into()))?;
        Ok(named.to_string())
    }

    /// Returns whether a key has signed the note: that of the operator, or of a witness.
    ///
    /// Raises `Key` for a text that is no key of notes.
    fn is_signed_by(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        Ok(self.0.is_signed_by(&note_key(py, key)?))
    }

    /// Returns how many of these keys have signed the note. Two names of one key count once.
    ///
    /// Raises `Key` for a text that is no key of notes.
    fn signers(&self, py: Python<'_>, keys: Vec<String>) -> PyResult<usize> {
        let keys = keys.iter().map(|key| note_key(py, key));
        Ok(self.0.signers(&keys.collect::<PyResult<Vec<_>>>()?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| other.get().0 == self.0)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Note({}, entries={})", self.0.origin(), self.0.entries())
    }
}

/// A proof of RFC 9162 under the root of a note: that an entry is in the ledger, or that the ledger grew
/// without a change. It has no content, and stays valid when the content is erased.
///
/// >>> import grainstore
/// >>> store = grainstore.in_memory()
/// >>> proof = store.audit_prove(store.remember("hello"))
/// >>> read = grainstore.Proof.from_json(proof.to_json())
/// >>> read.entry, read.is_in(store.audit_head())
/// (0, True)
#[pyclass(frozen, module = "grainstore")]
pub(crate) struct Proof(cli::Proof);

#[pymethods]
impl Proof {
    /// Reads what `to_json` or `grainstore audit prove` wrote.
    ///
    /// Raises `Corrupt` for any other text.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        let document = serde_json::from_str(text).ok();
        let read = document.as_ref().and_then(cli::Proof::from_json);
        let refused = || error::raised(py, ErrorCode::Corrupt, "not a proof of a ledger", None);
        read.map(Self).ok_or_else(refused)
    }

    /// Returns it as a JSON document, which `grainstore audit verify` and `tools/verify_audit.py` read.
    fn to_json(&self) -> String {
        format!("{:#}", self.0.to_json())
    }

    /// The number of the entry that it proves; `None` for a proof of growth.
    #[getter]
    fn get_entry(&self) -> Option<u64> {
        self.0.entry().map(EntryId::get)
    }

    /// The number of entries that were there before the growth; `None` for a proof of an entry.
    #[getter]
    fn get_first(&self) -> Option<u64> {
        self.0.first()
    }

    /// The number of entries under the root.
    #[getter]
    const fn get_entries(&self) -> u64 {
        self.0.entries()
    }

    /// Returns whether it proves its entry under the root of a note, whose signatures are for
    /// `Note.is_signed_by`; false for a proof of growth.
    fn is_in(&self, note: &Bound<'_, Note>) -> bool {
        self.0.is_in(&note.get().0)
    }

    /// Returns whether it proves that the entries of `note` begin with those of `since`; false for a
    /// proof of an entry.
    fn extends(&self, since: &Bound<'_, Note>, note: &Bound<'_, Note>) -> bool {
        self.0.extends(&since.get().0, &note.get().0)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| other.get().0 == self.0)
    }

    fn __repr__(&self) -> String {
        let entries = self.0.entries();
        match (self.0.entry(), self.0.first()) {
            (Some(entry), _) => format!("Proof(entry={}, entries={entries})", entry.get()),
            (None, first) => format!("Proof(first={}, entries={entries})", first.unwrap_or(0)),
        }
    }
}

#[pymethods]
impl Store {
    fn audit_head(
        &self,
        py: Python<'_>,
        key: Option<&Bound<'_, SigningKey>>,
        entries: Option<u64>,
    ) -> PyResult<Note> {
        let key = key.map(|key| key.get().key());
        let note = self.ask(py, |store| {
            let mut note = head(store.maintenance()?.audit(), entries)?;
            key.map(|key| note.sign(key)).transpose()?;
            Ok(note)
        })?;
        Ok(Note(note))
    }

    fn audit_extends(&self, py: Python<'_>, note: &Bound<'_, Note>) -> PyResult<bool> {
        let note = note.get();
        self.ask(py, |store| store.maintenance()?.audit().extends(&note.0))
    }

    /// Proves an entry by its number, or the one that stored a grain.
    fn audit_prove(
        &self,
        py: Python<'_>,
        of: &Bound<'_, PyAny>,
        entries: Option<u64>,
    ) -> PyResult<Proof> {
        let proof = if of.is_instance_of::<PyInt>() {
            let entry = EntryId::new(of.extract()?);
            self.ask(py, |store| {
                let audit = store.maintenance()?.audit();
                cli::Proof::of_entry(audit, entry, &head(audit, entries)?)
            })
        } else {
            let address = address(of)?;
            self.ask(py, |store| {
                let audit = store.maintenance()?.audit();
                cli::Proof::of_grain(audit, address, &head(audit, entries)?)
            })
        };
        proof.map(Proof)
    }

    fn audit_growth(&self, py: Python<'_>, first: u64, entries: Option<u64>) -> PyResult<Proof> {
        let proof = self.ask(py, |store| {
            let audit = store.maintenance()?.audit();
            cli::Proof::of_growth(audit, first, &head(audit, entries)?)
        });
        proof.map(Proof)
    }

    fn audit_export(
        &self,
        py: Python<'_>,
        path: PathBuf,
        key: Option<&Bound<'_, SigningKey>>,
    ) -> PyResult<Note> {
        let mut file = BufWriter::new(File::create_new(path)?);
        let key = key.map(|key| key.get().key());
        let note = self.ask(py, |store| {
            store.maintenance()?.audit().export(key, &mut file)
        })?;
        py.detach(|| file.flush())?;
        Ok(Note(note))
    }
}

/// Returns the note of the first entries, or of all.
fn head(audit: Audit<'_>, entries: Option<u64>) -> Result<crypto::Note, Error> {
    match entries {
        Some(entries) => audit.head_after(entries),
        None => audit.head(),
    }
}

fn note_key(py: Python<'_>, text: &str) -> PyResult<NoteKey> {
    text.parse()
        .map_err(|source: crypto::Error| error::of(py, &source.into()))
}

/// Returns bytes as lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
