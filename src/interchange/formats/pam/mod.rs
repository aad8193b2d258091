//! Portable AI Memory 1.0: one JSON document and the conversations it names, as grains.
//!
//! One record is one grain, and every grain carries its record (see [`residual`]), so that nothing
//! without a field in the mapping is lost. Grains depend on the records alone: the same file always
//! gives the same addresses. A violation of a rule that grains depend on refuses the file;
//! violations of the other rules of the text and the schemas are findings, unless the caller asks
//! for strictness (PAM 3–25).

mod checksum;
mod code;
mod files;
mod json;
mod names;
mod open;
mod order;
mod read;
mod reader;
mod schema;
mod signature;
mod types;
mod write;
mod writer;

pub(in crate::interchange) use names::JSON;
pub use names::STORE;
pub(in crate::interchange) use read::build::Names;
pub(in crate::interchange) use read::convert::{Converted, ConvertedConversation, Converter};
pub(in crate::interchange) use reader::Pam;
pub(in crate::interchange) use types::content_hash::content_hash;
pub use types::residual::{conversation_residual, residual};
pub use write::store::EMBEDDINGS;

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
pub(crate) use write::store::{write_embeddings, write_files};
pub(crate) use write::zip::Archive;
#[doc(hidden)]
pub use write::{document::Document, store::write};
