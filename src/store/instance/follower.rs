//! A store that another process writes, opened for reading: it is brought to the published end at
//! each question, and once a second without one.
//!
//! The same entries pass through the same fold as in the process that writes. Derived files are
//! opened on an overlay, so that nothing of the directory is changed; after an erasure, and when
//! much is new, those that the writer has published meanwhile are opened in place of the old ones.

use std::ops::Range;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use crate::index::Index;
use crate::ledger::{Disk, EntryId, OverlayDisk};
use crate::store::Error;
use crate::store::records::{Record, erased_rows};
use crate::store::state::{Body, DecodedEntry};

use super::inner::Inner;

/// The part of a store that follows another process.
#[derive(Debug)]
pub(super) struct Follower {
    /// The directory as it is.
    below: Arc<dyn Disk>,
    /// One thread applies what is new. The others wait: their answers must contain it too.
    applying: Mutex<()>,
}

impl Follower {
    pub(super) fn new(below: Arc<dyn Disk>) -> Self {
        Self {
            below,
            applying: Mutex::default(),
        }
    }
}

impl Inner {
    /// Refuses a change of a store that was opened for reading.
    ///
    /// # Errors
    /// `ERR_STORAGE_READ_ONLY`.
    pub(crate) fn authorize_changes(&self) -> Result<(), Error> {
        match self.follower() {
            None => Ok(()),
            Some(_) => Err(Error::OpenedReadOnly),
        }
    }

    /// Applies what the process that writes has published. If that fails the answers stay as they
    /// were, less the entries whose bytes are gone, and the next question tries again.
    pub(crate) fn follow(&self) {
        let Some(follower) = self.follower() else {
            return;
        };
        if let Err(error) = self.apply_news(follower) {
            tracing::warn!(%error, "what another process wrote cannot be followed");
        }
    }

    fn apply_news(&self, follower: &Follower) -> Result<(), Error> {
        if !self.ledger().is_behind() && self.index().watermark() >= self.ledger().len() {
            return Ok(());
        }
        let _applying = follower.applying.lock();
        self.ledger().follow(erased_rows)?;
        let rows = EntryId::new(self.index().watermark())..EntryId::new(self.ledger().len());
        match rows.end.get().saturating_sub(rows.start.get()) {
            0 => Ok(()),
            1..=ONE_BY_ONE_MAX => self.apply_followed(follower, &rows),
            _ => self.reload(follower),
        }
    }

    /// Applies the entries at once, so that no question sees a part of a batch.
    fn apply_followed(&self, follower: &Follower, rows: &Range<EntryId>) -> Result<(), Error> {
        let mut decoded = Vec::new();
        self.each_decoded(rows.start, &mut |entry| {
            decoded.push(entry);
            Ok(())
        })?;
        let entries: Vec<_> = decoded.iter().map(DecodedEntry::as_entry).collect();
        self.apply_entries(&entries, rows)?;
        let mut is_rewritten = false;
        for entry in &entries {
            match entry.body {
                Body::Record(Record::Erasing(erasing)) => self.hide(&erasing.rows)?,
                Body::Record(Record::Erased(_)) => is_rewritten = true,
                Body::Damaged => self.add_damaged(entry.row),
                Body::Grain(_) | Body::Record(_) | Body::Locked => {}
            }
        }
        // The files that hold the erased words are unlinked by now, and must not stay open here.
        if is_rewritten {
            self.reload(follower)?;
        }
        Ok(())
    }

    /// Opens the derived files that the writer has published, and brings them to the end of the
    /// ledger, before they take the place of the old ones.
    fn reload(&self, follower: &Follower) -> Result<(), Error> {
        let below = Arc::clone(&follower.below);
        let disk: Arc<dyn Disk> = Arc::new(OverlayDisk::new(below));
        let terms = self.manifest().term_key();
        let options = self.options().index.clone();
        let (index, _) = Index::open(&disk, self.manifest().store_id, terms, options);
        // The runs are of entries that were published before them.
        self.ledger().follow(erased_rows)?;
        if index.watermark() > self.ledger().len() {
            return Err(Error::damaged("index", "it covers more than the ledger"));
        }
        self.index_rest(&index, &mut || ())?;
        self.replace_index(index);
        self.recover_state()?;
        self.caches().forget(&[]);
        self.hide_begun()?;
        self.reload_text(&disk);
        Ok(())
    }

    /// Hides the entries of erasures that are begun: their bytes are going.
    ///
    /// # Errors
    /// Storage errors.
    pub(super) fn hide_begun(&self) -> Result<(), Error> {
        let open = self.state_cell().read().erasures().open().clone();
        open.values().try_for_each(|rows| self.hide(rows))
    }

    fn hide(&self, rows: &[EntryId]) -> Result<(), Error> {
        let is_of_state = self
            .state_cell()
            .read()
            .rests_on(rows, &self.index().snapshot())?;
        self.index().erase(rows.iter().copied());
        self.caches().forget(rows);
        if is_of_state {
            self.recover_state()?;
        }
        Ok(())
    }
}

/// Follows while nothing is asked: an idle process must not keep erased bytes open.
pub(super) fn watch(inner: &Arc<Inner>) {
    let inner = Arc::downgrade(inner);
    let started = thread::Builder::new()
        .name("grainstore-follow".to_owned())
        .spawn(move || while_open(&inner));
    if let Err(error) = started {
        tracing::warn!(%error, "what another process writes is followed at questions only");
    }
}

fn while_open(inner: &Weak<Inner>) {
    loop {
        thread::sleep(IDLE);
        let Some(inner) = inner.upgrade() else {
            return;
        };
        inner.follow();
    }
}

/// How long an idle process may lag behind; an erased grain may be held open for 5 seconds.
const IDLE: Duration = Duration::from_secs(1);

/// Up to this many new entries are applied one by one; more are read from the files of the writer.
const ONE_BY_ONE_MAX: u64 = 10_000;
