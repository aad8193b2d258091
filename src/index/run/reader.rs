//! An open run: the directory in memory, blocks read and checked on demand.
//!
//! A run never changes. One that no version names is deleted with the last snapshot that reads it.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use roaring::RoaringTreemap;

use crate::ledger::{Disk, DiskFile, EntryLocation, LedgerPosition, OpenMode, StoreId};

use super::block::{Block, KeyLayout};
use super::cache::Blocks;
use super::filter::Filter;
use super::layout::{Directory, Footer, Header, SectionEntry, name_of};
use super::locations::{self, LOCATION_LEN_MIN};
use crate::index::key::encoding::{Pair, Single};
use crate::index::memory::memtable::MemtableKey;
use crate::index::{Error, Family};

/// An open run: its directory in memory, its blocks read when they are asked for.
pub(in crate::index) struct Run {
    pub(in crate::index) number: u64,
    /// The ledger entries it covers.
    pub(in crate::index) rows: Range<u64>,
    pub(super) layout: KeyLayout,
    /// The check of its footer, by which a version names it.
    pub(in crate::index) check: [u8; 8],
    /// Rows of grains.
    pub(in crate::index) grains: RoaringTreemap,
    /// Rows of grains that an entry of this run made not current.
    pub(in crate::index) not_current: RoaringTreemap,
    /// The position in the ledger at the end of the run, if a frame ended there.
    pub(in crate::index) position: Option<LedgerPosition>,
    pub(in crate::index) len_bytes: u64,
    filter: Option<Filter>,
    filter_at: Vec<u64>,
    locations: Vec<u64>,
    singles: [Section<Single>; Family::SINGLES.len()],
    pairs: [Section<Pair>; Family::PAIRS.len()],
    seed: u32,
    file: Arc<dyn DiskFile>,
    disk: Arc<dyn Disk>,
    /// Set once no version names the run; the flag is whether its index is still open.
    retired: OnceLock<Arc<AtomicBool>>,
}

/// The blocks of a family.
#[derive(Debug, Default)]
pub(in crate::index) struct Section<K> {
    pub(in crate::index) keys: u64,
    pub(in crate::index) last: Option<K>,
    /// The first key of each block.
    pub(super) fences: Vec<K>,
    /// Where each block begins, and where the last ends.
    pub(super) offsets: Vec<u64>,
}

/// A key that a [`Run`] has sections of.
pub(in crate::index) trait RunKey: MemtableKey {
    fn sections(run: &Run) -> &[Section<Self>];
}

impl RunKey for Single {
    fn sections(run: &Run) -> &[Section<Self>] {
        &run.singles
    }
}

impl RunKey for Pair {
    fn sections(run: &Run) -> &[Section<Self>] {
        &run.pairs
    }
}

/// The reason why a run is not opened.
#[derive(Debug)]
pub(in crate::index) enum OpenFault {
    /// It is not as it was written.
    Damaged(&'static str),
    /// The system refused.
    Io(io::Error),
}

impl From<io::Error> for OpenFault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Damaged("is missing"),
            io::ErrorKind::UnexpectedEof => Self::Damaged("ends too early"),
            _ => Self::Io(error),
        }
    }
}

impl OpenFault {
    /// Returns the fault as that of a run that must be sound.
    pub(in crate::index) fn into_error(self, run: u64) -> Error {
        match self {
            Self::Damaged(reason) => Error::Damaged {
                run,
                offset: 0,
                reason,
            },
            Self::Io(error) => Error::io("open", &name_of(run))(error),
        }
    }
}

impl Run {
    /// Opens a run and proves everything that is not in a block.
    pub(in crate::index) fn open(
        disk: &Arc<dyn Disk>,
        store_id: &StoreId,
        number: u64,
    ) -> Result<Self, OpenFault> {
        let file = disk.open(&name_of(number), OpenMode::Read)?;
        let len_bytes = file.len_bytes()?;
        let mut header = [0; Header::LEN];
        file.read_at(&mut header, 0)?;
        let mut footer = [0; Footer::LEN];
        let end = len_bytes.checked_sub(Footer::LEN as u64);
        let end = end.ok_or(OpenFault::Damaged("ends too early"))?;
        file.read_at(&mut footer, end)?;
        let footer = Footer::from_bytes(&footer).ok_or(OpenFault::Damaged("has no footer"))?;
        if footer.start.checked_add(footer.len) != Some(end) {
            return Err(OpenFault::Damaged("has a footer that does not fit"));
        }
        // The length fits the file, so it is safe to allocate.
        let mut directory = vec![0; usize::try_from(footer.len).unwrap_or(0)];
        file.read_at(&mut directory, footer.start)?;
        if footer.check_of(&header, &directory) != footer.check {
            return Err(OpenFault::Damaged(
                "has a directory whose check does not hold",
            ));
        }
        if Header::is_of_other_version(&header) {
            return Err(OpenFault::Damaged("is of another format version"));
        }
        let seed = crc32fast::hash(&header);
        let header = Header::from_bytes(&header, store_id);
        let header = header.filter(|header| header.number == number);
        let header = header.ok_or(OpenFault::Damaged("is of another store or number"))?;
        let layout = KeyLayout::of(header.first, header.end);
        let directory = Directory::from_bytes(&directory, layout);
        let directory =
            directory.ok_or(OpenFault::Damaged("has a directory that cannot be read"))?;
        Ok(Self {
            number,
            rows: header.first..header.end,
            layout,
            check: footer.check,
            singles: sections(&directory.sections, &Family::SINGLES, layout),
            pairs: sections(&directory.sections, &Family::PAIRS, layout),
            filter: None,
            filter_at: directory.filter.offsets(),
            locations: directory.locations.offsets(),
            grains: directory.grains,
            not_current: directory.not_current,
            position: directory.position,
            len_bytes,
            seed,
            file,
            disk: Arc::clone(disk),
            retired: OnceLock::new(),
        })
    }

    /// Returns the blocks of a family; `None` if it has no keys.
    pub(in crate::index) fn section<K: RunKey>(&self, family: Family) -> Option<&Section<K>> {
        let section = K::sections(self).get(family.slot())?;
        (section.keys > 0).then_some(section)
    }

    /// Returns a block, from the cache if it is there.
    pub(super) fn block(&self, cache: &Blocks, offset: u64, end: u64) -> Result<Arc<Block>, Error> {
        let id = (self.number, offset);
        if let Some(block) = cache.get(id) {
            return Ok(block);
        }
        let bytes = self.read(offset, end)?;
        let block = Arc::new(self.checked_block(bytes, offset)?);
        cache.insert(id, Arc::clone(&block));
        Ok(block)
    }

    /// Proves the bytes of a block.
    pub(super) fn checked_block(&self, bytes: Vec<u8>, offset: u64) -> Result<Block, Error> {
        let bytes = self.checked(bytes, offset)?;
        Block::new(bytes).ok_or_else(|| self.damaged(offset, "a block that cannot be read"))
    }

    /// Reads bytes as they stand in the file.
    pub(in crate::index) fn read(&self, offset: u64, end: u64) -> Result<Vec<u8>, Error> {
        let len = usize::try_from(end.saturating_sub(offset)).unwrap_or(0);
        if end > self.len_bytes {
            return Err(self.damaged(offset, "a block beyond the end"));
        }
        let mut bytes = vec![0; len];
        match self.file.read_at(&mut bytes, offset) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.damaged(offset, "the file ends too early"))
            }
            Err(error) => Err(Error::io("read", &name_of(self.number))(error)),
        }
    }

    fn checked(&self, mut bytes: Vec<u8>, offset: u64) -> Result<Vec<u8>, Error> {
        let check = bytes.split_last_chunk::<4>();
        let holds = check.is_some_and(|(rest, check)| {
            block_check(self.seed, offset, rest) == u32::from_be_bytes(*check)
        });
        if !holds {
            return Err(self.damaged(offset, "the check of a block does not hold"));
        }
        bytes.truncate(bytes.len().saturating_sub(4));
        Ok(bytes)
    }

    /// Returns the number of its entries, or of as many as the file has room for.
    pub(in crate::index) fn locations_max(&self) -> usize {
        let room = self.len_bytes / LOCATION_LEN_MIN;
        let entries = self.rows.end.saturating_sub(self.rows.start);
        usize::try_from(entries.min(room)).unwrap_or(usize::MAX)
    }

    /// Calls `visit` with the locations of its entries, one block at a time.
    pub(in crate::index) fn locations(
        &self,
        visit: &mut dyn FnMut(&[EntryLocation]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut found = Vec::new();
        let mut count = 0;
        for bounds in self.locations.windows(2) {
            let [offset, end] = *bounds else { continue };
            let bytes = self.checked(self.read(offset, end)?, offset)?;
            found.clear();
            locations::decode(&bytes, &mut found)
                .ok_or_else(|| self.damaged(offset, "locations that cannot be read"))?;
            count += found.len() as u64;
            visit(&found)?;
        }
        if count != self.rows.end - self.rows.start {
            return Err(self.damaged(0, "not every entry has a location"));
        }
        Ok(())
    }

    /// Reads the filter over addresses into memory.
    pub(in crate::index) fn load_filter(&mut self) -> Result<(), Error> {
        self.filter = Some(self.read_filter()?);
        Ok(())
    }

    /// Reads the filter over addresses.
    pub(in crate::index) fn read_filter(&self) -> Result<Filter, Error> {
        let mut bytes = Vec::new();
        for bounds in self.filter_at.windows(2) {
            let [offset, end] = *bounds else { continue };
            bytes.extend(self.checked(self.read(offset, end)?, offset)?);
        }
        let start = self.filter_at.first().copied().unwrap_or(0);
        Filter::from_bytes(&bytes).ok_or_else(|| self.damaged(start, "a filter of no such length"))
    }

    /// Returns whether a grain with this address prefix may be here.
    pub(in crate::index) fn may_hold(&self, prefix: u64) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.may_contain(prefix))
    }

    pub(in crate::index) const fn damaged(&self, offset: u64, reason: &'static str) -> Error {
        Error::Damaged {
            run: self.number,
            offset,
            reason,
        }
    }

    /// Retires a run that no version names: its file is removed with the last snapshot that reads
    /// it.
    ///
    /// A snapshot may outlive its index. The file then belongs to the next index that was opened,
    /// and stays.
    pub(in crate::index) fn retire(&self, is_open: &Arc<AtomicBool>) {
        // A run that is retired already stays retired.
        drop(self.retired.set(Arc::clone(is_open)));
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let retired = self.retired.get();
        if retired.is_some_and(|is_open| is_open.load(Ordering::Acquire)) {
            // A file that cannot be removed now is removed by the next opening.
            drop(self.disk.remove(&name_of(self.number)));
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("number", &self.number)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// Returns the check of a block. It covers run and offset, so a block moved elsewhere fails.
pub(super) fn block_check(seed: u32, offset: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(seed);
    hasher.update(&offset.to_be_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

fn sections<K: MemtableKey, const N: usize>(
    entries: &[SectionEntry],
    families: &[Family; N],
    layout: KeyLayout,
) -> [Section<K>; N] {
    families.map(|family| {
        let entry = entries.iter().find(|entry| entry.family == family as u8);
        entry.map_or_else(
            || Section {
                keys: 0,
                last: None,
                fences: Vec::new(),
                offsets: Vec::new(),
            },
            |entry| Section {
                keys: entry.keys,
                last: Some(entry.last(layout)),
                fences: entry.fences(layout),
                offsets: entry.blocks.offsets(),
            },
        )
    })
}
