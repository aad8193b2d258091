//! The command, which the package carries.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Runs the command and returns its exit code; `program` is the file that starts it again.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, program: PathBuf, arguments: Vec<OsString>) -> u8 {
    py.detach(|| grainstore_cli::run(Some(program), arguments.into_iter()))
}
