//! Following the others: what they wrote is applied through the same fold as this process's own
//! commits, at each question, before each turn, and once in a while without a question.
//!
//! The keeper writes the derived files. The others have them on an overlay in memory; after an
//! erasure, and when much is new, they open those that the keeper has published meanwhile in place
//! of their own. If the keeper ends, another takes its place.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::grain::Time;
use crate::index::{Index, Snapshot, check_structure};
use crate::ledger::{self, Disk, EntryId, Kind, Lock, OverlayDisk};
use crate::policy::TrustedNow;
use crate::process::{ProcessId, RwLockReadGuard};
use crate::store::Error;
use crate::store::records::{Record, erased_rows};
use crate::store::state::{Body, DecodedEntry, State};

use super::apply::Scanned;
use super::embedding::Tend;
use super::folder::derived_files;
use super::instance::Engine;
#[cfg(feature = "sealing")]
use super::persons::{move_overlays, open_followed, without_expired};
use super::processes::{Begun, Idle, Reach, Turn};
use super::sharing::{Lease, watch};
use super::text::reload_text;

impl Engine {
    /// Returns whether this process writes the derived files.
    pub(crate) fn is_keeper(&self) -> bool {
        self.peers().is_keeper()
    }

    /// Returns the disk on which this process opens derived files: those of the keeper are the
    /// store's.
    pub(in crate::store::engine) fn derived_disk(&self) -> Arc<dyn Disk> {
        let below = Arc::clone(&self.peers().below);
        match self.is_keeper() {
            true => below,
            false => Arc::new(OverlayDisk::new(below)),
        }
    }

    /// Waits for the turn of this process, `by`, to write, and applies what others wrote before it; `None`
    /// in a process that only reads.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` after [`Options::lock_wait`](crate::store::Options::lock_wait); storage errors;
    /// `ERR_UNREACHABLE` for a turn that reaches other machines.
    pub(crate) fn take_turn(&self, reach: Reach, by: ProcessId) -> Result<Option<Turn<'_>>, Error> {
        let peers = self.peers();
        let Some(turns) = &peers.turns else {
            return Ok(None);
        };
        let mut turn = turns.take(self.core().ledger_handle(), self.options().lock_wait, by)?;
        if turn.kept() == Some(Begun::Yes) && !peers.is_lagging.load(Ordering::Acquire) {
            self.ledger().resume_turn();
            turn.begin(false);
            return Ok(Some(turn));
        }
        let shared = peers.shared.as_ref().filter(|_| reach != Reach::Here);
        if let (Some(shared), Reach::Turn) = (shared, reach) {
            turn.lease = Some(shared.take_turn(self.options().lock_wait)?);
        }
        let _applying = peers.applying.lock();
        let is_behind = self.ledger().is_behind();
        if is_behind {
            peers.is_lagging.store(true, Ordering::Release);
        }
        let makes_room = turns.makes_room();
        let others_wrote = self
            .ledger()
            .begin_turn(is_behind, makes_room, erased_rows)?;
        turns.name(others_wrote);
        if let Some(shared) = shared {
            let head = turn.lease.as_ref().map(Lease::head);
            // From then on a question waits until the news is applied: bodies that it still sees go.
            let is_there = || peers.is_lagging.store(true, Ordering::Release);
            shared.pull(self.ledger(), self.manifest().store_id, head, is_there)?;
        }
        apply_rest(self)?;
        // The right to write to a cache is that of a machine.
        if peers.shared.is_none() {
            turn.begin(others_wrote);
        }
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
        let turns = peers.turns.as_ref();
        let is_behind = match turns {
            Some(turns) if turns.holds() => false,
            _ => self.ledger().is_behind(),
        };
        // Entries that this process appends itself are applied before they are acknowledged.
        if !is_behind && !peers.is_lagging.load(Ordering::Acquire) {
            if let Some(turns) = turns.filter(|_| peers.shared.is_none()) {
                turns.keep_for_questions(self.ledger());
            }
            return;
        }
        let _applying = peers.applying.lock();
        peers.is_lagging.store(true, Ordering::Release);
        let followed = self.ledger().follow(erased_rows).map_err(Error::from);
        if let Err(error) = followed.and_then(|()| apply_rest(self)) {
            tracing::warn!(%error, "what another process wrote cannot be followed");
        }
    }

    /// Returns the current state. The guard must not be held across other calls: a second read
    /// would wait for a writer that waits for the first.
    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.follow();
        self.known_state()
    }

    /// Returns the time that an entry written now would have, with a look at other processes.
    pub(crate) fn entry_time(&self) -> Time {
        self.follow();
        self.core().entry_time()
    }

    /// Returns the trusted time for a decision, with a look at other processes.
    pub(crate) fn moment(&self) -> TrustedNow {
        self.follow();
        self.core().moment()
    }

    /// Returns a snapshot of everything acknowledged, by this process and by others.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.follow();
        let snapshot = self.index().snapshot();
        #[cfg(feature = "sealing")]
        if self.options().unlock_ttl.is_some() && !self.keyring().is_empty() {
            return without_expired(self, snapshot);
        }
        snapshot
    }

    /// Opens the derived files that the keeper has published, and brings them to the end of the
    /// ledger, before they take the place of the old ones.
    pub(in crate::store::engine) fn reload(&self) -> Result<(), Error> {
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
        reload_text(self, &disk);
        Ok(())
    }

    /// Checks the files of the index: those that are open here, or, in a process that does not keep
    /// them, those that the keeper has published. Returns the faults in words.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub(crate) fn check_index_files(&self) -> Result<Vec<String>, Error> {
        if self.is_keeper() {
            return Ok(check_structure(&self.index())?);
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

    /// Checks the files of the text view, as [`Engine::check_index_files`] does those of the index.
    pub(crate) fn check_text_files(&self) -> Vec<String> {
        if self.is_keeper() {
            return self.text().verify();
        }
        let _applying = self.peers().applying.lock();
        for _ in 0..LOOKS {
            let below = &*self.peers().below;
            let before = derived_files(below);
            reload_text(self, &self.derived_disk());
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
    pub(in crate::store::engine) fn hide_begun(&self) -> Result<(), Error> {
        let open = self.state_cell().read().erasures().open().clone();
        open.values().try_for_each(|rows| hide(self, rows))
    }

    /// Hides the entries of erasures that were completed after the files of the index were opened, which
    /// hold the first entries up to `flushed`: their runs may be from before that. Returns the last
    /// entry that completes one.
    ///
    /// # Errors
    /// Storage errors.
    pub(in crate::store::engine) fn hide_completed(
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
fn apply_rest(engine: &Engine) -> Result<(), Error> {
    let rows = EntryId::new(engine.index().watermark())..EntryId::new(engine.ledger().len());
    match rows.end.get().saturating_sub(rows.start.get()) {
        0 => {}
        1..=ONE_BY_ONE_MAX => {
            apply_followed(engine, rows)?;
        }
        // Its files are the ones that others take up.
        _ if engine.is_keeper() => {
            let mut from = rows.start;
            while from < rows.end {
                let end = from.get().saturating_add(ONE_BY_ONE_MAX);
                from = apply_followed(engine, from..EntryId::new(end).min(rows.end))?;
            }
        }
        _ => engine.reload()?,
    }
    engine.peers().is_lagging.store(false, Ordering::Release);
    Ok(())
}

/// Applies the entries at once, so that no question sees a part of a batch. Returns the end of
/// those that it applied.
fn apply_followed(engine: &Engine, rows: Range<EntryId>) -> Result<EntryId, Error> {
    let was_unmeasured = engine.state_cell().read().clock().trusted().is_none();
    let (decoded, rows) = followed_until_whole(engine, rows)?;
    #[cfg(feature = "sealing")]
    let decoded = {
        let mut decoded = decoded;
        open_followed(engine, &mut decoded)?;
        decoded
    };
    let entries: Vec<_> = decoded.iter().map(DecodedEntry::as_entry).collect();
    engine.apply_entries(&entries, &rows)?;
    let (mut is_rewritten, mut is_measured_anew) = (false, was_unmeasured);
    for entry in &entries {
        match entry.body {
            Body::Record(Record::Erasing(erasing)) => {
                hide(engine, &erasing.rows)?;
                engine.erase_later();
            }
            Body::Record(Record::Erased(_)) => is_rewritten = true,
            Body::Record(Record::Policy(record)) if record.sets_clock() => {
                is_measured_anew = true;
            }
            Body::Damaged => engine.add_damaged(entry.row),
            Body::Grain(_) | Body::Record(_) | Body::Locked => {}
        }
    }
    if is_measured_anew {
        engine.measure_clock();
    }
    // The files that hold the erased words are unlinked by now, and must not stay open here.
    if is_rewritten && !engine.is_keeper() {
        engine.reload()?;
    }
    engine.freeze_if_due();
    Ok(rows.end)
}

/// Reads the entries `rows`, and those after them while an erasure that is not among them has
/// taken some away.
fn followed_until_whole(
    engine: &Engine,
    mut rows: Range<EntryId>,
) -> Result<(Vec<DecodedEntry>, Range<EntryId>), Error> {
    let mut decoded = Vec::new();
    let mut unread = rows.clone();
    loop {
        let scanned = engine.each_decoded(&unread, &mut |entry| {
            decoded.push(entry);
            Ok(())
        })?;
        if scanned == Scanned::Whole {
            return Ok((decoded, rows));
        }
        engine.ledger().follow(erased_rows)?;
        unread = rows.end..EntryId::new(engine.ledger().len());
        rows.end = unread.end;
    }
}

/// Does what [`Engine::reload`] does, once and for the index. Returns the entry that completes the
/// last erasure which the files may be older than.
fn reload_index(engine: &Engine, disk: &Arc<dyn Disk>) -> Result<Option<EntryId>, Error> {
    let terms = engine.manifest().term_key();
    let options = engine.options().index.clone();
    let (index, _) = Index::open(disk, engine.manifest().store_id, terms, options);
    // The runs are of entries that were published before them.
    engine.ledger().follow(erased_rows)?;
    if index.watermark() > engine.ledger().len() {
        return Err(Error::damaged("index", "it covers more than the ledger"));
    }
    engine.index_rest(&index, &mut |_, _| ())?;
    #[cfg(feature = "sealing")]
    move_overlays(engine, &index, EntryId::new(engine.index().watermark()))?;
    let flushed = EntryId::new(index.flushed());
    engine.replace_index(index);
    engine.recover_state()?;
    engine.caches().forget(&[]);
    engine.hide_begun()?;
    engine.hide_completed(flushed)
}

fn hide(engine: &Engine, rows: &[EntryId]) -> Result<(), Error> {
    let peers = engine.peers();
    if peers.shared.is_some() && peers.is_keeper() {
        peers.must_expunge.lock().extend(rows);
        engine.erase_later();
    }
    let is_of_state = engine
        .state_cell()
        .read()
        .rests_on(rows, &engine.index().snapshot())?;
    engine.index().erase(rows.iter().copied());
    engine.caches().forget(rows);
    if is_of_state {
        engine.recover_state()?;
    }
    Ok(())
}

impl Engine {
    /// Leaves the erasures that are begun to the thread that follows the others.
    pub(crate) fn erase_later(&self) {
        self.peers().must_erase.store(true, Ordering::Release);
    }

    /// Starts the thread that looks for news while nothing is asked: an idle process must not keep
    /// erased bytes open, and the keeper completes the erasures of the others.
    pub(in crate::store::engine) fn watch_others(self: &Arc<Self>, tend: Tend) {
        let (peers, ledger) = (
            Arc::clone(self.peers_handle()),
            Arc::clone(self.ledger_handle()),
        );
        let engine = Arc::downgrade(self);
        let started = Idle::start(move || {
            let vacancy = peers.vacancy();
            if vacancy.is_none() && !ledger.is_behind() && !peers.must_erase() {
                return;
            }
            // Held only where other processes leave something to do: the last handle closes the
            // store.
            let tended = engine
                .upgrade()
                .map_or(Ok(()), |engine| tend(&engine, vacancy));
            if let Err(error) = tended {
                tracing::warn!(%error, "what another process began waits");
            }
        });
        watch(self);
        match started {
            Ok(idle) => self.set_idle(idle),
            Err(error) => tracing::warn!(%error, "other processes are followed at questions only"),
        }
    }

    /// Returns whether erasures wait for this process, which has them from here on.
    pub(crate) fn takes_up_erasures(&self) -> bool {
        let peers = self.peers();
        peers.is_keeper() && peers.must_erase.swap(false, Ordering::AcqRel)
    }

    /// Takes the lock of the keeper if its process ended.
    pub(crate) fn vacancy(&self) -> Option<Lock> {
        self.peers().vacancy()
    }

    /// Takes the lock of the keeper, if no process has it.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED`, which names the keeper; storage errors.
    pub(crate) fn take_lock(&self) -> Result<Lock, ledger::Error> {
        self.peers().take_lock()
    }

    /// Makes this process the keeper, with the lock of one that ended.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn keep(&self, lock: Lock) -> Result<(), Error> {
        let _writer = self.exclusive(Reach::Here)?;
        let peers = self.peers();
        let _applying = peers.applying.lock();
        peers.is_keeper.store(true, Ordering::Release);
        if let Err(error) = self.reload() {
            peers.is_keeper.store(false, Ordering::Release);
            return Err(error);
        }
        self.set_lock(lock);
        self.embeddings().start_over();
        Ok(())
    }
}

/// How often files are looked at that are being replaced.
const LOOKS: usize = 5;

/// Up to this many new entries are applied one by one; more are read from the files of the keeper.
const ONE_BY_ONE_MAX: u64 = 10_000;
