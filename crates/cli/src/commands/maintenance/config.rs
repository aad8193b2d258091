//! `grainstore config`: which directories' settings may open, redirect and trust.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use grainstore::ErrorCode;

use crate::config::Own;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Allow the settings of a directory
///
/// A grainstore.toml that is found in or above the working directory may have come with a repository of
/// another. Its store, key_file, did_document and backup count once the directory is allowed, and until
/// the file is changed.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore config allow .")]
pub(crate) struct ConfigTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Allow what the settings of a directory say now
    Allow {
        /// Directory of the file
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
    /// Take that back
    Deny {
        /// Directory of the file
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
}

impl ConfigTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let missing = || {
            CliError::new(
                ErrorCode::Usage,
                "a user without a home directory has no settings",
            )
        };
        let own = Own::of_user().ok_or_else(missing)?;
        let (folder, is_allowed, did) = match self.action {
            Action::Allow { folder } => (folder, true, "allowed"),
            Action::Deny { folder } => (folder, false, "denied"),
        };
        let path = own.allow(&folder, is_allowed)?;
        session.report_change(did, path.display())
    }
}
