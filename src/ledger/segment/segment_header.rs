//! The header of a segment, and of the files that stand for one (docs/format.md, "Segments").

use std::io;

use sha2::{Digest, Sha256};

use super::field::take;
use crate::ledger::{DiskFile, StoreId};

/// The header of a segment: its first 32 bytes, proven by their check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ledger) struct SegmentHeader {
    /// The number of the segment, counted from 1 without gaps.
    pub(in crate::ledger) number: u32,
    /// The sequence of the first entry in it.
    pub(in crate::ledger) first: u64,
}

impl SegmentHeader {
    pub(super) fn to_bytes(self, store_id: &StoreId) -> [u8; HEADER_LEN] {
        self.of_version(VERSION, store_id)
    }

    /// Returns the header of the packed segment that stands for this one.
    pub(super) fn packed(self, store_id: &StoreId) -> [u8; HEADER_LEN] {
        self.of_version(PACKED_VERSION, store_id)
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
            SPARSE_VERSION | PACKED_VERSION => Err(HeaderFault::Broken(
                "tables of a compacted segment do not hold",
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

/// Returns the bytes of the header of a file; `None` if it is shorter.
pub(super) fn bytes_of(file: &dyn DiskFile) -> io::Result<Option<[u8; HEADER_LEN]>> {
    let mut header = [0; HEADER_LEN];
    match file.read_at(&mut header, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        read => read.map(|()| Some(header)),
    }
}

/// Returns whether this is the header of a file that stands for a segment.
pub(super) fn is_compacted_header(header: &[u8; HEADER_LEN]) -> bool {
    [SPARSE_VERSION, PACKED_VERSION]
        .iter()
        .any(|version| has_version(header, *version))
}

/// Returns whether this is the header of a segment of a version of the format.
pub(super) fn has_version(header: &[u8; HEADER_LEN], version: u16) -> bool {
    header.starts_with(&MAGIC) && header.get(8..10) == Some(&version.to_be_bytes())
}

fn check(store_id: &StoreId, covered: &[u8]) -> [u8; HEADER_LEN - COVERED] {
    let hash = Sha256::new().chain_update([0x04]);
    let hash = hash.chain_update(store_id.as_bytes()).chain_update(covered);
    let digest: [u8; 32] = hash.finalize().into();
    let mut head = [0; HEADER_LEN - COVERED];
    head.copy_from_slice(&digest[..HEADER_LEN - COVERED]);
    head
}

pub(in crate::ledger) const HEADER_LEN: usize = 32;
const COVERED: usize = 24;
const MAGIC: [u8; 8] = *b"GRAINLOG";
const VERSION: u16 = 1;
pub(super) const SPARSE_VERSION: u16 = 2;
pub(super) const PACKED_VERSION: u16 = 3;

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
        bytes[9] = 4;
        assert_eq!(SegmentHeader::decode(&bytes, &store_id), None);
        let again = check(&store_id, &bytes[..COVERED]);
        bytes[COVERED..].copy_from_slice(&again);
        let found = SegmentHeader::decode(&bytes, &store_id);
        assert_eq!(found, Some(Err(HeaderFault::Version(4))));
    }
}
