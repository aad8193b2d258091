//! The audit trail: notes of the ledger, proofs under their roots, and the export.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use grainstore::crypto::{self, NoteKey};
use grainstore::ledger::EntryId;
use grainstore::store::Audit;
use grainstore::{Error, ErrorCode};
use grainstore_cli as cli;
use napi::bindgen_prelude::{Either, Result};
use napi_derive::napi;

use crate::ask::{Abort, Ask, Promised};
use crate::failure;
use crate::read::entry;
use crate::signing::SigningKey;
use crate::store::Store;
use crate::value::address;

/// A checkpoint of a ledger as text, which others may sign too (C2SP signed-note). Kept elsewhere it tells
/// whether the store was rolled back, cut short or rewritten since.
#[napi]
pub struct Note(crypto::Note);

/// Reads a note, signed or not.
pub(crate) fn read(text: &str) -> Result<crypto::Note> {
    text.parse()
        .map_err(|source: crypto::Error| failure::of(&source.into()))
}

#[napi]
impl Note {
    /// Reads a note, signed or not.
    #[napi(factory)]
    pub fn read(text: String) -> Result<Self> {
        read(&text).map(Self)
    }

    /// The name of the log: `grainstore/` and the id of the store.
    #[napi(getter)]
    pub fn origin(&self) -> String {
        self.0.origin().to_owned()
    }

    /// The number of entries of the ledger, those included that were erased.
    #[napi(getter)]
    pub fn entries(&self) -> f64 {
        self.0.entries() as f64
    }

    /// The root of the Merkle tree over the entries, as 64 hexadecimal digits.
    #[napi(getter)]
    pub fn root(&self) -> String {
        hex(&self.0.root())
    }

    /// Returns the public key under which `isSignedBy` finds a signature of the store's operator.
    #[napi]
    pub fn log_key(&self, key: &SigningKey) -> Result<String> {
        let named = NoteKey::log(self.0.origin(), key.key().verifying_key());
        let named = named.map_err(|source| failure::of(&source.into()))?;
        Ok(named.to_string())
    }

    /// Returns whether a key has signed the note: that of the operator, or of a witness.
    #[napi]
    pub fn is_signed_by(&self, key: String) -> Result<bool> {
        Ok(self.0.is_signed_by(&note_key(&key)?))
    }

    /// Returns how many of these keys have signed the note. Two names of one key count once.
    #[napi]
    pub fn signers(&self, keys: Vec<String>) -> Result<f64> {
        let keys = keys.iter().map(|key| note_key(key));
        Ok(self.0.signers(&keys.collect::<Result<Vec<_>>>()?) as f64)
    }

    /// Returns the text.
    #[napi(js_name = "toString")]
    pub fn text(&self) -> String {
        self.0.to_string()
    }
}

/// A proof of RFC 9162 under the root of a note: that an entry is in the ledger, or that the ledger grew
/// without a change. It has no content, and stays valid when the content is erased.
#[napi]
pub struct Proof(cli::Proof);

#[napi]
impl Proof {
    /// Reads the text that `toText` or `grainstore audit prove` wrote.
    #[napi(factory)]
    pub fn read(text: String) -> Result<Self> {
        let document = serde_json::from_str(&text).ok();
        let read = document.as_ref().and_then(cli::Proof::from_json);
        let refused = || failure::told(ErrorCode::Corrupt, "not a proof of a ledger", None);
        read.map(Self).ok_or_else(refused)
    }

    /// Returns it as a JSON document, which `grainstore audit verify` and `tools/verify_audit.py` read.
    #[napi]
    pub fn to_text(&self) -> String {
        format!("{:#}", self.0.to_json())
    }

    /// The number of the entry that it proves; `null` for a proof of growth.
    #[napi(getter, ts_return_type = "number | null")]
    pub fn entry(&self) -> Option<f64> {
        self.0.entry().map(|entry| entry.get() as f64)
    }

    /// The number of entries that were there before the growth; `null` for a proof of an entry.
    #[napi(getter, ts_return_type = "number | null")]
    pub fn first(&self) -> Option<f64> {
        self.0.first().map(|first| first as f64)
    }

    /// The number of entries under the root.
    #[napi(getter)]
    pub fn entries(&self) -> f64 {
        self.0.entries() as f64
    }

    /// Returns whether it proves its entry under the root of a note, whose signatures are for
    /// `Note.isSignedBy`; false for a proof of growth.
    #[napi]
    pub fn is_in(&self, note: &Note) -> bool {
        self.0.is_in(&note.0)
    }

    /// Returns whether it proves that the entries of `note` begin with those of `since`; false for a
    /// proof of an entry.
    #[napi]
    pub fn extends(&self, since: &Note, note: &Note) -> bool {
        self.0.extends(&since.0, &note.0)
    }
}

#[napi]
impl Store {
    #[napi(ts_return_type = "Promise<Note>")]
    pub fn audit_head(
        &self,
        key: Option<&SigningKey>,
        entries: Option<f64>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Note>> {
        let key = key.map(SigningKey::shared);
        let entries = count(entries)?;
        Ok(self.ask(abort, move |store| {
            let mut note = head(store.maintenance()?.audit(), entries)?;
            key.map(|key| note.sign(&key)).transpose()?;
            Ok(Note(note))
        }))
    }

    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn audit_extends(&self, note: &Note, abort: Option<&Abort>) -> Promised<bool> {
        let note = note.0.clone();
        self.ask(abort, move |store| {
            store.maintenance()?.audit().extends(&note)
        })
    }

    /// Proves an entry by its number, or the one that stored a grain.
    #[napi(ts_return_type = "Promise<Proof>")]
    pub fn audit_prove(
        &self,
        of: Either<f64, String>,
        entries: Option<f64>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Proof>> {
        let entries = count(entries)?;
        Ok(match of {
            Either::A(number) => {
                let entry = entry(number)?;
                self.ask(abort, move |store| {
                    let audit = store.maintenance()?.audit();
                    cli::Proof::of_entry(audit, entry, &head(audit, entries)?).map(Proof)
                })
            }
            Either::B(text) => {
                let address = address(&text)?;
                self.ask(abort, move |store| {
                    let audit = store.maintenance()?.audit();
                    cli::Proof::of_grain(audit, address, &head(audit, entries)?).map(Proof)
                })
            }
        })
    }

    #[napi(ts_return_type = "Promise<Proof>")]
    pub fn audit_growth(
        &self,
        first: f64,
        entries: Option<f64>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Proof>> {
        let (first, entries) = (entry(first)?.get(), count(entries)?);
        Ok(self.ask(abort, move |store| {
            let audit = store.maintenance()?.audit();
            cli::Proof::of_growth(audit, first, &head(audit, entries)?).map(Proof)
        }))
    }

    #[napi(ts_return_type = "Promise<Note>")]
    pub fn audit_export(
        &self,
        path: String,
        key: Option<&SigningKey>,
        abort: Option<&Abort>,
    ) -> Promised<Note> {
        let key = key.map(SigningKey::shared);
        let handle = self.held().clone();
        Ask::promise(abort, move || {
            let path = Path::new(&path);
            let refused = |error: std::io::Error| {
                let name = path.display().to_string();
                failure::told(ErrorCode::Io, &format!("{name}: {error}"), Some(name))
            };
            let mut file = BufWriter::new(File::create_new(path).map_err(refused)?);
            let note = handle.with(|store| {
                let trail = store
                    .maintenance()
                    .and_then(|maintenance| maintenance.audit().export(key.as_deref(), &mut file));
                trail.map_err(|error| failure::of(&error))
            })?;
            file.flush().map_err(refused)?;
            Ok(Note(note))
        })
    }
}

/// Returns the note of the first entries, or of all.
fn head(audit: Audit<'_>, entries: Option<u64>) -> std::result::Result<crypto::Note, Error> {
    match entries {
        Some(entries) => audit.head_after(entries),
        None => audit.head(),
    }
}

fn count(entries: Option<f64>) -> Result<Option<u64>> {
    let entries = entries.map(entry).transpose()?;
    Ok(entries.map(EntryId::get))
}

fn note_key(text: &str) -> Result<NoteKey> {
    text.parse()
        .map_err(|source: crypto::Error| failure::of(&source.into()))
}

/// Returns bytes as lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
