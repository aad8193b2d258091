//! The second pass of a recovery: entries on their way into the new ledger, with the sequences that
//! they had.

use crate::codec::ContentAddress;
use crate::crypto::Random;
use crate::grain::Time;
use crate::ledger::{
    Binding, EntryId, Found, FoundEntry, Kind, Ledger, LostBytes, NewEntry, Place, Proof,
};
use crate::store::records::{ErasingRecord, Frame, Record, RestoredRecord, draw_salts};
use crate::store::{Error, Options};

use super::persons::Persons;
use super::plan::Plan;
use super::report::{Lost, Recovered};
use super::withdrawals::Withdrawals;

/// The second pass: entries on their way into the new ledger.
pub(super) struct Copying<'a> {
    plan: Plan,
    /// `None` if they are only counted.
    ledger: Option<Ledger>,
    random: &'a dyn Random,
    /// The sequence that the new ledger has next, its open frame included.
    next: u64,
    last_ms: i64,
    /// The latest time that an entry may have if its header is not proven.
    latest_ms: i64,
    frame: Vec<CopiedEntry>,
    /// The blank entries that no erasure of the damaged store lists.
    blanked: Vec<EntryId>,
    /// Whether every header so far is the one that was written.
    is_same_chain: bool,
    /// Whether every checkpoint so far is there, each of which names the one before.
    has_checkpoints: bool,
    persons: Persons,
    withdrawals: Withdrawals,
    recovered: Recovered,
}

/// An entry of the open frame.
struct CopiedEntry {
    kind: Kind,
    actor: Option<EntryId>,
    body: Vec<u8>,
    binding: Binding,
}

impl<'a> Copying<'a> {
    /// Starts a copy into a ledger, or a count of what would be copied.
    pub(super) fn new(
        plan: Plan,
        ledger: Option<Ledger>,
        options: &'a Options,
        recovered: Recovered,
    ) -> Self {
        Self {
            plan,
            ledger,
            random: &*options.random,
            next: 0,
            last_ms: i64::MIN,
            latest_ms: options.clock.now().ms(),
            frame: Vec::new(),
            blanked: Vec::new(),
            is_same_chain: !recovered.is_new_identity,
            has_checkpoints: true,
            persons: Persons::default(),
            withdrawals: Withdrawals::default(),
            recovered,
        }
    }

    /// Takes in what the damaged ledger has next.
    pub(super) fn see(&mut self, found: Found<'_>) -> Result<(), Error> {
        match found {
            Found::Entry(entry) => self.entry(entry),
            Found::Lost(lost) => {
                self.lose(lost);
                Ok(())
            }
        }
    }

    fn lose(&mut self, lost: LostBytes) {
        let entries = EntryId::new(lost.entries.start)..EntryId::new(lost.entries.end);
        self.recovered.lost.push(Lost {
            file: lost.place.file,
            bytes: lost.place.bytes,
            entries,
            kind: None,
            address: None,
            reason: lost.reason,
        });
    }

    fn lose_entry(
        &mut self,
        row: EntryId,
        place: Place,
        kind: Option<Kind>,
        address: Option<ContentAddress>,
        reason: &'static str,
    ) {
        self.recovered.lost.push(Lost {
            file: place.file,
            bytes: place.bytes,
            entries: row..row.next(),
            kind: kind.map(Kind::name),
            address,
            reason,
        });
        self.has_checkpoints &= kind != Some(Kind::Checkpoint);
    }

    fn entry(&mut self, entry: FoundEntry<'_>) -> Result<(), Error> {
        let row = entry.header.sequence;
        let time_ms = entry.header.time_ms;
        self.fill_up_to(row.get(), time_ms)?;
        let is_proven = entry.proof == Proof::Frame;
        if self.plan.erased.contains(&row) {
            self.recovered.erased += 1;
            return match is_proven {
                true => self.blank(&entry, true),
                false => self.fill_up_to(row.next().get(), time_ms),
            };
        }
        let kind = match self.plan.kinds.get(&row) {
            Some(kind) => *kind,
            None => entry.header.kind,
        };
        let left_out = self.left_out(row, kind);
        let (Some(body), None) = (&entry.body, left_out) else {
            let kind = is_proven.then_some(kind);
            let address = match (&entry.body, kind) {
                (Some(body), Some(Kind::Grain)) => Some(ContentAddress::of(body)),
                _ => None,
            };
            let reason = match entry.is_blank {
                true => "it is blank, and no erasure that came out lists it",
                false => left_out.unwrap_or(DAMAGED),
            };
            self.lose_entry(row, entry.place.clone(), kind, address, reason);
            return match is_proven {
                true => self.blank(&entry, false),
                false => self.fill_up_to(row.next().get(), time_ms),
            };
        };
        self.plan.name_damaged(kind, body);
        self.persons.see(kind, body);
        self.withdrawals.see(kind, body);
        match kind {
            Kind::Grain | Kind::SealedGrain => self.recovered.grains += 1,
            _ => self.recovered.records += 1,
        }
        let time_ms = match is_proven {
            true => time_ms,
            false => self.possible_time(time_ms),
        };
        self.is_same_chain &= time_ms == entry.header.time_ms && kind == entry.header.kind;
        self.begin(entry.begins_frame, time_ms)?;
        let FoundEntry {
            header,
            binding,
            body,
            ..
        } = entry;
        self.push(CopiedEntry {
            kind,
            actor: header.actor,
            body: body.unwrap_or_default().into_owned(),
            binding,
        });
        Ok(())
    }

    /// Returns the reason why an entry is left out although its body proves itself.
    fn left_out(&self, row: EntryId, kind: Kind) -> Option<&'static str> {
        let reason = self.plan.left_out.get(&row).copied();
        let of_other = match kind {
            Kind::Checkpoint if !(self.is_same_chain && self.has_checkpoints) => {
                Some("entries before this checkpoint are lost, so it is of another ledger")
            }
            Kind::SealedGrain | Kind::KeyEvent if self.recovered.is_new_identity => {
                Some("nothing says to which vault it belongs")
            }
            _ => None,
        };
        reason.or(of_other)
    }

    /// Returns the time of an entry of which the header is not proven: that of the entry before if
    /// it states an impossible one.
    fn possible_time(&self, stated_ms: i64) -> i64 {
        let latest = self.latest_ms.max(self.last_ms);
        match (self.last_ms..=latest).contains(&stated_ms) {
            true => stated_ms,
            false if self.last_ms == i64::MIN => latest,
            false => self.last_ms,
        }
    }

    /// Keeps the header of an entry, without its body.
    fn blank(&mut self, entry: &FoundEntry<'_>, is_listed: bool) -> Result<(), Error> {
        if !is_listed {
            self.blanked.push(entry.header.sequence);
        }
        self.begin(entry.begins_frame, entry.header.time_ms)?;
        self.push(CopiedEntry {
            kind: entry.header.kind,
            actor: entry.header.actor,
            body: vec![0; usize::try_from(entry.header.body_len).unwrap_or_default()],
            binding: entry.binding.blank(),
        });
        Ok(())
    }

    /// Puts an entry that says so in the place of each one that is lost with its header. At the
    /// beginning they have the time of the one behind them.
    fn fill_up_to(&mut self, end: u64, behind_ms: i64) -> Result<(), Error> {
        while self.next < end {
            self.is_same_chain = false;
            let count = (end - self.next).min(FILLED_AT_ONCE);
            let record = Record::Restored(RestoredRecord::lost());
            let body = record.encode()?;
            let time_ms = match self.last_ms {
                i64::MIN => self.possible_time(behind_ms),
                last => last,
            };
            self.begin(true, time_ms)?;
            let count = usize::try_from(count).unwrap_or_default();
            for salt in draw_salts(self.random, count)? {
                self.push(CopiedEntry {
                    kind: record.kind(),
                    actor: None,
                    body: body.clone(),
                    binding: Binding::of(salt, &body),
                });
            }
            self.flush()?;
        }
        Ok(())
    }

    /// Begins a frame if one begins here, or the last has another time.
    fn begin(&mut self, begins_frame: bool, time_ms: i64) -> Result<(), Error> {
        if begins_frame || time_ms != self.last_ms {
            self.flush()?;
        }
        self.last_ms = time_ms;
        Ok(())
    }

    fn push(&mut self, entry: CopiedEntry) {
        self.next += 1;
        self.frame.push(entry);
    }

    fn flush(&mut self) -> Result<(), Error> {
        let frame = std::mem::take(&mut self.frame);
        let Some(ledger) = &self.ledger else {
            return Ok(());
        };
        let entries = frame.iter().map(|entry| NewEntry {
            kind: entry.kind,
            actor: entry.actor,
            body: &entry.body,
            binding: entry.binding,
        });
        ledger.append_unsynced(self.last_ms, &entries.collect::<Vec<_>>())?;
        Ok(())
    }

    /// Records the recovery, and lists the entries that are blank in the new ledger.
    pub(super) fn finish(mut self, end: u64) -> Result<Recovered, Error> {
        self.flush()?;
        self.recovered.entries = end;
        for lost in &mut self.recovered.lost {
            // Entries behind it may have named it.
            let named = self.plan.damaged.get(&lost.entries.start);
            if let (None, Some((_, known)), false) = (lost.address, named, lost.entries.is_empty())
            {
                lost.address = *known;
            }
        }
        let lost = self.recovered.lost_entries();
        if let Some(ledger) = &self.ledger {
            let head = match self.is_same_chain {
                true => ledger.head().to_vec(),
                false => Vec::new(),
            };
            let restored = RestoredRecord::recovered(head, end, lost);
            let mut frame = Frame::of(None, &Record::Restored(restored))?;
            if !self.blanked.is_empty() {
                frame.record(&Record::Erasing(ErasingRecord {
                    rows: self.blanked.clone(),
                    reason: DAMAGED.to_owned(),
                    authority: "recover".to_owned(),
                    ..ErasingRecord::default()
                }))?;
            }
            if let Some(event) = self.persons.lost_event() {
                frame.record(&event)?;
            }
            for effect in self.withdrawals.lost_effects() {
                frame.record(&effect)?;
            }
            let now = Time::from_ms(self.latest_ms.max(self.last_ms));
            ledger.append(now.ms(), &frame.to_ledger(self.random)?)?;
        }
        Ok(self.recovered)
    }
}

/// The entries that are put in the place of lost ones in one frame, at most.
const FILLED_AT_ONCE: u64 = 10_000;

const DAMAGED: &str = "the bytes were damaged";
