use std::collections::{HashMap, HashSet};

use crate::codec::ContentAddress;
use crate::interchange::{self, ForeignId, Loss, Place, Reading, Record};
use crate::ledger::Kind;
use crate::policy::{Operation, Rule};

use super::commit::Frame;
use super::entry::{AliasEntry, StatusEntry, encode_exportable, encode_import};
use super::open::Inner;
use super::{Error, Store};

/// What an import did, record by record counted.
#[derive(Debug, Default)]
pub struct Summary {
    /// Grains that are new here.
    pub inserted: u64,
    /// Grains that were here already.
    pub unchanged: u64,
    /// Records that say something else than an earlier import did; nothing of them was stored.
    pub conflicts: Vec<Conflict>,
    /// Records that are not grains, with what is wrong with them.
    pub refused: Vec<interchange::Error>,
    /// Records of what was deleted here: they do not come back (OMS 28.4).
    pub erased: Vec<Place>,
    /// What is stored but odd: where, and what about it.
    pub findings: Vec<(Place, String)>,
    /// What the file says and grains cannot carry.
    pub loss: Loss,
}

/// A foreign record that has changed since it was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where it stands in the file.
    pub place: Place,
    /// Its name.
    pub id: ForeignId,
    /// The grain it was imported as.
    pub existing: ContentAddress,
}

impl Summary {
    /// Returns whether every record is in the store now.
    pub fn is_complete(&self) -> bool {
        self.conflicts.is_empty() && self.refused.is_empty() && self.erased.is_empty()
    }
}

impl Store {
    /// Stores what was read from a file. Importing the same file again changes nothing.
    ///
    /// Grains and what the file says about them go in together, a thousand records at a time.
    /// A status is applied to grains that this import inserts; of grains that are here already the
    /// store knows better than any file (ruling I18). Whoever wants all or nothing looks at
    /// [`Reading::errors`] first.
    ///
    /// ```
    /// use grainstore::interchange::{ReadOptions, Reading};
    /// use grainstore::{Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("memory.jsonl");
    /// # std::fs::write(&path, "{\"type\":\"event\",\"content\":\"hi\",\"created_at\":1}\n").unwrap();
    /// let summary = store.import(Reading::open(&path, None, &ReadOptions::default())?)?;
    /// assert_eq!((summary.inserted, summary.is_complete()), (1, true));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors; what cannot be stored is in the summary.
    pub fn import(&self, reading: Reading) -> Result<Summary, Error> {
        self.import_with(reading, &mut |_| {})
    }

    /// Imports as [`Store::import`] does, and tells after each batch how many records are done.
    ///
    /// # Errors
    /// As [`Store::import`].
    pub fn import_with(
        &self,
        reading: Reading,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Summary, Error> {
        let mut done = 0;
        let mut summary = Summary {
            refused: reading.errors,
            findings: reading.findings,
            loss: reading.loss,
            ..Summary::default()
        };
        let mut records = reading.records.into_iter();
        loop {
            let batch: Vec<Record> = records.by_ref().take(BATCH_LEN).collect();
            if batch.is_empty() {
                break;
            }
            done += batch.len() as u64;
            self.inner.import_batch(batch, &mut summary)?;
            progress(done);
        }
        let counts = [
            ("new", summary.inserted),
            ("old", summary.unchanged),
            ("conflict", summary.conflicts.len() as u64),
            (
                "refused",
                (summary.refused.len() + summary.erased.len()) as u64,
            ),
        ];
        let mut frame = Frame::default();
        frame.record(Kind::Import, encode_import(reading.format.name(), counts)?);
        self.inner.commit(&mut self.inner.lead_alone(), &frame)?;
        Ok(summary)
    }
}

impl Inner {
    fn import_batch(&self, records: Vec<Record>, summary: &mut Summary) -> Result<(), Error> {
        // Held from the first decision to the acknowledgement, so that no grain goes in twice.
        let mut writer = self.lead_alone();
        let mut batch = Batch {
            inner: self,
            frame: Frame::default(),
            pending: HashSet::new(),
            names: HashMap::new(),
            summary,
        };
        for record in records {
            batch.add(record)?;
        }
        let frame = batch.frame;
        self.commit(&mut writer, &frame)?;
        Ok(())
    }
}

/// Records whose frame is not written yet.
struct Batch<'a> {
    inner: &'a Inner,
    frame: Frame,
    pending: HashSet<ContentAddress>,
    names: HashMap<ForeignId, ContentAddress>,
    summary: &'a mut Summary,
}

impl Batch<'_> {
    fn add(&mut self, record: Record) -> Result<(), Error> {
        let address = record.grain.address();
        let known = match &record.foreign_id {
            Some(id) => self.known(id)?,
            None => None,
        };
        if let (Some(id), Some(existing)) = (&record.foreign_id, known)
            && existing != address
        {
            self.summary.conflicts.push(Conflict {
                place: record.place,
                id: id.clone(),
                existing,
            });
            return Ok(());
        }
        if self.was_deleted(&record)? {
            self.summary.erased.push(record.place);
            return Ok(());
        }
        for warning in &record.warnings {
            let finding = (record.place.clone(), warning.to_string());
            self.summary.findings.push(finding);
        }
        let snapshot = self.inner.index.snapshot();
        let is_here =
            self.pending.contains(&address) || self.inner.locate(&snapshot, &address)?.is_some();
        if is_here {
            self.summary.unchanged += 1;
        } else {
            self.insert(&record)?;
        }
        match record.foreign_id {
            Some(id) if known.is_none() => self.name(address, id)?,
            _ => {}
        }
        Ok(())
    }

    fn insert(&mut self, record: &Record) -> Result<(), Error> {
        let address = record.grain.address();
        let snapshot = self.inner.index.snapshot();
        match self
            .inner
            .refuse_terms(&snapshot, &self.frame, &record.grain)?
        {
            // OMS 8.10: a withdrawal holds, wherever the data comes from.
            Some(Rule::Consent) => {
                self.frame
                    .deny(&address, Operation::Import.name(), Rule::Consent)?;
                self.summary.refused.push(interchange::Error::Format {
                    code: "ERR_CONSENT",
                    place: record.place.clone(),
                    message: "it rests on a consent that is withdrawn or does not allow it".into(),
                });
                return Ok(());
            }
            Some(rule) => {
                let message = format!("stored although it wants {}", rule.wants());
                self.summary.findings.push((record.place.clone(), message));
            }
            None => {}
        }
        // Ruling I4: stored, supersedes nothing, and is told.
        match self
            .inner
            .refuse_implied_supersession(&record.grain, &[], &|_| None)
        {
            Err(Error::ImpliedSupersession { address }) => {
                let message = format!("stored, but does not supersede {address} as it implies");
                self.summary.findings.push((record.place.clone(), message));
            }
            other => other?,
        }
        for (parent, by) in self.inner.forks(&snapshot, &record.grain)? {
            let message = format!("stored beside {by}, which replaced {parent} here");
            self.summary.findings.push((record.place.clone(), message));
        }
        self.frame.grain(record.grain.clone());
        self.inner
            .record_consequences(&snapshot, &mut self.frame, &record.grain, None)?;
        self.pending.insert(address);
        self.summary.inserted += 1;
        let mut change = record.status;
        if let Some(by) = &change.superseded_by
            && self.inner.was_deleted(by)?
        {
            // Its address must not come back either.
            change.superseded_by = None;
        }
        if !change.is_empty() {
            let status = StatusEntry {
                of: address,
                change,
                justification: None,
                is_imported: true,
            };
            self.frame.record(Kind::Status, status.encode()?);
        }
        if let Some(exportable) = record.exportable {
            let flag = encode_exportable(&address, exportable)?;
            self.frame.record(Kind::Flag, flag);
        }
        Ok(())
    }

    /// Returns whether a record is of a grain that was deleted here, under its address or its name,
    /// and has not been put again.
    fn was_deleted(&self, record: &Record) -> Result<bool, Error> {
        let address = record.grain.address();
        let by_name = match &record.foreign_id {
            Some(id) => {
                let name = [id.format, id.scope.as_str(), id.id.as_str()];
                self.inner.was_named(name)?
            }
            None => false,
        };
        if !by_name && !self.inner.was_deleted(&address)? {
            return Ok(false);
        }
        let snapshot = self.inner.index.snapshot();
        Ok(self.inner.locate(&snapshot, &address)?.is_none())
    }

    fn name(&mut self, of: ContentAddress, id: ForeignId) -> Result<(), Error> {
        let alias = AliasEntry {
            of,
            format: id.format.to_owned(),
            scope: id.scope.clone(),
            id: id.id.clone(),
        };
        self.frame.record(Kind::Alias, alias.encode()?);
        self.names.insert(id, of);
        Ok(())
    }

    /// Returns what a foreign name stands for, in this batch or in the store.
    fn known(&self, id: &ForeignId) -> Result<Option<ContentAddress>, Error> {
        match self.names.get(id) {
            Some(address) => Ok(Some(*address)),
            None => {
                let name = [id.format, id.scope.as_str(), id.id.as_str()];
                self.inner.resolve(&self.inner.index.snapshot(), name)
            }
        }
    }
}

/// Records: enough to make a sync cheap, few enough to keep memory flat.
const BATCH_LEN: usize = 1_000;
