//! The trail in a file, for a verifier that has neither the store nor this program: headers, signed
//! statements and a checksum, in lines of JSON (docs/format.md, "Audit exports").
//!
//! It holds no content and no address: who keeps an old export learns nothing of what was erased since.
//! So the entries of erasures, which no erasure blanks and which name grains by keyed marks alone, are
//! opened, and their headers prove them. Of a hold and of the effect of a withdrawal the export tells
//! which entries they are about: their bodies have addresses, and the salts of what may be blanked stay
//! in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::codec::ContentAddress;
use crate::crypto::{Note, SigningKey};
use crate::grain::Grain;
use crate::ledger::{self, EntryId};
use crate::policy::Protection;
use crate::store::Error;
use crate::store::records::{ConsentEffectRecord, HoldRecord, KeyEventRecord, Record};
use crate::store::view::{View, rests_on};

use super::log::{Body, LogReader};
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
            "version": 2,
            "store": HEXLOWER.encode(&note.store()),
            "entries": note.entries(),
        });
        out.line(&head).map_err(failed)?;
        let engine = self.engine();
        let everything = AuditFilter::default();
        let reader = LogReader::new(engine, &everything);
        let snapshot = engine.snapshot();
        let facts = Facts::of(engine.as_of(&snapshot))?;
        let mut checkpoints = Vec::new();
        for row in EntryId::all(&(EntryId::FIRST..EntryId::new(note.entries()))) {
            let header = engine.ledger().header(row)?;
            let (stated, body) = reader.body(row)?;
            let mut entry = json!({
                "entry": row.get(),
                "header": HEXLOWER.encode(&header),
                "operation": body.described(stated.kind).0,
            });
            if let Body::Record(record) = &body {
                match record {
                    Record::Erasing(_)
                    | Record::Erased(_)
                    | Record::KeyEvent(KeyEventRecord::Erased { .. }) => {
                        let opening = engine.ledger().opening(row)?;
                        entry["opened"] = HEXLOWER.encode(&opening).into();
                    }
                    Record::Hold(hold) => entry["facts"] = facts.of_hold(hold)?,
                    Record::ConsentEffect(effect) => entry["facts"] = facts.of_effect(effect)?,
                    Record::Checkpoint(checkpoint) => {
                        checkpoints.push(HEXLOWER.encode(&checkpoint.message));
                    }
                    _ => {}
                }
            }
            out.line(&entry).map_err(failed)?;
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
        out.engine.flush().map_err(failed)?;
        Ok(())
    }
}

/// Names grains by the entries that stored them.
struct Facts<'a> {
    view: View<'a>,
    /// Of each withdrawal that counts, the grains that rest on what it withdrew and are stored.
    resting: BTreeMap<ContentAddress, BTreeSet<EntryId>>,
}

impl<'a> Facts<'a> {
    fn of(view: View<'a>) -> Result<Self, Error> {
        let mut resting: BTreeMap<_, BTreeSet<EntryId>> = BTreeMap::new();
        for (withdrawal, _) in view.withdrawn_consents()? {
            resting.entry(withdrawal.by).or_default();
        }
        for (withdrawal, consent, rows) in view.cascades()? {
            let known = resting.entry(withdrawal.by).or_default();
            for row in rows.iter() {
                let version = view.sound_version_at(row)?;
                known.extend(
                    version
                        .filter(|it| rests_on(&it.grain, &consent))
                        .map(|_| row),
                );
            }
        }
        Ok(Self { view, resting })
    }

    fn entry_of(&self, address: &ContentAddress) -> Result<Option<u64>, Error> {
        Ok(self.view.locate(address)?.map(EntryId::get))
    }

    fn of_hold(&self, hold: &HoldRecord) -> Result<Value, Error> {
        let row = self.view.locate(&hold.of)?;
        let mut facts = json!({
            "by": hold.authorization.authority,
            "of": row.map(EntryId::get),
        });
        if !hold.is_placed {
            // A release also lifts the hold of the grain's own policy, which has no entry.
            let version = match row {
                Some(row) => self.view.sound_version_at(row)?,
                None => None,
            };
            let can_hold = |grain: &Grain| Protection::of(grain).can_hold();
            facts["own"] = version.is_none_or(|it| can_hold(&it.grain)).into();
        }
        Ok(facts)
    }

    fn of_effect(&self, effect: &ConsentEffectRecord) -> Result<Value, Error> {
        let resting = self.resting.get(&effect.withdrawal);
        let rows = resting.into_iter().flatten().map(|row| row.get());
        Ok(json!({
            "consent": self.entry_of(&effect.consent)?,
            "counts": resting.is_some(),
            "resting": rows.collect::<Vec<_>>(),
            "withdrawal": self.entry_of(&effect.withdrawal)?,
        }))
    }
}

/// Returns the message that is signed for the checksum of an export.
fn signed(origin: &str, sum: &str) -> String {
    format!("{FORMAT}\n{origin}\n{sum}\n")
}

/// Lines that are hashed while they are written.
struct Hashing<'a, W> {
    engine: &'a mut W,
    hash: Sha256,
}

impl<'a, W: Write> Hashing<'a, W> {
    fn new(engine: &'a mut W) -> Self {
        let hash = Sha256::new();
        Self { engine, hash }
    }

    fn line(&mut self, value: &Value) -> io::Result<()> {
        let line = format!("{value}\n");
        self.hash.update(&line);
        self.engine.write_all(line.as_bytes())
    }

    fn sum(&self) -> String {
        HEXLOWER.encode(&self.hash.clone().finalize())
    }
}

const FORMAT: &str = "grainstore-audit-export/v1";
