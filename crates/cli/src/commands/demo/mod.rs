use clap::Args;
use crate::exit::Exit;
use crate::session::Session;
/// Show the store at work, on sample data, in ten seconds
#[derive(Debug, Args)]
pub(crate) struct Demo {}
impl Demo {
    pub(crate) fn run(self, _session: &mut Session) -> anyhow::Result<Exit> { let Self{} = self; Ok(Exit::Done) }
}
