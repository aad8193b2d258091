//! The names in a store's directory that make it this store, watched: as long as none of them changes,
//! one look at the directory says so for all.

use std::fmt;

use crate::ledger::{Disk, Watch};
use crate::store::records::MANIFEST;

use super::folder::{LOCK, WRITER};

/// The test whether the names are those of the same files.
#[derive(Default)]
pub(super) enum RootNames {
    #[default]
    NotWatchedYet,
    /// The disk does not watch: each file is looked at.
    Unwatched,
    Watched(Watch),
}

impl RootNames {
    /// Returns whether it is known that no name has changed.
    pub(super) fn are_unchanged(&mut self) -> bool {
        match self {
            Self::Watched(change) => change().is_none(),
            Self::NotWatchedYet | Self::Unwatched => false,
        }
    }

    /// Watches the files that have the names now.
    pub(super) fn watch(&mut self, disk: &dyn Disk, is_keeper: bool) {
        if matches!(self, Self::Unwatched) {
            return;
        }
        let names = [MANIFEST, WRITER, LOCK].map(str::to_owned);
        let count = if is_keeper { 3 } else { 2 };
        *self = match disk.watch("", names.into_iter().take(count).collect()) {
            Ok(Some(change)) => Self::Watched(change),
            Ok(None) => Self::Unwatched,
            Err(_) => Self::NotWatchedYet,
        };
    }

    /// Watches none: other files may have the names.
    pub(super) fn forget(&mut self) {
        if matches!(self, Self::Watched(_)) {
            *self = Self::NotWatchedYet;
        }
    }
}

impl fmt::Debug for RootNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootNames")
    }
}
