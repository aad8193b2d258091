//! Restore: a new store from a prefix of the ledger of another, with the later erasures applied
//! again.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::grain::Time;
use crate::ledger::{self, Disk, Entry, EntryId, FileDisk, Kind, Ledger, Lock};
use crate::store::engine::{LOCK, no_manifest, this_process};
use crate::store::maintenance::restore_target::RestoreTarget;
use crate::store::opening;
use crate::store::records::{
    ErasingRecord, Frame, Manifest, Record, RestoredRecord, Until, erased_rows,
};
use crate::store::{Access, Create, Error, Options};

/// The result of [`restore`](crate::recovery::restore).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The number of restored entries.
    pub entries: u64,
    /// The number of later entries, which are left out.
    pub left: u64,
    /// The number of later erasures, which were applied again.
    pub erasures: u64,
    /// The restored entries whose bodies are damaged: they are blank in the new store.
    pub damaged: Vec<EntryId>,
}

/// See [`restore`](crate::recovery::restore).
pub(crate) fn restore(
    from: impl AsRef<Path>,
    path: impl AsRef<Path>,
    until: Until,
    accepts_lost_erasures: bool,
    options: Options,
) -> Result<(Access, Restored), Error> {
    let (from, path) = (from.as_ref(), path.as_ref());
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(from));
    let manifest = Manifest::read(&*disk, from)?.ok_or_else(|| no_manifest(from))?;
    let _lock = match Lock::take(&*disk, LOCK, &this_process()) {
        // A directory that cannot be written has no writer, so it needs no lock.
        Err(ledger::Error::ReadOnly { .. }) => None,
        taken => Some(taken?),
    };
    let (source, mut damaged) = Ledger::open_to_read(disk, manifest.store_id, erased_rows)?;
    let last = EntryId::new(source.len()).before();
    let last = last.map(|row| source.read(row)).transpose()?;
    let last_ms = last.map_or(i64::MIN, |entry| entry.header.time_ms);
    let has_later = !until.keeps(source.len(), last_ms);
    if until != Until::End && !has_later && !accepts_lost_erasures {
        return Err(Error::LostErasures);
    }
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(path));
    let target = RestoreTarget {
        path,
        disk: &*disk,
        manifest: &manifest,
    };
    let lock = target.prepare()?;
    let keeps = |entries, time_ms| until.keeps(entries, time_ms);
    let ledger = source.point_in_time_copy(Arc::clone(&disk), options.segment_bytes, &keeps)?;
    let entries = ledger.len();
    damaged.retain(|row| row.get() < entries);
    let now = options.clock.now().max(Time::from_ms(last_ms));
    let erasures = record_restoration(&source, &ledger, until, now, &damaged, &options)?;
    // Last: without it there is no store.
    Manifest::publish(&*disk)?;
    drop((ledger, lock));
    let restored = Restored {
        entries,
        left: source.len() - entries,
        erasures,
        damaged,
    };
    let options = Options {
        create: Create::Never,
        ..options
    };
    Ok((opening::open(path, options)?, restored))
}

/// Appends the entry that records the restoration, and in the same frame every erasure behind the
/// restored point; blanks the entries that they list.
fn record_restoration(
    source: &Ledger,
    ledger: &Ledger,
    until: Until,
    now: Time,
    damaged: &[EntryId],
    options: &Options,
) -> Result<u64, Error> {
    let restored = RestoredRecord::new(&source.head(), source.len(), until);
    let end = EntryId::new(ledger.len());
    let mut behind = Behind {
        source,
        end,
        next: end,
        replacements: Vec::new(),
        frame: Frame::of(None, &Record::Restored(restored))?,
        rows: Vec::new(),
        erasures: 0,
    };
    let mut outcome = Ok(());
    source.scan(end, &mut |entry| {
        outcome = behind.take(&entry);
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    outcome?;
    if !damaged.is_empty() {
        // Recovery accepts a blank body only if an entry lists it.
        behind.frame.record(&Record::Erasing(ErasingRecord {
            rows: damaged.to_vec(),
            tombstones: Vec::new(),
            protections: Vec::new(),
            persons: Vec::new(),
            held: Vec::new(),
            residue: Vec::new(),
            reason: "the bytes were damaged".to_owned(),
            authority: "restore".to_owned(),
        }))?;
        behind.rows.extend(damaged);
    }
    let entries = behind.frame.to_ledger(&*options.random)?;
    ledger.append(now.ms(), &entries)?;
    ledger.redact(&behind.rows)?;
    Ok(behind.erasures)
}

/// The erasures behind the restored point.
struct Behind<'a> {
    source: &'a Ledger,
    /// The first entry that is not kept.
    end: EntryId,
    /// The next entry to read.
    next: EntryId,
    /// The entries of the current frame that stand for entries that its erasure lists.
    replacements: Vec<(Record, Option<EntryId>)>,
    frame: Frame,
    rows: Vec<EntryId>,
    erasures: u64,
}

impl Behind<'_> {
    fn take(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        // Entries that were erased since are skipped, and may be the first of the frame.
        let behind = entry.header.sequence.next();
        for row in EntryId::all(&(self.next..behind)) {
            if self.source.begins_frame(row)? {
                self.replacements.clear();
            }
        }
        let (row, kind) = (entry.header.sequence, entry.header.kind);
        self.next = behind;
        if !matches!(kind, Kind::Status | Kind::Read | Kind::Erasing) {
            return Ok(());
        }
        let record = Record::decode(kind, &entry.body);
        match record.ok_or_else(|| Error::malformed(row, kind))? {
            Record::Read(read) => {
                // It stands for a read entry that is kept, whose actor is therefore kept too.
                if read.replaces.is_some_and(|(row, _)| row < self.end) {
                    let actor = entry.header.actor;
                    self.replacements.push((Record::Read(read), actor));
                }
            }
            Record::Erasing(mut erasing) => {
                erasing.rows.retain(|row| *row < self.end);
                self.rows.extend(&erasing.rows);
                if !erasing.rows.is_empty() {
                    // They stand for listed entries that also concern other grains.
                    for (record, actor) in self.replacements.drain(..) {
                        self.frame.record_by(&record, actor)?;
                    }
                }
                self.frame.record(&Record::Erasing(erasing))?;
                self.erasures += 1;
            }
            record => self.replacements.push((record, None)),
        }
        Ok(())
    }
}
