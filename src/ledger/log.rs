use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::append::Tail;
use super::entry::{Fault, OVERHEAD, RawEntry, extent};
use super::handles::Handles;
use super::opening::{Opening, renew};
use super::segment::{self, SegmentHeader};
use super::table::{Location, Table};
use super::window::{SEQUENTIAL, Window};
use super::{Access, Disk, Entry, Error, Header, StoreId, Torn};

/// An append-only log of entries. Appends go one after the other; reads run beside them.
///
/// Only one writer may have a ledger open: the caller holds the store's [`Lock`](super::Lock).
///
/// ```
/// use std::sync::Arc;
/// use grainstore::ledger::{Kind, Ledger, MemoryDisk, NewEntry, Options, StoreId};
///
/// let disk = Arc::new(MemoryDisk::default());
/// let ledger = Ledger::create(disk, StoreId::new([7; 16]), Options::default())?;
/// let grain = NewEntry { kind: Kind::Grain, actor: None, body: b"a blob", hash: None };
/// let mut salts = |salt: &mut [u8]| salt.fill(9); // random in earnest
/// let appended = ledger.append(1_700_000_000_000, &[grain], &mut salts)?;
/// assert_eq!(&*ledger.read(appended.start)?.body, b"a blob");
/// # Ok::<(), grainstore::ledger::Error>(())
/// ```
pub struct Ledger {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) store_id: StoreId,
    pub(super) options: Options,
    pub(super) table: RwLock<Table>,
    pub(super) tail: Mutex<Tail>,
    handles: Handles,
}

/// How a ledger is written; what is written reads the same under any options.
///
/// ```
/// assert_eq!(grainstore::ledger::Options::default().segment_bytes, 256 << 20);
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    /// The size at which a segment is closed, in bytes, at most 4 GiB; a frame that is larger has
    /// a segment of its own.
    pub segment_bytes: u64,
}

/// What opening a ledger found besides its entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// What a crash left behind the last whole frame.
    pub torn: Option<Torn>,
}

impl Ledger {
    /// Creates an empty ledger; it is durable when this returns.
    ///
    /// What a crash inside an earlier `create` left is replaced.
    ///
    /// # Errors
    /// `ERR_STORE_EXISTS` if there is a ledger, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn create(disk: Arc<dyn Disk>, store_id: StoreId, options: Options) -> Result<Self, Error> {
        let header = SegmentHeader {
            number: 1,
            first: 0,
        };
        let name = segment::name_of(header.number);
        let failed = |source| Error::io("create", &name, source);
        disk.create_folder(segment::FOLDER).map_err(failed)?;
        disk.sync_folder("").map_err(failed)?;
        let found = segment::numbers(&*disk)?;
        if found == [header.number] {
            let remnant = disk.open(&name, Access::Read).map_err(failed)?;
            if remnant.len_bytes().map_err(failed)? > segment::HEADER_LEN as u64 {
                return Err(Error::Exists);
            }
            disk.remove(&name).map_err(failed)?;
        } else if !found.is_empty() {
            return Err(Error::Exists);
        }
        let file = segment::create(&*disk, header, &store_id)?;
        let mut table = Table::new(&store_id);
        table.begin_segment(header.number);
        Ok(Self::new(disk, store_id, options, table, Tail::new(file)))
    }

    /// Opens a ledger: proves every byte of it, hands each entry to `visit` in order, and sets
    /// aside what a crash left behind the last whole frame.
    ///
    /// `watermark` is the number of entries that the caller's derived files have seen durable; a
    /// ledger that ends before it is damaged. If opening fails, what was visited means nothing.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORE_VERSION`, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn open(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        options: Options,
        watermark: u64,
        visit: &mut dyn FnMut(&Entry<'_>),
    ) -> Result<(Self, Opened), Error> {
        let mut opening = Opening {
            disk: &*disk,
            store_id: &store_id,
            watermark,
            visit,
            proven: 0,
        };
        let (table, torn) = opening.run()?;
        let name = segment::name_of(table.end().segment);
        let failed = |source| Error::io("sync", &name, source);
        let file = disk.open(&name, Access::Write).map_err(failed)?;
        // The last frame may have been read from a cache that never reached the disk; the next
        // frame will say that it is durable.
        renew(&*file, &table, opening.proven).map_err(failed)?;
        file.sync().map_err(failed)?;
        disk.sync_folder(segment::FOLDER).map_err(failed)?;
        let ledger = Self::new(disk, store_id, options, table, Tail::new(file));
        Ok((ledger, Opened { torn }))
    }

    fn new(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        options: Options,
        table: Table,
        tail: Tail,
    ) -> Self {
        Self {
            handles: Handles::new(Arc::clone(&disk)),
            disk,
            store_id,
            options,
            table: RwLock::new(table),
            tail: Mutex::new(tail),
        }
    }

    /// Returns the number of entries, which is the next sequence. All of them are durable.
    #[expect(
        clippy::len_without_is_empty,
        reason = "it grows for ever; nobody asks whether it is empty"
    )]
    pub fn len(&self) -> u64 {
        self.table.read().end().len
    }

    /// Returns the last leaf; SHA-256(store id) while there is no entry.
    pub fn head(&self) -> [u8; 32] {
        self.table.read().end().head
    }

    /// Reads one entry and proves it.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn read(&self, sequence: u64) -> Result<Entry<'static>, Error> {
        let place = self.locate(sequence)?;
        let file = self.handles.get(place.segment)?;
        let mut window = Window::new(&*file, place.end, place.room);
        let entry = read_at(&mut window, sequence, place)?;
        Ok(Entry {
            header: entry.header,
            body: entry.body.into_owned().into(),
        })
    }

    /// Reads the entries from `from` to the end there is now, in order, and proves each, until
    /// `visit` breaks off.
    ///
    /// # Errors
    /// As [`Ledger::read`].
    pub fn scan(
        &self,
        from: u64,
        visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let len = self.len();
        let mut sequence = from;
        while sequence < len {
            let segment = self.locate(sequence)?;
            let file = self.handles.get(segment.segment)?;
            let mut window = Window::new(&*file, segment.end, SEQUENTIAL);
            while sequence < len {
                let place = self.locate(sequence)?;
                if place.segment != segment.segment {
                    break;
                }
                if visit(read_at(&mut window, sequence, place)?).is_break() {
                    return Ok(());
                }
                sequence += 1;
            }
        }
        Ok(())
    }

    fn locate(&self, sequence: u64) -> Result<Location, Error> {
        let table = self.table.read();
        let len = table.end().len;
        table
            .locate(sequence)
            .ok_or(Error::NoEntry { sequence, len })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 256 << 20,
        }
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("store_id", &self.store_id)
            .field("options", &self.options)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

fn read_at<'a>(
    window: &'a mut Window<'_>,
    sequence: u64,
    place: Location,
) -> Result<Entry<'a>, Error> {
    let (segment, offset) = (place.segment, place.offset);
    let failed = |source| Error::Read {
        sequence,
        segment,
        offset,
        source,
    };
    let damaged = |reason| Error::Damaged {
        segment,
        offset,
        sequence,
        reason,
    };
    let header = window.get(offset, Header::LEN).map_err(failed)?;
    let header = header.and_then(|bytes| bytes.first_chunk());
    let body_len = header.and_then(extent).map(|(_, body_len)| body_len);
    let body_len = body_len.ok_or(damaged("ends inside an entry"))?;
    let len = usize::try_from(body_len).unwrap_or(usize::MAX);
    let bytes = window.get(offset, len.saturating_add(OVERHEAD));
    let mut bytes = bytes.map_err(failed)?.unwrap_or_default();
    let raw = RawEntry::take(&mut bytes).ok_or(damaged("ends inside an entry"))?;
    if !place.has(raw.header) {
        return Err(damaged("header of an entry has changed"));
    }
    raw.open().map_err(|fault| match fault {
        Fault::Broken(reason) => damaged(reason),
        Fault::NewerKind { kind, sequence } => Error::UnknownKind { sequence, kind },
    })
}
