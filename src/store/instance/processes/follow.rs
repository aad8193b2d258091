//! Following the others: what they wrote is applied through the same fold as this process's own
//! commits, at each question, before each turn, and once in a while without a question.
//!
//! The keeper writes the derived files. The others have them on an overlay in memory; after an
//! erasure, and when much is new, they open those that the keeper has published meanwhile in place
//! of their own. If the keeper ends, another takes its place.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::index::Index;
use crate::ledger::{self, Disk, EntryId, Kind, Lock, OverlayDisk};
use crate::store::Error;
use crate::store::instance::apply::Scanned;
use crate::store::instance::folder::derived_files;
use crate::store::instance::inner::Inner;
use crate::store::records::{Record, erased_rows};
use crate::store::state::{Body, DecodedEntry};

use super::idle::Idle;
use super::turns::Turn;

impl Inner {
    /// Returns whether this process writes the derived files.
    pub(crate) fn is_keeper(&self) -> bool {
        self.peers().is_keeper()
    }

    /// Returns the disk on which this process opens derived files: those of the keeper are the
    /// store's.
    pub(in crate::store::instance) fn derived_disk(&self) -> Arc<dyn Disk> {
        let below = Arc::clone(&self.peers().below);
        match self.is_keeper() {
            true => below,
            false => Arc::new(OverlayDisk::new(below)),
        }
    }

    /// Waits for the turn of this process to write, and applies what others wrote before it; `None`
    /// in a process that only reads.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` after [`Options::lock_wait`](crate::store::Options::lock_wait); storage
    /// errors.
    pub(crate) fn take_turn(&self) -> Result<Option<Turn<'_>>, Error> {
        let peers = self.peers();
        let Some(turns) = &peers.turns else {
            return Ok(None);
        };
        let turn = turns.take(self.ledger(), self.options().lock_wait)?;
        let _applying = peers.applying.lock();
        if self.ledger().is_behind() {
            peers.is_lagging.store(true, Ordering::Release);
        }
        let others_wrote = self.ledger().begin_turn(erased_rows)?;
        turns.name(others_wrote);
        apply_rest(self)?;
        Ok(Some(turn))
    }

    /// Runs a step that appends entries and applies them, while no other thread applies any.
    pub(crate) fn applying<T>(&self, step: impl FnOnce() -> T) -> T {
        let _applying = self.peers().applying.lock();
        step()
    }

    /// Applies what other processes have published. If that fails the answers stay as they were,
    /// less the entries whose bytes are gone, and the next question tries again.
    pub(crate) fn follow(&self) {
        let peers = self.peers();
        // Entries that this process appends itself are applied before they are acknowledged.
        if !self.ledger().is_behind() && !peers.is_lagging.load(Ordering::Acquire) {
            return;
        }
        let _applying = peers.applying.lock();
        peers.is_lagging.store(true, Ordering::Release);
        let followed = self.ledger().follow(erased_rows).map_err(Error::from);
        if let Err(error) = followed.and_then(|()| apply_rest(self)) {
            tracing::warn!(%error, "what another process wrote cannot be followed");
        }
    }

    /// Opens the derived files that the keeper has published, and brings them to the end of the
    /// ledger, before they take the place of the old ones.
    pub(in crate::store::instance) fn reload(&self) -> Result<(), Error> {
        let disk = self.derived_disk();
        loop {
            let known = EntryId::new(self.ledger().len());
            let completed = reload_index(self, &disk)?;
            // The keeper rewrites its files before it completes an erasure: those that were opened
            // may hold the words of one that was completed since.
            if completed.is_none_or(|row| row < known) {
                break;
            }
        }
        self.reload_text(&disk);
        Ok(())
    }

    /// Checks the files of the index: those that are open here, or, in a process that does not keep
    /// them, those that the keeper has published. Returns the faults in words.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub(crate) fn check_index_files(&self) -> Result<Vec<String>, Error> {
        if self.is_keeper() {
            return Ok(self.index().check_structure()?);
        }
        for _ in 0..LOOKS {
            let below = &*self.peers().below;
            let before = derived_files(below);
            let terms = self.manifest().term_key();
            let options = self.options().index.clone();
            let (_, found) = Index::open(
                &self.derived_disk(),
                self.manifest().store_id,
                terms,
                options,
            );
            // The keeper may have replaced the files between the reading of their list and of them.
            if found.rebuilt.is_none() || derived_files(below) == before {
                return Ok(found.rebuilt.into_iter().collect());
            }
        }
        Ok(Vec::new())
    }

    /// Checks the files of the text view, as [`Inner::check_index_files`] does those of the index.
    pub(crate) fn check_text_files(&self) -> Vec<String> {
        if self.is_keeper() {
            return self.text().verify();
        }
        let _applying = self.peers().applying.lock();
        for _ in 0..LOOKS {
            let below = &*self.peers().below;
            let before = derived_files(below);
            self.reload_text(&self.derived_disk());
            let found = self.text().verify();
            if found.is_empty() || derived_files(below) == before {
                return found;
            }
        }
        Vec::new()
    }

    /// Hides the entries of erasures that are begun: their bytes are going.
    ///
    /// # Errors
    /// Storage errors.
    pub(in crate::store::instance) fn hide_begun(&self) -> Result<(), Error> {
        let open = self.state_cell().read().erasures().open().clone();
        open.values().try_for_each(|rows| hide(self, rows))
    }

    /// Hides the entries of erasures that were completed after the files of the index were opened, which
    /// hold the first entries up to `flushed`: their runs may be from before that. Returns the last
    /// entry that completes one.
    ///
    /// # Errors
    /// Storage errors.
    pub(in crate::store::instance) fn hide_completed(
        &self,
        flushed: EntryId,
    ) -> Result<Option<EntryId>, Error> {
        if !self.state_cell().read().erasures().any() {
            return Ok(None);
        }
        let (mut rows, mut last) = (Vec::new(), None);
        self.each_entry(flushed, &mut |entry| {
            match entry.body {
                Body::Record(Record::Erasing(erasing)) => rows.extend(&erasing.rows),
                Body::Record(Record::Erased(erased)) => {
                    last = Some(entry.row);
                    let begun = self.ledger().read(erased.begun)?;
                    if let Some(Record::Erasing(erasing)) =
                        Record::decode(Kind::Erasing, &begun.body)
                    {
                        rows.extend(erasing.rows);
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        hide(self, &rows)?;
        Ok(last)
    }
}

/// Applies the entries of the ledger that the index lacks.
fn apply_rest(inner: &Inner) -> Result<(), Error> {
    let rows = EntryId::new(inner.index().watermark())..EntryId::new(inner.ledger().len());
    match rows.end.get().saturating_sub(rows.start.get()) {
        0 => {}
        1..=ONE_BY_ONE_MAX => {
            apply_followed(inner, rows)?;
        }
        // Its files are the ones that others take up.
        _ if inner.is_keeper() => {
            let mut from = rows.start;
            while from < rows.end {
                let end = from.get().saturating_add(ONE_BY_ONE_MAX);
                from = apply_followed(inner, from..EntryId::new(end).min(rows.end))?;
            }
        }
        _ => inner.reload()?,
    }
    inner.peers().is_lagging.store(false, Ordering::Release);
    Ok(())
}

/// Applies the entries at once, so that no question sees a part of a batch. Returns the end of
/// those that it applied.
fn apply_followed(inner: &Inner, rows: Range<EntryId>) -> Result<EntryId, Error> {
    let was_unmeasured = inner.state_cell().read().clock().trusted().is_none();
    let (decoded, rows) = followed_until_whole(inner, rows)?;
    #[cfg(feature = "sealing")]
    let decoded = {
        let mut decoded = decoded;
        inner.open_followed(&mut decoded)?;
        decoded
    };
    let entries: Vec<_> = decoded.iter().map(DecodedEntry::as_entry).collect();
    inner.apply_entries(&entries, &rows)?;
    let (mut is_rewritten, mut is_measured_anew) = (false, was_unmeasured);
    for entry in &entries {
        match entry.body {
            Body::Record(Record::Erasing(erasing)) => {
                hide(inner, &erasing.rows)?;
                inner.erase_later();
            }
            Body::Record(Record::Erased(_)) => is_rewritten = true,
            Body::Record(Record::Policy(record)) if record.sets_clock() => {
                is_measured_anew = true;
            }
            Body::Damaged => inner.add_damaged(entry.row),
            Body::Grain(_) | Body::Record(_) | Body::Locked => {}
        }
    }
    if is_measured_anew {
        inner.measure_clock();
    }
    // The files that hold the erased words are unlinked by now, and must not stay open here.
    if is_rewritten && !inner.is_keeper() {
        inner.reload()?;
    }
    inner.freeze_if_due();
    Ok(rows.end)
}

/// Reads the entries `rows`, and those after them while an erasure that is not among them has
/// taken some away.
fn followed_until_whole(
    inner: &Inner,
    mut rows: Range<EntryId>,
) -> Result<(Vec<DecodedEntry>, Range<EntryId>), Error> {
    let mut decoded = Vec::new();
    let mut unread = rows.clone();
    loop {
        let scanned = inner.each_decoded(&unread, &mut |entry| {
            decoded.push(entry);
            Ok(())
        })?;
        if scanned == Scanned::Whole {
            return Ok((decoded, rows));
        }
        inner.ledger().follow(erased_rows)?;
        unread = rows.end..EntryId::new(inner.ledger().len());
        rows.end = unread.end;
    }
}

/// Does what [`Inner::reload`] does, once and for the index. Returns the entry that completes the
/// last erasure which the files may be older than.
fn reload_index(inner: &Inner, disk: &Arc<dyn Disk>) -> Result<Option<EntryId>, Error> {
    let terms = inner.manifest().term_key();
    let options = inner.options().index.clone();
    let (index, _) = Index::open(disk, inner.manifest().store_id, terms, options);
    // The runs are of entries that were published before them.
    inner.ledger().follow(erased_rows)?;
    if index.watermark() > inner.ledger().len() {
        return Err(Error::damaged("index", "it covers more than the ledger"));
    }
    inner.index_rest(&index, &mut || ())?;
    #[cfg(feature = "sealing")]
    inner.move_overlays(&index, EntryId::new(inner.index().watermark()))?;
    let flushed = EntryId::new(index.flushed());
    inner.replace_index(index);
    inner.recover_state()?;
    inner.caches().forget(&[]);
    inner.hide_begun()?;
    inner.hide_completed(flushed)
}

fn hide(inner: &Inner, rows: &[EntryId]) -> Result<(), Error> {
    let is_of_state = inner
        .state_cell()
        .read()
        .rests_on(rows, &inner.index().snapshot())?;
    inner.index().erase(rows.iter().copied());
    inner.caches().forget(rows);
    if is_of_state {
        inner.recover_state()?;
    }
    Ok(())
}

impl Inner {
    /// Waits until the keeper has removed what erasures begun here left in the derived files; takes
    /// its place if it is gone.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` after [`Options::lock_wait`](crate::store::Options::lock_wait): the
    /// keeper completes them later. Storage errors.
    pub(crate) fn await_erasures(&self, begun: &[EntryId]) -> Result<(), Error> {
        let mut waited = Duration::ZERO;
        loop {
            let is_open = {
                let state = self.state();
                let open = state.erasures().open();
                begun.iter().any(|begun| open.contains_key(begun))
            };
            if !is_open || self.is_keeper() {
                return Ok(());
            }
            match self.peers().take_lock() {
                Ok(lock) => return become_keeper(self, lock),
                Err(error @ ledger::Error::Locked { .. }) => {
                    if waited >= self.options().lock_wait {
                        return Err(error.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
            self.options().clock.pause(ERASURE_POLL);
            waited = waited.saturating_add(ERASURE_POLL);
        }
    }

    /// Makes this process the keeper if there is none, for what only the keeper can do.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED`, which names the keeper; storage errors.
    pub(crate) fn require_keeper(&self) -> Result<(), Error> {
        self.authorize_changes()?;
        if self.is_keeper() {
            return Ok(());
        }
        become_keeper(self, self.peers().take_lock()?)
    }

    /// Leaves the erasures that are begun to the thread that follows the others.
    pub(in crate::store::instance) fn erase_later(&self) {
        self.peers().must_erase.store(true, Ordering::Release);
    }

    /// Starts the thread that looks for news while nothing is asked: an idle process must not keep
    /// erased bytes open, and the keeper completes the erasures of the others.
    pub(in crate::store::instance) fn watch_others(self: &Arc<Self>) {
        let (peers, ledger) = (
            Arc::clone(self.peers_handle()),
            Arc::clone(self.ledger_handle()),
        );
        let inner = Arc::downgrade(self);
        let started = Idle::start(move || {
            let vacancy = peers.vacancy();
            if vacancy.is_none() && !ledger.is_behind() && !peers.must_erase() {
                return;
            }
            // Held only where other processes leave something to do: the last handle closes the
            // store.
            let tended = inner.upgrade().map_or(Ok(()), |inner| inner.tend(vacancy));
            if let Err(error) = tended {
                tracing::warn!(%error, "what another process began waits");
            }
        });
        match started {
            Ok(idle) => self.set_idle(idle),
            Err(error) => tracing::warn!(%error, "other processes are followed at questions only"),
        }
    }

    /// Does what a process does without being asked: follows the others, completes the erasures
    /// that they began if it is the keeper, and becomes the keeper with the lock of one that ended.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn tend(&self, vacancy: Option<Lock>) -> Result<(), Error> {
        self.follow();
        if let Some(lock) = vacancy {
            return become_keeper(self, lock);
        }
        let peers = self.peers();
        if !peers.is_keeper() || !peers.must_erase.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        // Another process waits for it, so it is tried again until it succeeds.
        let resumed = self.resume_erasures();
        resumed.inspect_err(|_| self.erase_later())
    }
}

fn become_keeper(inner: &Inner, lock: Lock) -> Result<(), Error> {
    {
        let _writer = inner.exclusive()?;
        let peers = inner.peers();
        let _applying = peers.applying.lock();
        peers.is_keeper.store(true, Ordering::Release);
        if let Err(error) = inner.reload() {
            peers.is_keeper.store(false, Ordering::Release);
            return Err(error);
        }
        inner.set_lock(lock);
        inner.embeddings().start_over();
    }
    let resumed = inner.resume_erasures();
    resumed.inspect_err(|_| inner.erase_later())
}

/// How long the wait for the keeper sleeps between two looks.
const ERASURE_POLL: Duration = Duration::from_millis(5);

/// How often files are looked at that are being replaced.
const LOOKS: usize = 5;

/// Up to this many new entries are applied one by one; more are read from the files of the keeper.
const ONE_BY_ONE_MAX: u64 = 10_000;
