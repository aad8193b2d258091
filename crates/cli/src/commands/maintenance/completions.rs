//! `grainstore completions`: completion scripts for shells.
//!
//! They are generated from the same definitions as the help.

use clap::Args;
use clap_complete::Shell;

use crate::error::Exit;
use crate::session::Session;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_long_help = "Example, for bash:
  grainstore completions bash > ~/.local/share/bash-completion/completions/grainstore")]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(
        self,
        session: &mut Session,
        mut command: clap::Command,
    ) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "grainstore", &mut script);
        std::io::Write::write_all(session.out.bytes(), &script)?;
        Ok(Exit::Done)
    }
}
