//! The checks of a crash state: the attacker finds nothing in its bytes, and a store that is opened on
//! it, or restored from an earlier backup, answers as one of the states that may be there.

use std::collections::{BTreeMap, BTreeSet};

use grainstore::{Filter, Maintenance, Store};

use crate::campaign::key_erasure::attacker::{Target, recovered};
use crate::campaign::key_erasure::workload::master;
use crate::disk::image::Image;
use crate::disk::op::Op;
use crate::disk::sim_disk::SimDisk;
use crate::workload::oracle::Verdict;

use super::workload::{Holdings, OldBackup, Run, SEALED_WORD, State, open, plain_word, text};

/// Returns the states that may be there after a log, first the one that is acknowledged.
pub(super) fn allowed(log: &[Op]) -> Vec<usize> {
    let mut allowed = vec![0];
    for op in log.iter().filter(|op| op.is_word()) {
        match op {
            Op::Ack(state) => allowed = vec![*state],
            Op::Try(state) => allowed.push(*state),
            _ => {}
        }
    }
    allowed
}

impl Run {
    /// Returns those who were there before a state and are not in it.
    pub(super) fn gone(&self, state: usize) -> Verdict<BTreeMap<&String, &Holdings>> {
        let present = self.states.get(state).ok_or("no such state")?;
        let earlier = self.states.iter().take(state).flat_map(|it| &it.persons);
        Ok(earlier
            .filter(|(user, _)| !present.persons.contains_key(*user))
            .collect())
    }

    /// Looks in all files, and in all backups made so far, for the keys and the words of all who are
    /// not there any more in a state. Returns the persons found.
    pub(super) fn attack(&self, state: usize, image: &Image) -> Verdict<Vec<String>> {
        let gone = self.gone(state)?.into_iter().filter_map(|(user, of)| {
            Some(Target {
                user: user.clone(),
                uid: of.uid?,
                probe: None,
            })
        });
        let gone: Vec<Target> = gone.collect();
        let old = self.backups.iter().filter(|backup| backup.state <= state);
        let mut files = image.bytes();
        files.extend(old.flat_map(|backup| backup.image.bytes()));
        let gone: Vec<&Target> = gone.iter().collect();
        let found = recovered(&files, self.store, &master(), &gone);
        let mut found: Vec<String> = found.into_iter().map(str::to_owned).collect();
        if files.iter().any(|file| holds(file, SEALED_WORD)) {
            found.push("a word of a sealed person".into());
        }
        Ok(found)
    }

    /// Checks that no file of the store has a word of a plain person who is gone in a state.
    pub(super) fn lacks_erased_words(&self, state: usize, image: &Image) -> Verdict {
        let image = image.clone().without_backup();
        let gone = self.gone(state)?;
        for (user, _) in gone.into_iter().filter(|(_, of)| of.uid.is_none()) {
            let word = plain_word(user);
            let mut files = image.files.iter();
            if let Some((name, _)) = files.find(|(_, bytes)| holds(bytes, &word)) {
                return Err(format!("a word of {user} is in {name}"));
            }
        }
        Ok(())
    }

    /// Opens the store, and returns the state that it is in.
    pub(super) fn recover(&self, allowed: &[usize], disk: &SimDisk) -> Verdict<usize> {
        let store = open(disk, self.seed, 100)?;
        let sealed = unlock_all(&store)?;
        let found = |user: &str| grains(&store, user);
        let mut states = allowed.iter().rev().copied();
        let mut why = String::new();
        let state = states.find(|nth| {
            let Some(state) = self.states.get(*nth) else {
                return false;
            };
            match agrees(state, &sealed, &found) {
                Ok(()) => true,
                Err(what) => {
                    why = format!("{why}; state {nth}: {what}");
                    false
                }
            }
        });
        let state = state.ok_or_else(|| format!("it is in none of the states {allowed:?}{why}"))?;
        let told = store
            .admin()
            .map_err(text)?
            .vault()
            .status()
            .map_err(text)?
            .persons;
        let is_adding = allowed
            .iter()
            .any(|nth| self.states.get(*nth).is_some_and(|state| state.is_addition));
        // The ledger names a person before there is a key.
        if told != sealed.len() as u64 && !is_adding {
            return Err(format!(
                "the ledger tells of {told} persons and the vault has {}",
                sealed.len()
            ));
        }
        let findings = store
            .maintenance()
            .and_then(Maintenance::check)
            .map_err(text)?;
        let mut findings = findings.findings.into_iter();
        if let Some(finding) = findings.find(|finding| finding.id != "torn-tail") {
            return Err(format!("{finding:?}"));
        }
        // Another process finds the same, if the store had two.
        if self.seed.is_multiple_of(3) {
            let other = open(disk, self.seed, 101)?;
            if unlock_all(&other)? != sealed {
                return Err("another process finds other persons".into());
            }
        }
        Ok(state)
    }

    /// Opens a backup from before a crash beside the current vault, as a restore does: who lives has
    /// every grain that was backed up and lives, and who was erased stays closed. A grain that was
    /// deleted since is there until the key of its person is renewed.
    pub(super) fn restore(&self, backup: &OldBackup, state: usize, current: &Image) -> Verdict {
        let present = self.states.get(state).ok_or("no such state")?;
        let mut image = backup.image.clone();
        image.folders.insert("vault".into());
        let vault = current
            .files
            .iter()
            .filter(|(name, _)| name.starts_with("vault/"));
        image
            .files
            .extend(vault.map(|(name, bytes)| (name.clone(), bytes.clone())));
        let store = open(&SimDisk::new(&image), self.seed, 102)?;
        let then = self.states.get(backup.state).ok_or("no such state")?;
        for (user, of) in then.persons.iter().filter(|(_, of)| of.uid.is_some()) {
            let unlocked = store.admin().and_then(|admin| admin.unlock(user));
            match (unlocked, present.persons.contains_key(user)) {
                (Err(error), false) if error.code() == "ERR_USER_UNKNOWN" => {}
                (Ok(()), false) => return Err(format!("a restore brings {user} back")),
                (unlocked, _) => unlocked.map_err(text)?,
            }
            let Some(now) = present.persons.get(user) else {
                continue;
            };
            let found = grains(&store, user)?;
            let mut living = of.grains.intersection(&now.grains);
            if !found.is_subset(&of.grains) || !living.all(|grain| found.contains(grain)) {
                return Err(format!("a restore has other grains of {user}"));
            }
        }
        Ok(())
    }
}

pub(super) type Sealed = Vec<(String, [u8; 16])>;

pub(super) fn unlock_all(store: &Store) -> Verdict<Sealed> {
    let users = store.admin().map_err(text)?.vault().list().map_err(text)?;
    for user in &users {
        store
            .admin()
            .and_then(|admin| admin.unlock(&user.user))
            .map_err(text)?;
    }
    Ok(users
        .into_iter()
        .map(|user| (user.user, user.uid))
        .collect())
}

/// Holds a store to a state: the same sealed persons, each with their grains, and the same plain ones.
fn agrees(
    state: &State,
    sealed: &Sealed,
    found: &dyn Fn(&str) -> Verdict<BTreeSet<grainstore::ContentAddress>>,
) -> Verdict {
    let expected = state.persons.iter();
    let expected: Sealed = expected
        .filter_map(|(user, of)| Some((user.clone(), of.uid?)))
        .collect();
    if expected != *sealed {
        return Err(format!(
            "it has {} sealed persons of {}",
            sealed.len(),
            expected.len()
        ));
    }
    for (user, of) in &state.persons {
        let (has, had) = (found(user)?.len(), of.grains.len());
        if found(user)? != of.grains {
            return Err(format!("it has {has} grains of {user}, of {had}"));
        }
    }
    // While an envelope of a person is stored, the person is not erased.
    let held = state
        .persons
        .values()
        .map(|of| of.grains.len() + of.envelopes);
    let all: usize = held.sum();
    match found("")?.len() {
        has if has == all => Ok(()),
        has => Err(format!("it has {has} grains, of {all}")),
    }
}

/// Returns the grains of a person, those that only have them as subject too, or of all, with the
/// envelopes of files.
pub(super) fn grains(store: &Store, user: &str) -> Verdict<BTreeSet<grainstore::ContentAddress>> {
    let filters = match user {
        "" => vec![Filter::new().with_envelopes()],
        user => vec![Filter::new().user(user), Filter::new().subject(user)],
    };
    let mut found = BTreeSet::new();
    for filter in filters {
        let page = store.query(&filter, 1_000, None).map_err(text)?;
        found.extend(page.results.into_iter().map(|found| found.address));
    }
    Ok(found)
}

fn holds(file: &[u8], word: &str) -> bool {
    let mut windows = file.windows(word.len());
    windows.any(|part| part == word.as_bytes())
}
