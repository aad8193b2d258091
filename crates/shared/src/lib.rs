//! The sequence of frames that the stores of several machines share.
//!
//! A [`Sequence`] is a chain of frames with one head. A node reads the head, decides on it, and appends a
//! frame at the head that it decided on: of two that append at one head, one succeeds. The bytes mean
//! nothing here: `grainstore` builds them, proves them and folds them, each node for itself.
//!
//! | where the sequence is | type |
//! | --- | --- |
//! | in memory, for tests | [`MemorySequence`] |
//! | in a directory, for the processes of one machine | [`DirectorySequence`] |
//! | in PostgreSQL (feature `postgres`) | [`PostgresSequence`](postgres::PostgresSequence) |
//!
//! [`conformance`] holds the rules that each of them keeps.

#[doc(hidden)]
pub mod conformance;
mod directory;
mod error;
mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
mod sequence;

pub use directory::DirectorySequence;
pub use error::Error;
pub use memory::MemorySequence;
pub use sequence::{Appended, Head, Identity, Node, Proposal, Sequence, StoredFrame, Turn};
