//! Counts the instructions of some operations of the store, and holds them to a committed table
//! (`benches/cost.tsv`). `just cost` runs it; docs/benchmarks.md says what is counted and how.
//!
//! Instructions do not depend on how busy a machine is, so that CI can tell a change that made an
//! operation dearer. Times, and comparisons with other engines, are in `benches/`.

pub mod conversations;
pub mod count;
pub mod data;
pub mod fixture;
pub mod operation;
pub mod table;

/// An error that ends a measurement: it is printed, and there is nothing to handle.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The result of anything here.
pub type Result<T> = std::result::Result<T, Error>;
