//! Recovery: what opening a ledger proves, and how it treats the traces of a crash.
//!
//! Torn tails are set aside, everything else that is not as it was written is damage.

pub(super) mod redaction_audit;
pub(super) mod torn_tail;
mod segment_pass;
mod unreadable;
pub(super) mod recover;
pub(super) mod salvage;
