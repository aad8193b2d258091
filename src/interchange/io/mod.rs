//! Bytes in and out: files, directories, ZIP archives, encryption, and the sink of records. No
//! format is known here.

#[cfg(feature = "encryption")]
pub(super) mod encryption;
#[cfg(not(feature = "encryption"))]
pub(super) mod no_encryption;
pub(super) mod file_set;
pub(super) mod record_sink;
pub(super) mod source_file;
pub(super) mod zip;

#[cfg(not(feature = "encryption"))]
pub(super) use no_encryption as encryption;

/// The first bytes of an encrypted file.
const ENCRYPTED: &[u8] = b"age-encryption.org/v1\n";
