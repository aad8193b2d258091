//! Files to grains and back: `.mg`, JSON lines, PAM, AIMEM, OMI-AI and trees of Markdown; and in, the exports
//! of providers, memory stores and session logs of other tools.
//!
//! A reader validates a file as a whole, and then yields its [`Record`]s in an order in which they
//! can be stored, a few at a time. Readers never see the store, and a record depends on nothing but
//! the file (never on the time of import). Writers take grains. Values that a format cannot carry
//! are counted, never dropped in silence ([`Loss`]).
//!
//! | | |
//! | --- | --- |
//! | `format`, `format_reader`, `registry` | the formats, and their readers |
//! | `detect`, `detect_json`, `json_head` | how a file of each format is recognised |
//! | `open`, `import_file`, `options`, `merge`, `entries`, `export`, `error` | the parts that callers see |
//! | `model` | records, and everything said about them |
//! | `io`, `json` | files, archives and encryption; JSON in bounded memory |
//! | `formats` | a folder for each format |

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod detect;
mod detect_json;
mod entries;
mod error;
mod export;
mod format;
mod format_reader;
mod formats;
mod import_file;
mod io;
mod json;
mod json_head;
mod merge;
mod merge_rule;
mod model;
mod open;
mod options;
mod registry;

pub use crate::grain::ForeignId;
pub(crate) use entries::{each, surveyed};
pub use error::{Error, Place};
pub(crate) use export::Files;
pub use format::Format;
pub(crate) use formats::format_writer::{Export, FormatWriter};
pub(crate) use formats::markdown;
pub use formats::markdown::MEMORY_FILE;
pub(crate) use formats::neighbour::logged_turn;
pub(crate) use formats::revision::{Revised, Revision, revised};
pub use formats::{aimem, jsonl, mg, omi, pam, provider};
pub use import_file::ImportFile;
pub(crate) use io::encryption::EncryptedWriter;
#[cfg(feature = "sealing")]
#[cfg(feature = "sealing")]
pub(crate) use io::encryption::open_short as open_encrypted;
pub use io::encryption::{Decryption, Encryption};
pub(crate) use merge::choose_merge;
pub(crate) use merge_rule::Merge;
pub(crate) use model::compact_table::CompactTable;
use model::diagnostics::DIAGNOSTICS_MAX;
pub(crate) use model::diagnostics::{Diagnostics, Finding};
pub(crate) use model::link::link_of;
pub use model::loss::Loss;
pub(crate) use model::normalize::sha256;
pub use model::record::Record;
pub(crate) use model::record::{AddressMap, rewrite_links};
pub use model::record_set::RecordSet;
pub(crate) use model::record_set::{KnownTree, Step};
pub use model::signature::{ExportKey, Signature};
pub use model::vector::ForeignVectors;
pub(crate) use open::embeddings_path;
pub use options::{ReadOptions, WriteOptions};
pub(crate) use registry::{
    carried_vector, exported_addresses, is_exportable, is_link, says_the_same, states_visibility,
};

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use self::{
    entries::Entries,
    export::{Entry, Written},
    formats::neighbour::is_not_said,
    model::vector::{ForeignVector, StoredVector, VectorOf},
};
