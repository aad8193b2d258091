//! Directories of the demo: the names that must be free, and a temporary directory.
//!
//! The demo removes nothing but the files that it has written to its temporary directory.

use std::path::{Path, PathBuf};
use std::{fs, io};

use grainstore::ErrorCode;

use super::data;
use crate::error::CliError;

/// Refuses a name that anything but an empty directory has.
///
/// # Errors
/// `ERR_STORE_EXISTS`; `ERR_IO` if it cannot be looked at.
pub(super) fn require_free(path: &Path) -> Result<(), CliError> {
    let failed = |error: io::Error| CliError::of(&error).at(path.display());
    let is_free = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(failed(error)),
        Ok(found) => found.is_dir() && path.read_dir().map_err(failed)?.next().is_none(),
    };
    if is_free {
        return Ok(());
    }
    let message = format!(
        "{} exists, and the demo replaces nothing: remove it, or run the demo in another directory",
        path.display()
    );
    Err(CliError::new(ErrorCode::StoreExists, message))
}

/// A temporary directory, removed on drop.
#[derive(Debug)]
pub(super) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    /// Creates the directory; an existing one is an error.
    pub(super) fn new() -> io::Result<Self> {
        let name = format!("grainstore-demo-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(Self(path))
    }

    /// Returns the path of the directory.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // Leftover files in the system's temporary directory are harmless.
        drop(data::remove(&self.0));
    }
}
