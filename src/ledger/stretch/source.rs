//! Reading stretches out of the files of a ledger that others may be writing: without a lock, and
//! nothing behind the published end.

use std::io;
use std::sync::Arc;

use super::bytes::Stretch;
use crate::ledger::Ledger;
use crate::ledger::log::follow::end_of;
use crate::ledger::offsets::entry_offsets::origin;
use crate::ledger::recovery::redaction_audit::ErasureDecoder;
use crate::ledger::recovery::torn_tail::damage;
use crate::ledger::segment::frame;
use crate::ledger::segment::segment_file::{self, HEADER_LEN, SegmentHeader};
use crate::ledger::{Disk, DiskFile, END, Error, LedgerPosition, OpenMode, PublishedEnd, StoreId};

/// Returns the position before the first entry of a ledger.
pub(crate) fn beginning(store_id: &StoreId) -> LedgerPosition {
    LedgerPosition {
        entries: 0,
        head: origin(store_id),
        segment: 1,
        offset: HEADER_LEN as u64,
    }
}

/// Returns the durable end that the writers have published; where none has, that of the last whole
/// frame, for which every byte is read.
///
/// # Errors
/// `ERR_STORAGE_IO`; `ERR_STORAGE_DAMAGED` where there is no published end.
pub(crate) fn published_end(
    disk: &Arc<dyn Disk>,
    store_id: StoreId,
    erases: ErasureDecoder,
) -> Result<LedgerPosition, Error> {
    let published = PublishedEnd::for_reading(&**disk, store_id);
    let published = published.map_err(|source| Error::io("read", END, source))?;
    match end_of(published.as_ref())? {
        Some(end) => Ok(end),
        None => Ok(Ledger::open_to_read(Arc::clone(disk), store_id, erases)?
            .0
            .position()),
    }
}

/// Reads the frames behind a position, up to a published end or to the end of the segment: of at most
/// `max` bytes, but at least one frame. At `until` it is empty.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED` if no frame continues the position; `ERR_STORE_VERSION`; `ERR_STORAGE_IO`.
pub(crate) fn read_stretch(
    disk: &dyn Disk,
    store_id: &StoreId,
    from: LedgerPosition,
    until: LedgerPosition,
    max: usize,
    erases: ErasureDecoder,
) -> Result<Stretch, Error> {
    let mut from = from;
    loop {
        let name = segment_file::name_of(from.segment);
        let failed = |source| Error::io("read", &name, source);
        let file = segment_file::open(disk, &name, OpenMode::Read).map_err(failed)?;
        let len = file.len_bytes().map_err(failed)?;
        let end = match from.segment == until.segment {
            true => len.min(until.offset),
            false => len,
        };
        if from.offset == HEADER_LEN as u64 {
            require_header(&*file, len, from, store_id)?;
        }
        if from.offset < end || from.segment >= until.segment {
            let bytes = frames(&*file, from, end, max)?;
            return Stretch::prove(bytes, from, store_id, erases);
        }
        from.segment = from.segment.saturating_add(1);
        from.offset = HEADER_LEN as u64;
    }
}

/// Refuses a segment that does not begin with the entry that is expected.
fn require_header(
    file: &dyn DiskFile,
    len: u64,
    from: LedgerPosition,
    store_id: &StoreId,
) -> Result<(), Error> {
    let expected = SegmentHeader {
        number: from.segment,
        first: from.entries,
    };
    let header = SegmentHeader::read(file, len, store_id);
    let name = segment_file::name_of(from.segment);
    let header = header.map_err(|source| Error::io("read", &name, source))?;
    if header == Ok(expected) {
        return Ok(());
    }
    let reason = "the segment does not begin with the entry after those before";
    Err(damage(from.segment, 0, from.entries, reason))
}

/// Reads whole frames by the lengths that they claim; the proof comes after.
fn frames(
    file: &dyn DiskFile,
    from: LedgerPosition,
    end: u64,
    max: usize,
) -> Result<Vec<u8>, Error> {
    let fault = |reason| damage(from.segment, from.offset, from.entries, reason);
    let left = end.checked_sub(from.offset);
    let left = left.ok_or_else(|| fault("the segment ends before the position"))?;
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let read = |len: usize| -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; len];
        let read: io::Result<()> = file.read_at(&mut bytes, from.offset);
        let name = segment_file::name_of(from.segment);
        read.map_err(|source| Error::io("read", &name, source))?;
        Ok(bytes)
    };
    // Memory is taken for bytes that the file has, never for a length that is only claimed.
    let mut bytes = read(left.min(max.max(frame::HEADER_LEN)))?;
    let whole = whole_frames(&bytes);
    if whole == 0 && !bytes.is_empty() {
        let first = usize::try_from(frame::claimed(&bytes).1).unwrap_or(usize::MAX);
        if first == 0 || first > left {
            return Err(fault("no whole frame begins here"));
        }
        return read(first);
    }
    bytes.truncate(whole);
    Ok(bytes)
}

/// Returns the length of the frames that lie whole in `bytes`, by the lengths that they claim.
fn whole_frames(bytes: &[u8]) -> usize {
    let mut whole = 0_usize;
    loop {
        let rest = bytes.get(whole..).unwrap_or_default();
        let claimed = usize::try_from(frame::claimed(rest).1).unwrap_or(usize::MAX);
        if claimed == 0 || claimed > rest.len() {
            return whole;
        }
        whole += claimed;
    }
}
