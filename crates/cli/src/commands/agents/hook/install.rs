//! `grainstore hook install` and `hook remove`: the entries in the configuration of an agent.

use clap::Args;
use grainstore::ErrorCode;
use serde_json::{Value, json};

use super::plugin::{HERMES, OPENCLAW, Plugin};
use super::{Agent, HookOptions};
use crate::commands::agents::clients::Folders;
use crate::commands::agents::install::{read, write};
use crate::commands::agents::splice::with_element;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Set up the memory of an agent: its hooks, or its plugin
///
/// Claude Code and Codex run the command: it is added to their configuration. For OpenClaw and Hermes a plugin is
/// written, a client of `grainstore mcp`, and the command of the agent that turns it on is named.
///
/// Every other byte of the file stays as it is, and the file as it was is kept with the ending .bak.
/// Installing again replaces the entries. A file that is no JSON is left alone; comments stay.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore --store ~/memory.grains hook install claude-code --user mira")]
pub(super) struct Install {
    /// Agent
    #[arg(value_enum)]
    agent: Agent,
    /// Print the entries instead of writing them
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    options: HookOptions,
}

/// Remove the hooks, or the plugin, of an agent
///
/// Every other byte of the file stays as it is. The memory stays in the store.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore hook remove claude-code")]
pub(super) struct Remove {
    /// Agent
    #[arg(value_enum)]
    agent: Agent,
}

impl Install {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let (file, events) = match self.agent.setup() {
            Setup::Hooks { file, events } => (file, events),
            Setup::Plugin(plugin) => return plugin.install(&self.options, self.print, session),
        };
        let entry = json!({
            "hooks": [{
                "type": "command",
                "command": self.command(session)?,
                "timeout": TIMEOUT_S,
            }]
        });
        if self.print {
            let events = events.iter();
            let events: serde_json::Map<_, _> = events
                .map(|event| ((*event).to_owned(), json!([entry])))
                .collect();
            let text = serde_json::to_string_pretty(&json!({ SECTION: events }))?;
            session.out.line(text)?;
            return Ok(Exit::Done);
        }
        let exit = change((self.agent, file, events), Some(&entry), session)?;
        if self.agent == Agent::Codex {
            session
                .out
                .note("Codex runs new hooks once they are trusted: type /hooks in it");
        }
        Ok(exit)
    }

    /// Returns the command line that the agent runs, by a shell.
    fn command(&self, session: &Session) -> anyhow::Result<String> {
        // An agent works in other directories.
        let store = std::path::absolute(session.store_path())?;
        let program = crate::program()?;
        let text = |path: &std::path::Path| {
            let text = path.to_str().map(str::to_owned);
            let message = "the path of the store or of the program is not UTF-8, as JSON must be";
            text.ok_or_else(|| CliError::new(ErrorCode::Usage, message))
        };
        let mut words = vec![text(&program)?, "--store".to_owned(), text(&store)?];
        words.extend(["hook".to_owned(), self.agent.name().to_owned()]);
        words.extend(["--budget".to_owned(), self.options.budget.to_string()]);
        let own = [
            ("--namespace", &self.options.namespace),
            ("--user", &self.options.user),
            ("--consolidate", &self.options.consolidate),
        ];
        for (option, value) in own {
            if let Some(value) = value {
                words.extend([option.to_owned(), value.clone()]);
            }
        }
        let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        Ok(words.join(" "))
    }
}

impl Remove {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.agent.setup() {
            Setup::Hooks { file, events } => change((self.agent, file, events), None, session),
            Setup::Plugin(plugin) => plugin.remove(session),
        }
    }
}

/// Puts the entry into the list of each event of an agent, or takes it out.
fn change(
    (agent, file, events): (Agent, &str, &[&str]),
    entry: Option<&Value>,
    session: &mut Session,
) -> anyhow::Result<Exit> {
    let folders = Folders::of_user()?;
    let file = folders.home.join(file);
    let old = read(&file).map_err(|error| CliError::of(&error).at(file.display()))?;
    if old.is_none() && entry.is_none() {
        session.out.note("not set up");
        return session.report_change("configured", file.display());
    }
    let before = old.clone().unwrap_or_default();
    let is_own = |it: &Value| is_of(agent, it);
    let new = events.iter().try_fold(before, |text, event| {
        with_element(&text, (SECTION, event), entry, is_own)
    });
    let new = new.map_err(|error| {
        CliError::new(ErrorCode::Corrupt, error)
            .at(file.display())
            .advising("nothing was changed; add what hook install --print shows by hand")
    })?;
    if old.as_ref() == Some(&new) {
        session.out.note(match entry {
            Some(_) => "already set up",
            None => "not set up",
        });
    } else {
        write(&file, old.as_deref(), &new)
            .map_err(|error| CliError::of(&error).at(file.display()))?;
    }
    session.report_change("configured", file.display())
}

/// Returns whether an entry is one that this program wrote, with whatever options.
fn is_of(agent: Agent, entry: &Value) -> bool {
    let own = format!(" hook {} --budget ", agent.name());
    let hooks = entry.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|hooks| {
        let commands = hooks
            .iter()
            .filter_map(|hook| hook.get("command")?.as_str());
        let mut own = commands.filter(|command| command.contains(&own));
        hooks.len() == 1 && own.next().is_some()
    })
}

/// Quotes a word for the shell that an agent starts.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if cfg!(windows) {
        return format!("\"{word}\"");
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// How an agent is set up.
enum Setup {
    /// It runs the command at some events: the file of its configuration, below the home directory, names both.
    Hooks {
        file: &'static str,
        events: &'static [&'static str],
    },
    /// It runs no command, and has a plugin.
    Plugin(&'static Plugin),
}

impl Agent {
    const fn setup(self) -> Setup {
        match self {
            Self::ClaudeCode => Setup::Hooks {
                file: ".claude/settings.json",
                events: &["UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"],
            },
            Self::Codex => Setup::Hooks {
                file: ".codex/hooks.json",
                events: &["UserPromptSubmit", "Stop", "PreCompact"],
            },
            Self::Openclaw => Setup::Plugin(&OPENCLAW),
            Self::Hermes => Setup::Plugin(&HERMES),
        }
    }

    /// Returns whether an agent runs the command itself.
    pub(super) const fn runs_commands(self) -> bool {
        matches!(self.setup(), Setup::Hooks { .. })
    }
}

/// The member of the configuration that holds the hooks.
const SECTION: &str = "hooks";

/// After so many seconds the agent goes on without the command.
const TIMEOUT_S: u64 = 10;
