//! Recover: a new store from all of a damaged one that still proves itself.
//!
//! Every entry keeps its sequence, since entries name each other by it. An entry that is lost with its
//! header has an entry of kind restored in its place; one whose header is proven stays, blank, and is
//! listed as erased. As long as no header is lost the new ledger has the same hash chain.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::crypto::Random;
use crate::grain::Time;
use crate::ledger::{
    self, Binding, Disk, EntryId, FileDisk, Found, FoundEntry, Kind, Ledger, Lock, LostBytes,
    NewEntry, Place, Proof, StoreId, salvage,
};
use crate::store::instance::{LOCK, Manifest, this_process};
use crate::store::maintenance::recovery_plan::Plan;
use crate::store::maintenance::restore_target::RestoreTarget;
use crate::store::records::{ErasingRecord, Frame, Record, RestoredRecord, draw_salts};
use crate::store::{Create, Error, Options, Store};

/// The result of [`Store::recover`]: what came out of a damaged store, and what did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The number of entries that the damaged store had, as far as is known.
    pub entries: u64,
    /// The number of grains that came out.
    pub grains: u64,
    /// The number of other entries that came out: statuses, rules, and what else is recorded.
    pub records: u64,
    /// The number of entries that were erased before, and stay erased.
    pub erased: u64,
    /// The fault of `MANIFEST`, if it was not used.
    pub manifest: Option<String>,
    /// Whether the store has a new identity, since nothing says which one it had: what is sealed
    /// cannot be opened then, and what was erased may be put again.
    pub is_new_identity: bool,
    /// The parts that did not come out, in the order of the ledger.
    pub lost: Vec<Lost>,
}

/// A part of a damaged store that did not come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The file, relative to the store.
    pub file: String,
    /// The bytes in it; none of a segment that is missing.
    pub bytes: Range<u64>,
    /// The entries that these bytes held; none if only what lies between entries is damaged.
    pub entries: Range<EntryId>,
    /// The kind of the entry, if that is known: `grain`, `status`, `hold`…
    pub kind: Option<&'static str>,
    /// The address of the grain, if that is known.
    pub address: Option<ContentAddress>,
    /// The fault.
    pub reason: &'static str,
}

impl Recovered {
    /// Returns the number of entries that did not come out.
    pub fn lost_entries(&self) -> u64 {
        let lost = self.lost.iter();
        lost.map(|lost| lost.entries.end.get() - lost.entries.start.get())
            .sum()
    }
}

impl Store {
    /// Writes a new store from all of a damaged one that still proves itself: each grain whose bytes
    /// are those that were written, and each record about grains. It works with any file of the
    /// store damaged or missing, finds its way behind damaged bytes, and names each part that does not
    /// come out. Grains that were erased stay erased. The new ledger says that it was recovered.
    ///
    /// The damaged directory is only read, except for its `LOCK`.
    ///
    /// ```
    /// use std::fs;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let home = tempfile::tempdir()?;
    /// let (old, new) = (home.path().join("old"), home.path().join("new"));
    /// let store = Store::open(&old, Options::default())?;
    /// let first = store.put(Draft::event("hello"))?;
    /// let second = store.put(Draft::event("world"))?;
    /// drop(store);
    /// let segment = old.join("ledger/0000000000000001.seg");
    /// let mut bytes = fs::read(&segment)?;
    /// bytes[70] ^= 1; // in the header of the first entry
    /// fs::write(&segment, bytes)?;
    /// let (store, recovered) = Store::recover(&old, &new, Options::default())?;
    /// assert!(store.exists(&second)?);
    /// assert_eq!(recovered.grains + recovered.lost_entries(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_A_STORE` if there is no `ledger` at `from`, or `path` holds anything but an unfinished
    /// restore of this store and `vault/`; `ERR_STORE_EXISTS` if it is a store; `ERR_STORE_LOCKED` while
    /// the old one is open; `ERR_STORE_VERSION` for one of a newer version; `ERR_STORAGE_IO`,
    /// `ERR_STORAGE_FULL`.
    pub fn recover(
        from: impl AsRef<Path>,
        path: impl AsRef<Path>,
        options: Options,
    ) -> Result<(Self, Recovered), Error> {
        let path = path.as_ref();
        let source = Source::open(from.as_ref(), &options)?;
        let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(path));
        let target = RestoreTarget {
            path,
            disk: &*disk,
            manifest: &source.manifest,
        };
        let lock = target.prepare()?;
        let recovered = source.copy(Some(&disk), &options)?;
        // Last: without it there is no store.
        Manifest::publish(&*disk)?;
        drop(lock);
        let options = Options {
            create: Create::Never,
            ..options
        };
        Ok((Self::open(path, options)?, recovered))
    }

    /// Returns what [`Store::recover`] would bring out, and writes nothing.
    ///
    /// # Errors
    /// As [`Store::recover`].
    pub fn recoverable(from: impl AsRef<Path>, options: &Options) -> Result<Recovered, Error> {
        Source::open(from.as_ref(), options)?.copy(None, options)
    }

    /// As [`Store::recover`] from one disk of the caller's to another, which is empty.
    ///
    /// # Errors
    /// As [`Store::recover`].
    #[doc(hidden)]
    pub fn recover_on(
        from: Arc<dyn Disk>,
        to: Arc<dyn Disk>,
        options: Options,
    ) -> Result<(Self, Recovered), Error> {
        let source = Source::of(from, Path::new("memory"), &options)?;
        let recovered = source.copy(Some(&to), &options)?;
        source.manifest.write(&*to)?;
        Ok((Self::open_on(to, options)?, recovered))
    }
}

/// The damaged store.
struct Source {
    disk: Arc<dyn Disk>,
    manifest: Manifest,
    /// The fault of `MANIFEST`.
    fault: Option<String>,
    is_new_identity: bool,
    _lock: Option<Lock>,
}

impl Source {
    fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        if !path.join("ledger").is_dir() {
            return Err(Error::NotAStore {
                path: path.to_owned(),
                reason: "it has no ledger".into(),
            });
        }
        Self::of(Arc::new(FileDisk::new(path)), path, options)
    }

    fn of(disk: Arc<dyn Disk>, path: &Path, options: &Options) -> Result<Self, Error> {
        let lock = match Lock::take(&*disk, LOCK, &this_process()) {
            Err(error @ ledger::Error::Locked { .. }) => return Err(error.into()),
            // A directory that cannot be written has no writer, and a lock that is no file none either.
            taken => taken.ok(),
        };
        let found = Manifest::salvage(&*disk, path)?;
        let (manifest, fault, is_new_identity) = match found {
            (Some(manifest), fault) => (manifest, fault, false),
            (None, fault) => {
                let now = options.clock.now();
                (Manifest::new(&*options.random, now)?, fault, true)
            }
        };
        Ok(Self {
            disk,
            manifest,
            fault,
            is_new_identity,
            _lock: lock,
        })
    }

    /// Copies what proves itself into the ledger of another disk, or counts it.
    fn copy(&self, to: Option<&Arc<dyn Disk>>, options: &Options) -> Result<Recovered, Error> {
        let store_id: Option<&StoreId> = (!self.is_new_identity).then_some(&self.manifest.store_id);
        let mut plan = Plan::default();
        salvage(&*self.disk, store_id, &mut |found| plan.see(&found))?;
        plan.finish();
        let new = to.map(|disk| {
            let (disk, id) = (Arc::clone(disk), self.manifest.store_id);
            Ledger::create(disk, id, options.ledger.clone())
        });
        let mut copy = Copying {
            plan,
            ledger: new.transpose()?,
            random: &*options.random,
            next: 0,
            last_ms: i64::MIN,
            latest_ms: options.clock.now().ms(),
            frame: Vec::new(),
            blanked: Vec::new(),
            is_same_chain: !self.is_new_identity,
            has_checkpoints: true,
            is_new_identity: self.is_new_identity,
            recovered: Recovered {
                manifest: self.fault.clone(),
                is_new_identity: self.is_new_identity,
                ..Recovered::default()
            },
        };
        let end = salvage(&*self.disk, store_id, &mut |found| copy.see(found))?;
        copy.finish(end)
    }
}

/// The second pass: entries on their way into the new ledger.
struct Copying<'a> {
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
    is_new_identity: bool,
    recovered: Recovered,
}

/// An entry of the open frame.
struct CopiedEntry {
    kind: Kind,
    actor: Option<EntryId>,
    body: Vec<u8>,
    binding: Binding,
}

impl Copying<'_> {
    fn see(&mut self, found: Found<'_>) -> Result<(), Error> {
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
        self.fill_up_to(row.get())?;
        let is_proven = entry.proof == Proof::Frame;
        if self.plan.erased.contains(&row) {
            self.recovered.erased += 1;
            return match is_proven {
                true => self.blank(&entry, true),
                false => self.fill_up_to(row.next().get()),
            };
        }
        let kind = match self.plan.kinds.get(&row) {
            Some(kind) => *kind,
            None => entry.header.kind,
        };
        let left_out = self.left_out(row, kind);
        let (Some(body), None) = (&entry.body, left_out) else {
            let kind = is_proven.then_some(kind);
            let mut address = self.plan.damaged.get(&row).and_then(|(_, address)| *address);
            if let (Some(body), Some(Kind::Grain)) = (&entry.body, kind) {
                address = Some(ContentAddress::of(body));
            }
            let reason = left_out.unwrap_or(DAMAGED);
            self.lose_entry(row, entry.place.clone(), kind, address, reason);
            return match is_proven {
                true => self.blank(&entry, false),
                false => self.fill_up_to(row.next().get()),
            };
        };
        self.plan.name_damaged(kind, body);
        match kind {
            Kind::Grain | Kind::SealedGrain => self.recovered.grains += 1,
            _ => self.recovered.records += 1,
        }
        let mut time_ms = entry.header.time_ms;
        if !is_proven {
            let latest = self.latest_ms.max(self.last_ms);
            let is_possible = (self.last_ms..=latest).contains(&time_ms);
            time_ms = if is_possible { time_ms } else { self.first_time(latest) };
            self.is_same_chain &= time_ms == entry.header.time_ms && kind == entry.header.kind;
        }
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
            Kind::SealedGrain | Kind::KeyEvent if self.is_new_identity => {
                Some("nothing says to which vault it belongs")
            }
            _ => None,
        };
        reason.or(of_other)
    }

    fn first_time(&self, latest: i64) -> i64 {
        match self.last_ms {
            i64::MIN => latest,
            last => last,
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

    /// Puts an entry that says so in the place of each one that is lost with its header.
    fn fill_up_to(&mut self, end: u64) -> Result<(), Error> {
        while self.next < end {
            self.is_same_chain = false;
            let count = (end - self.next).min(FILLED_AT_ONCE);
            let record = Record::Restored(RestoredRecord::lost());
            let body = record.encode()?;
            let time_ms = self.first_time(self.latest_ms);
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
    fn finish(mut self, end: u64) -> Result<Recovered, Error> {
        self.flush()?;
        self.recovered.entries = end;
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
            let now = Time::from_ms(self.latest_ms.max(self.last_ms));
            ledger.append(now.ms(), &frame.to_ledger(self.random)?)?;
        }
        Ok(self.recovered)
    }
}

/// The entries that are put in the place of lost ones in one frame, at most.
const FILLED_AT_ONCE: u64 = 10_000;

const DAMAGED: &str = "the bytes were damaged";
