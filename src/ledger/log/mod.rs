//! The open ledger: one writer, many readers.
//!
//! Appending, reading, redaction and copies. The bytes are defined in `segment`, opening after a
//! crash in `recovery`.

mod watched_segments;
mod open_segments;
mod tail;
pub(super) mod ledger;
pub(super) mod append;
mod read;
mod redact;
pub(super) mod published_end;
pub(super) mod follow;
mod compact;
mod headers;
mod turn;
pub(super) mod copy;
mod point_in_time_copy;

use published_end::END;
