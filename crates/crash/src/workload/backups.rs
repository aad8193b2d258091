//! Backups to the second directory of the disk, and what they must be after a crash: the last one
//! that was acknowledged, or one that was begun since.
//!
//! A backup is opened as a store of its own, on a copy of its files.

use std::path::Path;
use std::sync::Arc;

use grainstore::Store;

use crate::disk::image::{BACKUP, Image};
use crate::disk::op::Op;
use crate::disk::second_directory::SecondDirectory;
use crate::disk::sim_disk::SimDisk;
use crate::workload::model::Model;
use crate::workload::options::options;
use crate::workload::oracle::{Verdict, agrees};
use crate::workload::run::Run;

/// The states that a backup may be in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BackupStates {
    /// The last one that was acknowledged.
    done: Option<usize>,
    /// Those that were begun since.
    tried: Vec<usize>,
}

impl BackupStates {
    pub(crate) const NONE: Self = Self {
        done: None,
        tried: Vec::new(),
    };

    /// Takes in what a log says of the backup.
    pub(crate) fn follow(&mut self, op: &Op) {
        match op {
            Op::TryBackup(state) => self.tried.push(*state),
            Op::AckBackup(state) => {
                *self = Self {
                    done: Some(*state),
                    tried: Vec::new(),
                };
            }
            _ => {}
        }
    }
}

impl Run {
    /// Brings the backup to the present state, and looks for deleted words in it.
    pub(crate) fn back_up(&mut self) -> Verdict {
        let mut next = (*self.model()).clone();
        next.read_in_full("backup");
        let state = self.begin(next);
        self.say_of_backup(Op::TryBackup(state));
        let store = self.store.clone().ok_or("it is closed")?;
        let directory = SecondDirectory(self.disk.clone());
        let path = Path::new(BACKUP);
        let outcome = store
            .maintenance()
            .and_then(|files| files.backup_to(&directory, path));
        let backup = match outcome {
            Ok(backup) => backup,
            Err(error) => return self.unknown(&[state], &error),
        };
        if backup.entries != self.entries(state) {
            return Err(format!("the backup has {} entries", backup.entries));
        }
        // A backup for which nothing was written says nothing of a batch that failed before.
        if state == self.now && self.maybe.len() > 1 {
            self.stays()?;
        } else {
            self.acknowledge(state)?;
        }
        self.say_of_backup(Op::AckBackup(state));
        let model = self.model();
        // A deletion that waits has left words in the store too.
        let files = self.disk.image().backup().files;
        let mut files = files
            .iter()
            .filter(|_| model.is_settled() && model.has_erased());
        match files.find_map(|(name, content)| Some((name, model.erased_in(content)?))) {
            Some((name, mark)) => Err(format!("{BACKUP}/{name} has {mark}, which was deleted")),
            None => Ok(()),
        }
    }

    fn say_of_backup(&mut self, word: Op) {
        self.backup.follow(&word);
        self.disk.say(word);
    }

    /// Opens the backup, on a copy of its files, and holds it to the states it may be in, unless
    /// nothing was backed up since the last time.
    pub(crate) fn check_backup(&mut self) -> Verdict {
        if self.faulty.is_some() || self.checked_backup.as_ref() == Some(&self.backup) {
            return Ok(());
        }
        self.checked_backup = Some(self.backup.clone());
        let image = self.disk.image().backup();
        let verdict = match (image.files.contains_key("MANIFEST"), self.backup.done) {
            (true, _) => self.check_copy(&image),
            (false, Some(_)) => Err("it is gone".to_owned()),
            (false, None) => Ok(()),
        };
        verdict.map_err(|what| format!("backup: {what}"))
    }

    fn check_copy(&self, image: &Image) -> Verdict {
        let disk = Arc::new(SimDisk::new(image));
        let mut options = options(self.seed, self.openings);
        options.text = None;
        let store = Store::open_on(disk, options)
            .map_err(|error| format!("does not open: {}: {error}", error.code()))?;
        let stats = store
            .maintenance()
            .and_then(grainstore::Maintenance::stats)
            .map_err(|error| format!("stats: {error}"))?;
        let mut verdict = Err(format!("it has {} entries", stats.entries));
        for model in self.backed_up() {
            let model = model.opened();
            if model.entries == stats.entries {
                verdict = agrees(&store, &model);
                if verdict.is_ok() {
                    break;
                }
            }
        }
        verdict
    }

    /// Returns the states that the backup may be in. While one is made, the directory holds a prefix
    /// of it that is no shorter than the one before.
    fn backed_up(&self) -> impl Iterator<Item = &Arc<Model>> {
        let BackupStates { done, tried } = &self.backup;
        let longest = tried.iter().map(|state| self.entries(*state)).max();
        let shortest = done.map(|state| self.entries(state));
        let between = move |entries: u64| {
            longest.is_some_and(|longest| entries <= longest)
                && shortest.is_none_or(|shortest| entries > shortest)
        };
        let states = self.states.iter().enumerate();
        let states =
            states.filter(move |(nth, state)| Some(*nth) == *done || between(state.model.entries));
        states.map(|(_, state)| &state.model)
    }
}
