//! The errors of the ledger and of its disk, each with the code that names it.
//!
//! Errors of damage carry the segment, the byte and the entry, so that an operator finds the place.

use super::EntryId;
use crate::code::ErrorCode;
use std::io;

/// An error of the ledger or of its disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes below the durable end that are not what was written. Nothing is skipped: the ledger
    /// does not open, or the entry is not read.
    #[error("segment {segment} is damaged at byte {offset} (entry {sequence}): {reason}")]
    Damaged {
        /// The number of the segment.
        segment: u32,
        /// Where in its file.
        offset: u64,
        /// The entry that was read, or that should begin there.
        sequence: EntryId,
        /// The fault.
        reason: &'static str,
    },
    /// A file operation that the system refused.
    #[error("cannot {action} {name}")]
    Io {
        /// The operation.
        action: &'static str,
        /// The file or folder, relative to the store.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A read of a segment that the system refused.
    #[error("cannot read entry {sequence} (segment {segment}, byte {offset})")]
    Read {
        /// The entry wanted.
        sequence: EntryId,
        /// The number of its segment.
        segment: u32,
        /// Where in its file.
        offset: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// No space left on the disk. Nothing was appended.
    #[error("no room left to {action} {name}")]
    Full {
        /// The operation.
        action: &'static str,
        /// The file or folder, relative to the store.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// An append after one whose outcome is unknown. Reads go on; opening the ledger again resolves
    /// it.
    #[error("ledger takes no appends since one failed; reopen the store")]
    Halted,
    /// A segment written by a newer version.
    #[error("segment {segment} has format version {version}; this version reads up to 3")]
    Version {
        /// The number of the segment.
        segment: u32,
        /// The version found.
        version: u16,
    },
    /// A whole entry of a kind that was added after this version.
    #[error("entry {sequence} is of kind {kind}, which belongs to a newer version")]
    UnknownKind {
        /// The entry.
        sequence: EntryId,
        /// The number of its kind.
        kind: u8,
    },
    /// An append past a limit of the format.
    #[error("{what} is {len}; the format allows {max}")]
    TooLarge {
        /// The thing that is too large; lengths are in bytes.
        what: &'static str,
        /// The size found.
        len: usize,
        /// The size allowed.
        max: usize,
    },
    /// A read past the end.
    #[error("no entry {sequence}; the ledger has {len}")]
    NoEntry {
        /// The entry wanted.
        sequence: EntryId,
        /// The number of entries.
        len: u64,
    },
    /// A copy to be brought up to date that is not a prefix of this ledger.
    #[error("segment {segment} there is not what it was here at any moment")]
    Diverged {
        /// The number of the first segment that differs.
        segment: u32,
    },
    /// A copy to be brought up to date whose bytes are not what any ledger writes, so that its
    /// history is unknown.
    #[error(
        "{name} of the copy is damaged at byte {offset}: {reason}; remove it, and the next backup writes it again"
    )]
    CopyDamaged {
        /// The file, relative to the copy.
        name: String,
        /// Where in it.
        offset: u64,
        /// The fault.
        reason: &'static str,
    },
    /// The creation of a ledger where one exists.
    #[error("a ledger exists here already")]
    Exists,
    /// The read of an entry that an erasure lists.
    #[error("entry {sequence} was erased")]
    Erased {
        /// The entry.
        sequence: EntryId,
    },
    /// A write to a directory that is read-only.
    #[error("cannot {action} {name}: the store may only be read here")]
    ReadOnly {
        /// The operation.
        action: &'static str,
        /// The file or folder, relative to the store.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A sequence that several machines share, and that cannot be reached or refuses.
    #[error(transparent)]
    Shared(#[from] grainstore_shared::Error),
    /// A shared sequence that does not continue what this machine has of it.
    #[error(
        "the shared ledger has {there} entries and does not continue the {here} that were read from it: it was rolled back or replaced"
    )]
    SharedDiffers {
        /// The number of entries here.
        here: u64,
        /// The number of entries there.
        there: u64,
    },
    /// A lock that another process, or another handle in this one, holds.
    #[error("the store is in use by {}", holder.as_deref().unwrap_or("another writer"))]
    Locked {
        /// The name that its holder has written there; `None` if it cannot be read.
        holder: Option<String>,
    },
    /// A lock whose file was removed or replaced while it was held, so that another process may
    /// write beside this one.
    #[error("the lock was lost: {name} was removed or replaced; reopen the store")]
    LockLost {
        /// The lock's file, relative to the store.
        name: String,
    },
}

impl Error {
    /// Returns the code that names the kind of error.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Shared(grainstore_shared::Error::Unreachable(_)) => ErrorCode::Unreachable,
            Self::Shared(grainstore_shared::Error::Missing(_)) => ErrorCode::NotAStore,
            Self::Shared(_) => ErrorCode::StorageIo,
            Self::SharedDiffers { .. } => ErrorCode::BackupDiverged,
            Self::Damaged { .. } | Self::CopyDamaged { .. } => ErrorCode::StorageDamaged,
            Self::Io { .. } | Self::Read { .. } => ErrorCode::StorageIo,
            Self::Full { .. } => ErrorCode::StorageFull,
            Self::Halted => ErrorCode::StorageHalted,
            Self::Version { .. } | Self::UnknownKind { .. } => ErrorCode::StoreVersion,
            Self::TooLarge { .. } | Self::NoEntry { .. } => ErrorCode::Range,
            Self::Diverged { .. } => ErrorCode::BackupDiverged,
            Self::Exists => ErrorCode::StoreExists,
            Self::Erased { .. } => ErrorCode::Erased,
            Self::ReadOnly { .. } => ErrorCode::StorageReadOnly,
            Self::Locked { .. } | Self::LockLost { .. } => ErrorCode::StoreLocked,
        }
    }

    /// Wraps the system's error about a file.
    pub(crate) fn io(action: &'static str, name: &str, source: io::Error) -> Self {
        let name = name.into();
        match source.kind() {
            _ if is_full(&source) => Self::Full {
                action,
                name,
                source,
            },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly {
                action,
                name,
                source,
            },
            _ => Self::Io {
                action,
                name,
                source,
            },
        }
    }
}

/// Returns whether the system refused for lack of space.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}
