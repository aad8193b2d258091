//! The index: sorted keys that say in which ledger entries something stands (OMS 17.3, 28.4).
//!
//! A row is a ledger sequence. Every grain and every later entry about it becomes keys of several
//! families; a question is a scan of keys that begin alike. A batch becomes a sorted memtable in
//! memory; every so many entries the memtables become one immutable run on disk, and runs of a size
//! are merged. What there is at one moment is a version, which is replaced and never changed, so a
//! snapshot is a reference to one.
//!
//! All of it is results: what is in doubt is deleted and built anew from the ledger. Strings are
//! hashed with a key of the store's own, so that nobody can prepare collisions; whoever reads a row
//! checks the strings.

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
