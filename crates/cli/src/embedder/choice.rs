//! The options that name a model.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use grainstore::store::Embedder;

use super::local;
use super::program::ProgramEmbedder;
use crate::error::CliError;

/// The model that embeds grains and questions; by default none.
#[derive(Debug, Clone, Args)]
pub(crate) struct EmbedArgs {
    /// Search by meaning too, with vectors of this program
    #[arg(
        long,
        global = true,
        value_name = "PROGRAM",
        env = "GRAINSTORE_EMBED_CMD",
        hide_env = true,
        display_order = 106
    )]
    embed_cmd: Option<String>,
    // Hidden: the error that a longer wait avoids names it.
    /// Longest wait for an answer of that program
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        default_value_t = 60,
        hide = true
    )]
    embed_wait: u64,
    /// Search by meaning too: local is the installed model, local=DIR any
    #[arg(
        long = "embed",
        id = "embed_model",
        global = true,
        value_name = "MODEL",
        env = "GRAINSTORE_EMBED",
        hide_env = true,
        conflicts_with = "embed_cmd",
        display_order = 107
    )]
    embed: Option<String>,
}

impl EmbedArgs {
    /// Returns whether a model was named.
    pub(crate) const fn is_some(&self) -> bool {
        self.embed_cmd.is_some() || self.embed.is_some()
    }

    /// Returns the options that name the model, for a program that is started with them elsewhere.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let options = [("--embed-cmd", &self.embed_cmd), ("--embed", &self.embed)];
        let named = options.into_iter().filter_map(|(option, value)| {
            let value = value.as_ref()?;
            Some([option.to_owned(), value.clone()])
        });
        named.flatten().collect()
    }

    /// Starts the model that was named.
    ///
    /// # Errors
    /// `ERR_USAGE` for a model that is not installed; `ERR_EMBEDDER` if the model does not start.
    pub(crate) fn start(&self) -> Result<Vec<Arc<dyn Embedder>>, CliError> {
        if let Some(command) = &self.embed_cmd {
            let wait = Duration::from_secs(self.embed_wait);
            let program = ProgramEmbedder::start(command, wait)?;
            return Ok(vec![Arc::new(program)]);
        }
        match self.embed.as_deref() {
            None => Ok(Vec::new()),
            Some(name) => Ok(vec![Arc::new(local::open(name)?)]),
        }
    }
}
