use std::ops::ControlFlow;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::index::{Batch, Snapshot};
use crate::ledger::{Entry, EntryHeader, Kind};

use super::Error;
use super::consent::read_effect;
use super::entry::{AliasEntry, ErasingEntry, StatusEntry, subject_of};
use super::open::Inner;
use super::read_audit::ReadEntry;

/// Finds the row of a grain that an entry names.
pub(super) type Resolve<'a> = dyn FnMut(&Batch, &ContentAddress) -> Result<Option<u64>, Error> + 'a;

/// Applies one ledger entry to a batch: the fold that every derived file is.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED` for an entry that cannot be applied; the ledger has proven its bytes, so
/// that takes a writer with a fault. What `resolve` says.
pub(super) fn apply(
    batch: &mut Batch,
    entry: &Entry<'_>,
    resolve: &mut Resolve<'_>,
) -> Result<(), Error> {
    let row = entry.header.sequence;
    if entry.header.kind != Kind::Grain {
        let EntryHeader { kind, time_ms, .. } = entry.header;
        return apply_record(batch, (row, time_ms), kind, &entry.body, resolve);
    }
    let grain = Grain::from_proven(entry.body.to_vec());
    let grain = grain.map_err(|_| malformed(row, "a grain has no header"))?;
    batch.grain(row, &grain, entry.header.time_ms);
    Ok(())
}

/// Applies an entry that says something about grains; it has a row, and was made at a time.
pub(super) fn apply_record(
    batch: &mut Batch,
    (row, at_ms): (u64, i64),
    kind: Kind,
    body: &[u8],
    resolve: &mut Resolve<'_>,
) -> Result<(), Error> {
    match kind {
        Kind::Status => {
            let status = StatusEntry::decode(body);
            let status = status.ok_or_else(|| malformed(row, "a status entry is malformed"))?;
            let target = resolve(batch, &status.of)?;
            batch.status(row, at_ms, &status.of, target, &status.change);
            if let Some(erased) = status.instead_of {
                batch.fallback(row, erased);
            }
        }
        Kind::Alias => {
            let alias = AliasEntry::decode(body);
            let alias = alias.ok_or_else(|| malformed(row, "an alias entry is malformed"))?;
            batch.alias(row, &alias.of, alias.name());
        }
        Kind::Erasing => {
            let erasing = ErasingEntry::decode(body);
            let erasing = erasing.ok_or_else(|| malformed(row, "an erasure is malformed"))?;
            batch.erasure(row, &erasing.rows, &erasing.tombstones);
            batch.kind(row, kind);
        }
        Kind::Read => {
            batch.kind(row, kind);
            let read = ReadEntry::decode(body);
            let read = read.ok_or_else(|| malformed(row, "a read is malformed"))?;
            batch.read(row, &read.addresses);
        }
        Kind::ConsentEffect => {
            batch.kind(row, kind);
            let effect = read_effect(body);
            for address in effect.into_iter().flat_map(|(grant, by)| [grant, by]) {
                batch.mention(row, &address);
            }
        }
        _ => {
            batch.kind(row, kind);
            if let Some(address) = subject_of(body) {
                batch.mention(row, &address);
            }
        }
    }
    Ok(())
}

fn malformed(row: u64, reason: &str) -> Error {
    Error::damaged(format!("entry {row}"), reason)
}

impl Inner {
    /// Returns the row of a grain: of the rows the index names, the one that the ledger confirms.
    pub(super) fn locate(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<Option<u64>, Error> {
        for row in snapshot.candidates(address)?.iter() {
            if self.ledger.holds(row, address.as_bytes())? {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// Returns the row of a grain that must be here.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; storage errors.
    pub(super) fn row_of(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<u64, Error> {
        let row = self.locate(snapshot, address)?;
        row.ok_or(Error::NotFound { address: *address })
    }

    /// Returns the row of a grain that is in the index or in a batch on its way there.
    pub(super) fn locate_with(
        &self,
        snapshot: &Snapshot,
        batch: &Batch,
        address: &ContentAddress,
    ) -> Result<Option<u64>, Error> {
        let row = self.locate(snapshot, address)?;
        Ok(row.or_else(|| batch.row_of(address)))
    }

    /// Brings the index to where the ledger is.
    pub(super) fn replay(&self) -> Result<(), Error> {
        let from = self.index.watermark();
        let mut snapshot = self.index.snapshot();
        let mut batch = self.index.batch();
        let mut outcome = Ok(());
        self.ledger.scan(from, &mut |entry| {
            let mut resolve =
                |batch: &Batch, address: &_| self.locate_with(&snapshot, batch, address);
            outcome = apply(&mut batch, &entry, &mut resolve);
            if outcome.is_err() {
                return ControlFlow::Break(());
            }
            let end = entry.header.sequence + 1;
            if end - snapshot.watermark() >= BATCH_LEN {
                let full = std::mem::replace(&mut batch, self.index.batch());
                self.index.publish(full, end);
                self.settle();
                snapshot = self.index.snapshot();
            }
            ControlFlow::Continue(())
        })?;
        outcome?;
        self.index.publish(batch, self.ledger.len());
        self.settle();
        Ok(())
    }

    /// Hands the memory of the index over to be written, if there is enough of it.
    pub(super) fn settle(&self) {
        if self.index.is_memtable_full() {
            self.freeze();
        }
    }

    /// Hands the memory of the index over to be written. That this fails costs nothing but time:
    /// the entries are durable and indexed in memory.
    pub(super) fn freeze(&self) {
        let active = self.index.active_entries();
        let locations = self.ledger.entry_locations(active.start, active.end);
        // The index must not claim what a crash could take from the ledger.
        let position = match self.ledger.sync() {
            Ok(position) => position,
            Err(error) => {
                tracing::warn!(%error, "the index stays in memory");
                return;
            }
        };
        if let Err(error) = self.index.rotate_memtable(Some(position), locations) {
            tracing::warn!(%error, "the index cannot be written and stays in memory");
        }
    }
}

/// Entries applied at once when an index is built: enough to make sorting cheap.
const BATCH_LEN: u64 = 1_000;
