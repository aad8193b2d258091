//! The documents of a block whose rows a search accepts, found from the rows.
//!
//! Where few rows are accepted, asking each document that matches would take longer than the search.

use crate::index::RowSet;
use crate::ledger::EntryId;
use crate::text::index::disk::RowOrder;
use crate::text::index::segment_reader::Segment;
use crate::text::search::score_block::{BLOCK_LEN, DocBits};

/// Returns the accepted documents of the block that starts at `start`, a multiple of its length;
/// `None` where it is cheaper to ask each document.
pub(in crate::text) fn accepted_documents(
    rows: &RowSet,
    segment: &Segment<'_>,
    start: u32,
) -> Option<DocBits> {
    let order = segment.row_order(start / BLOCK_LEN);
    let end = start.saturating_add(BLOCK_LEN).min(segment.len());
    let (first, last) = (segment.row(start)?, segment.row(end.checked_sub(1)?)?);
    let accepted = rows.iter_from(first).take_while(|row| *row <= last);
    let mut found = DocBits::EMPTY;
    match order {
        RowOrder::Consecutive => {
            for row in accepted {
                found.insert(u32::try_from(row.get() - first.get()).ok()?);
            }
        }
        RowOrder::Ascending => {
            let mut from = start;
            for (number, row) in accepted.enumerate() {
                if number == LOOKED_UP_MAX {
                    return None;
                }
                from = first_from(segment, from, end, row)?;
                if segment.row(from)? == row {
                    found.insert(from - start);
                }
            }
        }
    }
    Some(found)
}

/// Returns the first document of `from..end` whose row is not below `row`; the rows ascend, and the
/// last is not below it.
fn first_from(segment: &Segment<'_>, from: u32, end: u32, row: EntryId) -> Option<u32> {
    let (mut low, mut high) = (from, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if segment.row(middle)? < row {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// The rows of a block that are looked up one by one, at most.
const LOOKED_UP_MAX: usize = 256;
