//! The command line: global options, the list of commands, and how a run ends.
//!
//! Each command parses its own arguments and runs in its own file under `commands`.

use grainstore::ErrorCode;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use serde_json::json;

use crate::args::{MasterKeyArgs, store_folder};
use crate::commands::agents::{HookTool, McpTool, is_run_by_agent};
use crate::commands::audit::AuditTool;
use crate::commands::browse::{Ls, Sessions, Show};
use crate::commands::change::{Consolidate, Correct, Remember, SchemaTool, Undo};
use crate::commands::demo::Demo;
use crate::commands::files::{Conflicts, Convert, Export, Import, Merge, Scan, Sync, Validate};
use crate::commands::grains::{
    Contradict, Delete, Exists, Get, History, List, Put, Status, Supersede, Tail,
};
use crate::commands::maintenance::{
    Backup, Check, CheckpointTool, Compact, Completions, ConfigTool, Doctor, Init, Man, Recover,
    Restore, Stats, Upgrade, what_would_come_out,
};
use crate::commands::policy::{ConsentTool, HoldTool, PolicyTool};
use crate::commands::questions::{Cal, Embed, ModelTool, Query, Recall, Search, Similar};
#[cfg(feature = "replica")]
use crate::commands::replica::{Follow, Replicate};
use crate::commands::serving::{Serve, TokenTool};
#[cfg(feature = "postgres")]
use crate::commands::shared::Shared;
use crate::commands::signing::{AgentTool, DidTool, GrainTool, TrustTool};
use crate::commands::user::UserTool;
use crate::commands::vault::VaultTool;
use crate::config::{Config, Own};
use crate::embedder::EmbedArgs;
use crate::error::{CliError, Exit, is_broken_pipe};
use crate::help;
use crate::other_names::{self, suggest};
use crate::output::{Output, is_styled, set_color};
use crate::place::PlaceArgs;
use crate::session::Session;
use crate::{completion, trace};

/// Embedded, content-addressed memory store for AI agents
#[derive(Debug, Parser)]
#[command(name = "grainstore", version, long_version = help::VERSION, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Store directory, or the postgres:// address of a shared ledger
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "GRAINSTORE_STORE",
        hide_env_values = true,
        default_value = "./memory.grains",
        value_parser = OsStringValueParser::new().map(store_folder),
        value_hint = ValueHint::AnyPath,
        display_order = 100
    )]
    store: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
    // Hidden: the error that a longer wait avoids names it.
    /// Longest wait of a change for another process
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        env = "GRAINSTORE_WAIT",
        hide_env = true,
        default_value_t = 5,
        hide = true
    )]
    wait: u64,
    /// Print results and errors as JSON on stdout
    #[arg(long, global = true, display_order = 101)]
    json: bool,
    /// Print results and errors only: no messages, no progress
    #[arg(long, short, global = true, display_order = 102)]
    quiet: bool,
    // Hidden, as the help fits one screen.
    /// Colours of results: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        env = "GRAINSTORE_COLOR",
        hide_env = true,
        hide = true,
        default_value_t = ColorChoice::Auto
    )]
    color: ColorChoice,
    /// Report on stderr what the program does, without content
    #[arg(long, short, global = true, display_order = 102)]
    verbose: bool,
    // Hidden: the pager says how to leave it, and this is in the manual.
    /// Show long output on a terminal without a pager
    #[arg(long, global = true, hide = true)]
    no_pager: bool,
    /// DID document of a did:web signer; may be repeated
    #[arg(long, global = true, value_name = "FILE", display_order = 103)]
    did_document: Vec<PathBuf>,
    #[command(flatten)]
    master_key: MasterKeyArgs,
    #[command(flatten)]
    embed: EmbedArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(Init),
    Ls(Ls),
    Show(Show),
    Sessions(Sessions),
    Remember(Remember),
    Correct(Correct),
    Undo(Undo),
    Consolidate(Consolidate),
    Schema(SchemaTool),
    Put(Put),
    Get(Get),
    Exists(Exists),
    List(List),
    Supersede(Supersede),
    Contradict(Contradict),
    Delete(Delete),
    Status(Status),
    History(History),
    Tail(Tail),
    Query(Query),
    Search(Search),
    Recall(Recall),
    Cal(Cal),
    Embed(Embed),
    Model(ModelTool),
    Similar(Similar),
    Import(Import),
    Scan(Scan),
    Sync(Sync),
    Merge(Merge),
    Export(Export),
    Consent(ConsentTool),
    Hold(HoldTool),
    Policy(PolicyTool),
    User(UserTool),
    Vault(VaultTool),
    Conflicts(Conflicts),
    Grain(GrainTool),
    Did(DidTool),
    Trust(TrustTool),
    Agent(AgentTool),
    Audit(AuditTool),
    Checkpoint(CheckpointTool),
    Serve(Serve),
    Token(TokenTool),
    Validate(Validate),
    Convert(Convert),
    Stats(Stats),
    Check(Check),
    Doctor(Doctor),
    Upgrade(Upgrade),
    Compact(Compact),
    Backup(Backup),
    Restore(Restore),
    Recover(Recover),
    #[cfg(feature = "replica")]
    Replicate(Replicate),
    #[cfg(feature = "replica")]
    Follow(Follow),
    #[cfg(feature = "postgres")]
    #[command(flatten)]
    Shared(Shared),
    Demo(Demo),
    Mcp(McpTool),
    Hook(HookTool),
    Config(ConfigTool),
    Man(Man),
    Completions(Completions),
}

/// Returns the command line, with the help of [`help::with_groups`].
fn command() -> clap::Command {
    help::with_groups(Cli::command())
}

/// Parses the arguments and runs the command they name.
pub(crate) fn main(args: impl Iterator<Item = OsString>) -> Exit {
    completion::answer(command);
    let args: Vec<OsString> = args.collect();
    let exit = run(&args);
    // Another exit code of a hook would stop the turn of the agent.
    match is_run_by_agent(&args) {
        true => Exit::Done,
        false => exit,
    }
}

fn run(args: &[OsString]) -> Exit {
    // Help does not depend on a file that is wrong.
    let (config, wrong) = match std::env::current_dir().map(|folder| {
        let own = Own::of_user();
        Config::find(&folder, own.as_ref())
    }) {
        Ok(Ok(config)) => (config, None),
        Ok(Err(error)) => (Config::default(), Some(error)),
        Err(_) => (Config::default(), None),
    };
    let parsed = config.as_defaults(command()).try_get_matches_from(args);
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli.run(&config, wrong),
        Err(mut error) => {
            let wants_json = args.iter().any(|arg| arg == "--json");
            suggest(&mut error, args, &command());
            let is_whole = |arg: &OsString| arg == "--help" || arg == "help";
            if error.kind() == ErrorKind::DisplayHelp
                && args.iter().any(is_whole)
                && let Some(help) = help::whole(command(), args)
            {
                return print_help(&help);
            }
            refuse(&error, wants_json)
        }
    }
}

impl Cli {
    fn run(self, config: &Config, wrong: Option<CliError>) -> Exit {
        set_color(self.color);
        let mut out = Output::new(self.json, self.quiet);
        let started = wrong.map_or(Ok(()), Err);
        if let Err(error) = started.and_then(|()| trace::start(self.verbose)) {
            drop(out.error(&error));
            return error.exit();
        }
        if let Some(path) = config.path() {
            tracing::debug!(path = %path.display(), "defaults are those of a file");
        }
        for note in config.notes() {
            out.note(note);
        }
        let place = self.place.of(self.store);
        let session = place.and_then(|place| {
            let wait = Duration::from_secs(self.wait);
            Session::new(place, &self.did_document, &self.master_key, wait, out)
        });
        let mut session = match session {
            Ok(session) => session.with_model(self.embed),
            Err(error) => {
                drop(Output::new(self.json, self.quiet).error(&error));
                return error.exit();
            }
        };
        if self.command.is_paged() && !self.no_pager {
            session.out.page();
        }
        let outcome = self.command.run(&mut session).and_then(|exit| {
            session.out.end_page()?;
            Ok(exit)
        });
        match outcome {
            Ok(exit) => exit,
            Err(error) if is_broken_pipe(&error) => {
                drop(session.out.end_page());
                Exit::Done
            }
            Err(error) => {
                let error = CliError::of(error.as_ref()).in_store(session.store_path());
                // If the error cannot be written either, the exit code alone reports it.
                drop(session.out.error(&error));
                if error.code() == ErrorCode::StorageDamaged
                    && let Some(found) = what_would_come_out(session.store_path())
                {
                    session.out.note(found);
                }
                error.exit()
            }
        }
    }
}

impl Command {
    /// Returns whether the output is for reading, and may be long.
    const fn is_paged(&self) -> bool {
        // A shell has the keyboard, and a pager must not.
        if let Self::Cal(command) = self
            && command.is_shell()
        {
            return false;
        }
        matches!(
            self,
            Self::Ls(_)
                | Self::Show(_)
                | Self::Sessions(_)
                | Self::Schema(_)
                | Self::List(_)
                | Self::History(_)
                | Self::Query(_)
                | Self::Search(_)
                | Self::Recall(_)
                | Self::Cal(_)
                | Self::Similar(_)
        )
    }

    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self {
            Self::Init(command) => command.run(session),
            Self::Ls(command) => command.run(session),
            Self::Show(command) => command.run(session),
            Self::Sessions(command) => command.run(session),
            Self::Remember(command) => command.run(session),
            Self::Correct(command) => command.run(session),
            Self::Undo(command) => command.run(session),
            Self::Consolidate(command) => command.run(session),
            Self::Schema(command) => command.run(session),
            Self::Put(command) => command.run(session),
            Self::Get(command) => command.run(session),
            Self::Exists(command) => command.run(session),
            Self::List(command) => command.run(session),
            Self::Supersede(command) => command.run(session),
            Self::Contradict(command) => command.run(session),
            Self::Delete(command) => command.run(session),
            Self::Status(command) => command.run(session),
            Self::History(command) => command.run(session),
            Self::Tail(command) => command.run(session),
            Self::Query(command) => command.run(session),
            Self::Search(command) => command.run(session),
            Self::Recall(command) => command.run(session),
            Self::Cal(command) => command.run(session),
            Self::Embed(command) => command.run(session),
            Self::Model(command) => command.run(session),
            Self::Similar(command) => command.run(session),
            Self::Import(command) => command.run(session),
            Self::Scan(command) => command.run(session),
            Self::Sync(command) => command.run(session),
            Self::Merge(command) => command.run(session),
            Self::Export(command) => command.run(session),
            Self::Consent(command) => command.run(session),
            Self::Hold(command) => command.run(session),
            Self::Policy(command) => command.run(session),
            Self::User(command) => command.run(session),
            Self::Vault(command) => command.run(session),
            Self::Conflicts(command) => command.run(session),
            Self::Grain(command) => command.run(session),
            Self::Did(command) => command.run(session),
            Self::Trust(command) => command.run(session),
            Self::Agent(command) => command.run(session),
            Self::Audit(command) => command.run(session),
            Self::Checkpoint(command) => command.run(session),
            Self::Serve(command) => command.run(session),
            Self::Token(command) => command.run(session),
            Self::Validate(command) => command.run(session),
            Self::Convert(command) => command.run(session),
            Self::Stats(command) => command.run(session),
            Self::Check(command) => command.run(session),
            Self::Doctor(command) => command.run(session),
            Self::Upgrade(command) => command.run(session),
            Self::Compact(command) => command.run(session),
            Self::Backup(command) => command.run(session),
            Self::Restore(command) => command.run(session),
            Self::Recover(command) => command.run(session),
            #[cfg(feature = "replica")]
            Self::Replicate(command) => command.run(session),
            #[cfg(feature = "replica")]
            Self::Follow(command) => command.run(session),
            #[cfg(feature = "postgres")]
            Self::Shared(command) => command.run(session),
            Self::Demo(command) => command.run(session),
            Self::Mcp(command) => command.run(session),
            Self::Hook(command) => command.run(session),
            Self::Config(command) => command.run(session),
            Self::Man(man) => man.run(session, command()),
            Self::Completions(command) => command.run(session),
        }
    }
}

/// Prints a help, in colours on a terminal.
fn print_help(help: &clap::builder::StyledStr) -> Exit {
    let mut out = Output::new(false, false);
    let text = match is_styled() {
        true => help.ansi().to_string(),
        false => help.to_string(),
    };
    let printed = out.styled_line(text.trim_end()).and_then(|()| out.flush());
    match printed {
        // A reader that has seen enough is no failure.
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Exit::Failed,
        _ => Exit::Done,
    }
}

/// Prints the requested help, or the error in the arguments.
fn refuse(error: &clap::Error, wants_json: bool) -> Exit {
    let printed = if error.use_stderr() && wants_json {
        let text = other_names::plain(error).unwrap_or_else(|| error.render().to_string());
        let first = text.split("\n\n").next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first).trim();
        let error = CliError::new(ErrorCode::Usage, message);
        let document = json!({ "error": error.to_json() });
        writeln!(io::stdout(), "{document}")
    } else if let Some(plain) = other_names::plain(error) {
        writeln!(io::stderr(), "{}", plain.trim_end())
    } else {
        error.print().and_then(|()| io::stdout().flush())
    };
    match printed {
        // A reader that has seen enough of the help is no failure.
        Err(ref cause) if cause.kind() != io::ErrorKind::BrokenPipe => Exit::Failed,
        _ if error.use_stderr() => Exit::Failed,
        _ => Exit::Done,
    }
}
