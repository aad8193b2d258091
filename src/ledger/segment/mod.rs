//! The bytes of a ledger: segments of frames of entries (docs/format.md, "Ledger").
//!
//! Reading and writing them, without knowledge of what lies before or behind.

pub(super) mod field;
pub(super) mod read_ahead;
pub(super) mod entry;
pub(super) mod frame;
pub(super) mod frame_search;
mod segment_header;
mod stated_twice;
mod sparse;
pub(super) mod packed;
pub(super) mod compacted;
pub(super) mod segment_file;
pub(super) mod room;
pub(super) mod blanked;
pub(super) mod replacement;
