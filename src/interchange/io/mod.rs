//! Bytes in and out: files, directories, ZIP and TAR archives, encryption, and the sink of records. No
//! format is known here.

#[cfg(feature = "encryption")]
mod cipher;
#[cfg(not(feature = "encryption"))]
mod no_cipher;
pub(super) mod encryption;
pub(super) mod file_set;
mod listing;
pub(super) mod record_sink;
pub(super) mod source_file;
pub(super) mod tar;
pub(super) mod zip;
