//! The inverted index: committed segments on disk, uncommitted documents in memory, and the writer.
//!
//! It stores and reads postings. It does not know queries or scores.

mod build;
pub(super) mod committer;
pub(super) mod directory;
pub(super) mod disk;
pub(super) mod maintenance;
pub(super) mod memory_segment;
pub(super) mod open;
pub(super) mod partitions;
pub(super) mod postings;
pub(super) mod redact;
pub(super) mod schema;
pub(super) mod segment_list;
pub(super) mod segment_reader;
pub(super) mod uncommitted;
pub(super) mod view;
