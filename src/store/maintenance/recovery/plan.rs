//! The plan of a recovery, made by the first of two passes: which entries of a damaged ledger may come
//! into the new one.
//!
//! A frame's check proves what its entries are. Where it does not hold, the body of an entry has to say
//! so itself: a grain is one by its bytes, and a record is written back to the same bytes. Erasures
//! come after what they erase, so all of them are read before anything is brought out.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::{ContentAddress, Flags, Header, Profile};
use crate::grain::Grain;
use crate::ledger::{Binding, EntryId, Found, FoundEntry, Kind, Proof};
use crate::store::Error;
use crate::store::records::{Record, SealedRecord, erased_rows};

/// The facts about a damaged ledger that are known before it is copied.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The entries that erasures list.
    pub(super) erased: BTreeSet<EntryId>,
    /// Entries that are left out although their bodies prove themselves, and why.
    pub(super) left_out: BTreeMap<EntryId, &'static str>,
    /// The kinds of the entries of which the header is not proven.
    pub(super) kinds: BTreeMap<EntryId, Kind>,
    /// Grains whose bodies are damaged, and their addresses where another entry names them.
    pub(super) damaged: BTreeMap<EntryId, (Binding, Option<ContentAddress>)>,
    actors: BTreeSet<EntryId>,
    /// The entries that are lost with their headers.
    missing: Vec<(u64, u64)>,
    /// The signed grain whose signature must come next.
    awaited: Option<(EntryId, ContentAddress)>,
}

impl Plan {
    /// Takes in what the ledger has next.
    pub(super) fn see(&mut self, found: &Found<'_>) -> Result<(), Error> {
        match found {
            Found::Entry(entry) => self.entry(entry),
            Found::Lost(lost) if !lost.entries.is_empty() => {
                self.missing.push((lost.entries.start, lost.entries.end));
                self.end_grain();
            }
            Found::Lost(_) => {}
        }
        Ok(())
    }

    /// Ends the pass: a signed grain at the end has no signature.
    pub(super) fn finish(&mut self) {
        self.end_grain();
        let Self {
            erased, damaged, ..
        } = self;
        damaged.retain(|row, _| !erased.contains(row));
    }

    fn end_grain(&mut self) {
        if let Some((row, _)) = self.awaited.take() {
            self.left_out.insert(row, "its signature is damaged");
        }
    }

    fn entry(&mut self, entry: &FoundEntry<'_>) {
        let row = entry.header.sequence;
        let Some(body) = entry.body.as_deref() else {
            if entry.header.kind == Kind::Grain {
                self.damaged.insert(row, (entry.binding, None));
            } else if entry.header.kind == Kind::Actor {
                // Its entries are those of an actor whose name is not known.
                self.actors.insert(row);
            }
            self.end_grain();
            return;
        };
        let kind = match entry.proof {
            Proof::Frame => Ok(entry.header.kind),
            Proof::Place | Proof::Nothing => self.judge(entry, body),
        };
        let kind = match kind {
            Ok(kind) => kind,
            Err(reason) => {
                self.left_out.insert(row, reason);
                self.end_grain();
                return;
            }
        };
        if kind != entry.header.kind || entry.proof != Proof::Frame {
            self.kinds.insert(row, kind);
        }
        if kind == Kind::Signature {
            let record = Record::decode(kind, body);
            let of = record.as_ref().and_then(Record::about);
            let awaited = self.awaited.take();
            if awaited.is_none_or(|(before, address)| before.next() != row || of != Some(address)) {
                self.left_out.insert(row, "the signed grain is damaged");
            }
            return;
        }
        self.end_grain();
        match kind {
            Kind::Grain if is_signed(body) => self.awaited = Some((row, ContentAddress::of(body))),
            Kind::Actor => {
                self.actors.insert(row);
            }
            Kind::Erasing => {
                let rows = erased_rows(body).into_iter();
                self.erased.extend(rows.filter(|listed| *listed < row));
            }
            _ => {}
        }
    }

    /// Returns the kind of an entry whose header is not proven.
    fn judge(&self, entry: &FoundEntry<'_>, body: &[u8]) -> Result<Kind, &'static str> {
        let row = entry.header.sequence;
        let is_missing = |actor: EntryId| {
            let mut missing = self.missing.iter();
            missing.any(|(start, end)| (*start..*end).contains(&actor.get()))
        };
        let is_known = |actor: EntryId| {
            actor < row
                && (self.actors.contains(&actor)
                    || self.left_out.contains_key(&actor)
                    || is_missing(actor))
        };
        if entry.header.actor.is_some_and(|actor| !is_known(actor)) {
            return Err("its header is damaged: it does not say who wrote it");
        }
        if is_grain(body) {
            return Ok(Kind::Grain);
        }
        let stated = entry.header.kind;
        let is_record = match stated {
            Kind::Grain => false,
            Kind::SealedGrain => SealedRecord::decode(body).is_some(),
            // A body may imitate a rule where nothing says that it is an entry.
            _ if entry.proof == Proof::Nothing => false,
            kind => Record::decode(kind, body).is_some_and(|record| {
                let is_known = !matches!(record, Record::Unknown(..));
                is_known && record.encode().is_ok_and(|bytes| bytes == body)
            }),
        };
        match is_record {
            true => Ok(stated),
            false => Err("its header is damaged: it does not say what the entry is"),
        }
    }

    /// Notes the address of a damaged grain if the entry with this body names it.
    pub(super) fn name_damaged(&mut self, kind: Kind, body: &[u8]) {
        if self.damaged.is_empty() {
            return;
        }
        let named = match kind {
            Kind::Grain => match Grain::from_proven(body.to_vec()) {
                Ok(grain) => grain.derived_from().chain(grain.related_to()).collect(),
                Err(_) => Vec::new(),
            },
            kind => Record::decode(kind, body).map_or_else(Vec::new, |record| record.named()),
        };
        for address in named {
            for (binding, known) in self.damaged.values_mut() {
                if binding.binds(address.as_bytes()) {
                    *known = Some(address);
                }
            }
        }
    }
}

/// Returns whether bytes are a grain of any writer.
fn is_grain(body: &[u8]) -> bool {
    let read = match is_signed(body) {
        true => Grain::from_foreign_signed_blob(body.to_vec(), Profile::Extended),
        false => Grain::from_foreign_blob(body.to_vec(), Profile::Extended),
    };
    read.is_ok()
}

fn is_signed(body: &[u8]) -> bool {
    Header::read(body).is_ok_and(|header| header.flags.contains(Flags::SIGNED))
}
