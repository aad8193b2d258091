//! A table that the file of a compacted segment states twice: behind its header and at its end, where
//! the first four bytes of it follow. One whole table is enough.

use std::io;

use sha2::{Digest, Sha256};

use super::segment_header::{HEADER_LEN, bytes_of, has_version};
use crate::ledger::DiskFile;

/// The table of a version of the format.
pub(super) trait StatedTwice: Sized + PartialEq {
    /// The version of a segment that has it.
    const VERSION: u16;
    /// The first byte of what its check is a hash of.
    const DOMAIN: u8;

    /// Returns the length of a table that begins with this number.
    fn len_by(begin: u32) -> u64;

    /// Reads a table without its check, which held; `None` if it cannot be one.
    fn decode(bytes: &[u8]) -> Option<Self>;

    /// Returns the length of the file.
    fn file_len(&self) -> u64;
}

/// Returns the table of a file; `None` for another file, or if both are damaged.
pub(super) fn read<T: StatedTwice>(file: &dyn DiskFile) -> io::Result<Option<T>> {
    let Some(header) = header_of::<T>(file)? else {
        return Ok(None);
    };
    match first(file, &header)? {
        None => second(file, &header),
        found => Ok(found),
    }
}

/// Returns whether a file has this table and one of the two is damaged.
pub(super) fn is_damaged<T: StatedTwice>(file: &dyn DiskFile) -> io::Result<bool> {
    let Some(header) = header_of::<T>(file)? else {
        return Ok(false);
    };
    let first = first::<T>(file, &header)?;
    Ok(first.is_none() || first != second(file, &header)?)
}

/// Returns the check of a table, 8 bytes, in a file with this header.
pub(super) fn check<T: StatedTwice>(header: &[u8; HEADER_LEN], covered: &[u8]) -> [u8; CHECK_LEN] {
    let hash = Sha256::new().chain_update([T::DOMAIN]).chain_update(header);
    let digest: [u8; 32] = hash.chain_update(covered).finalize().into();
    let mut head = [0; CHECK_LEN];
    head.copy_from_slice(&digest[..CHECK_LEN]);
    head
}

fn header_of<T: StatedTwice>(file: &dyn DiskFile) -> io::Result<Option<[u8; HEADER_LEN]>> {
    let header = bytes_of(file)?;
    Ok(header.filter(|header| has_version(header, T::VERSION)))
}

fn first<T: StatedTwice>(file: &dyn DiskFile, header: &[u8; HEADER_LEN]) -> io::Result<Option<T>> {
    let at = HEADER_LEN as u64;
    let end = file.len_bytes()?;
    if end < at + BEGIN_LEN {
        return Ok(None);
    }
    read_at(file, header, at, T::len_by(number_at(file, at)?), end)
}

fn second<T: StatedTwice>(file: &dyn DiskFile, header: &[u8; HEADER_LEN]) -> io::Result<Option<T>> {
    let end = file.len_bytes()?;
    let Some(behind) = end.checked_sub(BEGIN_LEN) else {
        return Ok(None);
    };
    let len = T::len_by(number_at(file, behind)?);
    match behind.checked_sub(len) {
        Some(at) => read_at(file, header, at, len, end),
        None => Ok(None),
    }
}

fn number_at(file: &dyn DiskFile, at: u64) -> io::Result<u32> {
    let mut bytes = [0; size_of::<u32>()];
    file.read_at(&mut bytes, at)?;
    Ok(u32::from_be_bytes(bytes))
}

fn read_at<T: StatedTwice>(
    file: &dyn DiskFile,
    header: &[u8; HEADER_LEN],
    at: u64,
    len: u64,
    end: u64,
) -> io::Result<Option<T>> {
    // A declared length never allocates more than the file holds.
    if at.checked_add(len).is_none_or(|behind| behind > end) {
        return Ok(None);
    }
    let Ok(len) = usize::try_from(len) else {
        return Ok(None);
    };
    let mut bytes = vec![0; len];
    file.read_at(&mut bytes, at)?;
    let covered = bytes.split_last_chunk().and_then(|(covered, found)| {
        let holds = *found == check::<T>(header, covered);
        holds.then_some(covered)
    });
    let table = covered.and_then(T::decode);
    Ok(table.filter(|table| table.file_len() == end))
}

pub(super) const CHECK_LEN: usize = 8;
/// The length of the number that a table begins with.
const BEGIN_LEN: u64 = size_of::<u32>() as u64;
