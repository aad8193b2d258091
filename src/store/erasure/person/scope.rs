//! The selector: every grain and record of the ledger that names a person.
//!
//! It reads entries in their order and can be continued, so that most of the work of an erasure is
//! done before writers wait.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::codec::{ContentAddress, Encoding, Profile, Value};
use crate::grain::Grain;
use crate::index::{Family, Snapshot};
use crate::ledger::{Entry, EntryId, Kind};
use crate::store::Error;
use crate::store::engine::Engine;
use crate::store::erasure::person::identity::{Needles, Person};
use crate::store::records::{Record, SealedRecord, Uid};
use crate::store::view::names;

/// A grain that names a person.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) row: EntryId,
    pub(super) address: ContentAddress,
    /// The fields that name the person.
    pub(super) fields: Vec<String>,
    pub(super) is_about: bool,
}

/// The grains and records that name a person, up to an entry of the ledger.
pub(super) struct Selection<'a> {
    engine: &'a Engine,
    needles: Needles<'a>,
    /// The first entry that was not read.
    next: EntryId,
    grains: BTreeMap<ContentAddress, (Found, bool)>,
    /// Grains with a foreign name that names the person.
    aliased: Vec<(ContentAddress, &'static str)>,
    /// The entries that name the person as an actor, and how many were written in that name.
    actors: Vec<EntryId>,
    pub(super) written: u64,
    records: BTreeMap<EntryId, (Kind, Option<ContentAddress>)>,
    pub(super) tombstones: u64,
    /// The sealed persons who are locked, each with their first entry. It is about no one else, but
    /// may mention others.
    locked: BTreeMap<Uid, EntryId>,
    /// Whether locked persons are left out though one of them may be the person.
    pub(super) leaves_locked: bool,
}

impl<'a> Selection<'a> {
    /// # Errors
    /// `ERR_FILTER` for an empty identifier.
    pub(super) fn of(engine: &'a Engine, person: &'a Person) -> Result<Self, Error> {
        Ok(Self {
            engine,
            needles: Needles::of(person)?,
            next: EntryId::FIRST,
            grains: BTreeMap::new(),
            aliased: Vec::new(),
            actors: Vec::new(),
            written: 0,
            records: BTreeMap::new(),
            tombstones: 0,
            locked: BTreeMap::new(),
            leaves_locked: false,
        })
    }

    /// Reads on to the end of the ledger.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for an entry that cannot be read, and `ERR_SCOPE_INCOMPLETE` for one
    /// that is sealed: either may name the person (revision 1.6, 28.4.4). `ERR_STORAGE_IO`.
    pub(super) fn read_on(&mut self) -> Result<(), Error> {
        let ledger = self.engine.ledger();
        let mut outcome = Ok(());
        ledger.scan(self.next, &mut |entry| {
            outcome = self.take(entry);
            match outcome {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        outcome
    }

    fn take(&mut self, mut entry: Entry<'_>) -> Result<(), Error> {
        let row = entry.header.sequence;
        if entry.header.kind == Kind::SealedGrain {
            let sealed = SealedRecord::decode(&entry.body);
            let sealed = sealed.ok_or(Error::ScopeIncomplete { row })?;
            // Held grains of an erased person answer to no name.
            if self.engine.is_hold(&sealed.card.uid) {
                self.next = row.next();
                return Ok(());
            }
            let Some(opened) = self.engine.keyring().open(&sealed) else {
                self.next = row.next();
                self.locked.entry(sealed.card.uid).or_insert(row);
                return Ok(());
            };
            entry = opened.into_entry(entry.header);
        }
        let kind = entry.header.kind;
        self.next = row.next();
        let actor = entry.header.actor;
        if actor.is_some_and(|actor| self.actors.contains(&actor)) {
            self.written += 1;
        }
        match kind {
            Kind::Grain if self.needles.may_be_in(&entry.body) => {
                let address = ContentAddress::new(entry.hash);
                let grain = Grain::from_verified(entry.body.into_owned(), address);
                self.take_grain(row, &grain.map_err(|_| Error::malformed(row, kind))?);
                Ok(())
            }
            Kind::Erasing => match Record::decode(kind, &entry.body) {
                Some(Record::Erasing(erasing)) => {
                    self.tombstones += erasing.tombstones.len() as u64;
                    self.take_record(row, kind, &entry.body)
                }
                _ => Err(Error::malformed(row, kind)),
            },
            Kind::Grain => Ok(()),
            _ => self.take_record(row, kind, &entry.body),
        }
    }

    fn take_grain(&mut self, row: EntryId, grain: &Grain) {
        let naming = self.needles.naming(grain);
        if naming.fields.is_empty() {
            return;
        }
        let found = Found {
            row,
            address: grain.address(),
            fields: naming.fields,
            is_about: naming.is_about,
        };
        // A grain that was erased and stored again has two entries.
        let found = (found, naming.is_of_another);
        self.grains.insert(grain.address(), found);
    }

    fn take_record(&mut self, row: EntryId, kind: Kind, body: &[u8]) -> Result<(), Error> {
        if !self.needles.may_be_in(body) {
            return Ok(());
        }
        let record = Record::decode(kind, body);
        match record.ok_or_else(|| Error::malformed(row, kind))? {
            Record::Alias(alias) => {
                // The scope of a foreign name is its owner; its id names a record.
                if self.needles.is(alias.id.scope()) {
                    self.aliased.push((alias.of, ALIAS_SCOPE));
                } else if self.needles.is(alias.id.id()) {
                    self.aliased.push((alias.of, ALIAS_ID));
                }
            }
            record => {
                let map = Encoding::MessagePack.decode(body, Profile::Extended);
                let map = map.map_err(|_| Error::malformed(row, kind))?;
                if !self.needles.are_in(&Value::Map(map.into_map())) {
                    return Ok(());
                }
                if kind == Kind::Actor {
                    self.actors.push(row);
                }
                self.records.insert(row, (kind, record.about()));
            }
        }
        Ok(())
    }

    /// Returns the grains, in the order of storage, and the records that stay when those about the
    /// person are erased. No writer may have written since [`Selection::read_on`]. `mentions` says
    /// whether all that only mention the person must be among them.
    ///
    /// # Errors
    /// `ERR_SCOPE_INCOMPLETE` if the person is locked, or may be, and where `mentions` are asked for
    /// if entries of other locked persons may mention the person; storage errors.
    pub(super) fn finish(mut self, snapshot: &Snapshot, mentions: bool) -> Result<Chosen, Error> {
        if let Some(row) = self.locked.values().min().copied() {
            let incomplete = || Error::ScopeIncomplete { row };
            let ids = self.needles.ids().iter();
            for id in ids.filter(|_| !self.leaves_locked) {
                match self.engine.person_with(id) {
                    Err(Error::Locked) => return Err(incomplete()),
                    known => known?,
                };
            }
            if mentions {
                return Err(incomplete());
            }
        }
        for (address, field) in std::mem::take(&mut self.aliased) {
            self.add_aliased(snapshot, address, field)?;
        }
        let mut sound = BTreeMap::new();
        for (address, (found, _)) in std::mem::take(&mut self.grains) {
            // Another erasure may have removed it meanwhile.
            if self.engine.as_of(snapshot).holds(found.row, &address)? {
                sound.insert(address, found);
            }
        }
        let about = sound.values().filter(|found| found.is_about);
        let about: Vec<ContentAddress> = about.map(|found| found.address).collect();
        for address in &about {
            self.add_derived(snapshot, address, &mut sound)?;
        }
        let mut records = Vec::new();
        for (row, (kind, of)) in self.records {
            let goes = of.and_then(|of| sound.get(&of));
            if !goes.is_some_and(|found| found.is_about) {
                records.push((row, kind));
            }
        }
        let mut grains: Vec<Found> = sound.into_values().collect();
        grains.sort_unstable_by_key(|found| found.row);
        Ok(Chosen {
            grains,
            records,
            locked_persons: self.locked.len() as u64,
        })
    }

    fn add_aliased(
        &mut self,
        snapshot: &Snapshot,
        address: ContentAddress,
        field: &'static str,
    ) -> Result<(), Error> {
        if !self.grains.contains_key(&address) {
            let Some(row) = self.engine.as_of(snapshot).locate(&address)? else {
                return Ok(());
            };
            let naming = self.needles.naming(&self.engine.grain_at(row, &address)?);
            let found = Found {
                row,
                address,
                fields: naming.fields,
                is_about: naming.is_about,
            };
            self.grains.insert(address, (found, naming.is_of_another));
        }
        if let Some((found, is_of_another)) = self.grains.get_mut(&address) {
            found.is_about |= field == ALIAS_SCOPE && !*is_of_another;
            if !found.fields.iter().any(|known| known == field) {
                found.fields.push(field.to_owned());
            }
        }
        Ok(())
    }

    /// Adds the grains derived from one about the person, which may repeat what it says.
    fn add_derived(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
        sound: &mut BTreeMap<ContentAddress, Found>,
    ) -> Result<(), Error> {
        let rows = snapshot.pointing_at(Family::DerivedFrom, address).rows()?;
        for row in rows.iter() {
            let (_, grain) = self.engine.grain(row)?;
            // The index holds hashes of addresses.
            if names(&grain, address) {
                let of = grain.address();
                sound.entry(of).or_insert_with(|| Found {
                    row,
                    address: of,
                    fields: vec![DERIVED.to_owned()],
                    is_about: false,
                });
            }
        }
        Ok(())
    }
}

/// The result of a selection.
pub(super) struct Chosen {
    /// In the order of storage.
    pub(super) grains: Vec<Found>,
    /// The records that name the person and are not about a grain that goes.
    pub(super) records: Vec<(EntryId, Kind)>,
    /// The number of sealed persons who are locked, of whom no grain was looked into.
    pub(super) locked_persons: u64,
}

const ALIAS_SCOPE: &str = "foreign_id.scope";
const ALIAS_ID: &str = "foreign_id.id";
const DERIVED: &str = "derived_from";
