//! The ledger: an append-only log of entries in segment files, and the only truth of a store.
//!
//! Does: frames (one atomic batch, one write, one `fdatasync`), commitments that bind each body,
//! the chain of leaves, torn tails set aside after a crash, damage reported, bodies blanked in
//! place. It also owns the [`Disk`] seam, through which every file of a store but those of other
//! engines is written.
//!
//! Does not: look inside a body, decide what may be written or erased, keep an index, read the
//! clock, make randomness. Proofs in the Merkle tree over the leaves, and checkpoints, build on it.
//!
//! The bytes are defined in `docs/format.md`. OMS 17.3 asks for the chain, OMS 5 and 20.4
//! for content that is checked on every read.

#![deny(clippy::indexing_slicing)]

mod kind;
mod store_id;
mod disk;
mod segment;
mod offsets;
mod recovery;
mod log;
mod proof;
mod error;

pub use disk::ballast::Ballast;
pub use disk::file_disk::FileDisk;
pub use disk::lock::Lock;
pub use disk::memory_disk::MemoryDisk;
pub use disk::{Disk, DiskFile, OpenMode};
pub use error::Error;
pub use kind::Kind;
pub use log::copy::CopyReport;
pub use log::ledger::{Ledger, LedgerOptions};
pub use offsets::position::{EntryLocation, LedgerPosition, RecoveryHint};
pub use proof::tree::MerkleTree;
pub use proof::verify::{LedgerVerification, SegmentFault, TreeHead, verify};
pub use recovery::redaction_audit::ErasureDecoder;
pub use recovery::torn_tail::TornTail;
pub use segment::entry::{Binding, Entry, EntryHeader, NewEntry};
pub use store_id::StoreId;
