//! The `grainstore` command: the administrator of a store, on the library's public face only.
//!
//! Results go to stdout, progress and messages to stderr; `--json` makes results and errors JSON.
//! Exit codes are in `error::exit`, what to do about an error in `error::hint`.

mod args;
mod cli;
mod commands;
mod embedder;
mod error;
mod help;
mod hex;
mod output;
mod session;

fn main() -> std::process::ExitCode {
    cli::main(std::env::args_os()).into()
}
