//! The `grainstore` command: the administrator of a store, on the library's public face only.
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
mod output;
mod session;
mod trace;

fn main() -> std::process::ExitCode {
    cli::main(std::env::args_os()).into()
}
