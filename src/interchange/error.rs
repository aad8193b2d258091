use std::fmt;

use crate::code::ErrorCode;
use crate::crypto;
use crate::grain;

/// Where in a file something stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    #[default]
    File,
    /// A line, counted from 1.
    Line(u64),
    /// A byte, counted from 0.
    Byte(u64),
    /// A grain of an archive, counted from 0.
    Grain(u64),
    /// A JSON pointer (RFC 6901).
    Pointer(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("file"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Grain(index) => write!(f, "grain {index}"),
            Self::Pointer(pointer) => f.write_str(pointer),
        }
    }
}

/// Why a file, or one record of it, cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A record that is not a valid grain.
    #[error("{place}: {source}")]
    Grain {
        /// Where it stands.
        place: Place,
        /// What is wrong with it.
        source: grain::Error,
    },
    /// A grain whose signature is not one, does not verify, or is missing.
    #[error("{place}: {source}")]
    Signature {
        /// Where it stands.
        place: Place,
        /// What is wrong with it.
        source: crypto::Error,
    },
    /// A rule of the format that is broken.
    #[error("{place}: {message}")]
    Format {
        /// The code of the format's rule.
        code: ErrorCode,
        /// Where it is broken.
        place: Place,
        /// How.
        message: String,
    },
    /// The world's failure: the file cannot be read or written.
    #[error("{place}: {source}")]
    Io {
        /// How far it went.
        place: Place,
        /// What the system says.
        source: std::io::Error,
    },
}

impl Error {
    /// Returns the code of the specification or of the format.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Grain { source, .. } => source.code(),
            Self::Signature { source, .. } => source.code(),
            Self::Format { code, .. } => *code,
            Self::Io { .. } => ErrorCode::Io,
        }
    }

    /// Returns where in the file it is.
    pub const fn place(&self) -> &Place {
        match self {
            Self::Grain { place, .. }
            | Self::Signature { place, .. }
            | Self::Format { place, .. }
            | Self::Io { place, .. } => place,
        }
    }

    /// Returns the code and what is wrong, for whoever knows the place.
    pub(super) fn to_finding(&self) -> (Place, String) {
        let what = match self {
            Self::Grain { source, .. } => source.to_string(),
            Self::Signature { source, .. } => source.to_string(),
            Self::Format { message, .. } => message.clone(),
            Self::Io { source, .. } => source.to_string(),
        };
        (self.place().clone(), format!("{}: {what}", self.code()))
    }

    /// Says where a grain is refused, and whether for what it says or for its signature.
    pub(super) fn of_delivery(place: Place, source: crypto::Error) -> Self {
        match source {
            crypto::Error::Grain(source) => Self::Grain { place, source },
            source => Self::Signature { place, source },
        }
    }
}
