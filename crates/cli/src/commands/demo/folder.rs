use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use grainstore::codec::Value;
use grainstore::store::{Create, Options};
use grainstore::{ErrorCode, Store};

use crate::problem::Problem;

/// Removes the store that an earlier demo left, and nothing else.
///
/// # Errors
/// `ERR_NOT_A_STORE` for anything that does not look like one; `ERR_STORE_LOCKED` for one in use.
pub(super) fn clear(path: &Path) -> Result<(), Problem> {
    let failed = |error: io::Error| Problem::of(&error).at(path.display());
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if found.is_dir() && is_store(path) => {}
        Ok(_) => {
            let message = format!(
                "{} is in the way and is not a grainstore: move it, or run the demo elsewhere",
                path.display()
            );
            return Err(Problem::new(ErrorCode::NotAStore, message));
        }
    }
    let options = Options {
        create: Create::Never,
        ..Options::default()
    };
    match Store::open(path, options) {
        Err(error) if error.code() == ErrorCode::StoreLocked => {
            return Err(Problem::of(&error).in_store(path));
        }
        // Whatever else is wrong with it, it goes.
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

/// A directory for a moment.
#[derive(Debug)]
pub(super) struct Temporary(PathBuf);

impl Temporary {
    /// Makes one that nobody had before.
    pub(super) fn new() -> io::Result<Self> {
        let name = format!("grainstore-demo-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What is left in the system's own folder for such things does no harm.
        drop(fs::remove_dir_all(&self.0));
    }
}
