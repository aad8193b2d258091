//! The `grainstore` command: the administrator of a store, on the library's public face only.
//!
//! Results go to stdout, progress and messages to stderr; `--json` makes results and errors JSON.
//! Exit codes are in [`exit`], what to do about an error in [`hint`].

mod address;
mod cli;
mod commands;
mod door;
mod exit;
mod filters;
mod help;
mod hint;
mod key_file;
mod lines;
mod output;
mod printable;
mod problem;
mod progress;
mod secret;
mod session;
mod style;
mod table;

fn main() -> std::process::ExitCode {
    cli::main(std::env::args_os()).into()
}
