//! The log of a simulated disk: its operations, in order.
//!
//! `Try`, `Ack` and the like are notes of the workload, between the operations of the disk.

use std::fmt;
use std::sync::Arc;

/// Names a file for as long as the disk lives, whatever it is called.
pub(crate) type FileId = usize;

/// One operation that changed something, or a word of the program about what it knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    CreateFolder {
        folder: String,
    },
    Create {
        name: String,
        file: FileId,
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        name: String,
    },
    Write {
        file: FileId,
        name: Arc<str>,
        offset: usize,
        bytes: Vec<u8>,
    },
    SetLen {
        file: FileId,
        name: Arc<str>,
        len: usize,
    },
    Sync {
        file: FileId,
        name: Arc<str>,
    },
    /// A sync that came back as an error: what was unsynced may be durable or not, and no later
    /// sync will say.
    SyncFailed {
        file: FileId,
        name: Arc<str>,
    },
    SyncFolder {
        folder: String,
    },
    /// The program is about to go to this state, and may be there after a crash.
    Try(usize),
    /// The program was told that it is in this state, and must be there after a crash.
    Ack(usize),
    /// The program was told that it is in this state, and that a machine that stops may forget it
    /// until the next [`Op::Ack`].
    AckUnsynced(usize),
    /// The program is about to bring its backup to this state.
    TryBackup(usize),
    /// The program was told that its backup is in this state.
    AckBackup(usize),
}

impl Op {
    /// Returns whether it is a word of the program and changes nothing on the disk.
    pub(crate) const fn is_word(&self) -> bool {
        matches!(
            self,
            Self::Try(_)
                | Self::Ack(_)
                | Self::AckUnsynced(_)
                | Self::TryBackup(_)
                | Self::AckBackup(_)
        )
    }

    /// Returns the file that is synced, if one is.
    pub(crate) fn synced(&self) -> Option<&str> {
        match self {
            Self::Sync { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateFolder { folder } => write!(f, "create folder {folder}"),
            Self::Create { name, .. } => write!(f, "create {name}"),
            Self::Rename { from, to } => write!(f, "rename {from} to {to}"),
            Self::Remove { name } => write!(f, "remove {name}"),
            Self::Write {
                name,
                offset,
                bytes,
                ..
            } => write!(f, "write {name}, {} bytes at {offset}", bytes.len()),
            Self::SetLen { name, len, .. } => write!(f, "cut {name} to {len} bytes"),
            Self::Sync { name, .. } => write!(f, "sync {name}"),
            Self::SyncFailed { name, .. } => write!(f, "sync {name}, which fails"),
            Self::SyncFolder { folder } => write!(f, "sync folder \"{folder}\""),
            Self::Try(state) => write!(f, "(try state {state})"),
            Self::Ack(state) => write!(f, "(acknowledge state {state})"),
            Self::AckUnsynced(state) => write!(f, "(acknowledge state {state}, unsynced)"),
            Self::TryBackup(state) => write!(f, "(back up state {state})"),
            Self::AckBackup(state) => write!(f, "(acknowledge the backup of state {state})"),
        }
    }
}
