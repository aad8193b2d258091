//! Pulling: the ledger of a cache is brought to the head of the sequence that it is of.
//!
//! Each frame is proven and chained to those before, and the chain must end at the head. Other processes
//! of the machine see the new entries once all are there.

use std::collections::BTreeSet;

use grainstore_shared::{Head, Sequence, StoredFrame};

use crate::ledger::{self, EntryId, Ledger, StoreId, Stretch, head_at};
use crate::store::Error;
use crate::store::records::erased_rows;

/// Appends what the ledger lacks, publishes it, and blanks what erasures in it list. `unproven` are entries of
/// the ledger whose body is not the one that was written, and that no erasure in it lists. `is_there` is called
/// before a body is blanked.
///
/// # Errors
/// `ERR_BACKUP_DIVERGED` for a sequence that does not continue the ledger; `ERR_STORAGE_DAMAGED` for bytes
/// that are not what was written; `ERR_UNREACHABLE`; storage errors.
pub(crate) fn pull_all(
    sequence: &dyn Sequence,
    ledger: &Ledger,
    store_id: StoreId,
    head: Head,
    unproven: Vec<EntryId>,
    is_there: impl FnOnce(),
) -> Result<(), Error> {
    let mut head = head;
    let mut unproven: BTreeSet<EntryId> = unproven.into_iter().collect();
    let mut listed = BTreeSet::new();
    let differs = |head: Head| ledger::Error::SharedDiffers {
        here: ledger.len(),
        there: head.entries,
    };
    let is_new = ledger.len() < head.entries;
    loop {
        while ledger.len() < head.entries {
            let frames = sequence
                .read(ledger.len(), PULL_BYTES)
                .map_err(ledger::Error::from)?;
            if frames
                .first()
                .is_none_or(|frame| frame.first != ledger.len())
            {
                return Err(differs(head).into());
            }
            append_frames(ledger, store_id, frames, &mut unproven, &mut listed)?;
        }
        unproven.retain(|entry| !listed.contains(entry));
        if ledger.len() == head.entries && unproven.is_empty() {
            break;
        }
        // Frames were appended while these were read; one may list a body that was blank among them.
        let before = head;
        head = sequence.head().map_err(ledger::Error::from)?;
        if ledger.len() > head.entries {
            return Err(differs(head).into());
        }
        if let (Some(entry), true) = (unproven.first(), head == before) {
            let what = format!("entry {entry} of the shared ledger");
            return Err(Error::damaged(what, "its body is not what was written"));
        }
    }
    if head_at(&ledger.position()) != head {
        return Err(differs(head).into());
    }
    if is_new {
        is_there();
        ledger.publish();
    }
    // The other processes know the erasure by now, so none takes a blank body for damage.
    let listed: Vec<EntryId> = listed.into_iter().collect();
    Ok(ledger.redact(&listed)?)
}

/// Appends frames, as few stretches as their segments allow.
fn append_frames(
    ledger: &Ledger,
    store_id: StoreId,
    frames: Vec<StoredFrame>,
    unproven: &mut BTreeSet<EntryId>,
    listed: &mut BTreeSet<EntryId>,
) -> Result<(), Error> {
    let mut append = |bytes: Vec<u8>| -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        let from = ledger.place_for(bytes.len() as u64);
        let stretch = Stretch::prove(bytes, from, &store_id, erased_rows)?;
        ledger.append_stretch(&stretch)?;
        unproven.extend(stretch.blank.iter().chain(&stretch.broken));
        listed.extend(&stretch.listed);
        Ok(())
    };
    let mut together: Vec<u8> = Vec::new();
    for frame in frames {
        let len = together.len().saturating_add(frame.bytes.len());
        if ledger.place_for(len as u64) != ledger.place_for(together.len() as u64) {
            append(std::mem::take(&mut together))?;
        }
        together.extend_from_slice(&frame.bytes);
    }
    append(together)
}

/// So much is asked for at once.
const PULL_BYTES: usize = 4 << 20;
