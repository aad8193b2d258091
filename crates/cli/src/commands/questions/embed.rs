//! `grainstore embed`: stores vectors that an external model computed, or embeds what waits with the
//! model of `--embed-cmd` or `--embed`.
//!
//! Nearest-neighbour search over the vectors is in `similar`.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::Store;
use grainstore::store::Embedding;
use serde_json::Value;

use super::vector::{NO_VECTOR, vector};
use crate::args::{Line, Lines, address, display_name};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Store embedding vectors of grains, or embed the grains that have none
///
/// Without a file every grain is embedded that has no vector of the model of --embed-cmd or --embed.
/// A search or recall with that option does so too. With a file, vectors that were computed elsewhere
/// are stored: JSON lines with address, model and vector, in atomic batches of 256; an invalid line
/// ends the command with an error that names it. A vector replaces the previous one of the same grain
/// and model, is part of backups, and is deleted with its grain.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Examples:
  grainstore --embed-cmd 'python3 model.py' embed
  echo '{"address": "3f1e…", "model": "my-model", "vector": [0.1, 0.7]}' | grainstore embed -"#)]
pub(crate) struct Embed {
    /// File with vectors, or - for stdin; without it what waits is embedded
    file: Option<String>,
    /// Model for lines without a model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

impl Embed {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let kept = match &self.file {
            Some(file) => self.store(file, session)?,
            None if session.has_model() => {
                let store = session.open_with_model()?;
                session.embed_waiting(&store)?
            }
            None => {
                let message = "neither a file with vectors nor a model is named";
                let error = CliError::new(ErrorCode::Usage, message).at("embed");
                return Err(error.advising("pass FILE, or --embed-cmd PROGRAM").into());
            }
        };
        if session.out.is_json() {
            session.out.json(&serde_json::json!({ "embedded": kept }))?;
        } else {
            session.out.line(format!("{kept} vectors stored"))?;
        }
        Ok(Exit::Done)
    }

    /// Stores the vectors of a file; returns how many.
    fn store(&self, file: &str, session: &Session) -> anyhow::Result<u64> {
        let mut lines = Lines::open(file)?;
        let store = session.open()?;
        let mut kept = 0;
        let mut batch = Vec::new();
        while let Some(line) = lines.next()? {
            let number = line.number;
            let at_line =
                |error: CliError| error.at(format!("{}, line {number}", display_name(file)));
            batch.push(self.embedding(&store, &line).map_err(at_line)?);
            if batch.len() == BATCH_LEN || !lines.has_next() {
                store
                    .put_embeddings(&batch)
                    .map_err(|error| at_line(CliError::of(&error)))?;
                kept += batch.len() as u64;
                batch.clear();
            }
        }
        Ok(kept)
    }

    fn embedding(&self, store: &Store, line: &Line) -> Result<Embedding, CliError> {
        let wrong = |what: &str| CliError::new(ErrorCode::Embedding, what);
        let bytes = line
            .bytes
            .as_deref()
            .ok_or_else(|| wrong("the line is longer than 16 MiB"))?;
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| wrong(&error.to_string()))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let of = text("address").ok_or_else(|| wrong("the line has no address"))?;
        let model = text("model").or(self.model.as_deref());
        Ok(Embedding {
            of: address::resolve(store, of).map_err(|error| CliError::of(error.as_ref()))?,
            model: model
                .ok_or_else(|| wrong("the line has no model; add one, or pass --model"))?
                .to_owned(),
            vector: vector(value.get("vector")).ok_or_else(|| wrong(NO_VECTOR))?,
        })
    }
}

const BATCH_LEN: usize = 256;
