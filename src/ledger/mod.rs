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
mod stretch;
mod proof;
mod error;

pub(crate) use disk::Watch;
pub(crate) use disk::lock::holder_in;
pub(crate) use disk::overlay_disk::OverlayDisk;
pub use entry_id::EntryId;
pub use error::Error;
pub(crate) use log::append::{Agree, head_at};
pub(crate) use log::copy::OnDamage;
pub(crate) use log::published_end::END;
pub(in crate::ledger) use log::published_end::PublishedEnd;
pub(crate) use proof::history::{TreeHistory, TreeView};
pub use proof::path::{verify_consistency, verify_inclusion};
pub(crate) use proof::tree::MerkleTree;
pub(crate) use recovery::redaction_audit::ErasureDecoder;
pub(crate) use recovery::salvage::{Found, FoundEntry, LostBytes, Place, Proof, salvage};
pub use recovery::torn_tail::TornTail;
pub use store_id::StoreId;
pub(crate) use stretch::blank::{blanked_frame, is_same_frame};
pub(crate) use stretch::source::{beginning, published_end, read_stretch};

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use self::{
    disk::ballast::Ballast,
    disk::file_disk::FileDisk,
    disk::lock::Lock,
    disk::memory_disk::MemoryDisk,
    disk::{Disk, DiskFile, OpenMode},
    kind::Kind,
    log::copy::CopyReport,
    log::ledger::{Ledger, SEGMENT_BYTES},
    offsets::position::{EntryLocation, LedgerPosition, RecoveryHint},
    proof::verify::{
        LedgerVerification, SegmentFault, TreeHead, verify, verify_at, verify_ledger,
        verify_structure,
    },
    segment::entry::{Binding, Entry, EntryHeader, NewEntry},
    stretch::bytes::Stretch,
};
