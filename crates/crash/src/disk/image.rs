//! Folders and files as a machine finds them after a start.
//!
//! An image is plain data: it is what a crash leaves and what a store is opened on.

use std::collections::{BTreeMap, BTreeSet};

/// Folders and files as they are read after a start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) folders: BTreeSet<String>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Image {
    /// Returns what lies in the second directory, by its names there.
    pub(crate) fn backup(&self) -> Self {
        let folders = self.folders.iter().filter_map(|name| in_backup(name));
        let files = self.files.iter();
        let files = files.filter_map(|(name, bytes)| Some((in_backup(name)?, bytes)));
        Self {
            folders: folders.map(str::to_owned).collect(),
            files: files
                .map(|(name, bytes)| (name.to_owned(), bytes.clone()))
                .collect(),
        }
    }

    /// Returns the bytes of every file.
    pub(crate) fn bytes(&self) -> Vec<&[u8]> {
        self.files.values().map(Vec::as_slice).collect()
    }

    /// Leaves out what lies in the second directory.
    #[must_use]
    pub(crate) fn without_backup(mut self) -> Self {
        self.folders.retain(|name| in_backup(name).is_none());
        self.files.retain(|name, _| in_backup(name).is_none());
        self
    }

    /// Returns the segments of the ledger in order.
    pub(crate) fn segments(&mut self) -> Vec<(&String, &mut Vec<u8>)> {
        let files = self.files.iter_mut();
        files
            .filter(|(name, _)| is_segment(name))
            .collect::<Vec<_>>()
    }
}

/// Returns the folder a file lies in; `""` is the root.
pub(crate) fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The second directory of the disk, which is always there: backups are made in it.
pub(crate) const BACKUP: &str = "backup";

/// Returns whether a folder is there without having been created.
pub(crate) fn is_root(folder: &str) -> bool {
    folder.is_empty() || folder == BACKUP
}

/// Returns the name of a file within the second directory, if it lies there.
fn in_backup(name: &str) -> Option<&str> {
    name.strip_prefix(BACKUP)?.strip_prefix('/')
}

pub(crate) fn is_segment(name: &str) -> bool {
    name.strip_prefix("ledger/")
        .is_some_and(|name| name.ends_with(".seg"))
}
