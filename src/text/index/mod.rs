//! The committed index, the uncommitted documents behind it, and how they are written.

pub(super) mod committer;
pub(super) mod maintenance;
pub(super) mod memory_segment;
pub(super) mod open;
pub(super) mod postings;
pub(super) mod redact;
pub(super) mod schema;
pub(super) mod segment_reader;
pub(super) mod uncommitted;
pub(super) mod view;
