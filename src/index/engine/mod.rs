//! The engine: versions of the index, the writing and merging of runs, and the open index.
//!
//! It is a log-structured merge tree over immutable runs. Queries are in `read`.

pub(super) mod result_cache;
pub(super) mod version;
pub(super) mod current;
pub(super) mod shared;
mod merge;
pub(super) mod open;
mod worker;
pub(super) mod index;
