//! `grainstore completions`: completion scripts for shells.
//!
//! A script asks the command at each key, so that it also completes addresses of the store.

use std::io::Write;

use clap::{Args, ValueEnum};
use clap_complete::env::Shells;

use crate::completion::VARIABLE;
use crate::error::Exit;
use crate::session::Session;

/// Print a completion script for a shell, which completes types and addresses too
#[derive(Debug, Args)]
#[command(after_long_help = "Example, for bash:
  grainstore completions bash > ~/.local/share/bash-completion/completions/grainstore")]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Completions {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let shells = Shells::builtins();
        let name = self.shell.to_possible_value();
        let name = name.as_ref().map_or("", |name| name.get_name());
        let mut script = Vec::new();
        if let Some(shell) = shells.completer(name) {
            shell.write_registration(VARIABLE, NAME, NAME, NAME, &mut script)?;
        }
        session.out.bytes().write_all(&script)?;
        Ok(Exit::Done)
    }
}

/// The name by which the script asks for the command.
const NAME: &str = "grainstore";
