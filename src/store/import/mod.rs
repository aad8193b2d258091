//! Files become grains here: the one door through which records come in.

mod batch;
mod conflict;
mod entries;
mod lookup;
mod summary;
mod vectors;

use crate::interchange::{ImportFile, Record, Signature};

use super::{Admin, Error, Store};
use crate::store::records::{Frame, ImportRecord, Record as Entry};

use batch::Importer;
pub use conflict::Conflicting;
pub use summary::{Conflict, Denied, Summary};

impl Admin<'_> {
    /// Stores what was read from a file. Importing the same file again changes nothing.
    ///
    /// Grains and what the file says about them go in together, a thousand records at a time.
    /// A status is applied to grains that this import inserts; of grains that are here already the
    /// store knows better than any file (ruling I18). Whoever wants all or nothing looks at
    /// [`ImportFile::errors`] first.
    ///
    /// A record that was imported before and says something else now takes the place of what it
    /// said then, if it is newer and policy allows it (OMS 23). What cannot both be true is a
    /// [`Conflict`]. The new grain is derived from the one it replaces and depends on nothing else
    /// but the record and what it names, so that the order of files decides and not their time.
    ///
    /// ```
    /// use grainstore::interchange::{ReadOptions, ImportFile};
    /// use grainstore::{Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("memory.jsonl");
    /// # std::fs::write(&path, "{\"type\":\"event\",\"content\":\"hi\",\"created_at\":1}\n").unwrap();
    /// let summary = store.admin()?.import(ImportFile::open(&path, None, &ReadOptions::default())?)?;
    /// assert_eq!((summary.inserted, summary.is_complete()), (1, true));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors; what cannot be stored is in the summary.
    pub fn import(self, reading: ImportFile) -> Result<Summary, Error> {
        self.import_with(reading, &mut |_| {})
    }

    /// Imports as [`Admin::import`](crate::store::Admin::import) does, and tells after each batch how many records are done.
    ///
    /// # Errors
    /// As [`Admin::import`](crate::store::Admin::import).
    pub fn import_with(
        self,
        reading: ImportFile,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Summary, Error> {
        let format = reading.format;
        // AIMEM 5.3: that nobody checked is part of the audit trail.
        let signature = reading.signature.map(Signature::name);
        let summary = self
            .store()
            .run(Importer::new(self.inner(), false), reading, progress)?;
        let record = Entry::Import(ImportRecord {
            format: format.name().to_owned(),
            signature: signature.map(str::to_owned),
            counts: [
                summary.inserted,
                summary.updated,
                summary.unchanged,
                summary.conflicts.len() as u64,
                summary.refusals(),
            ],
        });
        let frame = Frame::of(None, &record)?;
        self.inner().commit(&mut self.inner().exclusive(), &frame)?;
        Ok(summary)
    }

    /// Returns what an import would come to, and writes nothing.
    ///
    /// # Errors
    /// As [`Admin::import`](crate::store::Admin::import).
    pub fn preview_import(self, reading: ImportFile) -> Result<Summary, Error> {
        self.store()
            .run(Importer::new(self.inner(), true), reading, &mut |_| {})
    }
}

impl Store {
    fn run(
        &self,
        mut importer: Importer<'_>,
        mut reading: ImportFile,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Summary, Error> {
        // No signature is stored that did not verify here, whoever read the file.
        reading.verify_signatures(self.inner.resolver());
        importer.summary = Summary {
            refused: reading.errors,
            findings: reading.findings,
            loss: reading.loss,
            ..Summary::default()
        };
        if let Some(base) = &reading.base {
            importer.expect(base)?;
        }
        let mut done = 0;
        let mut batch = Vec::new();
        reading.records.each(|record: Record| {
            batch.push(record);
            if batch.len() < BATCH_LEN {
                return Ok(());
            }
            done += batch.len() as u64;
            importer.add_all(std::mem::take(&mut batch))?;
            progress(done);
            Ok::<(), Error>(())
        })?;
        done += batch.len() as u64;
        importer.add_all(batch)?;
        progress(done);
        importer.keep(&reading.vectors)?;
        importer.finish()
    }
}

/// Records: enough to make a sync cheap, few enough to keep memory flat.
const BATCH_LEN: usize = 1_000;
