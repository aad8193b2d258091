//! A stretch: the bytes of whole frames of one segment, proven and chained.
//!
//! A body that is not the one its header commits to is no fault here: an erasure that lists it may
//! follow in a later stretch. The caller holds the two against each other where the copy ends.

use crate::ledger::offsets::entry_offsets::CheckedOffset;
use crate::ledger::recovery::redaction_audit::ErasureDecoder;
use crate::ledger::recovery::torn_tail::damage;
use crate::ledger::segment::entry::{Fault, leaf};
use crate::ledger::segment::frame::Frame;
use crate::ledger::{EntryId, Error, Kind, LedgerPosition, StoreId};

/// Whole frames that follow one another in one segment, byte for byte.
#[derive(Debug)]
pub struct Stretch {
    /// Where it begins.
    pub from: LedgerPosition,
    /// Where it ends: computed from its headers, so the head chains it to what is before.
    pub to: LedgerPosition,
    /// The time of its latest entry, in milliseconds since 1970.
    pub newest_ms: i64,
    /// The earlier entries that erasures in it list.
    pub listed: Vec<EntryId>,
    /// Its entries that are blank, as an erasure leaves them.
    pub blank: Vec<EntryId>,
    /// Its entries whose body is damaged, or was overwritten in part when it was read.
    pub broken: Vec<EntryId>,
    bytes: Vec<u8>,
    pub(in crate::ledger) offsets: Vec<CheckedOffset>,
}

impl Stretch {
    /// Proves bytes that are to lie at a position: each frame, and that they continue the chain.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` names the first entry that is not whole; `ERR_STORE_VERSION`.
    pub(crate) fn prove(
        bytes: Vec<u8>,
        from: LedgerPosition,
        store_id: &StoreId,
        erases: ErasureDecoder,
    ) -> Result<Self, Error> {
        let mut stretch = Self {
            from,
            to: from,
            newest_ms: i64::MIN,
            listed: Vec::new(),
            blank: Vec::new(),
            broken: Vec::new(),
            bytes: Vec::new(),
            offsets: Vec::new(),
        };
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let frame = Frame::take(&mut rest, store_id).map_err(|reason| stretch.fault(reason))?;
            if frame.first != stretch.to.entries {
                return Err(stretch.fault("frame does not continue the sequence"));
            }
            stretch.add(&frame, erases)?;
        }
        stretch.bytes = bytes;
        Ok(stretch)
    }

    /// Returns its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn add(&mut self, frame: &Frame<'_>, erases: ErasureDecoder) -> Result<(), Error> {
        let begin = self.to.offset;
        for (at, raw) in frame.entries() {
            let sequence = EntryId::new(self.to.entries);
            match raw.open() {
                Ok(entry) => {
                    if entry.header.kind == Kind::Erasing {
                        let rows = erases(&entry.body).into_iter();
                        self.listed.extend(rows.filter(|row| *row < sequence));
                    }
                }
                Err(Fault::Body { blank: true }) => self.blank.push(sequence),
                Err(Fault::Body { blank: false }) => self.broken.push(sequence),
                Err(Fault::Broken(reason)) => return Err(self.fault(reason)),
                Err(Fault::NewerKind { kind, sequence }) => {
                    return Err(Error::UnknownKind { sequence, kind });
                }
            }
            let checked = CheckedOffset::new(begin.saturating_add(at), raw.header);
            let checked = checked.ok_or_else(|| self.fault("the segment is longer than 4 GiB"))?;
            self.offsets.push(checked);
            self.newest_ms = self.newest_ms.max(raw.time_ms().unwrap_or(i64::MIN));
            self.to.head = leaf(&self.to.head, raw.header);
            self.to.entries = self.to.entries.saturating_add(1);
        }
        self.to.offset = begin.saturating_add(frame.len);
        Ok(())
    }

    fn fault(&self, reason: &'static str) -> Error {
        damage(self.to.segment, self.to.offset, self.to.entries, reason)
    }
}
