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
mod tree;
mod disk;
mod file_disk;
mod memory_disk;
mod field;
mod entry;
mod frame;
mod segment;
mod window;
mod search;
mod table;
mod handles;
mod torn;
mod blanks;
mod opening;
mod append;
mod read;
mod redact;
mod verify;
mod log;
mod mark;
mod copy;
mod prefix;
mod ballast;
mod error;

pub use ballast::Ballast;
pub use blanks::Erases;
pub use copy::Copied;
pub use disk::{Access, Disk, DiskFile, Lock};
pub use entry::{Binding, Entry, Header, NewEntry};
pub use error::Error;
pub use file_disk::FileDisk;
pub use kind::Kind;
pub use log::{Ledger, Opened, Options};
pub use mark::{EntryPlace, Known, Mark};
pub use memory_disk::MemoryDisk;
pub use store_id::StoreId;
pub use torn::Torn;
pub use tree::Tree;
pub use verify::{Finding, Moment, Verification, verify};
