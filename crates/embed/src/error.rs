//! Why a directory is not a model that this crate runs.

use std::error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A directory that is not a model, or not one that this crate runs.
///
/// ```
/// use grainstore_embed::Model;
///
/// let error = Model::open("no-such-directory").unwrap_err();
/// assert!(error.to_string().starts_with("no-such-directory/config.json: "));
/// ```
#[derive(Debug)]
pub struct Error {
    file: PathBuf,
    reason: String,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn of(file: &Path, reason: impl fmt::Display) -> Self {
        Self {
            file: file.to_owned(),
            reason: reason.to_string(),
            source: None,
        }
    }

    pub(crate) fn io(file: &Path, source: io::Error) -> Self {
        Self {
            file: file.to_owned(),
            reason: source.to_string(),
            source: Some(source),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.reason)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
