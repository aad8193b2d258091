//! The errors of grains and drafts, with the codes of OMS 19.

use crate::code::ErrorCode;
use crate::codec;

use super::Type;

/// Why a draft or a blob is not a valid grain, with the code of OMS 19.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes or values have no canonical form.
    #[error(transparent)]
    Codec(#[from] codec::Error),
    /// No `type` field.
    #[error("missing required field: type")]
    NoType,
    /// A `type` that names no type, or not the one of the header.
    #[error("unknown memory type: {name}")]
    UnknownType {
        /// The name found.
        name: String,
    },
    /// A required field is absent.
    #[error("missing required field: {field} ({of})")]
    Missing {
        /// The field, or the alternatives.
        field: &'static str,
        /// The type, or the nested map, that requires it.
        of: String,
    },
    /// A required field is absent, and a member that is no field is spelt like it.
    #[error("missing required field: {field} ({of}); did you mean it by {found}?")]
    Misspelt {
        /// The field.
        field: &'static str,
        /// The type that requires it.
        of: String,
        /// The name of the member.
        found: String,
    },
    /// A field holds another kind of value than the specification requires.
    #[error("{field} must be {expected}")]
    WrongKind {
        /// The field.
        field: String,
        /// The kind it must hold.
        expected: &'static str,
    },
    /// A required text or array is empty.
    #[error("{field} is empty")]
    Empty {
        /// The field.
        field: String,
    },
    /// A number is out of its range.
    #[error("{field} is out of range: {range}")]
    Range {
        /// The field.
        field: String,
        /// The range allowed.
        range: &'static str,
    },
    /// A value is not one of a closed list.
    #[error("{field} is \"{value}\"; allowed: {allowed}")]
    NotListed {
        /// The field.
        field: String,
        /// The value found.
        value: String,
        /// The values allowed.
        allowed: String,
    },
    /// A field that must not be there.
    #[error("{field} must be absent: {reason}")]
    Forbidden {
        /// The field.
        field: String,
        /// The rule.
        reason: &'static str,
    },
    /// A field that is to be elided and cannot be (OMS 10.2).
    #[error("{field} cannot be disclosed as a hash: {reason}")]
    NotElidable {
        /// The field.
        field: String,
        /// The rule.
        reason: &'static str,
    },
    /// An application field named like a short key, or a field spelled in full in a blob.
    #[error("\"{name}\" collides with the field table: {reason}")]
    NameTaken {
        /// The name found.
        name: String,
        /// The name it collides with.
        reason: &'static str,
    },
    /// A header that disagrees with the payload.
    #[error("header does not match the payload: {part}")]
    HeaderMismatch {
        /// The part of the header.
        part: &'static str,
    },
    /// Header sensitivity below what the tags require.
    #[error("header says {header}, the tags require {required}")]
    SensitivityMismatch {
        /// Level in the header.
        header: &'static str,
        /// Level required.
        required: &'static str,
    },
    /// The signed flag without an envelope around the blob, or the reverse.
    #[error("the signed flag does not say how the blob was delivered: wrapped or bare")]
    SignedMismatch,
    /// Bytes that do not have the address they were stored or sent under.
    #[error("bytes do not have the address {address}")]
    Integrity {
        /// The address expected.
        address: codec::ContentAddress,
    },
    /// A time that cannot be read.
    #[error("{field}: {message}")]
    Time {
        /// The field.
        field: String,
        /// The problem.
        message: String,
    },
}

impl Error {
    /// Returns the code of OMS 19.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Codec(source) => source.code(),
            Self::NoType => ErrorCode::NoType,
            Self::UnknownType { .. } => ErrorCode::UnknownType,
            Self::Missing { .. }
            | Self::Misspelt { .. }
            | Self::WrongKind { .. }
            | Self::NotListed { .. }
            | Self::Forbidden { .. }
            | Self::NotElidable { .. }
            | Self::Time { .. } => ErrorCode::Schema,
            Self::Empty { .. } => ErrorCode::Empty,
            Self::Range { .. } => ErrorCode::Range,
            Self::NameTaken { .. } | Self::HeaderMismatch { .. } => ErrorCode::Corrupt,
            Self::SensitivityMismatch { .. } => ErrorCode::SensitivityMismatch,
            Self::SignedMismatch => ErrorCode::SignedMismatch,
            Self::Integrity { .. } => ErrorCode::Integrity,
        }
    }

    pub(super) fn misspelt(field: &'static str, of: Type, found: &str) -> Self {
        Self::Misspelt {
            field,
            of: of.to_string(),
            found: found.to_owned(),
        }
    }

    pub(super) fn missing(field: &'static str, of: Type) -> Self {
        Self::Missing {
            field,
            of: of.to_string(),
        }
    }
}
