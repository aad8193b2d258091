use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use grainstore::ErrorCode;

use clap::{FromArgMatches, Parser, Subcommand};
use serde_json::json;

use crate::commands::{
    AgentTool, Backup, Check, CheckpointTool, Compact, Completions, Conflicts, ConsentTool,
    Contradict, Convert, Delete, Demo, DidTool, Embed, Exists, Export, Get, GrainTool, History,
    HoldTool, Import, Init, List, PolicyTool, Put, Query, Recall, Restore, Search, Similar, Stats,
    Status, Supersede, TrustTool, Validate,
};
use crate::exit::Exit;
use crate::help;
use crate::output::Output;
use crate::problem::{Problem, is_broken_pipe};
use crate::session::Session;

/// Memory for AI agents: immutable, content-addressed grains in one directory
#[derive(Debug, Parser)]
#[command(name = "grainstore", version, long_version = help::VERSION, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The directory of the store
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "GRAINSTORE_STORE",
        default_value = "./memory.grains",
        display_order = 100
    )]
    store: PathBuf,
    /// Write results and errors as JSON, on stdout
    #[arg(long, global = true, display_order = 101)]
    json: bool,
    /// Write no messages and no progress
    #[arg(long, short, global = true, display_order = 102)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(Init),
    Put(Put),
    Get(Get),
    Exists(Exists),
    List(List),
    Supersede(Supersede),
    Contradict(Contradict),
    Delete(Delete),
    Status(Status),
    History(History),
    Query(Query),
    Search(Search),
    Recall(Recall),
    Embed(Embed),
    Similar(Similar),
    Import(Import),
    Export(Export),
    Consent(ConsentTool),
    Hold(HoldTool),
    Policy(PolicyTool),
    Conflicts(Conflicts),
    Grain(GrainTool),
    Did(DidTool),
    Trust(TrustTool),
    Agent(AgentTool),
    Checkpoint(CheckpointTool),
    Validate(Validate),
    Convert(Convert),
    Stats(Stats),
    Check(Check),
    Compact(Compact),
    Backup(Backup),
    Restore(Restore),
    Demo(Demo),
    Completions(Completions),
}

/// Runs the command that the arguments ask for.
pub(crate) fn main(args: impl Iterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.collect();
    let parsed = help::command().try_get_matches_from(&args);
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli.run(),
        Err(error) => {
            let wants_json = args.iter().any(|arg| arg == "--json");
            refuse(&error, wants_json)
        }
    }
}

impl Cli {
    fn run(self) -> Exit {
        let out = Output::new(self.json, self.quiet);
        let mut session = Session::new(self.store, out);
        let outcome = self.command.run(&mut session).and_then(|exit| {
            session.out.flush()?;
            Ok(exit)
        });
        match outcome {
            Ok(exit) => exit,
            Err(error) if is_broken_pipe(&error) => Exit::Done,
            Err(error) => {
                let problem = Problem::of(error.as_ref()).in_store(session.store_path());
                // If not even that can be written, the exit code is all there is left to say.
                drop(session.out.problem(&problem));
                problem.exit()
            }
        }
    }
}

impl Command {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self {
            Self::Init(command) => command.run(session),
            Self::Put(command) => command.run(session),
            Self::Get(command) => command.run(session),
            Self::Exists(command) => command.run(session),
            Self::List(command) => command.run(session),
            Self::Supersede(command) => command.run(session),
            Self::Contradict(command) => command.run(session),
            Self::Delete(command) => command.run(session),
            Self::Status(command) => command.run(session),
            Self::History(command) => command.run(session),
            Self::Query(command) => command.run(session),
            Self::Search(command) => command.run(session),
            Self::Recall(command) => command.run(session),
            Self::Embed(command) => command.run(session),
            Self::Similar(command) => command.run(session),
            Self::Import(command) => command.run(session),
            Self::Export(command) => command.run(session),
            Self::Consent(command) => command.run(session),
            Self::Hold(command) => command.run(session),
            Self::Policy(command) => command.run(session),
            Self::Conflicts(command) => command.run(session),
            Self::Grain(command) => command.run(session),
            Self::Did(command) => command.run(session),
            Self::Trust(command) => command.run(session),
            Self::Agent(command) => command.run(session),
            Self::Checkpoint(command) => command.run(session),
            Self::Validate(command) => command.run(session),
            Self::Convert(command) => command.run(session),
            Self::Stats(command) => command.run(session),
            Self::Check(command) => command.run(session),
            Self::Compact(command) => command.run(session),
            Self::Backup(command) => command.run(session),
            Self::Restore(command) => command.run(session),
            Self::Demo(command) => command.run(session),
            Self::Completions(command) => command.run(session),
        }
    }
}

/// Shows the help that was asked for, or says what is wrong with the arguments.
fn refuse(error: &clap::Error, wants_json: bool) -> Exit {
    if error.use_stderr() && wants_json {
        let text = error.render().to_string();
        let first = text.split("\n\n").next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first).trim();
        let problem = Problem::new(ErrorCode::Usage, message);
        let document = json!({ "error": problem.to_json() });
        drop(writeln!(io::stdout(), "{document}"));
    } else {
        drop(error.print());
    }
    if error.use_stderr() {
        Exit::Failed
    } else {
        Exit::Done
    }
}
