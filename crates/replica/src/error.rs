//! The errors of a copy, each with the code of the library that names it.

use std::{fmt, io};

use grainstore::ErrorCode;

/// An error of shipping, following or restoring.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the store, or of the directory that follows.
    #[error(transparent)]
    Store(#[from] grainstore::Error),
    /// An operation that the object storage refused, after the retries.
    #[error("cannot {action} {name}")]
    Objects {
        /// The operation.
        action: &'static str,
        /// The object.
        name: String,
        /// The error of the storage.
        source: object_store::Error,
    },
    /// A file beside the ledger that the system refused.
    #[error("cannot {action} {name}")]
    File {
        /// The operation.
        action: &'static str,
        /// The file.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// An address that is not one of a place for objects.
    #[error("{url}: {reason}")]
    Url {
        /// The address.
        url: String,
        /// The fault.
        reason: String,
    },
    /// No copy where one is to be read.
    #[error("there is no copy of a store")]
    NoCopy,
    /// An object that is not what was shipped.
    #[error("{name} of the copy is damaged: {reason}")]
    Damaged {
        /// The object.
        name: String,
        /// The fault.
        reason: String,
    },
    /// Objects that the storage had acknowledged, and has no longer.
    #[error("the copy has lost {count} of its objects, the first is {name}")]
    Lost {
        /// The first of them.
        name: String,
        /// Their number.
        count: usize,
    },
    /// A copy that is older than the one that was seen.
    #[error("the copy was rolled back: {seen} was its newest manifest, and now it is {found}")]
    RolledBack {
        /// The number of the manifest that was seen.
        seen: u64,
        /// The number of the newest one now; 0 for none.
        found: u64,
    },
    /// Two histories in one place.
    #[error("the copy is forked at manifest {number}: {reason}")]
    Forked {
        /// The number of the manifest.
        number: u64,
        /// The difference.
        reason: &'static str,
    },
    /// A copy of another history of the store.
    #[error("the copy is not of this ledger: they differ before entry {entries}")]
    Diverged {
        /// The number of entries of the copy.
        entries: u64,
    },
    /// A ledger that ends before its copy.
    #[error("the ledger has {here} entries and its copy {there}: the ledger was rolled back")]
    Behind {
        /// The entries of the ledger.
        here: u64,
        /// The entries of the copy.
        there: u64,
    },
    /// A manifest that the signer who is trusted has not signed.
    #[error("manifest {number} of the copy is not signed as it must be: {reason}")]
    Unsigned {
        /// The number of the manifest.
        number: u64,
        /// The fault.
        reason: String,
    },
    /// A copy of another store.
    #[error("the copy is of another store")]
    OtherStore,
    /// Another process that ships the same store to the same place, or writes the same directory.
    #[error("another process ships this store there")]
    Busy,
    /// A directory that is a store, and not one that follows this copy.
    #[error("the directory does not follow this copy: {0}")]
    NotAFollower(&'static str),
    /// An encrypted copy, without a key that opens it.
    #[error("{0}")]
    Sealed(String),
    /// Text that is no recipient of an encrypted copy.
    #[error("not a recipient (age1…): {0}")]
    Recipient(String),
    /// Text that is no file of keys.
    #[error("not a file of age identities")]
    Identity,
}

impl Error {
    /// Returns the code that names the kind of error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) => error.code(),
            Self::Objects { .. } | Self::File { .. } => ErrorCode::StorageIo,
            Self::Url { .. } => ErrorCode::Usage,
            Self::NoCopy => ErrorCode::NotAStore,
            Self::Damaged { .. } | Self::Lost { .. } => ErrorCode::StorageDamaged,
            Self::RolledBack { .. }
            | Self::Forked { .. }
            | Self::Diverged { .. }
            | Self::Behind { .. }
            | Self::OtherStore => ErrorCode::BackupDiverged,
            Self::Unsigned { .. } => ErrorCode::Signature,
            Self::Busy => ErrorCode::StoreLocked,
            Self::NotAFollower(_) => ErrorCode::StoreExists,
            Self::Sealed(_) => ErrorCode::Sealed,
            Self::Recipient(_) => ErrorCode::Recipient,
            Self::Identity => ErrorCode::Identity,
        }
    }

    /// Returns whether the same may succeed later: the storage or the network failed.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Objects { .. })
    }

    pub(crate) fn file(action: &'static str, path: &std::path::Path, source: io::Error) -> Self {
        Self::File {
            action,
            name: path.display().to_string(),
            source,
        }
    }

    pub(crate) fn damaged(name: &str, reason: &dyn fmt::Display) -> Self {
        Self::Damaged {
            name: name.to_owned(),
            reason: reason.to_string(),
        }
    }
}

impl From<grainstore::ledger::Error> for Error {
    fn from(error: grainstore::ledger::Error) -> Self {
        Self::Store(error.into())
    }
}
