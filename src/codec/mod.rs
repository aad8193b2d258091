//! Values, canonical bytes, headers and content addresses (OMS 3–5, 10.1.1, 16, 18).
//!
//! Pure functions on bytes and values. This room knows nothing of grain types or field names; the
//! two encodings accept exactly the bytes they would write, so a blob has one spelling and one
//! address. Untrusted bytes never panic, never reserve memory from a declared length, and never
//! recurse past the profile's depth.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod address;
mod canonical;
mod cbor;
pub(crate) mod cbor_head;
#[cfg(feature = "interchange")]
mod compress;
mod compressed_body;
mod encoding;
mod header;
mod json;
mod msgpack;
mod profile;
mod reader;
#[cfg(feature = "text")]
mod search_forms;
mod value;
mod zstd_frame;

mod error;

pub use address::ContentAddress;
#[cfg(feature = "interchange")]
pub use compress::Compression;
#[cfg(feature = "interchange")]
pub(crate) use compress::Decompressor;
pub(crate) use compressed_body::{
    BodyReader, BodyWriter, EXPANSION_MAX, UNREADABLE, dictionary_of,
};
pub use encoding::Encoding;
pub use error::Error;
pub use header::{Flags, Header, Sensitivity};
#[cfg(feature = "interchange")]
pub(crate) use json::{Skim, write as write_json, write_text as write_json_text};
pub use profile::Profile;
#[cfg(feature = "text")]
pub(crate) use search_forms::{nfd, nfkc};
pub use value::{Int, Map, Value};
pub(crate) use value::{Name, Vocabulary, Word};
pub(crate) use zstd_frame::decompress;

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use self::{
    canonical::{Canonical, nfc},
    encoding::encode_value,
};
