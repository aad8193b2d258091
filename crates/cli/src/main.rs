//! The `grainstore` command.

fn main() -> std::process::ExitCode {
    grainstore_cli::run(None, std::env::args_os()).into()
}
