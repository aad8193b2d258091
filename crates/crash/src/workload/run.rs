//! One run of a workload: the program that uses the store and notes what was acknowledged.
//!
//! The notes go into the log of the disk, between its operations.

use std::sync::Arc;

use grainstore::store::Error;
use grainstore::{ContentAddress, ErrorCode, Store};

use crate::disk::fault::Side;
use crate::disk::op::Op;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::backups::BackupStates;
use crate::workload::model::Model;
use crate::workload::options::options;
use crate::workload::oracle::{Verdict, agrees, finds, holds};

/// A moment between two batches: what the store says then, and the head of its chain if it was
/// handed out.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) model: Arc<Model>,
    pub(crate) head: Option<[u8; 32]>,
}

/// A program: a store on a disk, and everything the store may say and must say.
///
/// Each batch is a state. It is written into the log of the disk when it is tried and when it is
/// acknowledged, so that every prefix of the log says what may be there after a crash: the last
/// state acknowledged, or one tried since.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) disk: SimDisk,
    pub(crate) store: Option<Store>,
    /// The same store as other processes have it open, which do some of the steps.
    pub(crate) others: Vec<Store>,
    /// Whether other processes have the store open.
    pub(crate) is_shared: bool,
    /// Whether the last thing acknowledged may not be durable yet.
    pub(crate) is_unsynced: bool,
    pub(crate) states: Vec<State>,
    /// The state the store shows.
    pub(crate) now: usize,
    /// The states it may be in when it is opened next; the first is the one acknowledged last.
    pub(crate) maybe: Vec<usize>,
    pub(crate) random: Random,
    /// The side of the disk that may fail.
    pub(crate) faulty: Option<Side>,
    /// Whether a batch is stored grain by grain: one of the seeded faults.
    pub(crate) batch_in_parts: bool,
    /// Whether most steps are about consents, recorded reads and signatures.
    pub(crate) is_governed: bool,
    /// Decides when the store is compacted between two steps, if ever.
    pub(crate) compactions: Option<Random>,
    /// Of how many in a hundred decisions to open the store again it does so.
    pub(crate) reopen_percent: usize,
    /// Makes grains new.
    pub(crate) serial: u64,
    /// The states that the backup may be in.
    pub(crate) backup: BackupStates,
    /// Those when it was looked at last.
    pub(crate) checked_backup: Option<BackupStates>,
    pub(crate) seed: u64,
    pub(crate) openings: u64,
}

impl Run {
    /// A program that has not opened its store yet.
    pub(crate) fn new(disk: SimDisk, seed: u64) -> Self {
        let empty = State {
            model: Arc::default(),
            head: None,
        };
        Self {
            disk,
            store: None,
            others: Vec::new(),
            is_unsynced: false,
            is_shared: seed.is_multiple_of(SHARED_EVERY),
            states: vec![empty],
            now: 0,
            maybe: vec![0],
            random: Random::of(&[seed, 3]),
            faulty: None,
            batch_in_parts: false,
            is_governed: false,
            compactions: (seed % COMPACTED_EVERY == 3).then(|| Random::of(&[seed, 12])),
            reopen_percent: 100,
            serial: 0,
            backup: BackupStates::NONE,
            checked_backup: None,
            seed,
            openings: seed % SEARCHED_EVERY,
        }
    }

    /// A program that finds a store in one of the states `maybe`.
    pub(crate) fn after(
        disk: SimDisk,
        seed: u64,
        states: Vec<State>,
        maybe: Vec<usize>,
        random: Random,
    ) -> Self {
        let drawn = random.clone().next();
        Self {
            maybe,
            random,
            // Far from what the programs before it made, and from what other openings drew.
            serial: 1_000 * (1_000 + states.len() as u64),
            openings: 1_000 + drawn % SEARCHED_EVERY,
            states,
            ..Self::new(disk, seed)
        }
    }

    /// Opens the store, again if it is open, and holds it to the states it may be in.
    pub(crate) fn open(&mut self) -> Verdict {
        // The lock is free once the last handle is gone.
        self.others.clear();
        self.store = None;
        self.check_backup()?;
        match self.opened() {
            Ok(store) => {
                self.settle(store)?;
                self.share()
            }
            Err(_) if self.faulty.is_some() => Ok(()),
            Err(error) => Err(format!("does not open: {}: {}", error.code(), told(&error))),
        }
    }

    fn opened(&mut self) -> Result<Store, Error> {
        let mut options = options(self.seed, self.openings);
        if self.openings % SEARCHED_EVERY == WITHOUT_TEXT {
            options.text = None;
        }
        self.openings += 1;
        Store::open_on(Arc::new(self.disk.clone()), options)
    }

    /// Opens the store as other processes do beside the one that keeps its files.
    fn share(&mut self) -> Verdict {
        if !self.is_shared || self.faulty.is_some() {
            return Ok(());
        }
        for _ in 0..OTHERS {
            let opened = self.opened();
            self.others.push(opened.map_err(|error| {
                format!("does not open beside: {}: {}", error.code(), told(&error))
            })?);
        }
        Ok(())
    }

    fn settle(&mut self, store: Store) -> Verdict {
        if self.faulty == Some(Side::Read) {
            // Nothing it says can be relied on; what it writes can.
            return self.settle_unread(store);
        }
        let stats = store
            .maintenance()
            .and_then(grainstore::Maintenance::stats)
            .map_err(|error| format!("stats: {error}"))?;
        let mut verdict = Err(format!(
            "it has {} entries; acknowledged were {}",
            stats.entries,
            self.entries(self.maybe.first().copied().unwrap_or(0))
        ));
        for state in self.maybe.clone() {
            let model = self.state(state)?.model.opened();
            if model.entries != stats.entries {
                continue;
            }
            verdict = if self.faulty.is_some() {
                holds(&store, &model)
            } else {
                self.whole(&store, &model)
            };
            if verdict.is_ok() {
                self.store = Some(store);
                return self.settled(state, model);
            }
        }
        verdict
    }

    /// Says that the store opened in a state, and completed what was begun there.
    fn settled(&mut self, state: usize, opened: Arc<Model>) -> Verdict {
        self.now = state;
        let state = self.begin(opened);
        self.acknowledge(state)
    }

    /// Holds a store on a sound disk to a model.
    fn whole(&self, store: &Store, model: &Model) -> Verdict {
        agrees(store, model)?;
        self.forgot(model)?;
        if (self.openings - 1).is_multiple_of(SEARCHED_EVERY) {
            finds(store, model)?;
        }
        // A crash damages nothing: what is derived has no reason to be made anew.
        let maintenance = store.maintenance().map_err(|error| error.to_string())?;
        let report = maintenance.recovery_report();
        for (view, rebuilt) in [
            ("index", &report.index_rebuilt),
            ("text", &report.text_rebuilt),
        ] {
            if let Some(reason) = rebuilt {
                return Err(format!("the {view} was built anew: {reason}"));
            }
        }
        Ok(())
    }

    /// Holds the disk to having no word of what was deleted.
    fn forgot(&self, model: &Model) -> Verdict {
        if !model.has_erased() {
            return Ok(());
        }
        // A backup keeps what was deleted since, until the next one.
        for (name, content) in self.disk.image().without_backup().files {
            if let Some(mark) = model.erased_in(&content) {
                return Err(format!("{name} still has {mark}, which was deleted"));
            }
        }
        Ok(())
    }

    fn settle_unread(&mut self, store: Store) -> Verdict {
        let Ok(stats) = store.maintenance().and_then(grainstore::Maintenance::stats) else {
            return Ok(());
        };
        for state in self.maybe.clone() {
            let opened = self.state(state)?.model.opened();
            if opened.entries == stats.entries {
                self.now = state;
                self.now = self.begin(opened);
                self.maybe.push(self.now);
                self.store = Some(store);
                return Ok(());
            }
        }
        Err(format!("it has {} entries", stats.entries))
    }

    /// Does something with the store, and holds it to what it answers.
    pub(crate) fn step(&mut self) -> Verdict {
        if self.store.is_none() {
            return self.open();
        }
        self.compact_if_due()
            .map_err(|what| format!("compact: {what}"))?;
        let drawn = if self.is_governed && self.random.percent(70) {
            21 + self.random.below(8)
        } else {
            self.random.below(32)
        };
        // An erasure waits for the process that keeps the files, which here does one thing at a time;
        // a recorded read is seen by the others once it is durable. Opening closes them all.
        let is_own = matches!(drawn, 18..=27) || self.is_unsynced;
        let other = match self.others.len() {
            0 => None,
            _ if is_own => None,
            len => self.random.below(len + 1).checked_sub(1),
        };
        self.exchange(other);
        let verdict = self.step_of(drawn);
        self.exchange(other);
        verdict
    }

    /// Lets another process take the place of the one that does the steps, or back.
    fn exchange(&mut self, other: Option<usize>) {
        let other = other.and_then(|other| self.others.get_mut(other));
        if let (Some(other), Some(store)) = (other, &mut self.store) {
            std::mem::swap(other, store);
        }
    }

    fn step_of(&mut self, drawn: usize) -> Verdict {
        let (step, verdict) = match drawn {
            0..=5 => ("put", self.put()),
            6..=8 => ("put_batch", self.put_batch()),
            9 => ("put again", self.put_again()),
            10 => ("put_batch of a bad one", self.put_bad_batch()),
            11..=15 => ("supersede", self.supersede()),
            16 | 17 => ("import", self.import()),
            18 if self.random.percent(self.reopen_percent) => ("open", self.open()),
            18 => return Ok(()),
            19 | 20 => ("delete", self.delete()),
            21..=24 => ("consent", self.consent()),
            25..=27 => ("audited read", self.audit()),
            28 => ("sign", self.sign()),
            29 | 30 => ("backup", self.back_up()),
            _ => {
                let flush = |store: &Store| store.maintenance()?.flush_text();
                ("flush_text", self.maintain(flush))
            }
        };
        verdict.map_err(|what| format!("{step}: {what}"))
    }

    /// Returns the model of the state the store shows.
    pub(crate) fn model(&self) -> Arc<Model> {
        self.state(self.now)
            .map(|state| Arc::clone(&state.model))
            .unwrap_or_default()
    }

    /// Asks the store for what takes it to the state `next`, or leaves it where it is if that is
    /// the same. An error is an answer only if the disk may fail.
    pub(crate) fn attempt<T>(
        &mut self,
        next: Model,
        ask: impl FnOnce(&Store) -> Result<T, Error>,
    ) -> Verdict<Option<T>> {
        let state = self.begin(next);
        let store = self.store.clone().ok_or("it is closed")?;
        match ask(&store) {
            Ok(answer) if state == self.now => self.stays().map(|()| Some(answer)),
            Ok(answer) => self.acknowledge(state).map(|()| Some(answer)),
            Err(error) => self.unknown(&[state], &error).map(|()| None),
        }
    }

    /// Says that a state is tried.
    pub(crate) fn begin(&mut self, next: impl Into<Arc<Model>>) -> usize {
        let next = next.into();
        if next.entries == self.entries(self.now) {
            return self.now;
        }
        let state = self.states.len();
        self.states.push(State {
            model: next,
            head: None,
        });
        self.disk.say(Op::Try(state));
        state
    }

    /// Takes in an answer for which nothing was written: it says nothing of a batch that failed
    /// before.
    pub(crate) fn stays(&mut self) -> Verdict {
        self.look(self.now)
    }

    /// Says that a state is acknowledged, and that its head was handed out.
    pub(crate) fn acknowledge(&mut self, state: usize) -> Verdict {
        self.look(state)?;
        self.disk.say(Op::Ack(state));
        self.is_unsynced = false;
        self.now = state;
        self.maybe = vec![state];
        Ok(())
    }

    /// Says that a state is acknowledged which the next sync makes durable: that of a recorded read.
    pub(crate) fn acknowledge_unsynced(&mut self, state: usize) -> Verdict {
        self.look(state)?;
        self.disk.say(Op::AckUnsynced(state));
        self.is_unsynced = true;
        self.now = state;
        self.maybe = vec![state];
        Ok(())
    }

    /// Holds the length and head of the ledger to a state.
    fn look(&mut self, state: usize) -> Verdict {
        let store = self.store.as_ref().ok_or("it is closed")?;
        match store.maintenance().and_then(grainstore::Maintenance::stats) {
            Ok(stats) => {
                let expected = self.entries(state);
                if stats.entries != expected {
                    let found = stats.entries;
                    return Err(format!("the ledger has {found} entries, not {expected}"));
                }
                let known = self.states.get_mut(state).ok_or("no such state")?;
                if known.head.is_some_and(|head| head != stats.head) {
                    return Err("a head that was handed out is not on the chain".into());
                }
                known.head = Some(stats.head);
            }
            Err(_) if self.faulty.is_some() => {}
            Err(error) => return Err(format!("stats: {error}")),
        }
        Ok(())
    }

    /// Takes in an error: each of the states that were tried may have been reached or not.
    pub(crate) fn unknown(&mut self, tried: &[usize], error: &Error) -> Verdict {
        if self.faulty.is_none() {
            return Err(format!("{}: {}", error.code(), told(error)));
        }
        // A halted store has not even tried.
        if error.code() != ErrorCode::StorageHalted {
            let others = tried.iter().filter(|state| **state != self.now);
            self.maybe.extend(others);
        }
        let stats = self.store.as_ref().and_then(|store| {
            store
                .maintenance()
                .and_then(grainstore::Maintenance::stats)
                .ok()
        });
        match stats.map(|stats| stats.entries) {
            None => {
                // Which of them was reached, the next opening tells.
                self.store = None;
                Ok(())
            }
            Some(entries) if entries == self.entries(self.now) => Ok(()),
            Some(entries) => {
                let mut tried = tried.iter().copied();
                let reached = tried.find(|state| self.entries(*state) == entries);
                self.now = reached.ok_or_else(|| {
                    let code = error.code();
                    format!("after {code}, it shows {entries} entries, neither before nor after")
                })?;
                // A recorded read is shown before it is written.
                if !self.maybe.contains(&self.now) {
                    self.maybe.push(self.now);
                }
                Ok(())
            }
        }
    }

    /// Takes in what must be refused with this code and change nothing.
    pub(crate) fn refused<T>(&mut self, outcome: Result<T, Error>, code: ErrorCode) -> Verdict {
        match outcome {
            Ok(_) => Err(format!("it took what is {code}")),
            Err(error) if error.code() == code => self.stays(),
            Err(error) => self.unknown(&[self.now], &error),
        }
    }

    pub(crate) fn state(&self, state: usize) -> Verdict<&State> {
        self.states.get(state).ok_or_else(|| "no such state".into())
    }

    pub(crate) fn entries(&self, state: usize) -> u64 {
        self.state(state).map_or(0, |state| state.model.entries)
    }

    /// Returns the address of a grain that is here.
    pub(crate) fn any(&mut self) -> Option<ContentAddress> {
        let model = self.model();
        self.random.pick(model.order()).copied()
    }
}

/// After one opening in so many the text view is searched, which costs more than all other checks.
const SEARCHED_EVERY: u64 = 4;

/// One seed in so many is a store that several processes have open.
const SHARED_EVERY: u64 = 3;

/// In one run of so many the store is compacted between steps.
const COMPACTED_EVERY: u64 = 5;

/// How many processes have a shared store open beside the one that keeps its files.
const OTHERS: usize = 2;

/// One opening in [`SEARCHED_EVERY`] does without the text view, which stays on the disk.
const WITHOUT_TEXT: u64 = 1;

/// Returns an error with what is behind it.
fn told(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        told = format!("{told}: {error}");
        source = error.source();
    }
    told
}
