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

pub use error::Error;
pub use options::{Addresses, IndexOptions};
pub(crate) use read::column::Column;
pub(crate) use read::key_range::Estimate;
pub use retrieval_counters::RetrievalCount;
pub(crate) use retrieval_counters::RetrievalCounters;

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use self::{
    check::check_structure,
    check::compare::Comparison,
    engine::index::Index,
    engine::open::IndexRecovery,
    key::family::Family,
    key::term::TermKey,
    memory::batch::Batch,
    read::scan::Scan,
    read::snapshot::{Pattern, Snapshot},
    row_set::RowSet,
    rows::Rows,
};
