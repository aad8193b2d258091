//! A frame before it is written: the entries of one atomic batch.
//!
//! A record is encoded when it enters the frame, and the frame keeps the record that its bytes
//! decode to. A commit therefore applies the same records as a store that is opened on the same
//! ledger.

use std::sync::Arc;

use crate::codec::{self, ContentAddress};
use crate::crypto::{self, Random};
use crate::grain::Grain;
#[cfg(feature = "sealing")]
use crate::grain::Time;
use crate::ledger::{Binding, EntryId, Kind, NewEntry};
use crate::policy::{Capability, Operation};

use super::{
    ConsentEffectRecord, PolicyRecord, Record, ReviewRecord, SignatureRecord, Uid, draw_salts,
};

/// The entries of one atomic batch.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    entries: Vec<FrameEntry>,
    /// The effects of withdrawals in it, each with the number of entries before it.
    effects: Vec<(usize, ConsentEffectRecord)>,
    /// The entry that names the actor, unless an entry has its own.
    actor: Option<EntryId>,
}

/// An entry of a frame.
#[derive(Debug)]
pub(crate) struct FrameEntry {
    body: EntryBody,
    actor: Option<EntryId>,
    /// The sealed person whom it is about, if what it names does not say so.
    person: Option<Uid>,
    /// When it was first stored, if it stands for an entry in the clear.
    #[cfg(feature = "sealing")]
    since: Option<Time>,
}

/// The body of an entry.
#[derive(Debug)]
pub(crate) enum EntryBody {
    /// A grain, and its binding if it was made before.
    Grain(Box<Grain>, Option<Binding>),
    /// A record, and its bytes.
    Record(Record, Vec<u8>),
}

/// A grain that waits for its place in the ledger.
#[derive(Debug)]
pub(crate) struct PendingPut {
    pub(crate) grain: Grain,
    pub(crate) binding: Binding,
    /// Parents that it does not supersede implicitly.
    pub(crate) non_superseding_parents: Vec<ContentAddress>,
    /// Whether it may come back after it was deleted.
    pub(crate) again: bool,
    /// The entry that names the actor.
    pub(crate) actor: Option<EntryId>,
    /// The capability of the handle that stores it; `None` for the owner's.
    pub(crate) capability: Option<Arc<Capability>>,
    /// The entry behind a signed grain.
    pub(crate) signature: Option<EntryBody>,
}

impl PendingPut {
    /// Returns what it adds to a frame, in bytes, about.
    pub(crate) fn weight(&self) -> usize {
        let signature = match &self.signature {
            Some(EntryBody::Record(_, body)) => body.len() + PER_ENTRY,
            _ => 0,
        };
        self.grain.blob().len() + PER_ENTRY + signature
    }
}

impl EntryBody {
    /// Encodes a record.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn record(record: &Record) -> Result<Self, codec::Error> {
        let (kind, body) = (record.kind(), record.encode()?);
        let record = match record {
            // An import has one for each grain, and its members are bytes, which no form changes.
            Record::Alias(_) => record.clone(),
            // Its bytes are canonical MessagePack of the members that the decoder asks for.
            _ => Record::decode(kind, &body).unwrap_or(Record::Unknown(kind, None)),
        };
        Ok(Self::Record(record, body))
    }

    /// Returns whether it is a record that says the same.
    #[cfg(feature = "interchange")]
    pub(crate) fn is(&self, other: &Record) -> bool {
        matches!(self, Self::Record(record, _) if record == other)
    }

    /// Returns the entry that goes behind a grain, if it is signed: a frame holds both or neither.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn signature_of(grain: &Grain) -> Result<Option<Self>, codec::Error> {
        let record = grain.envelope().map(|envelope| {
            Record::Signature(SignatureRecord {
                of: grain.address(),
                envelope: envelope.to_vec(),
            })
        });
        record.as_ref().map(Self::record).transpose()
    }
}

impl Frame {
    /// Starts a frame of the actor that the entry `actor` names.
    pub(crate) fn by(actor: Option<EntryId>) -> Self {
        Self {
            actor,
            ..Self::default()
        }
    }

    /// Starts a frame with one record.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn of(actor: Option<EntryId>, record: &Record) -> Result<Self, codec::Error> {
        let mut frame = Self::by(actor);
        frame.record(record)?;
        Ok(frame)
    }

    /// Replaces the actor of the entries that follow, and returns the one before.
    pub(crate) const fn act_as(&mut self, actor: Option<EntryId>) -> Option<EntryId> {
        std::mem::replace(&mut self.actor, actor)
    }

    /// Adds a record of the frame's actor.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn record(&mut self, record: &Record) -> Result<(), codec::Error> {
        self.record_by(record, self.actor)
    }

    /// Adds a record of another actor.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn record_by(
        &mut self,
        record: &Record,
        actor: Option<EntryId>,
    ) -> Result<(), codec::Error> {
        self.push_by(EntryBody::record(record)?, actor);
        Ok(())
    }

    /// Adds a record of another actor about a sealed person: about a grain that is not stored, or
    /// about several.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn record_about(
        &mut self,
        record: &Record,
        actor: Option<EntryId>,
        person: Option<Uid>,
    ) -> Result<(), codec::Error> {
        self.record_by(record, actor)?;
        if let Some(entry) = self.entries.last_mut() {
            entry.person = person;
        }
        Ok(())
    }

    /// Adds a grain, and behind it its signature.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn grain(&mut self, grain: Grain) -> Result<(), codec::Error> {
        let signature = EntryBody::signature_of(&grain)?;
        self.push(EntryBody::Grain(Box::new(grain), None));
        if let Some(signature) = signature {
            self.push(signature);
        }
        Ok(())
    }

    /// Adds a grain that was prepared before, and behind it its signature.
    pub(crate) fn put(&mut self, put: PendingPut) {
        let body = EntryBody::Grain(Box::new(put.grain), Some(put.binding));
        self.push_by(body, put.actor);
        if let Some(signature) = put.signature {
            self.push_by(signature, put.actor);
        }
    }

    /// Adds an entry of the frame's actor.
    pub(crate) fn push(&mut self, body: EntryBody) {
        self.push_by(body, self.actor);
    }

    fn push_by(&mut self, body: EntryBody, actor: Option<EntryId>) {
        if let EntryBody::Record(Record::ConsentEffect(effect), _) = &body {
            self.effects.push((self.entries.len(), *effect));
        }
        self.entries.push(FrameEntry {
            body,
            actor,
            person: None,
            #[cfg(feature = "sealing")]
            since: None,
        });
    }

    /// Opens a review of a change by a person.
    ///
    /// # Errors
    /// As [`Record::encode`].
    pub(crate) fn review(
        &mut self,
        target: &ContentAddress,
        operation: Operation,
    ) -> Result<(), codec::Error> {
        let review = ReviewRecord::opened(*target, operation.name());
        self.record(&Record::Review(review))
    }

    /// Adds an entry that was in the clear, for a sealed person, with its time and its actor.
    #[cfg(feature = "sealing")]
    pub(crate) fn seal_anew(
        &mut self,
        body: EntryBody,
        actor: Option<EntryId>,
        person: Uid,
        since: Time,
    ) {
        self.push_by(body, actor);
        if let Some(entry) = self.entries.last_mut() {
            entry.person = Some(person);
            entry.since = Some(since);
        }
    }

    /// Takes back every entry from the `len`th on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
        self.effects.retain(|(before, _)| *before < len);
    }

    pub(crate) fn entries(&self) -> &[FrameEntry] {
        &self.entries
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether an operator sets the time of the ledger with it.
    pub(crate) fn repairs_clock(&self) -> bool {
        let [entry] = self.entries() else {
            return false;
        };
        let EntryBody::Record(Record::Policy(record), _) = &entry.body else {
            return false;
        };
        matches!(record, PolicyRecord::ClockRepaired { .. })
    }

    /// Returns the withdrawals of consents in it.
    pub(crate) fn effects(&self) -> impl Iterator<Item = ConsentEffectRecord> {
        self.effects.iter().map(|(_, effect)| *effect)
    }

    pub(crate) fn has_effects(&self) -> bool {
        !self.effects.is_empty()
    }

    /// Returns the grains in it.
    pub(crate) fn grains(&self) -> impl Iterator<Item = &Grain> {
        self.entries.iter().filter_map(FrameEntry::grain)
    }

    /// Returns a grain in it.
    pub(crate) fn find(&self, address: &ContentAddress) -> Option<&Grain> {
        self.grains().find(|grain| grain.address() == *address)
    }

    /// Returns the entry that names the writer of a grain in it, and whether the grain is flagged
    /// as one from a file.
    pub(crate) fn writer_of(&self, address: &ContentAddress) -> Option<(Option<EntryId>, bool)> {
        let mut entries = self.entries.iter();
        let written = entries.find(|entry| {
            let grain = entry.grain();
            grain.is_some_and(|grain| grain.address() == *address)
        })?;
        let is_from_file = entries.any(|entry| match &entry.body {
            EntryBody::Record(Record::Flag(flag), _) => flag.is_from_file && flag.of == *address,
            _ => false,
        });
        Some((written.actor, is_from_file))
    }

    /// Returns whether it has only reads: they become durable with the next synced frame, so that a
    /// read does not take as long as a write.
    pub(crate) fn is_of_reads(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.all(|entry| entry.kind() == Kind::Read)
    }

    /// Returns the entries as the ledger takes them, each bound to its body by a salt.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn to_ledger(
        &self,
        random: &dyn Random,
    ) -> Result<Vec<NewEntry<'_>>, crypto::Error> {
        let unbound = self.entries.iter().filter(|entry| !entry.is_bound());
        let mut salts = draw_salts(random, unbound.count())?.into_iter();
        let mut salt = || salts.next().unwrap_or_default();
        let entries = self.entries.iter().map(|entry| {
            let (kind, body, binding) = match &entry.body {
                EntryBody::Grain(grain, Some(binding)) => (Kind::Grain, grain.blob(), *binding),
                EntryBody::Grain(grain, None) => {
                    let binding = Binding::new(salt(), grain.address().as_bytes());
                    (Kind::Grain, grain.blob(), binding)
                }
                EntryBody::Record(record, body) => {
                    (record.kind(), body.as_slice(), Binding::of(salt(), body))
                }
            };
            NewEntry {
                kind,
                actor: entry.actor,
                body,
                binding,
            }
        });
        Ok(entries.collect())
    }
}

impl FrameEntry {
    pub(crate) const fn body(&self) -> &EntryBody {
        &self.body
    }

    #[cfg(feature = "sealing")]
    pub(crate) const fn person(&self) -> Option<Uid> {
        self.person
    }

    #[cfg(feature = "sealing")]
    pub(crate) const fn since(&self) -> Option<Time> {
        self.since
    }

    pub(crate) fn grain(&self) -> Option<&Grain> {
        match &self.body {
            EntryBody::Grain(grain, _) => Some(grain),
            EntryBody::Record(..) => None,
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        match &self.body {
            EntryBody::Grain(..) => Kind::Grain,
            EntryBody::Record(record, _) => record.kind(),
        }
    }

    const fn is_bound(&self) -> bool {
        matches!(&self.body, EntryBody::Grain(_, Some(_)))
    }
}

/// The bytes of an entry beside its body.
const PER_ENTRY: usize = 80;
