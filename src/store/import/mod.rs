//! Import: the records of a file are stored as grains. Every import takes this path; reading and
//! validating files is the task of `interchange`.

mod admission;
mod batch;
mod conflict;
mod corrections;
mod entries;
mod forks;
mod holds;
mod lookup;
mod refusal;
mod summary;
mod tree;
mod vectors;

use crate::interchange::{ImportFile, Record, Signature};

use super::{Admin, Error, Store};
use crate::store::engine::Caller;
use crate::store::records::{ImportRecord, Record as Entry};
use crate::store::txn::Transaction;

use batch::Importer;
pub use conflict::Conflicting;
pub use summary::{Conflict, Denied, Summary};

impl Store {
    /// Stores the records of a file. Importing the same file again changes nothing.
    ///
    /// Grains and the file's statements about them are stored together, a thousand records at a
    /// time. A status is applied to grains that this import inserts. For grains that are stored already
    /// the store's own status takes precedence (ruling I18), unless the file is a copy of the owner's
    /// own ([`ImportFile::is_own`]): then what ended there ends here as far as policy permits. A caller that wants all records
    /// or none checks [`ImportFile::errors`] first.
    ///
    /// A record that changed since an earlier import replaces its earlier grain, if it is newer and
    /// policy permits it (OMS 23). If nothing decides between the two, they are a [`Conflict`]. The
    /// new grain is derived from the one it replaces and depends only on the record and the grains
    /// it names, so the order of the files decides and not the time of import.
    ///
    /// ```
    /// use grainstore::interchange::{ReadOptions, ImportFile};
    /// use grainstore::{Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("memory.jsonl");
    /// # std::fs::write(&path, "{\"type\":\"event\",\"content\":\"hi\",\"created_at\":1}\n").unwrap();
    /// let summary = store.import(ImportFile::open(&path, None, &ReadOptions::default())?)?;
    /// assert_eq!((summary.inserted, summary.is_complete()), (1, true));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// A narrowed handle imports its own records: each passes the rules of a put by that handle, and
    /// replaces only what the handle sees and may change. The owner's file may name other authors.
    ///
    /// # Errors
    /// Storage errors. Records that cannot be stored are in the summary.
    pub fn import(&self, reading: ImportFile) -> Result<Summary, Error> {
        self.import_with(reading, &mut |_| {})
    }

    /// Imports as [`Store::import`] does, and reports the number of
    /// finished records after each batch.
    ///
    /// # Errors
    /// As [`Store::import`].
    pub fn import_with(
        &self,
        reading: ImportFile,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Summary, Error> {
        let format = reading.format;
        // AIMEM 5.3: a skipped check is part of the audit trail.
        let signature = reading.signature.map(Signature::name);
        let footer = reading.footer;
        let caller = self.caller()?;
        let importer = Importer::new(&self.engine, caller, false);
        let summary = self.run(importer, reading, progress)?;
        let record = Entry::Import(ImportRecord {
            format: format.name().to_owned(),
            signature: signature.map(str::to_owned),
            footer,
            counts: [
                summary.inserted,
                summary.updated,
                summary.unchanged,
                summary.conflicts.len() as u64,
                summary.refusals(),
            ],
        });
        let mut txn = Transaction::begin(&self.engine, caller)?;
        txn.record(&record)?;
        txn.commit()?;
        Ok(summary)
    }

    fn run(
        &self,
        mut importer: Importer<'_>,
        mut reading: ImportFile,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Summary, Error> {
        // No signature is stored that did not verify here, even if the reader of the file checked
        // it.
        reading.verify_signatures(self.engine.resolver());
        importer.summary = Summary {
            refused: reading.errors,
            findings: reading.findings,
            loss: reading.loss,
            ..Summary::default()
        };
        if let Some(base) = &reading.base {
            importer.expect(base)?;
        }
        // A handle that is not the owner's has no copy of the owner's own.
        importer.is_own = reading.is_own && importer.caller.is_owner();
        let ended = importer.continue_tree(&reading.records)?;
        let mut done = 0;
        let mut batch = Vec::new();
        let mut bytes = 0;
        reading.records.each(|record: Record| {
            bytes += record.grain.blob().len();
            batch.push(record);
            if batch.len() < BATCH_LEN && bytes < BATCH_BYTES {
                return Ok(());
            }
            bytes = 0;
            done += batch.len() as u64;
            importer.add_all(std::mem::take(&mut batch))?;
            progress(done);
            Ok::<(), Error>(())
        })?;
        done += batch.len() as u64;
        importer.add_all(batch)?;
        progress(done);
        importer.end(ended)?;
        importer.keep(&reading.vectors)?;
        importer.finish()
    }
}

impl Admin<'_> {
    /// Returns the summary that an import would have, without writing.
    ///
    /// # Errors
    /// As [`Store::import`](crate::Store::import).
    pub fn preview_import(self, reading: ImportFile) -> Result<Summary, Error> {
        self.authorize_whole()?;
        let importer = Importer::new(self.engine(), Caller::default(), true);
        self.store().run(importer, reading, &mut |_| {})
    }
}

/// Records in a batch: enough to make a sync cheap, few enough to bound memory.
const BATCH_LEN: usize = 1_000;

/// The bytes of their blobs after which a batch is full.
const BATCH_BYTES: usize = 1 << 22;
