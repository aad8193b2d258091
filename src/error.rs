use crate::code::ErrorCode;
use crate::codec;
use crate::crypto;
use crate::grain;
use crate::index;
use crate::ledger;
use crate::policy;
use crate::query;
use crate::store;

/// Any error of the crate: one variant per room, with the room's own error inside.
///
/// ```
/// use grainstore::{ContentAddress, Error};
///
/// fn read(text: &str) -> Result<ContentAddress, Error> {
///     Ok(text.parse()?)
/// }
/// assert_eq!(read("abc").unwrap_err().code(), "ERR_HASH_LENGTH");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes, values, addresses.
    #[error(transparent)]
    Codec(#[from] codec::Error),
    /// Grains and drafts.
    #[error(transparent)]
    Grain(#[from] grain::Error),
    /// Keys and randomness.
    #[error(transparent)]
    Crypto(#[from] crypto::Error),
    /// Policies.
    #[error(transparent)]
    Policy(#[from] policy::Error),
    /// Files of other formats.
    #[cfg(feature = "interchange")]
    #[error(transparent)]
    Interchange(#[from] crate::interchange::Error),
    /// The ledger and its disk.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// The index.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The text view.
    #[cfg(feature = "text")]
    #[error(transparent)]
    Text(#[from] crate::text::Error),
    /// The store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Questions.
    #[error(transparent)]
    Query(#[from] query::Error),
}

impl Error {
    /// Returns the specification's code, or ours where it has none.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Codec(source) => source.code(),
            Self::Grain(source) => source.code(),
            Self::Crypto(source) => source.code(),
            Self::Policy(source) => source.code(),
            #[cfg(feature = "interchange")]
            Self::Interchange(source) => source.code(),
            Self::Ledger(source) => source.code(),
            Self::Index(source) => source.code(),
            #[cfg(feature = "text")]
            Self::Text(source) => source.code(),
            Self::Store(source) => source.code(),
            Self::Query(source) => source.code(),
        }
    }
}
