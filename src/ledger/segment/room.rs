//! Room: zeros behind the last frame of the last segment, made ahead by the process that appends
//! (docs/format.md, "Writing").
//!
//! To make a longer file durable costs a file system a write of the length beside that of the bytes;
//! an append into room costs that of the bytes alone.

use std::io;

use super::read_ahead::ReadAhead;

/// Returns the length to give a file whose bytes are to end at `end`.
pub(in crate::ledger) const fn with_room(end: u64) -> u64 {
    end.saturating_add(ROOM_BYTES - end % ROOM_BYTES)
}

/// Returns whether the bytes of a file from `from` to its end are room.
pub(in crate::ledger) fn is_room(reader: &mut ReadAhead<'_>, from: u64) -> io::Result<bool> {
    let (mut at, end) = (from, reader.end());
    let mut is_zero = from < end && end.is_multiple_of(ROOM_BYTES);
    while is_zero && at < end {
        let bytes = reader.ahead(at, 1)?;
        is_zero = bytes.iter().all(|byte| *byte == 0);
        at = at.saturating_add(bytes.len() as u64);
    }
    Ok(is_zero)
}

/// Returns where what a crash left from `from` on ends, and room begins.
pub(in crate::ledger) fn begin_of_room(reader: &mut ReadAhead<'_>, from: u64) -> io::Result<u64> {
    let end = reader.end();
    if !end.is_multiple_of(ROOM_BYTES) {
        return Ok(end);
    }
    let (mut at, mut behind) = (from, from);
    while at < end {
        let bytes = reader.ahead(at, 1)?;
        let last = bytes.iter().rposition(|byte| *byte != 0);
        if let Some(last) = last {
            behind = at.saturating_add(last as u64).saturating_add(1);
        }
        at = at.saturating_add(bytes.len() as u64);
    }
    Ok(behind)
}

/// Room ends at a multiple of so many bytes.
pub(in crate::ledger) const ROOM_BYTES: u64 = 64 << 10;
