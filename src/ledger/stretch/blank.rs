//! Single frames as they lie elsewhere: blanked without the ledger, and told from others.

use std::ops::Range;

use crate::ledger::segment::frame::{Frame, HEADER_LEN};
use crate::ledger::{EntryHeader, EntryId, StoreId};

/// Returns a frame with salt and body of those of its entries that are among `rows` overwritten with
/// zeros, and its entries; `None` for bytes that are no frame of the store.
pub(crate) fn blanked_frame(
    bytes: &[u8],
    store_id: &StoreId,
    rows: &[EntryId],
) -> Option<(Vec<u8>, Range<EntryId>)> {
    let frame = Frame::take(&mut &*bytes, store_id).ok()?;
    let mut blanked = bytes.to_vec();
    let mut end = EntryId::new(frame.first);
    for (at, raw) in frame.entries() {
        if rows.contains(&end) {
            let from = usize::try_from(at).ok()?;
            let entry = blanked.get_mut(from..from.checked_add(raw.len())?)?;
            entry.get_mut(EntryHeader::LEN..)?.fill(0);
        }
        end = end.next();
    }
    Some((blanked, EntryId::new(frame.first)..end))
}

/// Returns whether two frames are one: the check in the header covers the headers of all entries, and
/// these their salted commitments. A body may be blank in one of them.
pub(crate) fn is_same_frame(one: &[u8], other: &[u8]) -> bool {
    let header = one.get(..HEADER_LEN);
    one.len() == other.len() && header.is_some() && header == other.get(..HEADER_LEN)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ledger::stretch::bytes::Stretch;
    use crate::ledger::{Binding, Kind, Ledger, MemoryDisk, NewEntry, SEGMENT_BYTES, beginning};

    #[test]
    fn a_frame_that_was_blanked_is_proven_as_before() {
        let store_id = StoreId::new([7; 16]);
        let disk = Arc::new(MemoryDisk::default());
        let ledger = Ledger::create(disk, store_id, SEGMENT_BYTES).unwrap();
        let entry = |body: &'static [u8]| NewEntry {
            kind: Kind::Grain,
            actor: None,
            body,
            binding: Binding::of([9; 16], body),
        };
        let mut frame = Vec::new();
        let entries = [entry(b"one"), entry(b"two"), entry(b"three")];
        let mut agree = |_, bytes: &[u8], _| {
            frame = bytes.to_vec();
            Ok(())
        };
        ledger.append_agreed(1, &entries, &mut agree).unwrap();

        let rows = [EntryId::new(1), EntryId::new(7)];
        let (blanked, entries) = blanked_frame(&frame, &store_id, &rows).unwrap();
        assert_eq!(entries, EntryId::new(0)..EntryId::new(3));
        assert!(is_same_frame(&blanked, &frame));
        assert!(!blanked.windows(3).any(|bytes| bytes == b"two"));
        assert!(blanked.windows(5).any(|bytes| bytes == b"three"));
        let from = beginning(&store_id);
        let stretch = Stretch::prove(blanked, from, &store_id, |_| Vec::new()).unwrap();
        assert_eq!(stretch.to.head, ledger.head());
        assert_eq!(stretch.blank, [EntryId::new(1)]);

        let (_, cut) = frame.split_first().unwrap();
        assert!(blanked_frame(cut, &store_id, &rows).is_none());
        assert!(!is_same_frame(&frame, cut));
        assert!(!is_same_frame(b"", b""));
    }
}
