//! The ledger: an append-only log of entries in segment files, and the only truth of a store.
//!
//! Frames (one atomic batch, one write, one `fdatasync`), commitments to bodies, the hash chain,
//! recovery, redaction in place, and the [`Disk`] through which a store writes its files.
//!
//! It interprets no bodies, decides nothing about what may be written or erased, and reads neither
//! clock nor randomness. Bytes: `docs/format.md`. OMS 17.3 requires the chain, OMS 5 and 20.4 a
//! check on every read.

#![deny(clippy::indexing_slicing)]

mod entry_id;
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
pub use entry_id::EntryId;
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
