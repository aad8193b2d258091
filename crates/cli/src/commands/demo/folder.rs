//! Directories of the demo: removal of the stores of an earlier run, and a temporary directory.
//!
//! Only directories that hold a grainstore are ever removed.

use grainstore::ErrorCode;
use std::path::{Path, PathBuf};
use std::{fs, io};

use grainstore::Store;
use grainstore::codec::Value;
use grainstore::store::{Create, Options};

use crate::error::CliError;

/// Removes the store of an earlier demo.
///
/// # Errors
/// `ERR_NOT_A_STORE` for a directory or file that is not a store, which is left in place;
/// `ERR_STORE_LOCKED` for a store in use.
pub(super) fn remove_store(path: &Path) -> Result<(), CliError> {
    let failed = |error: io::Error| CliError::of(&error).at(path.display());
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if found.is_dir() && is_store(path) => {}
        Ok(_) => {
            let message = format!(
                "{} exists and is not a grainstore: move it, or run the demo in another directory",
                path.display()
            );
            return Err(CliError::new(ErrorCode::NotAStore, message));
        }
    }
    let options = Options {
        create: Create::Never,
        ..Options::default()
    };
    match Store::open(path, options) {
        Err(error) if error.code() == ErrorCode::StoreLocked => {
            return Err(CliError::of(&error).in_store(path));
        }
        // A damaged store is removed too.
        opened => drop(opened),
    }
    fs::remove_dir_all(path).map_err(failed)
}

fn is_store(path: &Path) -> bool {
    let manifest = fs::read_to_string(path.join("MANIFEST")).unwrap_or_default();
    let manifest = Value::from_json(&manifest).ok();
    let format = manifest.as_ref().and_then(Value::as_map);
    let format = format.and_then(|map| map.get("format")?.as_text());
    format == Some("grainstore")
}

/// A temporary directory, removed on drop.
#[derive(Debug)]
pub(super) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    /// Creates the directory; an existing one is an error.
    pub(super) fn new() -> io::Result<Self> {
        let name = format!("grainstore-demo-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
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
        drop(fs::remove_dir_all(&self.0));
    }
}
