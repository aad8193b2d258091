//! The errors of keys, signatures and randomness. None contains a secret.

use crate::code::ErrorCode;
use crate::codec;
use crate::grain;

use super::Did;

/// An error of keys, signatures or randomness; it never contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system gave no random bytes. There is no second choice: nothing is written.
    #[error("the system gives no random bytes: {source}")]
    NoRandomness {
        /// The error of the system.
        source: getrandom::Error,
    },
    /// A text that is no DID of a method that is read here.
    #[error("not a DID: {reason}")]
    Did {
        /// The reason.
        reason: &'static str,
    },
    /// Bytes or a file that hold no key that can be used.
    #[error("not a key: {reason}")]
    Key {
        /// The reason.
        reason: &'static str,
    },
    /// Bytes that are not exactly one strict COSE_Sign1 message.
    #[error("malformed signature message at byte {offset}: {reason}")]
    Malformed {
        /// Where, in bytes from the start of the part being read: the message or a header.
        offset: usize,
        /// The reason.
        reason: &'static str,
    },
    /// A well-formed message whose parts do not belong together, or that lacks one.
    #[error("not a signed message: {reason}")]
    Envelope {
        /// The reason.
        reason: &'static str,
    },
    /// A well-formed message with a feature that is not supported.
    #[error("signature message asks for {what}")]
    Unsupported {
        /// The feature.
        what: &'static str,
    },
    /// A signature that its signer's key did not make.
    #[error("the signature does not verify")]
    Signature,
    /// The signer has no key for the algorithm.
    #[error("{did} has no {algorithm} key")]
    WrongKey {
        /// The signer named.
        did: Did,
        /// The algorithm of the message.
        algorithm: super::Algorithm,
    },
    /// A DID whose key cannot be found.
    #[error("cannot resolve {did}: {reason}")]
    Unresolved {
        /// The DID.
        did: Did,
        /// Why, in words.
        reason: String,
    },
    /// A trusted timestamp that cannot be read, or is about something else.
    #[error("not a trusted timestamp: {reason}")]
    Timestamp {
        /// The reason.
        reason: &'static str,
    },
    /// An envelope around a blob that is not flagged as signed, or none around one that is
    /// (OMS 9.2).
    #[error("the signed flag of the blob does not say whether a signature is around it")]
    SignedMismatch,
    /// A sealed value that does not open: under another key, in another place, or damaged. They are
    /// one error, so that none of them can be told by trying.
    #[error("a sealed value does not open: the key is another one, or the bytes are damaged")]
    Sealed,
    /// A source that gives no master key.
    #[error("no master key: {reason}")]
    KeySource {
        /// Why, in words.
        reason: String,
    },
    /// The inner bytes are no blob.
    #[error(transparent)]
    Codec(#[from] codec::Error),
    /// The blob is no valid grain.
    #[error(transparent)]
    Grain(#[from] grain::Error),
}

impl Error {
    /// Returns the code of OMS 19, or ours where it has none.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoRandomness { .. } => ErrorCode::NoRandomness,
            Self::Did { .. } => ErrorCode::Did,
            Self::Key { .. } | Self::KeySource { .. } => ErrorCode::Key,
            Self::Sealed => ErrorCode::Sealed,
            Self::Malformed { .. } | Self::Envelope { .. } => ErrorCode::Corrupt,
            Self::Unsupported { .. } => ErrorCode::Unsupported,
            Self::Signature | Self::WrongKey { .. } => ErrorCode::Signature,
            Self::Unresolved { .. } => ErrorCode::Unresolved,
            Self::Timestamp { .. } => ErrorCode::Timestamp,
            Self::SignedMismatch => ErrorCode::SignedMismatch,
            Self::Codec(source) => source.code(),
            Self::Grain(source) => source.code(),
        }
    }
}
