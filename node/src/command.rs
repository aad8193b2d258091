//! The command, which the package carries.

use std::path::PathBuf;

use napi_derive::napi;

/// Runs the command and returns its exit code; `program` is the file that starts it again.
///
/// It waits: a process that runs the command does nothing else.
#[napi]
pub fn command(program: String, arguments: Vec<String>) -> u8 {
    grainstore_cli::run(
        Some(PathBuf::from(program)),
        arguments.into_iter().map(Into::into),
    )
}
