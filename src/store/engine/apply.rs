//! The one path by which entries change index, state and text view: those of a frame that was just
//! written, and those in the ledger when a store opens.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::mpsc;
use std::thread;

use crate::grain::Time;
use crate::index::{Batch, Index};
use crate::ledger::{self, EntryId, Kind};
use crate::store::Error;
use crate::store::engine::instance::Engine;
use crate::store::engine::text::{catch_up_text, feed_batch, feed_text};
use crate::store::records::{EntryBody, Frame, SealedEntries, Uid, erased_rows};
use crate::store::state::{Body, DecodedEntry, Entry, State, index_card, index_entry};

impl Engine {
    /// Appends a frame as the entries `rows` by `append`, applies it and makes it visible. Returns
    /// the outcome of the append, and that of the rest.
    ///
    /// The keys of many entries are made while they are appended, by a thread of its own: those of
    /// rayon may all be in calls that wait for this one. Nothing sees them before they are applied.
    ///
    /// # Errors
    /// As `append`; storage errors.
    pub(crate) fn append_and_apply(
        &self,
        rows: &Range<EntryId>,
        (frame, sealed): (&Frame, &SealedEntries),
        time: Time,
        append: impl FnOnce() -> Result<Range<EntryId>, ledger::Error>,
    ) -> Result<Result<(), Error>, ledger::Error> {
        let entries = entries_of(rows, frame, sealed, time);
        // The keys of a grain follow from the grain alone: nothing is read that is being written.
        let is_of_grains = entries.iter().all(|entry| entry.grain().is_some());
        let (appended, keys) = if is_of_grains && entries.len() >= KEYS_BESIDE_MIN {
            thread::scope(|scope| {
                let thread = thread::Builder::new().name("grainstore-keys".into());
                let keys = thread.spawn_scoped(scope, || make_keys(self, &entries));
                let appended = append();
                let keys = keys.ok().and_then(|keys| keys.join().ok());
                (appended, keys)
            })
        } else {
            (append(), None)
        };
        let appended = appended?;
        if appended != *rows {
            let reason = "a frame lies elsewhere than at the end of the ledger";
            return Ok(Err(Error::damaged("index", reason)));
        }
        let keys = keys.unwrap_or_else(|| make_keys(self, &entries));
        Ok(keys.and_then(|keys| {
            apply_keys(self, &entries, rows, keys)?;
            self.freeze_if_due();
            Ok(())
        }))
    }

    /// Applies the entries `rows`, of which those that were erased may be missing.
    ///
    /// # Errors
    /// Storage errors; `ERR_POLICY` for a regime that this version cannot read.
    pub(super) fn apply_entries(
        &self,
        entries: &[Entry<'_>],
        rows: &Range<EntryId>,
    ) -> Result<(), Error> {
        let keys = make_keys(self, entries)?;
        apply_keys(self, entries, rows, keys)
    }

    /// Brings index, state and text view to the end of the ledger.
    ///
    /// # Errors
    /// Storage errors; `ERR_POLICY` for a regime that this version cannot read.
    pub(super) fn catch_up(&self) -> Result<(), Error> {
        let entries = self.ledger().len().saturating_sub(self.index().watermark());
        if entries >= WORTH_A_WORD {
            tracing::info!("adding {entries} entries of the ledger that the index lacks");
        }
        catch_up_index(self)?;
        self.recover_state()?;
        catch_up_text(self);
        Ok(())
    }

    /// Deletes the runs of the index and builds it anew from the ledger, in memory: its files gave
    /// up their room. No reader may be there.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn move_index_to_memory(&self) -> Result<(), Error> {
        self.index().reset()?;
        self.index_rest(&self.index(), &mut |_, _| ())
    }

    /// Recovers the state from the ledger: on opening, and after one of its sources was erased.
    ///
    /// # Errors
    /// As [`State::recover`].
    pub(crate) fn recover_state(&self) -> Result<(), Error> {
        let state = State::recover(self.ledger(), &self.index().snapshot(), self.keyring())?;
        *self.state_cell().write() = state;
        Ok(())
    }

    /// Applies the entries that the index lacks, and passes each batch to `after_batch` then, with its
    /// rows, of which those that were erased may be missing.
    pub(super) fn index_rest(
        &self,
        index: &Index,
        after_batch: AfterBatch<'_>,
    ) -> Result<(), Error> {
        let damaged = index.snapshot().of_kind(Kind::Grain).rows()?;
        self.set_damaged(damaged.iter().collect());
        while index_known(self, index, after_batch)? == Scanned::Outrun {
            self.ledger().follow(erased_rows)?;
        }
        Ok(())
    }

    /// Passes every entry of the ledger from a sequence on to `show`, without those that were
    /// erased.
    ///
    /// # Errors
    /// Storage errors; as `show`.
    pub(super) fn each_entry(
        &self,
        from: EntryId,
        show: &mut dyn FnMut(Entry<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let rows = from..EntryId::new(self.ledger().len());
        self.each_decoded(&rows, &mut |entry| show(entry.as_entry()))?;
        Ok(())
    }

    /// Does as [`Engine::each_entry`] for the entries `rows`, gives them away, and returns whether
    /// they were all that is left of these.
    ///
    /// # Errors
    /// As [`Engine::each_entry`].
    pub(super) fn each_decoded(
        &self,
        rows: &Range<EntryId>,
        take: &mut dyn FnMut(DecodedEntry) -> Result<(), Error>,
    ) -> Result<Scanned, Error> {
        let mut from = rows.start;
        let mut scanned = Scanned::Whole;
        let mut skip = |rows: Range<EntryId>| {
            if EntryId::all(&rows).any(|row| !self.ledger().is_erased(row)) {
                scanned = Scanned::Outrun;
            }
        };
        loop {
            let mut outcome = Ok(());
            let read = self.ledger().scan(from, &mut |entry| {
                if entry.header.sequence >= rows.end {
                    return ControlFlow::Break(());
                }
                skip(from..entry.header.sequence);
                from = entry.header.sequence.next();
                outcome = DecodedEntry::decode(entry).and_then(&mut *take);
                match outcome {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
            outcome?;
            let damaged = match read {
                Ok(()) => None,
                Err(error) => Some(DecodedEntry::damaged(self.ledger(), error)?),
            };
            let Some(damaged) = damaged.filter(|it| it.as_entry().row < rows.end) else {
                skip(from..rows.end);
                return Ok(scanned);
            };
            let row = damaged.as_entry().row;
            skip(from..row);
            from = row.next();
            take(damaged)?;
        }
    }

    /// Rotates the memtable of the index if it is full.
    pub(super) fn freeze_if_due(&self) {
        if self.is_keeper() && self.index().is_memtable_full() {
            self.freeze();
        }
    }

    /// Rotates the memtable of the index, so that it is written. A failure costs only time: the
    /// entries are durable and indexed in memory.
    pub(crate) fn freeze(&self) {
        let active = self.index().active_entries();
        let locations = self.ledger().entry_locations(&active);
        // The index must not contain entries that a crash could remove from the ledger.
        let position = match self.ledger().sync() {
            Ok(position) => position,
            Err(error) => {
                tracing::warn!(%error, "the index stays in memory");
                return;
            }
        };
        if let Err(error) = self.index().rotate_memtable(Some(position), locations) {
            tracing::warn!(%error, "the index cannot be written and stays in memory");
        }
    }
}

/// Makes the keys of entries.
fn make_keys(engine: &Engine, entries: &[Entry<'_>]) -> Result<Keys, Error> {
    let index = engine.index();
    let snapshot = index.snapshot();
    let mut batch = index.batch();
    let mut overlays: BTreeMap<Uid, Batch> = BTreeMap::new();
    for entry in entries {
        let Some(card) = entry.opened_card() else {
            let mut resolve =
                |batch: &Batch, address: &_| engine.as_of(&snapshot).locate_with(batch, address);
            index_entry(&mut batch, entry, &mut resolve)?;
            continue;
        };
        {
            let mut resolve =
                |batch: &Batch, address: &_| engine.as_of(&snapshot).locate_with(batch, address);
            index_card(&mut batch, entry.row, entry.time, card, &mut resolve)?;
        }
        let own = overlays.remove(&card.uid);
        let mut own = own.unwrap_or_else(|| index.batch());
        let mut resolve = |own: &Batch, address: &_| {
            let row = engine.as_of(&snapshot).locate_with(own, address)?;
            let mut others = overlays.values().chain([&batch]);
            Ok(row.or_else(|| others.find_map(|other| other.row_of(address))))
        };
        index_entry(&mut own, entry, &mut resolve)?;
        overlays.insert(card.uid, own);
    }
    batch.sort();
    Ok(Keys { batch, overlays })
}

/// Applies the entries `rows`, whose keys were made.
fn apply_keys(
    engine: &Engine,
    entries: &[Entry<'_>],
    rows: &Range<EntryId>,
    keys: Keys,
) -> Result<(), Error> {
    let index = engine.index();
    // Their rows are past the watermark until the batch is published.
    for (uid, overlay) in keys.overlays {
        index.publish_overlay(uid, overlay);
    }
    index.publish(keys.batch, rows.end.get());
    let presence = {
        let mut state = engine.state_cell().write();
        entries.iter().try_for_each(|entry| state.apply(entry))?;
        state.presence()
    };
    engine.caches().apply(entries, presence);
    feed_text(engine, entries, rows);
    if engine.is_keeper() {
        engine.embeddings().feed(entries);
    }
    Ok(())
}

fn catch_up_index(engine: &Engine) -> Result<(), Error> {
    engine.index_rest(&engine.index(), &mut |rows, entries| {
        engine.freeze_if_due();
        feed_batch(engine, rows, entries);
    })?;
    engine.freeze_if_due();
    Ok(())
}

/// Does as [`Engine::each_decoded`], some entries at a time. Many are read, proven and decoded by a
/// thread of its own while `show` has those before them, which go back to it: to give memory back that
/// another thread asked for makes both wait.
///
/// # Errors
/// As [`Engine::each_entry`].
fn each_batch(
    engine: &Engine,
    rows: &Range<EntryId>,
    show: &mut dyn FnMut(&[DecodedEntry]) -> Result<(), Error>,
) -> Result<Scanned, Error> {
    let count = rows.end.get().saturating_sub(rows.start.get());
    if count < WORTH_A_WORD || !engine.options().index.background {
        return gather(engine, rows, &mut |batch| show(&batch));
    }
    thread::scope(|scope| {
        let (sender, batches) = mpsc::sync_channel(BATCHES_AHEAD);
        let (back, shown) = mpsc::channel();
        let thread = thread::Builder::new().name("grainstore-reader".into());
        let reader = thread.spawn_scoped(scope, move || {
            gather(engine, rows, &mut |batch| {
                shown.try_iter().for_each(drop::<Vec<DecodedEntry>>);
                let gone = |_| Error::damaged("index", "it takes no more entries");
                sender.send(batch).map_err(gone)
            })
        });
        let Ok(reader) = reader else {
            return gather(engine, rows, &mut |batch| show(&batch));
        };
        for batch in &batches {
            show(&batch)?;
            // It may have read the last one and ended.
            drop(back.send(batch));
        }
        let failed = |_| Err(Error::damaged("index", "the reader of the ledger failed"));
        reader.join().unwrap_or_else(failed)
    })
}

fn gather(
    engine: &Engine,
    rows: &Range<EntryId>,
    take: &mut dyn FnMut(Vec<DecodedEntry>) -> Result<(), Error>,
) -> Result<Scanned, Error> {
    let (mut batch, mut bytes) = (Vec::new(), 0_usize);
    let scanned = engine.each_decoded(rows, &mut |entry| {
        bytes = bytes.saturating_add(entry.decode_fields());
        batch.push(entry);
        if batch.len() < BATCH_LEN && bytes < BATCH_BYTES {
            return Ok(());
        }
        bytes = 0;
        take(std::mem::take(&mut batch))
    })?;
    if !batch.is_empty() {
        take(batch)?;
    }
    Ok(scanned)
}

/// Applies the entries that the index lacks and this process knows of.
fn index_known(
    engine: &Engine,
    index: &Index,
    after_batch: AfterBatch<'_>,
) -> Result<Scanned, Error> {
    let rows = EntryId::new(index.watermark())..EntryId::new(engine.ledger().len());
    let mut from = rows.start;
    let scanned = each_batch(engine, &rows, &mut |entries| {
        let snapshot = index.snapshot();
        let mut batch = index.batch();
        let mut resolve =
            |batch: &Batch, address: &_| engine.as_of(&snapshot).locate_with(batch, address);
        let mut end = from;
        for entry in entries.iter().map(DecodedEntry::as_entry) {
            index_entry(&mut batch, &entry, &mut resolve)?;
            if matches!(entry.body, Body::Damaged) {
                engine.add_damaged(entry.row);
            }
            end = entry.row.next();
        }
        index.publish(batch, end.get());
        after_batch(&(from..end), entries);
        from = end;
        Ok(())
    })?;
    // The last entries may be erased.
    index.publish(index.batch(), rows.end.get());
    Ok(scanned)
}

/// Returns the entries of a frame that is written as the entries `rows`.
fn entries_of<'a>(
    rows: &Range<EntryId>,
    frame: &'a Frame,
    sealed: &'a SealedEntries,
    time: Time,
) -> Vec<Entry<'a>> {
    let entries = EntryId::all(rows).zip(frame.entries());
    let entries = entries.enumerate().map(|(place, (row, entry))| {
        let body = match entry.body() {
            EntryBody::Grain(grain, _) => Body::Grain(grain),
            EntryBody::Record(record, _) => Body::Record(record),
        };
        let card = sealed.card(place);
        Entry {
            row,
            time: card.and_then(|card| card.since).unwrap_or(time),
            body,
            card,
            ciphertext: sealed.address(place),
        }
    });
    entries.collect()
}

/// Takes a batch of entries that the index has, and the rows that it is of.
type AfterBatch<'a> = &'a mut dyn FnMut(&Range<EntryId>, &[DecodedEntry]);

/// The keys of entries, before they are published.
struct Keys {
    batch: Batch,
    /// Those of opened entries, by person.
    overlays: BTreeMap<Uid, Batch>,
}

/// Whether a scan saw all that is left of some entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scanned {
    Whole,
    /// Another process erased some of them, and this one does not know of that erasure yet. Until it
    /// is followed they are missing without those that the erasure put in their place: a grain that
    /// an erased one replaced would be current.
    Outrun,
}

/// From this many entries on, making the keys takes longer than starting a thread for it.
const KEYS_BESIDE_MIN: usize = 64;

/// Entries applied at once when an index is built: many enough to make sorting cheap, and their blobs
/// few enough for memory.
const BATCH_LEN: usize = 1_000;
const BATCH_BYTES: usize = 8 << 20;

/// Batches that are decoded before the one that is applied is done.
const BATCHES_AHEAD: usize = 1;

/// Adding as many entries takes long enough that a person asks what is being done.
pub(super) const WORTH_A_WORD: u64 = 5_000;
