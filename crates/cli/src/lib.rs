//! The `grainstore` command: the administrator of a store, on the library's public face only. The binary
//! runs it, and so does the Python package, which carries it.
//!
//! Results go to stdout, progress and messages to stderr; `--json` makes results and errors JSON.
//! Exit codes are in `error::exit`, what to do about an error in `error::hint`.

mod args;
mod cli;
mod commands;
mod completion;
mod config;
mod embedder;
mod error;
mod help;
mod hex;
mod interrupt;
mod other_names;
mod output;
mod place;
mod proof;
mod session;
mod trace;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

pub use error::hint;
pub use proof::Proof;

/// Runs the command that the arguments name, after the name of the program, and returns its exit code.
///
/// `program` is the file that starts the command again, for what writes it into files of others; `None`
/// for the file of this process.
///
/// ```
/// let arguments = ["grainstore", "--version"].map(Into::into);
/// assert_eq!(grainstore_cli::run(None, arguments.into_iter()), 0);
/// ```
pub fn run(program: Option<PathBuf>, arguments: impl Iterator<Item = OsString>) -> u8 {
    if let Some(program) = program {
        PROGRAM.get_or_init(|| program);
    }
    cli::main(arguments).into()
}

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Returns the file that starts the command again.
fn program() -> std::io::Result<PathBuf> {
    PROGRAM
        .get()
        .cloned()
        .map_or_else(std::env::current_exe, Ok)
}
