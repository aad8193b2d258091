//! Why a file, or one record of it, cannot be read or written, and where in the file.

use crate::code::ErrorCode;
use std::fmt;

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

impl Place {
    /// Returns the place of a JSON pointer; an empty one is the file.
    pub(super) fn pointer(at: impl Into<String>) -> Self {
        Some(at.into())
            .filter(|at| !at.is_empty())
            .map_or(Self::File, Self::Pointer)
    }
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
        /// The reason.
        source: grain::Error,
    },
    /// A grain whose signature is not one, does not verify, or is missing.
    #[error("{place}: {source}")]
    Signature {
        /// Where it stands.
        place: Place,
        /// The reason.
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
    /// The file cannot be read or written.
    #[error("{place}: {source}")]
    Io {
        /// The place that was reached.
        place: Place,
        /// The error of the operating system.
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

    /// Returns the place, and the code with the message.
    pub(super) fn to_finding(&self) -> (Place, String) {
        let what = match self {
            Self::Grain { source, .. } => source.to_string(),
            Self::Signature { source, .. } => source.to_string(),
            Self::Format { message, .. } => message.clone(),
            Self::Io { source, .. } => source.to_string(),
        };
        (self.place().clone(), format!("{}: {what}", self.code()))
    }

    /// Returns an error of a broken rule.
    pub(super) fn format(code: ErrorCode, place: Place, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Format {
            code,
            place,
            message,
        }
    }

    /// Returns the error of a grain that is refused, for its content or for its signature.
    pub(super) fn of_delivery(place: Place, source: crypto::Error) -> Self {
        match source {
            crypto::Error::Grain(source) => Self::Grain { place, source },
            source => Self::Signature { place, source },
        }
    }
}

/// An error of the file as a whole.
impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Self::Io {
            place: Place::File,
            source,
        }
    }
}
