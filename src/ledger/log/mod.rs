//! The open ledger: one writer, many readers.

mod open_segments;
mod tail;
pub(super) mod ledger;
mod append;
mod read;
mod redact;
pub(super) mod copy;
mod point_in_time_copy;
