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
/// rights delegated to it (docs/mcp.md).
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
    #[arg(long = "as", value_name = "DID")]
    pub(super) author: Option<String>,
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
        let author = self.author()?;
        let store = session.open_to_serve()?;
        let mut scope = match (&author, &self.namespace) {
            (None, None) => Scope::owner(store),
            (author, namespace) => Scope::agent(&store, author.as_ref(), namespace.as_deref())?,
        };
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
}
