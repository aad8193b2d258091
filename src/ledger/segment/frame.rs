//! Frames: one atomic batch of entries under one check (docs/format.md, "Frames").
//!
//! Reading proves lengths, sequences and headers. It does not prove bodies: `RawEntry::open` does.

use std::io;

use sha2::{Digest, Sha256};

use super::entry::{BODY_MAX, OVERHEAD, RawEntry};
use super::field::take;
use super::read_ahead::ReadAhead;
use crate::ledger::{Binding, EntryHeader, EntryId, Error, NewEntry, StoreId};

/// One atomic batch as read: its check is valid and its lengths add up.
///
/// The bodies are not proven; [`RawEntry::open`] proves them.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct Frame<'a> {
    /// The sequence of the first entry.
    pub(in crate::ledger) first: u64,
    /// The number of entries that were durable when the frame was written.
    pub(in crate::ledger) synced: u64,
    /// The length of the frame in bytes.
    pub(in crate::ledger) len: u64,
    entries: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads the frame at `offset` and proves it, except for its bodies.
    pub(in crate::ledger) fn at(
        reader: &'a mut ReadAhead<'_>,
        offset: u64,
        store_id: &StoreId,
    ) -> io::Result<Result<Self, &'static str>> {
        let Some(header) = reader.get(offset, HEADER_LEN)? else {
            return Ok(Err("ends inside a frame header"));
        };
        let len = match FrameHeader::decode(header) {
            Ok(claim) => claim.len,
            Err(reason) => return Ok(Err(reason)),
        };
        let Some(bytes) = reader.get(offset, len)? else {
            return Ok(Err("ends inside a frame"));
        };
        Ok(Self::prove(bytes, store_id))
    }

    /// Takes the next frame off `rest`, and proves it as [`Frame::at`] does.
    pub(in crate::ledger) fn take(
        rest: &mut &'a [u8],
        store_id: &StoreId,
    ) -> Result<Self, &'static str> {
        let len = FrameHeader::decode(rest)?.len;
        let (bytes, after) = rest.split_at_checked(len).ok_or("ends inside a frame")?;
        *rest = after;
        Self::prove(bytes, store_id)
    }

    fn prove(bytes: &'a [u8], store_id: &StoreId) -> Result<Self, &'static str> {
        let claim = FrameHeader::decode(bytes)?;
        let (covered, _) = bytes.split_first_chunk().ok_or(SHORT)?;
        let entries = bytes.get(HEADER_LEN..).ok_or(SHORT)?;
        let mut check = begin_check(store_id, covered);
        let mut rest = entries;
        let (first, _) = rest.split_first_chunk().ok_or(SHORT)?;
        let first = u64::from_be_bytes(*first);
        for nth in 0..claim.count {
            let raw = RawEntry::take(&mut rest).ok_or("lengths do not add up")?;
            // A gap ends the loop at once, so hostile bytes cannot make it long.
            if raw.sequence() != first.checked_add(nth) {
                return Err("sequences are not consecutive");
            }
            check.update(raw.header);
        }
        if !rest.is_empty() {
            return Err("lengths do not add up");
        }
        if end_check(check) != claim.check {
            return Err("check of a frame does not hold");
        }
        if claim.synced > first {
            return Err("frame claims to be synced before it was written");
        }
        Ok(Self {
            first,
            synced: claim.synced,
            len: bytes.len() as u64,
            entries,
        })
    }

    /// Returns the entries with their offsets in the frame.
    pub(in crate::ledger) fn entries(&self) -> impl Iterator<Item = (u64, RawEntry<'a>)> + use<'a> {
        let mut rest = self.entries;
        let mut offset = HEADER_LEN;
        std::iter::from_fn(move || {
            let before = rest.len();
            let raw = RawEntry::take(&mut rest)?;
            let place = u64::try_from(offset).ok()?;
            offset += before - rest.len();
            Some((place, raw))
        })
    }
}

/// Returns the number of entries and bytes that a frame header claims; zeros if it is invalid.
pub(in crate::ledger) fn claimed(header: &[u8]) -> (u64, u64) {
    FrameHeader::decode(header).map_or((0, 0), |claim| (claim.count, claim.len as u64))
}

/// The fields of a frame header, within the limits of the format.
struct FrameHeader {
    count: u64,
    len: usize,
    synced: u64,
    check: [u8; 8],
}

impl FrameHeader {
    fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let rest = &mut &*bytes;
        if take(rest).ok_or(SHORT)? != MAGIC {
            return Err("no frame begins here");
        }
        let count = u64::from(u32::from_be_bytes(take(rest).ok_or(SHORT)?));
        let len = u64::from_be_bytes(take(rest).ok_or(SHORT)?);
        let synced = u64::from_be_bytes(take(rest).ok_or(SHORT)?);
        let check = take(rest).ok_or(SHORT)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if count == 0 || !(HEADER_LEN + OVERHEAD..=FRAME_MAX).contains(&len) {
            return Err("frame header is out of range");
        }
        Ok(Self {
            count,
            len,
            synced,
            check,
        })
    }
}

/// The frame that is to be written.
pub(in crate::ledger) struct FrameBuilder<'a> {
    pub(in crate::ledger) store_id: &'a StoreId,
    pub(in crate::ledger) first: u64,
    /// The number of entries that are durable.
    pub(in crate::ledger) synced: u64,
    pub(in crate::ledger) time_ms: i64,
    pub(in crate::ledger) entries: &'a [NewEntry<'a>],
    pub(in crate::ledger) len: usize,
}

impl FrameBuilder<'_> {
    /// Builds the frame in `frame`, and calls `each` with the offset and bytes of every header.
    ///
    /// # Errors
    /// `ERR_RANGE` for a sequence or length past the format's limits.
    pub(in crate::ledger) fn build(
        &self,
        frame: &mut Vec<u8>,
        each: &mut impl FnMut(usize, &[u8; EntryHeader::LEN]),
    ) -> Result<(), Error> {
        let count = u32::try_from(self.entries.len()).map_err(|_| too_many(self.entries))?;
        let mut covered = [0; COVERED];
        covered[0..4].copy_from_slice(&MAGIC);
        covered[4..8].copy_from_slice(&count.to_be_bytes());
        covered[8..16].copy_from_slice(&(self.len as u64).to_be_bytes());
        covered[16..24].copy_from_slice(&self.synced.to_be_bytes());
        let mut check = begin_check(self.store_id, &covered);
        frame.clear();
        frame.reserve(self.len);
        frame.extend_from_slice(&covered);
        frame.extend_from_slice(&[0; CHECK_LEN]);
        for (sequence, new) in (self.first..).zip(self.entries) {
            let Binding { salt, commitment } = new.binding;
            debug_assert!(
                new.binding.is_blank() || commitment == Binding::of(salt, new.body).commitment,
                "binding of another body"
            );
            let header = EntryHeader {
                sequence: EntryId::new(sequence),
                time_ms: self.time_ms,
                actor: new.actor,
                body_len: u32::try_from(new.body.len()).map_err(|_| too_long(new.body))?,
                kind: new.kind,
                commitment,
            };
            let header = header.to_bytes();
            check.update(header);
            each(frame.len(), &header);
            frame.extend_from_slice(&header);
            frame.extend_from_slice(&salt);
            frame.extend_from_slice(new.body);
        }
        if let Some(place) = frame.get_mut(COVERED..HEADER_LEN) {
            place.copy_from_slice(&end_check(check));
        }
        Ok(())
    }
}

/// Returns the length of a frame of these entries in bytes.
///
/// # Errors
/// `ERR_RANGE` for a body over 64 MiB or a frame over 1 GiB.
pub(in crate::ledger) fn len_of(entries: &[NewEntry<'_>]) -> Result<usize, Error> {
    let mut len = HEADER_LEN;
    for new in entries {
        if new.body.len() > BODY_MAX {
            return Err(too_long(new.body));
        }
        len = len.saturating_add(OVERHEAD + new.body.len());
    }
    if len > FRAME_MAX {
        return Err(Error::TooLarge {
            what: "frame",
            len,
            max: FRAME_MAX,
        });
    }
    Ok(len)
}

fn too_long(body: &[u8]) -> Error {
    Error::TooLarge {
        what: "body",
        len: body.len(),
        max: BODY_MAX,
    }
}

fn too_many(entries: &[NewEntry<'_>]) -> Error {
    Error::TooLarge {
        what: "number of entries",
        len: entries.len(),
        max: FRAME_MAX / OVERHEAD,
    }
}

/// The check covers the store id, the frame header and every entry header: a frame is proven
/// without its bodies, so redaction leaves it valid, and frames of another store fail.
fn begin_check(store_id: &StoreId, covered: &[u8; COVERED]) -> Sha256 {
    let hash = Sha256::new().chain_update([0x03]);
    hash.chain_update(store_id.as_bytes()).chain_update(covered)
}

fn end_check(check: Sha256) -> [u8; CHECK_LEN] {
    let digest: [u8; 32] = check.finalize().into();
    let mut head = [0; CHECK_LEN];
    head.copy_from_slice(&digest[..CHECK_LEN]);
    head
}

pub(in crate::ledger) const HEADER_LEN: usize = COVERED + CHECK_LEN;
pub(super) const MAGIC: [u8; 4] = *b"GFRM";

/// 1 GiB: a frame is held in memory whole.
const FRAME_MAX: usize = 1 << 30;
const COVERED: usize = 24;
const CHECK_LEN: usize = 8;
const SHORT: &str = "ends inside a frame header";
