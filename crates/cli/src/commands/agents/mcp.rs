//! `grainstore mcp`: the store as an MCP server on stdin and stdout.
//!
//! stdout carries the protocol alone; messages go to stderr and say nothing of the content.

use std::io::{self, IsTerminal as _};

use clap::{Args, Subcommand};
use grainstore::crypto::Did;
use grainstore_server::Scope;
use grainstore_server::mcp::{Server, serve_stdio};

use super::install::Install;
use crate::args::{Statements, no_author};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Serve the store to an agent over MCP, or set up a client for it
///
/// Speaks the Model Context Protocol on stdin and stdout until stdin is closed; a client starts it.
/// The store is created if there is none. Without --as and --namespace the agent acts for the owner,
/// and may delete after the user has agreed; with one of them, in the role of an agent with the
/// rights delegated to it (docs/mcp.md). --agent names it in all that it writes.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "Example, for Claude Code:
  grainstore --store ~/memory.grains mcp install --client claude-code"
)]
pub(crate) struct McpTool {
    #[command(subcommand)]
    command: Option<McpCommand>,
    #[command(flatten)]
    served: Served,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    Install(Install),
}

/// The reach of the server.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Served {
    /// Act as this author, with the rights delegated to it
    #[arg(long = "as", value_name = "DID", conflicts_with = "agent")]
    pub(super) author: Option<String>,
    /// Name the agent as the author of what it writes, did:web:localhost:NAME, with no other rights
    #[arg(long, value_name = "NAME", value_parser = agent_name)]
    pub(super) agent: Option<String>,
    /// Restrict access to this namespace and those inside it
    #[arg(long, value_name = "NAME")]
    pub(super) namespace: Option<String>,
    /// Restrict access to what is about this person (user_id)
    #[arg(long, value_name = "ID")]
    pub(super) user: Option<String>,
    #[command(flatten)]
    pub(super) statements: Statements,
}

impl McpTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.command {
            Some(McpCommand::Install(command)) => command.run(session),
            None => self.served.serve(session),
        }
    }
}

impl Served {
    fn serve(self, session: &Session) -> anyhow::Result<Exit> {
        let (author, agent) = (self.author()?, self.agent()?);
        let store = session.open_to_serve()?;
        let mut scope = match (&author, &self.namespace) {
            (None, None) => Scope::owner(store),
            (author, namespace) => Scope::agent(&store, author.as_ref(), namespace.as_deref())?,
        };
        if let Some(agent) = agent {
            scope = scope.named(&agent);
        }
        if let Some(user) = self.user {
            scope = scope.of_user(user);
        }
        let scope = scope.with_cal(self.statements.host()?);
        if io::stdin().is_terminal() {
            session.out.note(
                "a client speaks MCP here, not a person: `grainstore mcp install --client NAME` connects one",
            );
        }
        if !serve_stdio(Server::new(scope))? {
            session.out.note(
                "stdin ended without a message of MCP: a client speaks JSON-RPC here, one message a line",
            );
        }
        Ok(Exit::Done)
    }

    /// Returns the author.
    ///
    /// # Errors
    /// `ERR_DID`.
    pub(super) fn author(&self) -> Result<Option<Did>, CliError> {
        let parsed = self.author.as_deref().map(str::parse::<Did>).transpose();
        parsed.map_err(|error| no_author(&error))
    }

    /// Returns the DID of the agent that the operator named.
    ///
    /// # Errors
    /// `ERR_DID`.
    fn agent(&self) -> Result<Option<Did>, CliError> {
        let did = |name: &String| format!("{AGENT_DID}{name}").parse::<Did>();
        let parsed = self.agent.as_ref().map(did).transpose();
        parsed.map_err(|error| no_author(&error))
    }
}

/// Reads the name of an agent: one segment of a `did:web`.
fn agent_name(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !text.is_empty() && text.len() <= 64 && text.chars().all(is_part) {
        true => Ok(text.to_owned()),
        false => {
            Err("a name has up to 64 letters, digits, -, _ and ., such as claude-code".to_owned())
        }
    }
}

/// The DID of an agent of this machine begins so: no host elsewhere can hold the keys of it.
const AGENT_DID: &str = "did:web:localhost:";
