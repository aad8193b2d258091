//! How a command fails: an error with a code, a place and a hint, and the exit code of the process.
//!
//! The codes are those of the library and of the specifications; a few that begin with `ERR_` are
//! the command's own.

mod cli_error;
mod exit;
mod hint;

#[cfg(feature = "replica")]
pub(crate) use cli_error::with_causes;
pub(crate) use cli_error::{CliError, is_broken_pipe};
pub(crate) use exit::Exit;
pub use hint::hint;
