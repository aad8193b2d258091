//! The trail in a file, for a verifier that has neither the store nor this program: headers, signed
//! statements and a checksum, in lines of JSON (docs/format.md, "Audit exports").
//!
//! It holds neither salts nor bodies: no content, no address, no name. The operation of an entry is
//! told beside its header, which proves its kind; who keeps an old export learns nothing of what was
//! erased since.

use std::io::{self, Write};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::crypto::{Note, SigningKey};
use crate::ledger::{self, EntryId, Kind};
use crate::store::Error;
use crate::store::records::Record;

use super::log::LogReader;
use super::{Audit, AuditFilter};

impl Audit<'_> {
    /// Writes the trail up to now, with the checkpoints that are in the ledger, a note of all
    /// entries and a checksum over what is before it; returns the note. With a key, which must be
    /// Ed25519, note and checksum are signed.
    ///
    /// # Errors
    /// `ERR_KEY`; `ERR_IO` of `out`; storage errors.
    pub fn export(self, key: Option<&SigningKey>, out: &mut impl Write) -> Result<Note, Error> {
        let mut note = self.head()?;
        let Some(key) = key else {
            self.write_export(&note, out, &|_| Ok(None))?;
            return Ok(note);
        };
        note.sign(key)?;
        let origin = note.origin().to_owned();
        let sign = |sum: &str| {
            let signature = key.sign(signed(&origin, sum).as_bytes())?;
            Ok(Some(HEXLOWER.encode(&signature)))
        };
        self.write_export(&note, out, &sign)?;
        Ok(note)
    }

    fn write_export(
        self,
        note: &Note,
        out: &mut impl Write,
        sign: &dyn Fn(&str) -> Result<Option<String>, Error>,
    ) -> Result<(), Error> {
        let failed = |source| ledger::Error::io("write", "the audit export", source);
        let mut out = Hashing::new(out);
        let head = json!({
            "format": FORMAT,
            "version": 1,
            "store": HEXLOWER.encode(&note.store()),
            "entries": note.entries(),
        });
        out.line(&head).map_err(failed)?;
        let inner = self.inner();
        let everything = AuditFilter::default();
        let mut reader = LogReader::new(inner, &everything);
        let mut checkpoints = Vec::new();
        for row in EntryId::all(&(EntryId::FIRST..EntryId::new(note.entries()))) {
            let header = inner.ledger().header(row)?;
            let operation = reader.entry(row)?.map(|entry| entry.operation);
            let entry = json!({
                "entry": row.get(),
                "header": HEXLOWER.encode(&header),
                "operation": operation,
            });
            out.line(&entry).map_err(failed)?;
            if inner.ledger().stated(row)?.kind == Kind::Checkpoint
                && let Ok(Record::Checkpoint(checkpoint)) = inner.record_at(row)
            {
                checkpoints.push(HEXLOWER.encode(&checkpoint.message));
            }
        }
        for checkpoint in checkpoints {
            out.line(&json!({ "checkpoint": checkpoint }))
                .map_err(failed)?;
        }
        out.line(&json!({ "note": note.to_string() }))
            .map_err(failed)?;
        let sum = out.sum();
        let signature = sign(&sum)?;
        let end = json!({ "sha256": sum, "signature": signature });
        out.line(&end).map_err(failed)?;
        out.inner.flush().map_err(failed)?;
        Ok(())
    }
}

/// Returns the message that is signed for the checksum of an export.
fn signed(origin: &str, sum: &str) -> String {
    format!("{FORMAT}\n{origin}\n{sum}\n")
}

/// Lines that are hashed while they are written.
struct Hashing<'a, W> {
    inner: &'a mut W,
    hash: Sha256,
}

impl<'a, W: Write> Hashing<'a, W> {
    fn new(inner: &'a mut W) -> Self {
        let hash = Sha256::new();
        Self { inner, hash }
    }

    fn line(&mut self, value: &Value) -> io::Result<()> {
        let line = format!("{value}\n");
        self.hash.update(&line);
        self.inner.write_all(line.as_bytes())
    }

    fn sum(&self) -> String {
        HEXLOWER.encode(&self.hash.clone().finalize())
    }
}

const FORMAT: &str = "grainstore-audit-export/v1";
