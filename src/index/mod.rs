//! The index: a log-structured merge tree of sorted keys to ledger entries (OMS 17.3, 28.4).
//!
//! A row is a ledger sequence. Grains, and entries about them, become keys of several families.
//! Keys are gathered in memtables, written to immutable runs, and merged; a snapshot is a version
//! of both. All of it is derived: an index in doubt is deleted and built anew. Strings are hashed,
//! so the caller must check the strings of each row.

mod error;
mod options;
mod rows;
mod row_set;
mod key;
mod memory;
mod run;
mod engine;
mod read;
mod check;
mod retrieval_counters;

pub use check::compare::Comparison;
pub use engine::index::Index;
pub use engine::open::IndexRecovery;
pub use error::Error;
pub use key::family::Family;
pub use key::term::TermKey;
pub use memory::batch::Batch;
pub use options::{Addresses, IndexOptions};
pub use read::column::Column;
pub use read::key_range::Estimate;
pub use read::scan::Scan;
pub use read::snapshot::{Pattern, Snapshot};
pub use retrieval_counters::{RetrievalCount, RetrievalCounters};
pub use row_set::RowSet;
pub use rows::Rows;
