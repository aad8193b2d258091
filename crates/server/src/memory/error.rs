//! The errors of the memory tool, in the words that its users expect.

use grainstore::{Error, ErrorCode};

/// The error of a command on the files.
///
/// ```
/// use grainstore_server::memory::MemoryError;
///
/// let error = MemoryError::NotFound { path: "/memories/a".to_owned() };
/// assert!(error.to_string().starts_with("Error: The path /memories/a does not exist"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// No file and no directory has this path.
    #[error("Error: The path {path} does not exist. Please provide a valid path.")]
    NotFound {
        /// The path.
        path: String,
    },
    /// A path outside `/memories`, or one that is no path.
    #[error("Error: Invalid path {path}: {reason}")]
    Path {
        /// The path, as it was given.
        path: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A file or a directory of this path is there.
    #[error("Error: File {path} already exists")]
    Exists {
        /// The path.
        path: String,
    },
    /// The new path of a rename is taken.
    #[error("Error: The destination {path} already exists")]
    Destination {
        /// The path.
        path: String,
    },
    /// A command for files was given a directory.
    #[error("Error: The path {path} is a directory, and the command is for files.")]
    Directory {
        /// The path.
        path: String,
    },
    /// The text to replace does not occur.
    #[error("No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")]
    NoMatch {
        /// The text.
        old_str: String,
        /// The path.
        path: String,
    },
    /// The text to replace occurs several times.
    #[error(
        "No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}. \
         Please ensure it is unique"
    )]
    Matches {
        /// The text.
        old_str: String,
        /// The numbers of the lines.
        lines: String,
    },
    /// No line has this number.
    #[error(
        "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of \
         the file: [0, {last}]"
    )]
    Line {
        /// The number.
        line: u64,
        /// The number of lines.
        last: usize,
    },
    /// A range that no lines of the file have.
    #[error("Error: Invalid `view_range`: {range:?}. The file has {last} lines.")]
    Range {
        /// The range.
        range: [i64; 2],
        /// The number of lines.
        last: usize,
    },
    /// A refusal or failure of the store.
    #[error(transparent)]
    Store(#[from] Error),
}

impl MemoryError {
    /// Returns the code under which the library knows such an error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::Exists { .. } | Self::Destination { .. } => ErrorCode::Conflict,
            Self::Store(error) => error.code(),
            _ => ErrorCode::Usage,
        }
    }
}
