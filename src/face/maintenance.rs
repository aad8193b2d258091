//! The files of a store: copies, checks, proofs, figures.

use std::ops::Range;
use std::path::Path;

use crate::codec::ContentAddress;
use crate::crypto::Note;
#[cfg(feature = "signatures")]
use crate::crypto::{Did, SigningKey};
use crate::index::Snapshot;
use crate::ledger::Disk;
use crate::query::{Filter, QueryPlan};
use crate::store::{
    Access, Audit, Backup, Checked, Compacted, Error, RecoveryReport, Report, Stats, audit,
    maintenance, opening, read,
};
use crate::{index, query};

/// Owner-only operations on the files of the store: see [`Store::maintenance`](crate::Store::maintenance).
#[derive(Clone, Copy, Debug)]
pub struct Maintenance<'a>(pub(super) &'a Access);

impl<'a> Maintenance<'a> {
    /// Returns what was found and mended when the store was opened.
    pub fn recovery_report(self) -> &'a RecoveryReport {
        self.0.engine().recovery()
    }

    /// Evaluates a query and returns its plan.
    ///
    /// # Errors
    /// As [`Store::query`](crate::Store::query).
    pub fn explain(self, filter: &Filter) -> Result<QueryPlan, Error> {
        query::explain(self.0, filter)
    }

    /// Groups the current grains that pass a filter by a field, `type`, `session_id` or `user_id`: the
    /// number of groups, and those of a page, the group with the latest event first. Each has the number of its
    /// grains, and the addresses of up to four of the earliest and of the latest.
    ///
    /// Grains without the field are in no group. The index counts, and only those grains are read.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// for text in ["hello", "how are you?"] {
    ///     store.put(Draft::event(text).session("talk"))?;
    /// }
    /// let (total, groups) = store.maintenance()?.groups(&Filter::new(), "session_id", 0..10)?;
    /// assert_eq!((total, groups[0].0, groups[0].1.len()), (1, 2, 2));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER` for another field; storage errors.
    pub fn groups(
        self,
        filter: &Filter,
        field: &str,
        page: Range<usize>,
    ) -> Result<(usize, Vec<Group>), Error> {
        query::groups(self.0, filter, field, page)
    }

    /// Returns the audit trail: the ledger, with proofs and as a log.
    pub const fn audit(self) -> Audit<'a> {
        audit::audit(self.0)
    }

    /// Signs the head of the ledger, writes the statement into the ledger, and returns the message,
    /// which is to be kept outside the store. Every byte of the ledger is read and verified first;
    /// writing continues meanwhile.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for a damaged ledger; `ERR_KEY`; storage errors.
    #[cfg(feature = "signatures")]
    pub fn checkpoint(self, key: &SigningKey, did: &Did) -> Result<Vec<u8>, Error> {
        maintenance::checkpoint(self.0, key, did)
    }

    /// Signs a receipt for a grain in the store: its address, its place in the ledger, and its
    /// time.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_KEY`; storage errors.
    #[cfg(feature = "signatures")]
    pub fn receipt(
        self,
        address: &ContentAddress,
        key: &SigningKey,
        did: &Did,
    ) -> Result<Vec<u8>, Error> {
        maintenance::receipt(self.0, address, key, did)
    }

    /// Copies the durable store at one moment into a directory: first all of it, later only the
    /// changes. Other threads read and write meanwhile.
    ///
    /// Where a regime requires reads to be recorded, an entry is written first.
    ///
    /// A backup is the directory of a store: opening it rebuilds index and text view.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let home = tempfile::tempdir()?;
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("hello"))?;
    /// assert_eq!(store.maintenance()?.backup(home.path().join("b"))?.entries, 1);
    /// assert!(Store::open(home.path().join("b"), Options::default())?.exists(&address)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_BACKUP_DIVERGED` if the directory holds another store, or one that is no earlier moment
    /// of this; `ERR_NOT_A_STORE` if it holds other files; `ERR_STORE_LOCKED` if it is open;
    /// `ERR_STORAGE_DAMAGED` if a byte of this store's ledger is not what was written, or the end of
    /// a segment of the backup, which is named; `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`. After any of
    /// them, and after a crash, the directory is the earlier backup or the new one.
    pub fn backup(self, path: impl AsRef<Path>) -> Result<Backup, Error> {
        maintenance::backup(self.0, path)
    }

    /// As [`Maintenance::backup`], and copies damaged bytes of the ledger as they are, into a
    /// directory without an earlier backup. [`recover`](crate::recovery::recover) makes a sound
    /// store from the copy.
    ///
    /// # Errors
    /// As [`Maintenance::backup`]; `ERR_STORAGE_DAMAGED` if there is damage and an earlier backup, which
    /// stays as it is.
    pub fn backup_damaged(self, path: impl AsRef<Path>) -> Result<Backup, Error> {
        maintenance::backup_damaged(self.0, path)
    }

    /// As [`Maintenance::backup`] on a disk of the caller's; errors name `path`.
    ///
    /// # Errors
    /// As [`Maintenance::backup`].
    #[doc(hidden)]
    pub fn backup_to(self, disk: &dyn Disk, path: &Path) -> Result<Backup, Error> {
        maintenance::backup_to(self.0, disk, path)
    }

    /// Checks the structure of the store's files, and changes nothing: `MANIFEST`, the headers and
    /// ends of the ledger's segments, its frames and chain behind what the index has on disk,
    /// `CURRENT` and the directories of the index's runs, and the watermark of the text view.
    ///
    /// It is quick; [`Maintenance::check`](crate::Maintenance::check) reads the contents
    /// too.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; damage is a finding, not an error.
    pub fn check_structure(self) -> Result<Report, Error> {
        maintenance::check_structure(self.0)
    }

    /// Reads every byte of the store, compares it with what was written, and changes nothing.
    ///
    /// Proves what [`Maintenance::check_structure`](crate::Maintenance::check_structure) looks at, and the ledger's bodies and whole chain;
    /// that every grain is what OMS calls one, under its address, and that the signature of a
    /// signed one is there and verifies; that no grains replace each other in a circle; that every key of
    /// the vault opens, if the master key is here; that the index equals the fold of the ledger; and that the files of the text view are those that were written.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; damage is a finding, not an error.
    pub fn check(self) -> Result<Report, Error> {
        maintenance::check(self.0)
    }

    /// Verifies a checkpoint against this store: reads and verifies its ledger.
    ///
    /// # Errors
    /// `ERR_SIGNATURE`, `ERR_CORRUPT` and others for an invalid message; `ERR_UNRESOLVED` for a
    /// signer whose key is not known here, and for each in a build without the feature
    /// `signatures`; `ERR_STORAGE_IO`.
    pub fn verify_checkpoint(self, message: &[u8]) -> Result<Checked, Error> {
        maintenance::verify_checkpoint(self.0, message)
    }

    /// Returns the checkpoints that were written into the ledger, oldest first.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn checkpoints(self) -> Result<Vec<Vec<u8>>, Error> {
        maintenance::checkpoints(self.0)
    }

    /// Writes index and text view to disk and merges the files of each into one, so that queries
    /// read as few files as possible. Other threads read and write meanwhile. Erasures that wait
    /// are completed, torn tails that were set aside are removed, and where the master key is known
    /// the keys of sealed persons are renewed of whom a grain was deleted.
    ///
    /// Segments of the ledger of which erasures have blanked a quarter or more are written again
    /// without what is blank: chain and proofs do not change.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` names the process that keeps the derived files, if it is another one;
    /// `ERR_INDEX_DAMAGED`, `ERR_TEXT`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`; nothing is lost.
    pub fn compact(self) -> Result<Compacted, Error> {
        maintenance::compact(self.0, false)
    }

    /// Does as [`compact`](Self::compact), and compresses the grains of the ledger to about half, in
    /// segments of a 64th of [`Options::segment_bytes`](crate::Options::segment_bytes) or more: reading
    /// one takes a microsecond more. Later ones are not compressed, and those that are stay so.
    ///
    /// # Errors
    /// As [`compact`](Self::compact).
    pub fn compress(self) -> Result<Compacted, Error> {
        maintenance::compact(self.0, true)
    }

    /// Returns the statistics of the store.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_INDEX_DAMAGED`.
    pub fn stats(self) -> Result<Stats, Error> {
        maintenance::stats(self.0)
    }

    /// Returns a snapshot of the index: rows of the ledger, without their contents.
    ///
    /// ```
    /// use grainstore::index::Pattern;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark mode").confidence(0.9))?;
    /// let pattern = Pattern { subject: Some("user"), ..Pattern::default() };
    /// assert_eq!(store.maintenance()?.index_snapshot().triples(&pattern).rows()?.len(), 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn index_snapshot(self) -> Snapshot {
        maintenance::index_snapshot(self.0)
    }

    /// Completes what puts leave for later: commits the text view, so that the next open need not feed
    /// it again, and embeds the grains that wait for a vector of
    /// [`Options::embedders`](crate::Options::embedders).
    ///
    /// Grains are durable and found by their words without it. It does nothing in a process that does
    /// not keep the derived files.
    ///
    /// # Errors
    /// `ERR_TEXT`; `ERR_EMBEDDER` if grains still wait, because a model failed; storage errors.
    pub fn flush_text(self) -> Result<(), Error> {
        maintenance::flush_text(self.0)
    }

    /// Does once what an open store in a directory does twice a second: takes in what other
    /// processes wrote, and does what they wait for. For disks in memory, where nothing does it.
    ///
    /// # Errors
    /// Storage errors.
    #[doc(hidden)]
    pub fn tend(self) -> Result<(), Error> {
        opening::tend(self.0)
    }

    /// Makes every acknowledged write durable; without
    /// [`Durability::Relaxed`](crate::store::Durability::Relaxed) it is durable already.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_HALTED`.
    pub fn sync(self) -> Result<(), Error> {
        maintenance::sync(self.0)
    }

    /// Returns how often a grain was retrieved, and when last (OMS 28.3: `access_count`,
    /// `last_accessed_at`); `None` if it never was, or if the store does not count
    /// ([`Options::accesses`](crate::store::Options::accesses)).
    ///
    /// A get, a query, a search and a recall count once for each grain that they return; what the
    /// store reads for itself does not: policy, history, links, checks, exports (OMS 22.10). Counts
    /// are not in the ledger. They are written when a grain is retrieved and the oldest that is
    /// not written has waited for as long as the option allows, and on closing: a crash takes what
    /// was counted within one such span, and no backup has them.
    ///
    /// ```
    /// use std::time::Duration;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let accesses = Some(Duration::from_secs(60));
    /// let store = Store::in_memory(Options { accesses, ..Options::default() })?;
    /// let address = store.put(Draft::event("tea"))?;
    /// assert_eq!(store.maintenance()?.accesses(&address)?, None);
    /// store.get(&address)?;
    /// store.search("tea", &Default::default(), 10)?;
    /// assert_eq!(store.maintenance()?.accesses(&address)?.map(|access| access.count), Some(2));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn accesses(
        self,
        address: &ContentAddress,
    ) -> Result<Option<index::RetrievalCount>, Error> {
        read::accesses(self.0, address)
    }

    /// Checks the store as [`Maintenance::check`] does, and compares its ledger with a note. The check
    /// is recorded in the ledger, unless the store was opened for reading only, or the ledger is
    /// damaged: then it stays as it was found.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("hello"))?;
    /// let maintenance = store.maintenance()?;
    /// let note = maintenance.audit().head()?;
    /// let report = maintenance.check_on_record(Some(&note))?;
    /// assert_eq!((report.findings.len(), report.anchor), (0, Some(1)));
    /// assert_eq!(maintenance.check_structure_on_record(None)?.anchor, None);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors; damage is a finding, not an error.
    pub fn check_on_record(self, since: Option<&Note>) -> Result<Report, Error> {
        maintenance::check_on_record(self.0, true, since)
    }

    /// Checks the store as [`Maintenance::check_structure`] does, else as
    /// [`Maintenance::check_on_record`].
    ///
    /// # Errors
    /// Storage errors; damage is a finding, not an error.
    pub fn check_structure_on_record(self, since: Option<&Note>) -> Result<Report, Error> {
        maintenance::check_on_record(self.0, false, since)
    }
}

/// The number of grains of a group, and the addresses of some.
type Group = (u64, Vec<ContentAddress>);
