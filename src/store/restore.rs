use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::codec::{Encoding, Map, Profile, Value};
use crate::grain::Time;
use crate::ledger::{self, Binding, Disk, Entry, FileDisk, Kind, Ledger, Lock, NewEntry};

use super::entry::{encode, erased_rows};
use super::manifest::Manifest;
use super::open::{LOCK, create_private, no_manifest, this_process};
use super::read_audit::ReadEntry;
use super::{Create, Error, Options, Store};

/// Up to which moment a store is restored. Frames are taken whole: what was one batch comes back
/// as one, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// All there is.
    End,
    /// As long as the ledger had no more entries than this.
    Entries(u64),
    /// What was written up to this time, by the clock of the store.
    Time(Time),
}

/// What [`Store::restore`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The entries that were taken.
    pub entries: u64,
    /// The entries behind them that were not.
    pub left: u64,
    /// The erasures among those that were applied again.
    pub erasures: u64,
}

impl Until {
    fn keeps(self, entries: u64, time_ms: i64) -> bool {
        match self {
            Self::End => true,
            Self::Entries(most) => entries <= most,
            Self::Time(last) => time_ms <= last.ms(),
        }
    }
}

impl Store {
    /// Writes a new store from the ledger of another, or of a backup, as it was at a moment.
    ///
    /// The new ledger begins as the old one did and then says that it was restored; erasures that
    /// the old one has behind that moment are applied again. The store keeps its identity. The old
    /// directory is read and not changed, but for its `LOCK`.
    ///
    /// `accepts_lost_erasures` lets a moment be named at which the old ledger ends: what was erased
    /// after it, nobody knows.
    ///
    /// ```
    /// use grainstore::store::Until;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let home = tempfile::tempdir()?;
    /// let (old, new) = (home.path().join("old"), home.path().join("new"));
    /// let store = Store::open(&old, Options::default())?;
    /// let first = store.put(Draft::event("hello"))?;
    /// let second = store.put(Draft::event("oops"))?;
    /// drop(store);
    /// let (store, restored) =
    ///     Store::restore(&old, &new, Until::Entries(1), false, Options::default())?;
    /// assert_eq!((restored.entries, restored.left), (1, 1));
    /// assert!(store.exists(&first)? && !store.exists(&second)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_A_STORE` if there is none at `from`, or `path` is not an empty directory;
    /// `ERR_STORE_LOCKED` while the old one is open; `ERR_LOST_ERASURES`, unless accepted;
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn restore(
        from: impl AsRef<Path>,
        path: impl AsRef<Path>,
        until: Until,
        accepts_lost_erasures: bool,
        options: Options,
    ) -> Result<(Self, Restored), Error> {
        let (from, path) = (from.as_ref(), path.as_ref());
        let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(from));
        let manifest = Manifest::read(&*disk, from)?.ok_or_else(|| no_manifest(from))?;
        let _lock = match Lock::take(&*disk, LOCK, &this_process()) {
            // Nobody writes where nobody can.
            Err(ledger::Error::ReadOnly { .. }) => None,
            taken => Some(taken?),
        };
        let source = Ledger::open_to_read(disk, manifest.store_id, erased_rows)?;
        let last = source.len().checked_sub(1);
        let last = last.map(|row| source.read(row)).transpose()?;
        let last_ms = last.map_or(i64::MIN, |entry| entry.header.time_ms);
        let has_later = !until.keeps(source.len(), last_ms);
        if until != Until::End && !has_later && !accepts_lost_erasures {
            return Err(Error::LostErasures);
        }
        make_empty(path)?;
        let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(path));
        let lock = Lock::take(&*disk, LOCK, &this_process())?;
        let keeps = |entries, time_ms| until.keeps(entries, time_ms);
        let ledger =
            source.point_in_time_copy(Arc::clone(&disk), options.ledger.clone(), &keeps)?;
        let entries = ledger.len();
        let now = options.clock.now().max(Time::from_ms(last_ms));
        let erasures = say_restored(&source, &ledger, until, now, &options)?;
        // Last: without it there is no store.
        manifest.write(&*disk)?;
        drop((ledger, lock));
        let restored = Restored {
            entries,
            left: source.len() - entries,
            erasures,
        };
        let options = Options {
            create: Create::Never,
            ..options
        };
        Ok((Self::open(path, options)?, restored))
    }
}

/// Appends the entry that says where the ledger comes from, and in the same frame every erasure
/// that was left behind; blanks what they list.
fn say_restored(
    source: &Ledger,
    ledger: &Ledger,
    until: Until,
    now: Time,
    options: &Options,
) -> Result<u64, Error> {
    let mut left = Left {
        source,
        end: ledger.len(),
        next: ledger.len(),
        instead: Vec::new(),
        records: vec![(Kind::Restored, None, encode(restored(source, until))?)],
        rows: Vec::new(),
        erasures: 0,
    };
    let mut outcome = Ok(());
    source.scan(left.end, &mut |entry| {
        outcome = left.take(&entry);
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    outcome?;
    let mut entries = Vec::with_capacity(left.records.len());
    for (kind, actor, body) in &left.records {
        let mut salt = [0; Binding::SALT_LEN];
        options.random.fill(&mut salt)?;
        entries.push(NewEntry {
            kind: *kind,
            actor: *actor,
            body,
            binding: Binding::of(salt, body),
        });
    }
    ledger.append(now.ms(), &entries)?;
    ledger.redact(&left.rows)?;
    Ok(left.erasures)
}

/// An entry to be: its kind, the entry that says who acts, its body.
type Record = (Kind, Option<u64>, Vec<u8>);

/// What is behind the moment and must not be left behind.
struct Left<'a> {
    source: &'a Ledger,
    /// The number of entries that are kept.
    end: u64,
    /// The entry to look at next.
    next: u64,
    /// What the frame that is looked at says in place of entries that its erasure lists.
    instead: Vec<Record>,
    records: Vec<Record>,
    rows: Vec<u64>,
    erasures: u64,
}

impl Left<'_> {
    fn take(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        // Entries that were erased since are passed over, and may have begun the frame.
        for row in self.next..=entry.header.sequence {
            if self.source.begins_frame(row)? {
                self.instead.clear();
            }
        }
        self.next = entry.header.sequence + 1;
        match entry.header.kind {
            Kind::Status => self.instead.push((Kind::Status, None, entry.body.to_vec())),
            Kind::Read => {
                let read = ReadEntry::decode(&entry.body);
                let stands_for = read.and_then(|read| read.instead_of);
                // Of a read that is kept; whoever read is then known there too.
                if stands_for.is_some_and(|(row, _)| row < self.end) {
                    let actor = entry.header.actor;
                    self.instead.push((Kind::Read, actor, entry.body.to_vec()));
                }
            }
            Kind::Erasing => {
                let listed = erased_rows(&entry.body).into_iter();
                let kept: Vec<u64> = listed.filter(|row| *row < self.end).collect();
                if !kept.is_empty() {
                    // They stand for entries on the list that also spoke of other grains.
                    self.records.append(&mut self.instead);
                }
                self.records
                    .push((Kind::Erasing, None, erasing(&entry.body, &kept)?));
                self.rows.extend(kept);
                self.erasures += 1;
            }
            _ => {}
        }
        Ok(())
    }
}

fn restored(source: &Ledger, until: Until) -> Map {
    let why = match until {
        Until::End => "end".into(),
        Until::Entries(entries) => format!("entries {entries}"),
        Until::Time(time) => format!("time {time}"),
    };
    Map::from_iter([
        ("h", Value::Bytes(source.head().to_vec())),
        ("n", source.len().into()),
        ("why", why.into()),
    ])
}

/// Returns the body of an erasure with another list, and all else it says as it was.
fn erasing(body: &[u8], rows: &[u64]) -> Result<Vec<u8>, Error> {
    let map = Encoding::MessagePack.decode(body, Profile::Extended);
    let mut map = map?.into_map();
    let rows = rows.iter().flat_map(|row| row.to_be_bytes());
    map.insert("r", Value::Bytes(rows.collect()));
    Ok(encode(map)?)
}

/// Makes sure that there is an empty directory.
fn make_empty(path: &Path) -> Result<(), Error> {
    let refused = |reason: String| Error::NotAStore {
        path: path.to_owned(),
        reason,
    };
    let failed = |error: std::io::Error| refused(error.to_string());
    if !path.exists() {
        return create_private(path).map_err(failed);
    }
    match path.read_dir().map_err(failed)?.next() {
        None => Ok(()),
        Some(_) if path.join(super::manifest::NAME).exists() => Err(Error::Exists {
            path: path.to_owned(),
        }),
        Some(_) => Err(refused(
            "a store is restored into an empty directory".into(),
        )),
    }
}
