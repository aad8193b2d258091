use std::collections::HashMap;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::MutexGuard;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time, Type};
use crate::index::{Batch, Snapshot};
use crate::ledger::{self, Binding, Kind, NewEntry};
use crate::policy::{Delegation, TrustedNow};

use super::consent::{Effect, has_consequences};
use super::entry::{SignatureEntry, StatusEntry};
use super::floor::Floor;
use super::open::Inner;
use super::turns::{Answer, Asked, Turn, Turns};
use super::{Durability, Error, replay};

/// The queue of those who want to write: puts, which share frames, and others.
pub(super) type Queue = Turns<Vec<Ready>, Result<(), Error>>;

/// A grain that only waits for its place in the ledger.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) grain: Grain,
    pub(super) binding: Binding,
    /// The parents that it cannot be said to replace.
    pub(super) harmless: Vec<ContentAddress>,
    /// Whether it may come back after it was deleted.
    pub(super) again: bool,
    /// The entry that says who puts it.
    pub(super) actor: Option<u64>,
    /// The entry that goes behind a signed grain.
    pub(super) signature: Option<Vec<u8>>,
}

/// What only the writer knows.
#[derive(Debug)]
pub(super) struct Writer {
    /// The time of the last entry: ledger time never goes back, whatever the clock does.
    pub(super) last: Time,
    /// How far the clock is believed.
    pub(super) floor: Floor,
    /// Whether the ledger may hold what the index does not: then nothing can be decided any more.
    halted: bool,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            last: Time::from_ms(i64::MIN),
            floor: Floor::default(),
            halted: false,
        }
    }
}

/// The right to write alone, from a decision to its acknowledgement.
pub(super) struct Lead<'a> {
    // Dropped before the turn: the next leader finds it free.
    writer: MutexGuard<'a, Writer>,
    _turn: Turn<'a, Vec<Ready>, Result<(), Error>>,
}

impl Deref for Lead<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.writer
    }
}

impl DerefMut for Lead<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }
}

impl Inner {
    /// Waits until nobody else writes.
    pub(super) fn lead_alone(&self) -> Lead<'_> {
        let turn = self.turns.alone();
        Lead {
            writer: self.writer.lock(),
            _turn: turn,
        }
    }

    /// Stores the grains of one request, all or none, in a frame with those of others.
    pub(super) fn put_all(&self, grains: Vec<Ready>) -> Result<(), Error> {
        let weight = grains.iter().map(Ready::weight).sum();
        let answer = match self.turns.ask(grains, weight) {
            Asked::Answered(answer) => answer,
            Asked::Lead(mut turn) => {
                self.lead(&mut turn);
                turn.own()
            }
        };
        // A leader that panicked: the outcome is unknown.
        answer.unwrap_or(Err(Error::Ledger(ledger::Error::Halted)))
    }

    /// Decides the requests that wait, in their order, and stores what is new in one frame.
    fn lead(&self, turn: &mut Turn<'_, Vec<Ready>, Result<(), Error>>) {
        let patience = match self.options.durability {
            Durability::Group(patience) => patience,
            Durability::Sync | Durability::Relaxed => Duration::ZERO,
        };
        let requests = turn.take(FRAME_BYTES, patience);
        let mut writer = self.writer.lock();
        let told = self.options.clock.now();
        let moment = writer.floor.moment(told);
        let mut frame = Shared::at(told.max(writer.last));
        let mut waiting: Vec<Answer<_>> = Vec::with_capacity(requests.len());
        for (grains, answer) in requests {
            match frame.admit(self, grains, moment) {
                Ok(Admitted::Waits) => waiting.push(answer),
                Ok(Admitted::IsHere) => answer.give(Ok(())),
                Err(error) => answer.give(Err(error)),
            }
        }
        match self.commit(&mut writer, &frame.frame) {
            Ok(_) => waiting.into_iter().for_each(|answer| answer.give(Ok(()))),
            Err(error) if waiting.len() > 1 => {
                let error = Arc::new(error);
                for answer in waiting {
                    answer.give(Err(Error::Shared(Arc::clone(&error))));
                }
            }
            Err(error) => {
                if let Some(answer) = waiting.pop() {
                    answer.give(Err(error));
                }
            }
        }
    }

    /// Appends a frame, makes it as durable as the options say, and applies it. The one door to
    /// the ledger.
    pub(super) fn commit(&self, writer: &mut Writer, frame: &Frame) -> Result<Range<u64>, Error> {
        if writer.halted {
            return Err(ledger::Error::Halted.into());
        }
        if frame.items.is_empty() {
            let end = self.ledger.len();
            return Ok(end..end);
        }
        let told = self.options.clock.now();
        if let Some(floor) = writer.floor.follow(told) {
            tracing::warn!(%floor, %told, "the clock leapt forward by more than a day");
            // Before anything that was written by it.
            self.write(writer, &Self::leap(floor)?, told)?;
        }
        self.write(writer, frame, told)
    }

    fn write(&self, writer: &mut Writer, frame: &Frame, told: Time) -> Result<Range<u64>, Error> {
        self.lock.check().inspect_err(|_| writer.halted = true)?;
        let now = told.max(writer.last);
        let bindings = frame.bindings(self)?;
        let entries = frame.items.iter().zip(bindings);
        let entries: Vec<_> = entries.map(|(item, binding)| item.entry(binding)).collect();
        // Until all views have it: a frame that is in the ledger and not in the index would let
        // its grains in twice.
        writer.halted = true;
        let may_wait = self.options.durability == Durability::Relaxed || frame.is_of_reads();
        let appended = if may_wait {
            self.ledger.append_unsynced(now.ms(), &entries)
        } else {
            self.ledger.append(now.ms(), &entries)
        };
        let rows = appended.inspect_err(|_| {
            // The ledger knows whether it may go on.
            writer.halted = false;
        })?;
        writer.last = now;
        self.apply(&rows, frame, now)?;
        writer.halted = false;
        self.feed_text(&rows, frame);
        Ok(rows)
    }

    /// Makes a frame visible.
    fn apply(&self, rows: &Range<u64>, frame: &Frame, now: Time) -> Result<(), Error> {
        let snapshot = self.index.snapshot();
        let mut batch = self.index.batch();
        let mut resolve = |batch: &Batch, address: &_| self.locate_with(&snapshot, batch, address);
        for (row, item) in rows.clone().zip(&frame.items) {
            match &item.what {
                What::Grain(grain, _) => {
                    if grain.text("relation") == Some(Delegation::RELATION) {
                        self.has_delegations.store(true, Ordering::Release);
                    }
                    batch.grain(row, grain, now.ms());
                }
                What::Record(kind, body) => {
                    replay::apply_record(&mut batch, (row, now.ms()), *kind, body, &mut resolve)?;
                }
            }
        }
        self.index.publish(batch, rows.end);
        self.stand(frame, now);
        self.settle();
        Ok(())
    }

    /// Takes in what a frame says that is kept in memory.
    fn stand(&self, frame: &Frame, now: Time) {
        for item in &frame.items {
            match &item.what {
                What::Grain(grain, _) if grain.type_() == Type::Consent => {
                    self.standing.write().forget_resting();
                    self.ancestry.learn(grain);
                }
                What::Grain(grain, _) => self.ancestry.learn(grain),
                What::Record(Kind::Status, body) => {
                    let status = StatusEntry::decode(body);
                    let by = status.and_then(|status| status.change.superseded_by);
                    // What was here before may be the past of heads that are remembered.
                    if by.is_some_and(|by| frame.find(&by).is_none()) {
                        self.ancestry.forget_lineages();
                    }
                }
                What::Record(kind @ (Kind::Hold | Kind::ConsentEffect | Kind::Policy), body) => {
                    self.standing.write().apply(now, *kind, body);
                }
                What::Record(..) => {}
            }
        }
    }
}

impl Ready {
    fn weight(&self) -> usize {
        let signature = self.signature.as_ref();
        let signature = signature.map_or(0, |body| body.len() + PER_ENTRY);
        self.grain.blob().len() + PER_ENTRY + signature
    }
}

/// A frame that several requests share, and the grains in it.
struct Shared {
    now: Time,
    frame: Frame,
    pending: HashMap<ContentAddress, usize>,
}

/// What a request that is not refused waits for.
enum Admitted {
    /// For the frame: something of it is there.
    Waits,
    /// For nothing: all of it was stored before.
    IsHere,
}

impl Shared {
    fn at(now: Time) -> Self {
        Self {
            now,
            frame: Frame::default(),
            pending: HashMap::new(),
        }
    }

    /// Adds what is new of a request; one that is refused leaves nothing behind but, where a rule
    /// about its author refuses it, the record of that.
    fn admit(
        &mut self,
        store: &Inner,
        grains: Vec<Ready>,
        moment: TrustedNow,
    ) -> Result<Admitted, Error> {
        let before = self.frame.items.len();
        let snapshot = store.index.snapshot();
        let mut admitted = Admitted::IsHere;
        for (index, ready) in grains.into_iter().enumerate() {
            let (address, actor) = (ready.grain.address(), ready.actor);
            if self.pending.contains_key(&address) {
                // Acknowledged with the frame that has the first copy, and not before.
                admitted = Admitted::Waits;
                continue;
            }
            let taken = match self.is_wanted(store, &snapshot, &ready) {
                Ok(true) => {
                    admitted = Admitted::Waits;
                    self.take(store, &snapshot, ready, moment)
                }
                Ok(false) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = taken {
                self.undo(before);
                match &error {
                    Error::Denied { address, rule } => {
                        self.frame.deny_about(address, "put", *rule, actor)?;
                    }
                    error => {
                        if let Some(body) = error.refusal("put") {
                            self.frame.push(What::Record(Kind::Denial, body?), actor);
                        }
                    }
                }
                return Err(Error::batch(index, error));
            }
        }
        Ok(admitted)
    }

    /// Adds a grain and what follows from it, unless what it rests on forbids it.
    fn take(
        &mut self,
        store: &Inner,
        snapshot: &Snapshot,
        ready: Ready,
        moment: TrustedNow,
    ) -> Result<(), Error> {
        let address = ready.grain.address();
        if let Some(rule) = store.refuse_terms(snapshot, &self.frame, &ready.grain)? {
            return Err(Error::Denied { address, rule });
        }
        // Only what says something about consent or asks for review has consequences.
        let consequent = has_consequences(&ready.grain).then(|| ready.grain.clone());
        self.pending.insert(address, self.frame.items.len());
        self.frame.ready(ready);
        if let Some(grain) = consequent {
            store.record_consequences(snapshot, &mut self.frame, &grain, Some(moment))?;
        }
        Ok(())
    }

    /// Returns whether a grain is new, and refuses one that may not come in.
    fn is_wanted(&self, store: &Inner, snapshot: &Snapshot, ready: &Ready) -> Result<bool, Error> {
        let address = ready.grain.address();
        if store.locate(snapshot, &address)?.is_some() {
            return Ok(false);
        }
        store.refuse_deleted(&address, ready.again)?;
        store.refuse_unfit(&ready.grain)?;
        let frame = self.frame.items.iter().filter_map(Item::grain);
        store.refuse_second_owner(snapshot, &ready.grain, frame)?;
        let pending = |address: &ContentAddress| self.grain(address);
        store.refuse_implied_supersession(&ready.grain, &ready.harmless, &pending)?;
        let allowed = store.refuse_undelegated(snapshot, &ready.grain, self.now)?;
        allowed.map_err(|rule| Error::Refused { rule })?;
        store.refuse_breach(&ready.grain)?;
        Ok(true)
    }

    fn grain(&self, address: &ContentAddress) -> Option<&Grain> {
        self.frame.items.get(*self.pending.get(address)?)?.grain()
    }

    fn undo(&mut self, before: usize) {
        self.frame.undo(before);
        self.pending.retain(|_, place| *place < before);
    }
}

/// The entries of one atomic batch.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) items: Vec<Item>,
    /// The consents that its grains withdraw.
    pub(super) effects: Vec<Effect>,
    /// The entry that says who acts, unless an item has its own.
    pub(super) actor: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) what: What,
    actor: Option<u64>,
}

#[derive(Debug)]
pub(super) enum What {
    Grain(Box<Grain>, Option<Binding>),
    Record(Kind, Vec<u8>),
}

impl Frame {
    /// Starts a frame of whoever the entry `actor` names.
    pub(super) const fn by(actor: Option<u64>) -> Self {
        Self {
            items: Vec::new(),
            effects: Vec::new(),
            actor,
        }
    }

    /// Adds a grain, and behind it its signature if it has one: the frame holds both or neither.
    pub(super) fn grain(&mut self, grain: Grain) -> Result<(), Error> {
        let signature = SignatureEntry::of(&grain)?;
        self.push(What::Grain(Box::new(grain), None), self.actor);
        self.sign(signature, self.actor);
        Ok(())
    }

    pub(super) fn record(&mut self, kind: Kind, body: Vec<u8>) {
        self.push(What::Record(kind, body), self.actor);
    }

    /// Returns a grain of the frame.
    pub(super) fn find(&self, address: &ContentAddress) -> Option<&Grain> {
        self.items.iter().find_map(|item| match &item.what {
            What::Grain(grain, _) if grain.address() == *address => Some(&**grain),
            What::Grain(..) | What::Record(..) => None,
        })
    }

    fn undo(&mut self, before: usize) {
        self.items.truncate(before);
        self.effects.retain(|effect| effect.place <= before);
    }

    fn ready(&mut self, ready: Ready) {
        let what = What::Grain(Box::new(ready.grain), Some(ready.binding));
        self.push(what, ready.actor);
        self.sign(ready.signature, ready.actor);
    }

    fn sign(&mut self, signature: Option<Vec<u8>>, actor: Option<u64>) {
        if let Some(body) = signature {
            self.push(What::Record(Kind::Signature, body), actor);
        }
    }

    /// Returns whether it only says who read what: durable with what is written next, for a read
    /// must not take as long as a write.
    fn is_of_reads(&self) -> bool {
        let is_read = |item: &Item| matches!(&item.what, What::Record(Kind::Read, _));
        self.items.iter().all(is_read)
    }

    /// Returns whether it records something of a kind.
    pub(super) fn has(&self, kind: Kind) -> bool {
        let records = |item: &Item| matches!(&item.what, What::Record(of, _) if *of == kind);
        self.items.iter().any(records)
    }

    pub(super) fn push(&mut self, what: What, actor: Option<u64>) {
        self.items.push(Item { what, actor });
    }

    /// Returns what binds each body, made now where it was not made before.
    fn bindings(&self, store: &Inner) -> Result<Vec<Binding>, Error> {
        let unbound = self.items.iter().filter(|item| item.binding().is_none());
        let mut salts = store.salts(unbound.count())?.into_iter();
        let bind = |item: &Item| match &item.what {
            What::Grain(_, Some(binding)) => *binding,
            What::Grain(grain, None) => {
                Binding::new(salts.next().unwrap_or_default(), grain.address().as_bytes())
            }
            What::Record(_, body) => Binding::of(salts.next().unwrap_or_default(), body),
        };
        Ok(self.items.iter().map(bind).collect())
    }
}

impl Item {
    pub(super) fn grain(&self) -> Option<&Grain> {
        match &self.what {
            What::Grain(grain, _) => Some(grain),
            What::Record(..) => None,
        }
    }

    const fn binding(&self) -> Option<Binding> {
        match &self.what {
            What::Grain(_, binding) => *binding,
            What::Record(..) => None,
        }
    }

    fn entry(&self, binding: Binding) -> NewEntry<'_> {
        let (kind, body) = match &self.what {
            What::Grain(grain, _) => (Kind::Grain, grain.blob()),
            What::Record(kind, body) => (*kind, body.as_slice()),
        };
        NewEntry {
            kind,
            actor: self.actor,
            body,
            binding,
        }
    }
}

impl Inner {
    /// Draws salts, all at once: what the system charges for is the asking.
    pub(super) fn salts(&self, count: usize) -> Result<Vec<[u8; Binding::SALT_LEN]>, Error> {
        let mut salts = vec![[0; Binding::SALT_LEN]; count];
        if count > 0 {
            self.options.random.fill(salts.as_flattened_mut())?;
        }
        Ok(salts)
    }
}

/// How much of what waits goes into one frame, in bytes: enough that a sync is cheap for each, and
/// little enough that the last of them does not wait for megabytes of the others.
const FRAME_BYTES: usize = 1 << 20;

/// What an entry weighs beside its body.
const PER_ENTRY: usize = 80;
