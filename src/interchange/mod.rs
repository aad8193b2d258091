//! Files to grains and back: `.mg`, JSON lines, PAM, AIMEM, OMI-AI, and what
//! providers export.
//!
//! Readers turn a file into [`Record`]s in an order in which they can be stored, judging all of it
//! before any of them is handed over, and holding few of them at a time; they never see
//! the store, and a record depends on nothing but the file (never on the time of import). Writers
//! take grains. What a format cannot carry is counted, never dropped in silence ([`Loss`]).

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod aimem;
pub mod jsonl;
pub mod mg;
pub mod omi;
pub mod pam;
pub mod provider;

mod archive;
mod findings;
mod first;
mod format;
mod loss;
mod merge;
mod moment;
mod native;
mod outlet;
mod part;
mod pieces;
mod reading;
mod record;
mod records;
mod sealed;
mod signature;
mod spelling;
mod status;
mod strict;
mod table;
mod vector;
mod written;

mod error;

pub use error::{Error, Place};
use findings::FAULTS_MAX;
pub(crate) use findings::Findings;
pub use format::Format;
pub use loss::Loss;
pub(crate) use merge::{Merge, judge};
pub use reading::{ReadOptions, Reading};
pub use record::{ForeignId, Record};
pub(crate) use record::{Renamed, settled};
pub use records::Records;
pub(crate) use sealed::Sealed;
pub use sealed::{Seal, Unseal};
pub use signature::{ExportKey, Signature};
pub use vector::{ForeignVector, ForeignVectors, StoredVector, VectorOf, Vectors};
pub use written::{Entry, WriteOptions, Written};

use crate::grain::Grain;

/// Returns whether the owner of the memory that a grain was made from lets it leave the store
/// (PAM 21.1), as far as the record says.
pub(crate) fn is_exportable(grain: &Grain) -> bool {
    pam::is_exportable(grain)
}

/// Returns whether a grain says nothing but that others belong together.
pub(crate) fn is_link(grain: &Grain) -> bool {
    pam::is_relation(grain) || omi::is_relation(grain) || aimem::is_link(grain)
}
