//! `grainstore embed`: stores vectors that an external model computed.
//!
//! The store has no model; nearest-neighbour search over the vectors is in `similar`.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::store::{Embedding, Store};
use serde_json::Value;

use super::vector::{NO_VECTOR, vector};
use crate::args::{Line, Lines, address, display_name};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Store embedding vectors of grains, computed by an external model
///
/// Input: JSON lines with address, model and vector. The store runs no model and calls none. A
/// vector replaces the previous one of the same grain and model, is part of backups, and is deleted
/// with its grain. Lines are stored in atomic batches of 256; an invalid line ends the command with
/// an error that names it.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  echo '{"address": "3f1e…", "model": "my-model", "vector": [0.1, 0.7]}' | grainstore embed -"#)]
pub(crate) struct Embed {
    /// Input file, or - for stdin
    file: String,
    /// Model for lines without a model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

impl Embed {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let mut lines = Lines::open(&self.file)?;
        let store = session.open()?;
        let mut kept = 0;
        let mut batch = Vec::new();
        while let Some(line) = lines.next()? {
            let number = line.number;
            let at_line =
                |error: CliError| error.at(format!("{}, line {number}", display_name(&self.file)));
            batch.push(self.embedding(&store, &line).map_err(at_line)?);
            if batch.len() == BATCH_LEN || !lines.has_next() {
                store
                    .put_embeddings(&batch)
                    .map_err(|error| at_line(CliError::of(&error)))?;
                kept += batch.len();
                batch.clear();
            }
        }
        if session.out.is_json() {
            session.out.json(&serde_json::json!({ "embedded": kept }))?;
        } else {
            session.out.line(format!("{kept} vectors stored"))?;
        }
        Ok(Exit::Done)
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
