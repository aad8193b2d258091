//! Where the entries of a ledger lie: in memory, and in the form that derived files keep.
//!
//! Nothing here reads a file.

pub(super) mod position;
pub(super) mod entry_offsets;
