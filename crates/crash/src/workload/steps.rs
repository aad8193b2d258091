//! The steps of a workload: put, batch, supersede, delete, import and the like.
//!
//! Each is drawn from the seed and done on the store and on the model.

use grainstore::grain::{Grain, Lifecycle, StatusChange, Time, Verification};
use grainstore::interchange::{ForeignId, Format, ImportFile, Place, Record};
use grainstore::store::Error;
use grainstore::{ContentAddress, ErrorCode, Store};

use crate::workload::draft::{Kept, Role, draft};
use crate::workload::governance::ASKED;
use crate::workload::model::Model;
use crate::workload::oracle::{FORMAT, SCOPE, Verdict};
use crate::workload::run::Run;

impl Run {
    pub(crate) fn put(&mut self) -> Verdict {
        let kept = self.draft(None)?;
        let mut next = self.copy();
        next.put(&kept);
        let put = self.attempt(next, |store| store.put(Grain::clone(&kept.grain)))?;
        addressed(put.as_slice(), std::slice::from_ref(&kept))
    }

    pub(crate) fn put_batch(&mut self) -> Verdict {
        let mut batch = Vec::new();
        for _ in 0..self.random.below(8) {
            match self.any() {
                // Some are here already, and some twice in the batch.
                Some(one) if self.random.percent(20) => {
                    batch.extend(self.model().get(&one).cloned());
                }
                _ => batch.push(self.draft(None)?),
            }
            if self.random.percent(10) {
                batch.extend(batch.last().cloned());
            }
        }
        let mut next = self.copy();
        for kept in &batch {
            next.put(kept);
        }
        let in_parts = self.batch_in_parts;
        let put = self.attempt(next, |store| {
            let grains = batch.iter().map(|kept| Grain::clone(&kept.grain));
            if in_parts {
                return grains
                    .map(|grain| store.put(grain))
                    .collect::<Result<Vec<_>, _>>();
            }
            let stored = store.put_batch(grains)?;
            Ok(stored.iter().map(|put| put.address).collect::<Vec<_>>())
        })?;
        match put {
            Some(put) => addressed(&put, &batch),
            None => Ok(()),
        }
    }

    pub(crate) fn put_again(&mut self) -> Verdict {
        let Some(one) = self.any() else {
            return Ok(());
        };
        let model = self.model();
        let kept = model.get(&one).ok_or("no such grain")?;
        let next = self.copy();
        let put = self.attempt(next, |store| store.put(Grain::clone(&kept.grain)))?;
        addressed(put.as_slice(), std::slice::from_ref(kept))
    }

    /// A batch of which one grain is no grain.
    pub(crate) fn put_bad_batch(&mut self) -> Verdict {
        let good = self.draft(None)?;
        let bad = grainstore::Draft::belief("s0", "knows", "too much").confidence(2.0);
        let store = self.store.clone().ok_or("it is closed")?;
        let outcome = store.put_batch([
            grainstore::store::NewGrain::from(Grain::clone(&good.grain)),
            bad.into(),
        ]);
        self.refused(outcome, ErrorCode::Range)
    }

    /// Supersedes a grain, if it is current and its policy allows it; else is refused.
    pub(crate) fn supersede(&mut self) -> Verdict {
        let Some(old) = self.any() else {
            return Ok(());
        };
        let model = self.model();
        if model
            .get(&old)
            .is_some_and(|kept| kept.role != Role::Memory)
        {
            return Ok(());
        }
        let new = self.draft(Some(&old))?;
        let mut grains = model.grains();
        let found = grains.find(|(kept, _)| kept.grain.address() == old);
        let (kept, status) = found.ok_or("no such grain")?;
        let store = self.store.clone().ok_or("it is closed")?;
        let ask = || store.supersede(&old, Grain::clone(&new.grain), None);
        if status.superseded_by == Some(new.grain.address()) {
            // Asked before, and lost in a crash that kept it: done is done.
            let next = self.copy();
            return self.attempt(next, |_| ask()).map(drop);
        }
        if !status.is_current() {
            let outcome = ask();
            // Superseded already, or retired by what a file said of it.
            return self.refused(outcome, ErrorCode::Conflict);
        }
        let mut next = self.copy();
        if kept.is_protected {
            // The refusal is recorded.
            next.entries += 1;
            self.attempt(next, |_| match ask() {
                Err(error) if error.code() == ErrorCode::InvalidationDenied => Ok(()),
                Err(error) => Err(error),
                Ok(_) => Ok(()),
            })?;
            return Ok(());
        }
        next.supersede(&old, &new);
        let put = self.attempt(next, |_| ask())?;
        addressed(put.as_slice(), std::slice::from_ref(&new))
    }

    /// Imports what a file would hold: new grains and known ones, with ids, statuses and marks.
    pub(crate) fn import(&mut self) -> Verdict {
        let mut batch = self.copy();
        // A record that rests on a withdrawn consent is refused.
        let due = self.model().due();
        let mut conflicts = 0;
        let mut records = Vec::new();
        for line in 0..1 + self.random.below(4) {
            let kept = match self.any() {
                Some(one) if self.random.percent(20) && !due.contains(&one) => {
                    self.model().get(&one).cloned()
                }
                _ => None,
            };
            let kept = match kept {
                Some(kept) => kept,
                None => self.draft(None)?,
            };
            let id = format!("id{}", self.random.below(30));
            let change = self.change();
            conflicts += usize::from(batch.import(&kept, &id, &change));
            let mut record = Record::new(Grain::clone(&kept.grain), Place::Line(line as u64));
            record.status = change;
            record.foreign_id = Some(ForeignId::new(FORMAT, SCOPE, id));
            records.push(record);
        }
        let reading = ImportFile {
            records: records.into(),
            ..ImportFile::new(Format::Pam)
        };
        let mut done = batch.clone();
        done.entries += 1;
        let first = self.begin(batch);
        self.import_reading(reading, first, done, conflicts)
    }

    /// An import acknowledges each batch of records, and then itself.
    fn import_reading(
        &mut self,
        reading: ImportFile,
        first: usize,
        done: Model,
        conflicts: usize,
    ) -> Verdict {
        let store = self.store.clone().ok_or("it is closed")?;
        let mut tried = first;
        let mut verdict = Ok(());
        let mut done = Some(done);
        let outcome = store.import_with(reading, &mut |_| {
            verdict = if first == self.now {
                self.stays()
            } else {
                self.acknowledge(first)
            };
            if let Some(done) = done.take() {
                tried = self.begin(done);
            }
        });
        verdict?;
        match outcome {
            Ok(summary) if summary.conflicts.len() == conflicts => self.acknowledge(tried),
            Ok(summary) => Err(format!(
                "{} conflicts of {conflicts}",
                summary.conflicts.len()
            )),
            Err(error) => self.unknown(&[tried], &error),
        }
    }

    /// Deletes a grain: what is begun is ended, at the latest when the store is opened next.
    pub(crate) fn delete(&mut self) -> Verdict {
        let Some(one) = self.any() else {
            return Ok(());
        };
        if self.model().is_evidence(&one) {
            return self.delete_evidence(&one);
        }
        let tried = self.try_erasure(&[one]);
        let store = self.store.clone().ok_or("it is closed")?;
        match store.admin().and_then(|owner| owner.delete(&one, ASKED)) {
            Ok(()) => self.acknowledge(tried[2]),
            Err(error) => self.unknown(&tried, &error),
        }
    }

    /// A withdrawn consent and its withdrawal are kept, and the refusal is recorded.
    fn delete_evidence(&mut self, one: &ContentAddress) -> Verdict {
        let resumed = self.model().opened();
        let mut next = (*resumed).clone();
        let resumed = self.begin(resumed);
        next.entries += 1;
        let refused = self.begin(next);
        let store = self.store.clone().ok_or("it is closed")?;
        match store.admin().and_then(|owner| owner.delete(one, ASKED)) {
            Ok(()) => Err(format!("{one} is evidence and was deleted")),
            Err(error) if error.code() == ErrorCode::InvalidationDenied => {
                self.acknowledge(refused)
            }
            Err(error) => self.unknown(&[resumed, refused], &error),
        }
    }

    /// Now and then packs segments of the ledger, compressed or not.
    pub(crate) fn compact_if_due(&mut self) -> Verdict {
        let Some(random) = &mut self.compactions else {
            return Ok(());
        };
        if !random.percent(30) {
            return Ok(());
        }
        let compresses = random.percent(70);
        self.maintain(|store| match compresses {
            true => store.maintenance()?.compress().map(drop),
            false => store.maintenance()?.compact().map(drop),
        })
    }

    /// Does what changes nothing that the store says.
    pub(crate) fn maintain(&mut self, work: impl FnOnce(&Store) -> Result<(), Error>) -> Verdict {
        let store = self.store.as_ref().ok_or("it is closed")?;
        match work(store) {
            Ok(()) => Ok(()),
            Err(error) => self.unknown(&[self.now], &error),
        }
    }

    fn change(&mut self) -> StatusChange {
        let mut change = StatusChange::default();
        match self.random.below(6) {
            0 => change.verification = Some(Verification::Verified),
            1 => change.lifecycle = Some(Lifecycle::Archived),
            2 => change.contradicted = Some(true),
            3 => {
                change.verification = Some(Verification::Retracted);
                change.system_valid_to = Some(Time::from_ms(7));
            }
            _ => {}
        }
        change
    }

    fn draft(&mut self, derived_from: Option<&ContentAddress>) -> Verdict<Kept> {
        self.serial += 1;
        draft(self.serial, derived_from, &mut self.random).map_err(|error| error.to_string())
    }

    fn copy(&self) -> Model {
        (*self.model()).clone()
    }
}

fn addressed(put: &[ContentAddress], kept: &[Kept]) -> Verdict {
    let expected = kept.iter().map(|kept| kept.grain.address());
    if put.is_empty() || put.iter().copied().eq(expected) {
        Ok(())
    } else {
        Err("put returns an address that is not the grain's".into())
    }
}
