use std::io;

use crate::code::ErrorCode;

/// What went wrong in the ledger or on its disk.
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
        sequence: u64,
        /// What is wrong.
        reason: &'static str,
    },
    /// A file operation the system refused.
    #[error("cannot {action} {name}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder, relative to the store.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A segment the system could not read.
    #[error("cannot read entry {sequence} (segment {segment}, byte {offset})")]
    Read {
        /// The entry wanted.
        sequence: u64,
        /// The number of its segment.
        segment: u32,
        /// Where in its file.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// No room left on the disk. Nothing was appended.
    #[error("no room left to {action} {name}")]
    Full {
        /// What was tried.
        action: &'static str,
        /// The file or folder, relative to the store.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// An append after one whose outcome is unknown. Reads go on; reopening settles it.
    #[error("ledger takes no appends since one failed; reopen the store")]
    Halted,
    /// A segment written by a newer version.
    #[error("segment {segment} has format version {version}; this version reads 1")]
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
        sequence: u64,
        /// The number of its kind.
        kind: u8,
    },
    /// An append past a limit of the format.
    #[error("{what} is {len}; the format allows {max}")]
    TooLarge {
        /// What is too large; lengths are in bytes.
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
        sequence: u64,
        /// The number of entries.
        len: u64,
    },
    /// A copy to be brought up to date that is not of an earlier moment of this ledger.
    #[error("segment {segment} there is not what it was here at any moment")]
    Diverged {
        /// The number of the first segment that differs.
        segment: u32,
    },
    /// A ledger to be created where one is.
    #[error("a ledger exists here already")]
    Exists,
    /// An entry that an erasure lists; its body is gone.
    #[error("entry {sequence} was erased")]
    Erased {
        /// The entry.
        sequence: u64,
    },
    /// A directory that may only be read.
    #[error("cannot {action} {name}: the store may only be read here")]
    ReadOnly {
        /// What was tried.
        action: &'static str,
        /// The file or folder, relative to the store.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A lock that another process, or another handle in this one, holds.
    #[error("the store is in use by {}", holder.as_deref().unwrap_or("another writer"))]
    Locked {
        /// Who holds it, as its holder has written there; none if that cannot be read.
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
            Self::Damaged { .. } => ErrorCode::StorageDamaged,
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

    /// Wraps what the system said about a file.
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

/// Returns whether the system refused for want of room.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}
