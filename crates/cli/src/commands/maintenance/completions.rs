use clap::Args;
use clap_complete::Shell;

use crate::error::Exit;
use crate::session::Session;

/// Write a script that completes the command in a shell
///
/// For bash: grainstore completions bash > ~/.local/share/bash-completion/completions/grainstore
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
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
