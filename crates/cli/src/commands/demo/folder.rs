//! The names that the demo takes must be free: it replaces nothing, and removes nothing.

use std::path::Path;
use std::{fs, io};

use grainstore::ErrorCode;

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
