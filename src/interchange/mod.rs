//! FileSet to grains and back: `.mg`, JSON lines, PAM, AIMEM, OMI-AI, and what
//! providers export.
//!
//! Readers turn a file into [`Record`]s in an order in which they can be stored, validating all of it
//! before any of them is handed over, and holding few of them at a time; they never see
//! the store, and a record depends on nothing but the file (never on the time of import). Writers
//! take grains. What a format cannot carry is counted, never dropped in silence ([`Loss`]).

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod detect;
mod error;
mod export;
mod format;
mod formats;
mod import_file;
mod io;
mod json;
mod merge;
mod model;
mod options;

pub use error::{Error, Place};
pub use export::{Entry, Written};
pub use format::Format;
pub use formats::{aimem, jsonl, mg, omi, pam, provider};
pub use import_file::ImportFile;
pub(crate) use io::encryption::EncryptedWriter;
pub use io::encryption::{Decryption, Encryption};
pub(crate) use merge::{Merge, choose_merge};
use model::diagnostics::DIAGNOSTICS_MAX;
pub(crate) use model::diagnostics::{Diagnostics, Finding};
pub use model::loss::Loss;
pub(crate) use model::record::{AddressMap, rewrite_links};
pub use model::record::{ForeignId, Record};
pub use model::record_set::RecordSet;
pub use model::signature::{ExportKey, Signature};
pub use model::vector::{ForeignVector, ForeignVectors, StoredVector, VectorOf, Vectors};
pub use options::{ReadOptions, WriteOptions};

use crate::grain::Grain;

use format::READERS;

/// Returns whether the owner of the memory that a grain was made from lets it leave the store
/// (PAM 21.1), as far as the record says.
pub(crate) fn is_exportable(grain: &Grain) -> bool {
    READERS.iter().all(|reader| reader.is_exportable(grain))
}

/// Returns whether a grain says nothing but that others belong together.
pub(crate) fn is_link(grain: &Grain) -> bool {
    READERS.iter().any(|reader| reader.is_link(grain))
}
