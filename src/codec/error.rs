//! The errors of the codec, with the codes of OMS 19.

use crate::code::ErrorCode;

/// An error in bytes, values or addresses, with the code of OMS 19.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A blob shorter than its header and the shortest payload.
    #[error("blob is {len} bytes; at least 10 are needed (9 of header and a payload)")]
    TooShort {
        /// Length found.
        len: usize,
    },
    /// A version byte other than 1.
    #[error("unsupported format version: {version}")]
    Version {
        /// The byte found.
        version: u8,
    },
    /// Bytes that are malformed, or well formed but not canonical.
    #[error("byte {offset}: {reason}")]
    Corrupt {
        /// Where in the payload or text the fault was noticed.
        offset: usize,
        /// The reason.
        reason: &'static str,
    },
    /// A value that has no canonical form.
    #[error("{reason}")]
    NotCanonical {
        /// The reason.
        reason: &'static str,
    },
    /// A payload that is not a map.
    #[error("payload must be a map")]
    NotMap,
    /// A float that is NaN or infinite.
    #[error("float is NaN or infinite")]
    FloatInvalid,
    /// More bytes than the device profile allows.
    #[error("blob is {len} bytes; the profile allows {max}")]
    TooLong {
        /// Length found.
        len: usize,
        /// Length allowed.
        max: usize,
    },
    /// An address with a character that is not a lower-case hexadecimal digit.
    #[error("content address must be lower-case hexadecimal")]
    HashFormat,
    /// An address that is not 64 characters long.
    #[error("content address must be 64 characters, not {len}")]
    HashLength {
        /// Length found.
        len: usize,
    },
    /// A JSON object with two members of one name.
    #[error("{message}")]
    DuplicateMember {
        /// The name, with line and column.
        message: String,
    },
    /// Text that is not JSON, or JSON with depth past the limit.
    #[error("{message}")]
    Json {
        /// The message of the parser, with line and column.
        message: String,
    },
}

impl Error {
    /// Returns the code of OMS 19.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TooShort { .. } => ErrorCode::TooShort,
            Self::Version { .. } => ErrorCode::Version,
            // OMS 4.1: a duplicate key is ERR_CORRUPT in every encoding.
            Self::Corrupt { .. } | Self::NotCanonical { .. } | Self::DuplicateMember { .. } => {
                ErrorCode::Corrupt
            }
            Self::Json { .. } => ErrorCode::Json,
            Self::NotMap => ErrorCode::NotMap,
            Self::FloatInvalid => ErrorCode::FloatInvalid,
            Self::TooLong { .. } => ErrorCode::Range,
            Self::HashFormat => ErrorCode::HashFormat,
            Self::HashLength { .. } => ErrorCode::HashLength,
        }
    }
}
