//! Where the entries of a ledger lie.

pub(super) mod position;
pub(super) mod entry_offsets;
