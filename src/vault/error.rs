//! The errors of the vault. None contains a key or a user id.

use std::io;
use std::panic::AssertUnwindSafe;

use crate::code::ErrorCode;
use crate::crypto;
use crate::ledger;

/// An error of the vault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No randomness, or no key in its source.
    #[error(transparent)]
    Crypto(#[from] crypto::Error),
    /// A file operation outside the database.
    #[error(transparent)]
    Disk(#[from] ledger::Error),
    /// A master key that is not the one of the store. The vault itself is sound.
    #[error("the master key is not the one of this store")]
    MasterKey,
    /// The database is there, and the root that opens it is not.
    #[error(
        "the root of epoch {epoch} is missing: restore the vault's root file from where it is kept \
         (no backup of the store has it); without it no sealed grain can be read"
    )]
    RootMissing {
        /// The epoch whose root opens the database.
        epoch: u64,
    },
    /// The ledger tells of keys, and neither database nor root is there: a restored backup.
    #[error(
        "the keys of the sealed persons are not here: move the folder vault/ of the store into this \
         one; no backup has it"
    )]
    Missing,
    /// Bytes that are no copy of a root of this store.
    #[error("not an escrow copy of the root of this store")]
    NoCopy,
    /// A copy of a root that was swapped since.
    #[error(
        "the escrow copy is the root of epoch {copy} and the vault has epoch {epoch}: it does not open \
         it"
    )]
    StaleCopy {
        /// The epoch of the copy.
        copy: u64,
        /// The epoch of the vault.
        epoch: u64,
    },
    /// A vault of an earlier epoch than the ledger tells of: an old copy of its files, in which erased
    /// persons have their keys.
    #[error(
        "the vault has epoch {epoch} and the ledger tells of {told}: it is an old copy, and the current \
         vault/ is needed"
    )]
    OldCopy {
        /// The epoch of the vault.
        epoch: u64,
        /// The epoch that the ledger tells of.
        told: u64,
    },
    /// An escrow copy that would never be in force.
    #[error("an escrow copy needs an end that lies ahead")]
    Ended,
    /// The store has no vault, since no person was ever added.
    #[error("the store has no vault: no person has a key")]
    NoVault,
    /// A change of keys in a store that was opened for reading.
    #[error("the store is opened for reading only, and its keys are not changed")]
    ReadOnly,
    /// The ledger did not record a change of keys, so it was not made.
    #[error("the change of keys was not recorded, so it was not made")]
    NotRecorded,
    /// The root is there, and the database that it opens is not.
    #[error(
        "vault/vault.redb is missing beside its root: restore it; it is in no backup of the store"
    )]
    DatabaseMissing,
    /// A file that is not what was written.
    #[error("the vault is damaged: {reason}")]
    Damaged {
        /// The fault.
        reason: &'static str,
    },
    /// The database failed.
    #[error("the vault's database failed: {source}")]
    Database {
        /// The error of the database.
        source: Box<redb::Error>,
    },
    /// The root's keeper failed: a KMS, a keychain.
    #[error("the keeper of the vault's root failed: {reason}")]
    Keeper {
        /// Why, in words.
        reason: String,
    },
    /// A vault is there already.
    #[error("the store has a vault already")]
    Exists,
    /// No person of this id has a key.
    #[error("no such user")]
    UnknownUser,
    /// A person of this id has a key already.
    #[error("the user has a key already")]
    UserExists,
}

impl Error {
    /// Returns the code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Crypto(source) => source.code(),
            Self::Disk(source) => source.code(),
            Self::MasterKey => ErrorCode::MasterKey,
            Self::RootMissing { .. } | Self::Missing | Self::StaleCopy { .. } => {
                ErrorCode::RootMissing
            }
            Self::NoCopy => ErrorCode::Corrupt,
            Self::Ended => ErrorCode::Range,
            Self::OldCopy { .. } => ErrorCode::StorageDamaged,
            Self::ReadOnly => ErrorCode::StorageReadOnly,
            Self::NotRecorded => ErrorCode::StorageIo,
            Self::DatabaseMissing | Self::Damaged { .. } => ErrorCode::StorageDamaged,
            Self::Database { source } => match &**source {
                redb::Error::Io(error) if is_full(error) => ErrorCode::StorageFull,
                // redb reports a file that is not its own so.
                redb::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                    ErrorCode::StorageDamaged
                }
                redb::Error::Corrupted(_) | redb::Error::UpgradeRequired(_) => {
                    ErrorCode::StorageDamaged
                }
                _ => ErrorCode::StorageIo,
            },
            Self::Keeper { .. } => ErrorCode::StorageIo,
            Self::Exists => ErrorCode::StoreExists,
            Self::UnknownUser | Self::NoVault => ErrorCode::UserUnknown,
            Self::UserExists => ErrorCode::UserExists,
        }
    }

    /// Returns whether the files of the vault are not what they were.
    pub(crate) const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::Database { .. }
                | Self::DatabaseMissing
                | Self::OldCopy { .. }
        )
    }

    /// Returns whether the disk has no room left.
    pub(super) fn is_full(&self) -> bool {
        self.code() == ErrorCode::StorageFull
    }

    pub(super) fn io(action: &'static str, name: &str, source: io::Error) -> Self {
        ledger::Error::io(action, name, source).into()
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// Every error of redb converts to one.
impl<E: Into<redb::Error>> From<Redb<E>> for Error {
    fn from(Redb(source): Redb<E>) -> Self {
        Self::Database {
            source: Box::new(source.into()),
        }
    }
}

/// An error of redb, on its way to [`Error`].
pub(super) struct Redb<E>(pub(super) E);

/// Shortens `map_err` at each call of redb.
pub(super) trait OrFail<T> {
    fn or_fail(self) -> Result<T, Error>;
}

impl<T, E: Into<redb::Error>> OrFail<T> for Result<T, E> {
    fn or_fail(self) -> Result<T, Error> {
        self.map_err(|error| Redb(error).into())
    }
}

pub(super) const fn damaged(reason: &'static str) -> Error {
    Error::Damaged { reason }
}

/// Runs work on the database. redb panics on some damaged files, which must not end the program
/// that embeds the store.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // No state outlives a panic: who reads drops it, and a change opens its own.
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or(Err(damaged("its database cannot be read")))
}
