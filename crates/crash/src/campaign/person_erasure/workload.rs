//! A store with sealed and plain persons at work, in one process or two, and what it must hold after
//! each step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use grainstore::interchange::Format;
use grainstore::store::{Authorization, ErasureScope, Options, Person};
use grainstore::{ContentAddress, Draft, Maintenance, Store, Time};

use super::older_files::{OldExport, foreign, import, import_note, write_out};
use super::recovery::grains;
use crate::campaign::key_erasure::workload::source;
use crate::disk::image::{BACKUP, Image};
use crate::disk::op::Op;
use crate::disk::second_directory::SecondDirectory;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::options::options;
use crate::workload::oracle::Verdict;

/// The persons and their grains. A sealed person has a pseudonym.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) persons: BTreeMap<String, Holdings>,
    /// Whether the step that led here adds persons: the ledger names them first.
    pub(super) is_addition: bool,
    /// Whether it erases some.
    pub(super) is_erasure: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Holdings {
    pub(super) uid: Option<[u8; 16]>,
    pub(super) grains: BTreeSet<ContentAddress>,
    /// The number of imported files about them: the envelope of each outlives its records until they are
    /// erased.
    pub(super) envelopes: usize,
}

/// A run: its log, the state after each step, and every backup that was made. State 0 is no store.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) store: [u8; 16],
    pub(super) log: Vec<Op>,
    pub(super) states: Vec<State>,
    pub(super) backups: Vec<OldBackup>,
    pub(super) exports: Vec<OldExport>,
}

/// A backup as it was when it was acknowledged.
#[derive(Debug)]
pub(super) struct OldBackup {
    pub(super) image: Image,
    pub(super) state: usize,
    /// How many operations of the log came before.
    pub(super) at: usize,
}

impl Run {
    /// Whether a word of the log begins an erasure.
    pub(super) fn begins_erasure(&self, op: &Op) -> bool {
        let state = match op {
            Op::Try(state) => self.states.get(*state),
            _ => None,
        };
        state.is_some_and(|state| state.is_erasure)
    }
}

/// Options of the store under test: the master key is the attacker's, too.
pub(super) fn opened_with(seed: u64, nth: u64) -> Options {
    Options {
        master_key: Some(Arc::new(source())),
        ..options(seed, nth)
    }
}

pub(super) fn open(disk: &SimDisk, seed: u64, nth: u64) -> Verdict<Store> {
    let opened = Store::open_on(Arc::new(disk.clone()), opened_with(seed, nth));
    opened.map_err(|error| format!("does not open: {}: {error}", error.code()))
}

/// The word of every sealed grain, of which no file may have a byte sequence, and those of plain ones.
pub(super) const SEALED_WORD: &str = "swordfish";

pub(super) fn plain_word(user: &str) -> String {
    format!("marmalade{}z", user.rsplit(' ').next().unwrap_or_default())
}

/// Runs a workload on a sound disk.
pub(super) fn run(seed: u64, steps: usize) -> Verdict<Run> {
    let mut work = Work::new(seed)?;
    for _ in 0..steps {
        work.step()?;
    }
    let Work {
        disk, run, stores, ..
    } = work;
    drop(stores);
    Ok(Run {
        log: disk.log(),
        ..run
    })
}

struct Work {
    disk: SimDisk,
    random: Random,
    run: Run,
    /// The process that keeps the derived files, and another one in some runs.
    stores: Vec<Store>,
    openings: u64,
    made: usize,
}

impl Work {
    fn new(seed: u64) -> Verdict<Self> {
        let disk = SimDisk::new(&Image::default());
        disk.say(Op::Ack(0));
        let run = Run {
            seed,
            store: [0; 16],
            log: Vec::new(),
            states: vec![State::default()],
            backups: Vec::new(),
            exports: Vec::new(),
        };
        let mut work = Self {
            disk,
            random: Random::of(&[seed, 11]),
            run,
            stores: Vec::new(),
            openings: 0,
            made: 0,
        };
        work.open()?;
        let stats = work.keeper()?.maintenance().and_then(Maintenance::stats);
        work.run.store = *stats.map_err(text)?.store_id.as_bytes();
        work.add(3)?;
        Ok(work)
    }

    /// Opens the store, in one seed of three in a second process as well.
    fn open(&mut self) -> Verdict {
        self.stores.clear();
        let count = if self.run.seed.is_multiple_of(3) {
            2
        } else {
            1
        };
        for _ in 0..count {
            let store = open(&self.disk, self.run.seed, self.openings)?;
            self.openings += 1;
            for user in self.sealed() {
                store
                    .admin()
                    .and_then(|admin| admin.unlock(&user))
                    .map_err(text)?;
            }
            self.stores.push(store);
        }
        Ok(())
    }

    fn keeper(&self) -> Verdict<&Store> {
        self.stores.first().ok_or_else(|| "no store".into())
    }

    /// Returns one of the processes.
    fn any(&mut self) -> Verdict<Store> {
        let store = self.random.pick(&self.stores).cloned();
        store.ok_or_else(|| "no store".into())
    }

    fn now(&self) -> State {
        State {
            is_addition: false,
            is_erasure: false,
            ..self.run.states.last().cloned().unwrap_or_default()
        }
    }

    fn users(&self, is_sealed: bool) -> Vec<String> {
        let state = self.now();
        let persons = state.persons.into_iter();
        let persons = persons.filter(|(_, of)| of.uid.is_some() == is_sealed);
        persons.map(|(user, _)| user).collect()
    }

    fn sealed(&self) -> Vec<String> {
        self.users(true)
    }

    /// Does a step that leads to `after`; what it returns is known only then.
    fn to(
        &mut self,
        mut after: State,
        step: impl FnOnce(&mut Self, &mut State) -> Verdict,
    ) -> Verdict {
        let nth = self.run.states.len();
        self.run.states.push(after.clone());
        self.disk.say(Op::Try(nth));
        step(self, &mut after)?;
        if let Some(state) = self.run.states.get_mut(nth) {
            *state = after;
        }
        self.disk.say(Op::Ack(nth));
        Ok(())
    }

    fn step(&mut self) -> Verdict {
        match self.random.below(24) {
            20 => self.import_foreign(),
            21 | 22 => self.write_out(),
            23 => self.to(self.now(), |work, _| {
                let maintenance = work.keeper()?.maintenance().map_err(text)?;
                maintenance.compact().map(drop).map_err(text)
            }),
            0..=3 => self.put(true),
            4 | 5 => self.put(false),
            6 | 7 => {
                let count = self.random.below(3) + 1;
                self.add(count)
            }
            8..=11 => self.erase(true),
            12 => self.erase(false),
            13 => self.rekey(),
            14 => self.to(self.now(), |work, _| {
                let store = work.any()?;
                let vault = store.admin().map_err(text)?.vault();
                vault.rotate().map(drop).map_err(text)
            }),
            15 => self.delete(),
            16..=18 => self.back_up(),
            _ => self.open(),
        }
    }

    fn add(&mut self, count: usize) -> Verdict {
        let names = self.made..self.made + count;
        self.made += count;
        let names: Vec<String> = names.map(|n| format!("sealed {n}")).collect();
        let after = State {
            is_addition: true,
            ..self.now()
        };
        self.to(after, |work, after| {
            let store = work.any()?;
            let users: Vec<&str> = names.iter().map(String::as_str).collect();
            let added = store.admin().map_err(text)?.vault().add(&users);
            for user in added.map_err(text)? {
                let uid = Some(user.uid);
                let holdings = Holdings {
                    uid,
                    ..Holdings::default()
                };
                after.persons.insert(user.user, holdings);
            }
            for store in &work.stores {
                for user in &users {
                    store
                        .admin()
                        .and_then(|admin| admin.unlock(user))
                        .map_err(text)?;
                }
            }
            Ok(())
        })
    }

    /// Returns a person, or a plain one who is new, and the word of their grains.
    fn person(&mut self, is_sealed: bool) -> Option<(String, String)> {
        let mut users = self.users(is_sealed);
        if !is_sealed {
            users.push(format!("plain {}", self.made));
        }
        let user = self.random.pick(&users)?.clone();
        let word = match is_sealed {
            true => SEALED_WORD.to_owned(),
            false => plain_word(&user),
        };
        Some((user, word))
    }

    /// Stores grains of a person; of a plain one who is new, too.
    fn put(&mut self, is_sealed: bool) -> Verdict {
        let Some((user, word)) = self.person(is_sealed) else {
            return Ok(());
        };
        let count = self.random.below(3) + 1;
        let drafts: Vec<Draft> = (self.made..self.made + count)
            .map(|n| {
                let draft = match n % 3 {
                    // About the person, though no field says whose it is.
                    0 => Draft::belief(&user, "likes", format!("{word} {n}")).confidence(0.5),
                    _ => Draft::event(format!("{word} {n}")).user(&user),
                };
                draft.created_at(Time::from_ms(1))
            })
            .collect();
        self.made += count;
        self.to(self.now(), |work, after| {
            let stored = work.any()?.put_batch(drafts).map_err(text)?;
            after
                .persons
                .entry(user)
                .or_default()
                .grains
                .extend(stored.iter().map(|put| put.address));
            Ok(())
        })
    }

    /// Erases persons at once: a sealed one, or up to three of them; or a plain one.
    fn erase(&mut self, is_sealed: bool) -> Verdict {
        let mut users = self.users(is_sealed);
        let count = if is_sealed {
            self.random.below(3) + 1
        } else {
            1
        };
        let mut chosen = Vec::new();
        for _ in 0..count.min(users.len()) {
            chosen.push(users.swap_remove(self.random.below(users.len())));
        }
        let Some((first, others)) = chosen.split_first() else {
            return Ok(());
        };
        let mut after = self.now();
        after.persons.retain(|user, _| !chosen.contains(user));
        after.is_erasure = true;
        let person = others.iter().fold(Person::new(first), Person::also);
        self.to(after, |work, _| {
            // Another process would wait for this one, and here one thing happens at a time.
            let admin = work.keeper()?.admin().map_err(text)?;
            let erased = admin.erase_person(&person, ErasureScope::default(), ASKED);
            erased.map(drop).map_err(text)?;
            for store in &work.stores {
                let admin = store.admin().map_err(text)?;
                if let Some(user) = chosen.iter().find(|user| admin.is_unlocked(user)) {
                    // Asking is what takes the keys.
                    drop(store.list(None, 1).map_err(text)?);
                    if admin.is_unlocked(user) {
                        return Err(format!("{user} is erased and unlocked"));
                    }
                }
            }
            Ok(())
        })
    }

    fn rekey(&mut self) -> Verdict {
        let users = self.sealed();
        let Some(user) = self.random.pick(&users).cloned() else {
            return Ok(());
        };
        self.to(self.now(), |work, _| {
            let store = work.any()?;
            let vault = store.admin().map_err(text)?.vault();
            vault.rekey(&user).map(drop).map_err(text)
        })
    }

    fn delete(&mut self) -> Verdict {
        let now = self.now();
        let grains = now.persons.iter();
        let grains = grains.flat_map(|(user, of)| of.grains.iter().map(move |grain| (user, grain)));
        let grains: Vec<(String, ContentAddress)> =
            grains.map(|(user, grain)| (user.clone(), *grain)).collect();
        let Some((user, grain)) = self.random.pick(&grains).cloned() else {
            return Ok(());
        };
        let mut after = now;
        if let Some(of) = after.persons.get_mut(&user) {
            of.grains.remove(&grain);
            if of.uid.is_none() && of.grains.is_empty() && of.envelopes == 0 {
                after.persons.remove(&user);
            }
        }
        self.to(after, |work, _| {
            let admin = work.keeper()?.admin().map_err(text)?;
            admin.delete(&grain, ASKED).map(drop).map_err(text)
        })
    }

    /// Imports a file of another program about a person.
    fn import_foreign(&mut self) -> Verdict {
        let is_sealed = self.random.percent(50);
        let Some((user, word)) = self.person(is_sealed) else {
            return Ok(());
        };
        let (nth, is_note) = (self.made, self.random.percent(50));
        let file = foreign(&user, &word, nth);
        self.made += 1;
        self.to(self.now(), |work, after| {
            let store = work.any()?;
            match is_note {
                true => import_note(&store, &user, &word, nth)?,
                false => import(&store, &file, Format::Omi)?,
            }
            let of = after.persons.entry(user.clone()).or_default();
            of.grains = grains(&store, &user)?;
            of.envelopes += 1;
            Ok(())
        })
    }

    /// Writes everything to a file, which is kept.
    fn write_out(&mut self) -> Verdict {
        let store = self.any()?;
        let users = [self.users(true), self.users(false)].concat();
        let (random, disk) = (&mut self.random, &self.disk);
        let written = write_out(&store, random, &users, || disk.log().len())?;
        self.run.exports.extend(written);
        Ok(())
    }

    /// Backs up into the second directory, and keeps what it was.
    fn back_up(&mut self) -> Verdict {
        let maintenance = self.keeper()?.maintenance().map_err(text)?;
        let target = SecondDirectory(self.disk.clone());
        let made = maintenance.backup_to(&target, BACKUP.as_ref());
        made.map_err(text)?;
        self.run.backups.push(OldBackup {
            image: self.disk.image().backup(),
            state: self.run.states.len() - 1,
            at: self.disk.log().len(),
        });
        Ok(())
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`map_err` hands the error over"
)]
pub(super) fn text(error: grainstore::Error) -> String {
    format!("{}: {error}", error.code())
}

pub(super) const ASKED: Authorization<'static> = Authorization {
    reason: "request 17",
    authority: "the DPO",
};
