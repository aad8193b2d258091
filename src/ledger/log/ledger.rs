//! The open ledger: creation, opening, and its ends.
//!
//! One writer and many readers share it. Appending, reading, redaction and copying lie in files of
//! their own beside this one.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::process::{Mutex, RwLock};

use super::open_segments::OpenSegments;
use super::published_end::PublishedEnd;
use super::tail::Tail;
use super::watched_segments::WatchedSegments;
use crate::ledger::offsets::entry_offsets::EntryOffsets;
use crate::ledger::recovery::recover::{Admitted, Recovered, Recovery, rewrite_unproven};
use crate::ledger::recovery::redaction_audit::{ErasureDecoder, RedactionAudit};
use crate::ledger::segment::replacement;
use crate::ledger::segment::segment_file::{self, SegmentHeader};
use crate::ledger::{
    Disk, EntryId, EntryLocation, Error, LedgerPosition, OpenMode, RecoveryHint, StoreId, TornTail,
};

/// An append-only log of entries. Appends go one after the other; reads run beside them.
///
/// Invariant: at most one process appends at a time. The caller holds the right to: for as long as
/// the ledger is open, or turn by turn.
///
/// ```
/// use std::sync::Arc;
/// use grainstore::ledger::{Binding, Kind, Ledger, SEGMENT_BYTES, MemoryDisk, NewEntry, StoreId};
///
/// let disk = Arc::new(MemoryDisk::default());
/// let ledger = Ledger::create(disk, StoreId::new([7; 16]), SEGMENT_BYTES)?;
/// let binding = Binding::of([9; 16], b"a blob"); // the salt is random in earnest
/// let grain = NewEntry { kind: Kind::Grain, actor: None, body: b"a blob", binding };
/// let appended = ledger.append(1_700_000_000_000, &[grain])?;
/// assert_eq!(&*ledger.read(appended.start)?.body, b"a blob");
/// # Ok::<(), grainstore::ledger::Error>(())
/// ```
pub struct Ledger {
    pub(in crate::ledger) disk: Arc<dyn Disk>,
    pub(in crate::ledger) store_id: StoreId,
    pub(super) segment_bytes: u64,
    pub(in crate::ledger) offsets: RwLock<EntryOffsets>,
    pub(super) tail: Mutex<Tail>,
    pub(super) open_segments: OpenSegments,
    /// One compaction at a time.
    pub(super) compacting: Mutex<()>,
    /// Written in the turn of this process, and read for what others wrote in theirs.
    pub(super) published: Option<PublishedEnd>,
    /// Whether the caller holds the right to append. It does from opening on, until a first
    /// [turn](Ledger::begin_turn) ends.
    pub(super) has_turn: AtomicBool,
    /// Whether appends may make room ahead: the caller gives it back with the right.
    pub(super) makes_room: AtomicBool,
}

/// The size at which a segment is closed, in bytes: at most 4 GiB; a frame that is larger has a segment
/// of its own. A ledger reads the same under any size.
pub const SEGMENT_BYTES: u64 = 256 << 20;

impl Ledger {
    /// Creates an empty ledger; it is durable when this returns.
    ///
    /// An empty segment that a crash inside an earlier `create` left is replaced.
    ///
    /// # Errors
    /// `ERR_STORE_EXISTS` if there is a ledger, `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn create(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        segment_bytes: u64,
    ) -> Result<Self, Error> {
        let header = SegmentHeader {
            number: 1,
            first: 0,
        };
        let name = segment_file::name_of(header.number);
        let failed = |source| Error::io("create", &name, source);
        disk.create_folder(segment_file::FOLDER).map_err(failed)?;
        disk.sync_folder("").map_err(failed)?;
        let found = segment_file::numbers(&*disk)?;
        if found == [header.number] {
            let remnant = disk.open(&name, OpenMode::Read).map_err(failed)?;
            if remnant.len_bytes().map_err(failed)? > segment_file::HEADER_LEN as u64 {
                return Err(Error::Exists);
            }
            disk.remove(&name).map_err(failed)?;
        } else if !found.is_empty() {
            return Err(Error::Exists);
        }
        let file = segment_file::create(&*disk, header, &store_id)?;
        let mut offsets = EntryOffsets::new(&store_id);
        offsets.begin_segment(header.number);
        offsets.mark_durable();
        let ledger = Self::new(
            disk,
            store_id,
            segment_bytes,
            offsets,
            Tail::new(file, header.number),
        );
        Ok(ledger.publishing())
    }

    /// Opens a ledger: proves every byte behind the position of the hint, and sets a torn tail
    /// aside, which it returns.
    ///
    /// `watermark` is the number of entries that the caller's derived files have seen durable; a
    /// ledger that ends before it, before the position, or before the published end, is damaged. `erases` decodes the body of
    /// an [`Erasing`](crate::ledger::Kind::Erasing) entry; listed entries that a crash left
    /// unblanked are blanked.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, also for a blank entry that no erasure lists; `ERR_STORE_VERSION`,
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub fn open(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        segment_bytes: u64,
        watermark: u64,
        hint: Option<RecoveryHint>,
        erases: ErasureDecoder,
    ) -> Result<(Self, Option<TornTail>), Error> {
        let admitted = Admitted::Nothing;
        Self::recover(
            disk,
            store_id,
            segment_bytes,
            watermark,
            hint,
            erases,
            admitted,
        )
        .map(|(ledger, torn, _)| (ledger, torn))
    }

    /// Opens a ledger as [`Ledger::open`] does, also where the body of a grain is damaged, or blank
    /// without an erasure that lists it: the entry keeps its place, and reading it is an error. The
    /// other entries mean the same without it.
    ///
    /// # Errors
    /// As [`Ledger::open`], for entries of other kinds.
    pub fn open_past_damaged_grains(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        segment_bytes: u64,
        watermark: u64,
        hint: Option<RecoveryHint>,
        erases: ErasureDecoder,
    ) -> Result<(Self, Option<TornTail>), Error> {
        let admitted = Admitted::Grains;
        Self::recover(
            disk,
            store_id,
            segment_bytes,
            watermark,
            hint,
            erases,
            admitted,
        )
        .map(|(ledger, torn, _)| (ledger, torn))
    }

    /// Opens a ledger that frames of another copy are appended to. Its last bodies may be blank, and
    /// the erasure that lists them come with the next frames: they are returned, not refused.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub(crate) fn open_copy(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        erases: ErasureDecoder,
    ) -> Result<(Self, Vec<EntryId>), Error> {
        let segment_bytes = SEGMENT_BYTES;
        let admitted = Admitted::All;
        let found = Self::recover(disk, store_id, segment_bytes, 0, None, erases, admitted);
        found.map(|(ledger, _, damaged)| (ledger, damaged))
    }

    fn recover(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        segment_bytes: u64,
        watermark: u64,
        hint: Option<RecoveryHint>,
        erases: ErasureDecoder,
        admitted: Admitted,
    ) -> Result<(Self, Option<TornTail>, Vec<EntryId>), Error> {
        replacement::complete(&*disk)?;
        // A published end was durable before it was published: a ledger that is shorter was cut.
        let published = PublishedEnd::for_reading(&*disk, store_id).ok().flatten();
        let published = published.and_then(|published| published.read().ok().flatten());
        let published = published.map_or(0, |end| end.entries);
        let watermark = hint
            .as_ref()
            .map_or(watermark, |hint| watermark.max(hint.position.entries));
        let watermark = watermark.max(published);
        let recovery = Recovery {
            disk: &*disk,
            store_id: &store_id,
            watermark,
            erases,
            audit: RedactionAudit::default(),
            admitted,
            proven: watermark,
            until: None,
        };
        let Recovered {
            mut offsets,
            torn,
            erased,
            damaged,
            proven,
        } = recovery.run(hint)?;
        let name = segment_file::name_of(offsets.end().segment);
        let failed = |source| Error::io("sync", &name, source);
        let (file, is_compacted) = segment_file::open_last(&*disk, &name).map_err(failed)?;
        // The last frame may have been read from a cache that never reached the disk, and the next
        // frame will claim that it is durable.
        rewrite_unproven(&*file, &offsets, proven).map_err(failed)?;
        file.sync().map_err(failed)?;
        disk.sync_folder(segment_file::FOLDER).map_err(failed)?;
        offsets.mark_durable();
        let mut tail = Tail::new(file, offsets.end().segment);
        tail.is_compacted = is_compacted;
        tail.watched = WatchedSegments::watch(&disk, store_id, &offsets)?;
        let ledger = Self::new(disk, store_id, segment_bytes, offsets, tail).publishing();
        ledger.redact(&erased)?;
        Ok((ledger, torn, damaged))
    }

    pub(super) fn new(
        disk: Arc<dyn Disk>,
        store_id: StoreId,
        segment_bytes: u64,
        offsets: EntryOffsets,
        tail: Tail,
    ) -> Self {
        Self {
            open_segments: OpenSegments::new(Arc::clone(&disk)),
            disk,
            store_id,
            segment_bytes,
            offsets: RwLock::new(offsets),
            tail: Mutex::new(tail),
            compacting: Mutex::default(),
            published: None,
            has_turn: AtomicBool::new(true),
            makes_room: AtomicBool::new(false),
        }
    }

    /// Publishes the durable end from here on. Without room for the file nothing is published.
    fn publishing(mut self) -> Self {
        match PublishedEnd::for_writing(&*self.disk, self.store_id) {
            Ok(published) => self.published = Some(published),
            Err(error) => tracing::warn!(%error, "other processes do not see what is written"),
        }
        self.publish();
        self
    }

    /// Returns the number of entries, which is the next sequence. All are durable except after
    /// [`Ledger::append_unsynced`].
    #[expect(
        clippy::len_without_is_empty,
        reason = "it grows for ever; nobody asks whether it is empty"
    )]
    pub fn len(&self) -> u64 {
        self.offsets.read().end().entries
    }

    /// Returns the last leaf; SHA-256(store id) while there is no entry.
    pub fn head(&self) -> [u8; 32] {
        self.offsets.read().end().head
    }

    /// Returns the position of the end; after [`Ledger::append_unsynced`] it may be past the
    /// durable end.
    pub fn position(&self) -> LedgerPosition {
        self.offsets.read().end()
    }

    /// Returns the locations of the entries of a range; fewer if the ledger ends before.
    pub fn entry_locations(&self, range: &Range<EntryId>) -> Vec<EntryLocation> {
        let offsets = self.offsets.read();
        EntryId::all(range)
            .map_while(|id| offsets.location(id))
            .collect()
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("store_id", &self.store_id)
            .field("segment_bytes", &self.segment_bytes)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
