//! What opening a ledger proves, and what it does about the traces of a crash.

pub(super) mod redaction_audit;
pub(super) mod torn_tail;
mod segment_pass;
pub(super) mod recover;
