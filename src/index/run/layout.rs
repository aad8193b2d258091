//! The bytes of a run around its blocks: header, directory and footer.
//!
//! Counts are never trusted with an allocation.

use roaring::RoaringTreemap;
use sha2::{Digest, Sha256};

use crate::ledger::{LedgerPosition, StoreId};

use super::FOLDER;
use super::block::{Bytes, KeyLayout};
use crate::index::Family;
use crate::index::memory::memtable::MemtableKey;

/// The header of a run: its store, its number and the rows it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(in crate::index) store_id: StoreId,
    pub(in crate::index) number: u64,
    pub(in crate::index) first: u64,
    pub(in crate::index) end: u64,
}

impl Header {
    pub(super) const LEN: usize = 64;

    pub(in crate::index) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::LEN);
        bytes.extend_from_slice(b"GRAINRUN");
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        bytes.extend_from_slice(&[0; 6]);
        bytes.extend_from_slice(self.store_id.as_bytes());
        for number in [self.number, self.first, self.end, 0] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Returns whether these are the bytes of a header of another format version.
    pub(in crate::index) fn is_of_other_version(bytes: &[u8]) -> bool {
        let version = bytes.strip_prefix(b"GRAINRUN");
        let version = version.and_then(<[u8]>::first_chunk);
        version.is_some_and(|version| u16::from_be_bytes(*version) != VERSION)
    }

    /// Reads a header of this version and store.
    pub(in crate::index) fn from_bytes(bytes: &[u8], store_id: &StoreId) -> Option<Self> {
        let numbers = bytes.get(32..)?;
        let mut reader = Reader(numbers);
        let found = Self {
            store_id: *store_id,
            number: reader.u64()?,
            first: reader.u64()?,
            end: reader.u64()?,
        };
        (found.to_bytes() == bytes && found.first < found.end).then_some(found)
    }
}

/// The footer of a run: the place of the directory, and the check over everything outside blocks.
pub(super) struct Footer {
    pub(in crate::index) start: u64,
    pub(in crate::index) len: u64,
    pub(in crate::index) check: [u8; 8],
}

impl Footer {
    pub(super) const LEN: usize = 32;

    pub(in crate::index) fn new(header: &[u8], directory: &[u8], start: u64) -> Self {
        let mut footer = Self {
            start,
            len: directory.len() as u64,
            check: [0; 8],
        };
        footer.check = footer.check_of(header, directory);
        footer
    }

    pub(in crate::index) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::LEN);
        bytes.extend_from_slice(b"GRAINEND");
        bytes.extend_from_slice(&self.start.to_be_bytes());
        bytes.extend_from_slice(&self.len.to_be_bytes());
        bytes.extend_from_slice(&self.check);
        bytes
    }

    pub(in crate::index) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes.strip_prefix(b"GRAINEND")?);
        Some(Self {
            start: reader.u64()?,
            len: reader.u64()?,
            check: reader.array()?,
        })
    }

    pub(in crate::index) fn check_of(&self, header: &[u8], directory: &[u8]) -> [u8; 8] {
        let mut hash = Sha256::new();
        hash.update([0x05]);
        hash.update(header);
        hash.update(directory);
        hash.update(self.start.to_be_bytes());
        hash.update(self.len.to_be_bytes());
        let hash: [u8; 32] = hash.finalize().into();
        hash.first_chunk().copied().unwrap_or_default()
    }
}

/// Adjacent blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(in crate::index) start: u64,
    /// The length of each, its check included.
    pub(super) lens: Vec<u32>,
}

impl Extent {
    /// Returns where each block begins, and where the last ends.
    pub(super) fn offsets(&self) -> Vec<u64> {
        let mut offsets = Vec::with_capacity(self.lens.len() + 1);
        let mut at = self.start;
        offsets.push(at);
        for len in &self.lens {
            at = at.saturating_add(u64::from(*len));
            offsets.push(at);
        }
        offsets
    }

    pub(in crate::index) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start.to_be_bytes());
        put_len(out, self.lens.len());
        for len in &self.lens {
            out.extend_from_slice(&len.to_be_bytes());
        }
    }

    pub(in crate::index) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let start = reader.u64()?;
        let count = reader.len()?;
        // Taken one by one: a false count allocates nothing.
        let lens = (0..count).map(|_| reader.u32()).collect::<Option<_>>()?;
        Some(Self { start, lens })
    }
}

/// The directory entry of one family.
#[derive(Debug, Clone)]
pub(super) struct SectionEntry {
    pub(in crate::index) family: u8,
    pub(in crate::index) keys: u64,
    pub(in crate::index) blocks: Extent,
    pub(in crate::index) last: Vec<u8>,
    /// The first key of each block.
    pub(super) fences: Vec<u8>,
}

impl SectionEntry {
    pub(in crate::index) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.family);
        out.extend_from_slice(&self.keys.to_be_bytes());
        self.blocks.write(out);
        out.extend_from_slice(&self.last);
        out.extend_from_slice(&self.fences);
    }

    pub(in crate::index) fn read(
        reader: &mut Reader<'_>,
        width: impl Fn(u8) -> usize,
    ) -> Option<Self> {
        let family = reader.u8()?;
        let keys = reader.u64()?;
        let blocks = Extent::read(reader)?;
        let width = width(family);
        let last = reader.bytes(width)?.to_vec();
        let fences = reader
            .bytes(width.checked_mul(blocks.lens.len())?)?
            .to_vec();
        Some(Self {
            family,
            keys,
            blocks,
            last,
            fences,
        })
    }

    /// Returns the first key of each block.
    pub(super) fn fences<K: MemtableKey>(&self, layout: KeyLayout) -> Vec<K> {
        let keys = self.fences.chunks_exact(layout.width::<K>());
        keys.map(|key| layout.read(&padded(key))).collect()
    }

    pub(in crate::index) fn last<K: MemtableKey>(&self, layout: KeyLayout) -> K {
        layout.read(&padded(&self.last))
    }
}

/// The directory of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Directory {
    pub(super) sections: Vec<SectionEntry>,
    pub(in crate::index) locations: Extent,
    pub(in crate::index) filter: Extent,
    pub(in crate::index) grains: RoaringTreemap,
    pub(in crate::index) not_current: RoaringTreemap,
    pub(in crate::index) position: Option<LedgerPosition>,
}

impl Directory {
    pub(in crate::index) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.push(u8::try_from(self.sections.len()).unwrap_or(u8::MAX));
        for section in &self.sections {
            section.write(&mut out);
        }
        self.locations.write(&mut out);
        self.filter.write(&mut out);
        for rows in [&self.grains, &self.not_current] {
            put_len(&mut out, rows.serialized_size());
            // Writing to a vector cannot fail.
            drop(rows.serialize_into(&mut out));
        }
        match &self.position {
            None => out.push(0),
            Some(position) => {
                out.push(1);
                out.extend_from_slice(&position.entries.to_be_bytes());
                out.extend_from_slice(&position.head);
                out.extend_from_slice(&position.segment.to_be_bytes());
                out.extend_from_slice(&position.offset.to_be_bytes());
            }
        }
        out
    }

    pub(in crate::index) fn from_bytes(bytes: &[u8], layout: KeyLayout) -> Option<Self> {
        let mut reader = Reader(bytes);
        let count = reader.u8()?;
        let width = |number| layout.row_len + 8 * Family::parts_of(number);
        let sections = (0..count).map(|_| SectionEntry::read(&mut reader, width));
        let sections = sections.collect::<Option<_>>()?;
        let locations = Extent::read(&mut reader)?;
        let filter = Extent::read(&mut reader)?;
        let mut rows = || {
            let len = reader.len()?;
            RoaringTreemap::deserialize_from(reader.bytes(len)?).ok()
        };
        let (grains, not_current) = (rows()?, rows()?);
        let position = match reader.u8()? {
            0 => None,
            _ => Some(LedgerPosition {
                entries: reader.u64()?,
                head: reader.array()?,
                segment: reader.u32()?,
                offset: reader.u64()?,
            }),
        };
        reader.0.is_empty().then_some(Self {
            sections,
            locations,
            filter,
            grains,
            not_current,
            position,
        })
    }
}

/// Takes fields off untrusted bytes.
pub(in crate::index) struct Reader<'a>(pub(in crate::index) &'a [u8]);

impl<'a> Reader<'a> {
    pub(in crate::index) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(field)
    }

    pub(in crate::index) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.first_chunk().copied()
    }

    pub(in crate::index) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(in crate::index) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(in crate::index) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn len(&mut self) -> Option<usize> {
        usize::try_from(self.u32()?).ok()
    }
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    // A directory of 4 GiB would belong to a store of petabytes.
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    out.extend_from_slice(&len.to_be_bytes());
}

fn padded(key: &[u8]) -> Bytes {
    let mut bytes = Bytes::default();
    for (slot, byte) in bytes.iter_mut().zip(key) {
        *slot = *byte;
    }
    bytes
}

/// Returns the name of a run, relative to the store.
pub(in crate::index) fn name_of(number: u64) -> String {
    format!("{FOLDER}/{number:016}.run")
}

/// Returns the number of a run by its name in the folder; `None` for another file.
pub(in crate::index) fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".run")?;
    let is_number = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

/// 6: statements as three pairs, families 39 to 41.
const VERSION: u16 = 6;
