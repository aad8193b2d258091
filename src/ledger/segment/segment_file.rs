//! Segment files: their names, their header and their creation (docs/format.md, "Segments").
//!
//! Frames are read and written elsewhere.

use std::io;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::field::take;
use super::sparse;
use crate::ledger::{Disk, DiskFile, Error, OpenMode, StoreId};

/// The header of a segment: its first 32 bytes, proven by their check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ledger) struct SegmentHeader {
    /// The number of the segment, counted from 1 without gaps.
    pub(in crate::ledger) number: u32,
    /// The sequence of the first entry in it.
    pub(in crate::ledger) first: u64,
}

impl SegmentHeader {
    fn to_bytes(self, store_id: &StoreId) -> [u8; HEADER_LEN] {
        self.of_version(VERSION, store_id)
    }

    /// Returns the header of the sparse segment that stands for this one.
    pub(super) fn sparse(self, store_id: &StoreId) -> [u8; HEADER_LEN] {
        self.of_version(SPARSE_VERSION, store_id)
    }

    fn of_version(self, version: u16, store_id: &StoreId) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[0..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&version.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_be_bytes());
        let check = check(store_id, &bytes[..COVERED]);
        bytes[COVERED..].copy_from_slice(&check);
        bytes
    }

    /// Reads the header of `file`, which is `end` bytes long.
    pub(in crate::ledger) fn read(
        file: &dyn DiskFile,
        end: u64,
        store_id: &StoreId,
    ) -> io::Result<Result<Self, HeaderFault>> {
        if end < HEADER_LEN as u64 {
            return Ok(Err(HeaderFault::Broken("ends inside its header")));
        }
        let mut bytes = [0; HEADER_LEN];
        file.read_at(&mut bytes, 0)?;
        let broken = HeaderFault::Broken("check of the segment header does not hold");
        Ok(Self::decode(&bytes, store_id).unwrap_or(Err(broken)))
    }

    fn decode(bytes: &[u8; HEADER_LEN], store_id: &StoreId) -> Option<Result<Self, HeaderFault>> {
        let (covered, found) = bytes.split_at_checked(COVERED)?;
        if found != check(store_id, covered) {
            return None;
        }
        let rest = &mut &*covered;
        if take(rest)? != MAGIC {
            return None;
        }
        let version = u16::from_be_bytes(take(rest)?);
        let _reserved: [u8; 2] = take(rest)?;
        let number = u32::from_be_bytes(take(rest)?);
        let first = u64::from_be_bytes(take(rest)?);
        Some(match version {
            VERSION => Ok(Self { number, first }),
            // `open` gives the segment that it stands for.
            SPARSE_VERSION => Err(HeaderFault::Broken(
                "tables of a sparse segment do not hold",
            )),
            newer => Err(HeaderFault::Version(newer)),
        })
    }
}

/// The reason why a segment has no usable header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ledger) enum HeaderFault {
    Broken(&'static str),
    /// The check holds, but the segment was written by a newer version.
    Version(u16),
}

/// Creates a segment. Invariant: header and name are durable before the first frame is written.
pub(in crate::ledger) fn create(
    disk: &dyn Disk,
    header: SegmentHeader,
    store_id: &StoreId,
) -> Result<Arc<dyn DiskFile>, Error> {
    let name = name_of(header.number);
    let make = || {
        let file = disk.create(&name)?;
        file.write_at(&header.to_bytes(store_id), 0)?;
        file.sync()?;
        disk.sync_folder(FOLDER)?;
        Ok(file)
    };
    make().map_err(|source| Error::io("create", &name, source))
}

/// Opens a file of the ledger; a sparse segment reads as the one that it stands for.
pub(in crate::ledger) fn open(
    disk: &dyn Disk,
    name: &str,
    mode: OpenMode,
) -> io::Result<Arc<dyn DiskFile>> {
    sparse::expand(disk.open(name, mode)?)
}

/// Opens the last segment for appends, and returns whether it is sparse, so that it takes none.
pub(in crate::ledger) fn open_last(
    disk: &dyn Disk,
    name: &str,
) -> io::Result<(Arc<dyn DiskFile>, bool)> {
    let file = disk.open(name, OpenMode::Write)?;
    match sparse::is_sparse(&*file)? {
        true => Ok((sparse::expand(file)?, true)),
        false => Ok((file, false)),
    }
}

/// Returns whether this is the header of a sparse segment.
pub(super) fn is_sparse_header(header: &[u8; HEADER_LEN]) -> bool {
    header.starts_with(&MAGIC) && header.get(8..10) == Some(&SPARSE_VERSION.to_be_bytes())
}

/// Returns the numbers of the existing segments, in order.
pub(in crate::ledger) fn numbers(disk: &dyn Disk) -> Result<Vec<u32>, Error> {
    let names = disk.list(FOLDER);
    let names = names.map_err(|source| Error::io("list", FOLDER, source))?;
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| number_in(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns the name of a segment.
pub(in crate::ledger) fn name_of(number: u32) -> String {
    format!("{FOLDER}/{number:016}.seg")
}

pub(super) fn number_in(name: &str) -> Option<u32> {
    let number = name.strip_suffix(".seg")?.parse().ok()?;
    (format!("{FOLDER}/{name}") == name_of(number)).then_some(number)
}

fn check(store_id: &StoreId, covered: &[u8]) -> [u8; HEADER_LEN - COVERED] {
    let hash = Sha256::new().chain_update([0x04]);
    let hash = hash.chain_update(store_id.as_bytes()).chain_update(covered);
    let digest: [u8; 32] = hash.finalize().into();
    let mut head = [0; HEADER_LEN - COVERED];
    head.copy_from_slice(&digest[..HEADER_LEN - COVERED]);
    head
}

pub(in crate::ledger) const FOLDER: &str = "ledger";
pub(in crate::ledger) const HEADER_LEN: usize = 32;
const COVERED: usize = 24;
const MAGIC: [u8; 8] = *b"GRAINLOG";
const VERSION: u16 = 1;
const SPARSE_VERSION: u16 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_version_is_told_from_damage() {
        let store_id = StoreId::new([1; 16]);
        let header = SegmentHeader {
            number: 1,
            first: 0,
        };
        let mut bytes = header.to_bytes(&store_id);
        assert_eq!(SegmentHeader::decode(&bytes, &store_id), Some(Ok(header)));
        bytes[9] = 3;
        assert_eq!(SegmentHeader::decode(&bytes, &store_id), None);
        let again = check(&store_id, &bytes[..COVERED]);
        bytes[COVERED..].copy_from_slice(&again);
        let found = SegmentHeader::decode(&bytes, &store_id);
        assert_eq!(found, Some(Err(HeaderFault::Version(3))));
    }

    #[test]
    fn only_names_that_the_ledger_gives_are_segments() {
        assert_eq!(number_in("0000000000000012.seg"), Some(12));
        for other in [
            "torn-1",
            "12.seg",
            "+000000000000012.seg",
            "0000009999999999.seg",
        ] {
            assert_eq!(number_in(other), None, "{other}");
        }
    }
}
