//! The published end: the file `END`, in which a process that appends says up to where the ledger is
//! durable, for the processes that follow it (docs/format.md, "END").
//!
//! It is written in place after each sync and never synced itself: what a power failure leaves of it
//! is behind the ledger or fails its check, and the next writer writes it anew.

use std::hash::Hasher;
use std::io;
use std::sync::Arc;

use siphasher::sip::SipHasher13;

use crate::ledger::{Disk, DiskFile, LedgerPosition, OpenMode, StoreId};

/// The file `END`, open.
#[derive(Debug)]
pub(in crate::ledger) struct PublishedEnd {
    file: Arc<dyn DiskFile>,
    store_id: StoreId,
    is_writer: bool,
}

impl PublishedEnd {
    /// Opens the file for the process that writes, and creates it if it is missing.
    pub(super) fn for_writing(disk: &dyn Disk, store_id: StoreId) -> io::Result<Self> {
        let opened = match disk.open(END, OpenMode::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => disk.create(END),
            opened => opened,
        };
        Ok(Self {
            file: opened?,
            store_id,
            is_writer: true,
        })
    }

    /// Opens the file for a process that follows; `None` if no writer has published an end.
    pub(in crate::ledger) fn for_reading(
        disk: &dyn Disk,
        store_id: StoreId,
    ) -> io::Result<Option<Self>> {
        let file = match disk.open(END, OpenMode::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        Ok(Some(Self {
            file,
            store_id,
            is_writer: false,
        }))
    }

    pub(super) const fn is_writer(&self) -> bool {
        self.is_writer
    }

    /// Publishes a durable end.
    pub(super) fn write(&self, end: &LedgerPosition) -> io::Result<()> {
        self.file.write_at(&to_bytes(end, &self.store_id), 0)
    }

    /// Returns whether the file may hold an end past `len` entries: it is not checked, so that asking
    /// costs one read.
    pub(super) fn may_be_past(&self, len: u64) -> bool {
        let mut entries = [0; 8];
        let read = self.file.read_at(&mut entries, MAGIC.len() as u64);
        read.is_ok() && u64::from_be_bytes(entries) > len
    }

    /// Returns the published end; `None` if the file does not hold one. A reader can meet a write
    /// half way, so it looks again before it believes that.
    pub(in crate::ledger) fn read(&self) -> io::Result<Option<LedgerPosition>> {
        for _ in 0..ATTEMPTS {
            let mut bytes = [0; LEN];
            match self.file.read_at(&mut bytes, 0) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                read => read?,
            }
            if let Some(end) = from_bytes(&bytes, &self.store_id) {
                return Ok(Some(end));
            }
            std::hint::spin_loop();
        }
        Ok(None)
    }
}

fn to_bytes(end: &LedgerPosition, store_id: &StoreId) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LEN);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&end.entries.to_be_bytes());
    bytes.extend_from_slice(&end.head);
    bytes.extend_from_slice(&end.segment.to_be_bytes());
    bytes.extend_from_slice(&end.offset.to_be_bytes());
    let check = check_of(&bytes, store_id);
    bytes.extend_from_slice(&check);
    bytes
}

fn from_bytes(bytes: &[u8; LEN], store_id: &StoreId) -> Option<LedgerPosition> {
    let (_, rest) = bytes.split_at_checked(MAGIC.len())?;
    let (entries, rest) = rest.split_first_chunk()?;
    let (head, rest) = rest.split_first_chunk()?;
    let (segment, rest) = rest.split_first_chunk()?;
    let (offset, _) = rest.split_first_chunk()?;
    let end = LedgerPosition {
        entries: u64::from_be_bytes(*entries),
        head: *head,
        segment: u32::from_be_bytes(*segment),
        offset: u64::from_be_bytes(*offset),
    };
    (to_bytes(&end, store_id) == bytes).then_some(end)
}

/// A check against a half-written or rotten file, and against that of another store; it has no
/// secret, since who writes the directory can write the ledger.
fn check_of(bytes: &[u8], store_id: &StoreId) -> [u8; 8] {
    let mut hash = SipHasher13::new_with_key(store_id.as_bytes());
    hash.write(bytes);
    hash.finish().to_be_bytes()
}

/// The name of the file.
pub(crate) const END: &str = "END";

const MAGIC: &[u8] = b"GRAINEND";

/// Magic, number of entries, head, segment, offset, check.
const LEN: usize = 8 + 8 + 32 + 4 + 8 + 8;

/// How often a reader looks before it takes the file for damaged.
const ATTEMPTS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_with_any_other_bit_is_none() {
        let end = LedgerPosition {
            entries: 7,
            head: [3; 32],
            segment: 2,
            offset: 4_096,
        };
        let store_id = StoreId::new([9; 16]);
        let bytes: [u8; LEN] = to_bytes(&end, &store_id).try_into().unwrap();
        assert_eq!(from_bytes(&bytes, &store_id), Some(end));
        assert_eq!(from_bytes(&bytes, &StoreId::new([8; 16])), None);
        for bit in 0..LEN * 8 {
            let mut flipped = bytes;
            *flipped.get_mut(bit / 8).unwrap() ^= 1 << (bit % 8);
            assert_eq!(from_bytes(&flipped, &store_id), None, "bit {bit}");
        }
    }
}
