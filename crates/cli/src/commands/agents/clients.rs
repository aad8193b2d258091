//! The usual MCP clients: where each keeps its configuration, and the form of an entry.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use grainstore::ErrorCode;
use serde_json::{Value, json};

use crate::error::CliError;

/// A client whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Zed,
}

/// The directories that configurations lie in.
pub(super) struct Folders {
    pub(super) home: PathBuf,
    /// `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
    pub(super) config: PathBuf,
}

impl Folders {
    /// Reads them from the environment.
    ///
    /// # Errors
    /// `ERR_USAGE` without a home directory.
    pub(super) fn of_user() -> Result<Self, CliError> {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let unknown = || CliError::new(ErrorCode::Usage, "the home directory is unknown: set HOME");
        let home = home.ok_or_else(unknown)?;
        let named = |name| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|it| it.is_absolute())
        };
        let config = if cfg!(target_os = "macos") {
            home.join("Library/Application Support")
        } else if cfg!(windows) {
            named("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming"))
        } else {
            named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
        };
        Ok(Self { home, config })
    }
}

impl Client {
    /// Returns the name of the client, as it is typed.
    pub(super) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns the file of the configuration.
    pub(super) fn file(self, folders: &Folders) -> PathBuf {
        match self {
            Self::ClaudeCode => folders.home.join(".claude.json"),
            Self::ClaudeDesktop => folders.config.join("Claude/claude_desktop_config.json"),
            Self::Cursor => folders.home.join(".cursor/mcp.json"),
            Self::Vscode => folders.config.join("Code/User/mcp.json"),
            // Zed keeps to ~/.config on macOS too.
            Self::Zed if cfg!(target_os = "macos") => {
                folders.home.join(".config/zed/settings.json")
            }
            Self::Zed => folders.config.join("zed/settings.json"),
        }
    }

    /// Returns the member of the configuration that holds the servers.
    pub(super) const fn section(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor => "mcpServers",
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
        }
    }

    /// Returns the act that makes the client read its configuration again.
    pub(super) const fn restart(self) -> &'static str {
        match self {
            Self::ClaudeCode => "begin a new session of claude",
            Self::ClaudeDesktop => "quit Claude and start it again",
            Self::Cursor => "restart Cursor, or switch the server on in its settings",
            Self::Vscode => "restart VS Code, or start the server with `MCP: List Servers`",
            Self::Zed => "restart Zed, or look at its agent settings",
        }
    }

    /// Returns the entry of a server that this program runs with these arguments.
    pub(super) fn entry(self, program: &Path, arguments: &[String]) -> Value {
        let program = program.to_string_lossy();
        match self {
            Self::ClaudeCode | Self::Vscode => {
                json!({ "type": "stdio", "command": program, "args": arguments })
            }
            Self::ClaudeDesktop | Self::Cursor => json!({ "command": program, "args": arguments }),
            Self::Zed => {
                json!({ "source": "custom", "command": program, "args": arguments, "env": {} })
            }
        }
    }
}
