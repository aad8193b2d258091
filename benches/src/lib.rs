//! The shared parts of the measurements: generated grains, the store and its peers behind one
//! trait, and the tables.
//!
//! `cargo run --release --bin engine` measures the engine, `--bin encode` the encoding;
//! docs/benchmarks.md says what and how.

pub use grainstore_cost::{conversations, data};
pub mod facts;
pub mod peer;
pub mod ours;
pub mod sqlite;
pub mod fjall;
pub mod redb;
pub mod lmdb;
#[cfg(feature = "rocksdb")]
pub mod rocks;
pub mod tantivy_alone;
pub mod floor;
pub mod machine;
pub mod report;
pub mod docs;
pub mod setup;
pub mod groups;

/// An error that ends a measurement: it is printed, and not handled.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The result of anything here.
pub type Result<T> = std::result::Result<T, Error>;
