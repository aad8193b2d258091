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
    name.split_once('/').map_or("", |(folder, _)| folder)
}

pub(crate) fn is_segment(name: &str) -> bool {
    name.strip_prefix("ledger/")
        .is_some_and(|name| name.ends_with(".seg"))
}
