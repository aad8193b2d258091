use clap::Args;
use grainstore::ErrorCode;
use grainstore::store::{Embedding, Store};
use serde_json::Value;

use crate::address;
use crate::exit::Exit;
use crate::lines::{Line, Lines, shown};
use crate::problem::Problem;
use crate::session::Session;

/// Keep vectors that your model made of grains, JSON lines of address, model and vector
///
/// The store has no model and asks none. A vector replaces the one that the grain had of the same
/// model, goes into backups, and is deleted with its grain. Lines are stored 256 at a time, all of
/// them or none; a wrong line ends the command and is named. For example:
///
///   echo '{"address": "3f1e…", "model": "my-model", "vector": [0.1, 0.7]}' | grainstore embed -
#[derive(Debug, Args)]
pub(crate) struct Embed {
    /// The file, or - for stdin
    file: String,
    /// The model of lines that name none
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
                |problem: Problem| problem.at(format!("{}, line {number}", shown(&self.file)));
            batch.push(self.embedding(&store, &line).map_err(at_line)?);
            if batch.len() == BATCH_LEN || !lines.has_next() {
                store
                    .put_embeddings(&batch)
                    .map_err(|error| at_line(Problem::of(&error)))?;
                kept += batch.len();
                batch.clear();
            }
        }
        if session.out.is_json() {
            session.out.json(&serde_json::json!({ "embedded": kept }))?;
        } else {
            session.out.line(format!("{kept} vectors kept"))?;
        }
        Ok(Exit::Done)
    }

    fn embedding(&self, store: &Store, line: &Line) -> Result<Embedding, Problem> {
        let wrong = |what: &str| Problem::new(ErrorCode::Embedding, what);
        let bytes = line
            .bytes
            .as_deref()
            .ok_or_else(|| wrong("the line is too long"))?;
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| wrong(&error.to_string()))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let of = text("address").ok_or_else(|| wrong("a line needs an address"))?;
        let model = text("model").or(self.model.as_deref());
        Ok(Embedding {
            of: address::resolve(store, of).map_err(|error| Problem::of(error.as_ref()))?,
            model: model
                .ok_or_else(|| wrong("a line needs a model, or --model"))?
                .to_owned(),
            vector: vector(value.get("vector")).ok_or_else(|| wrong(NO_VECTOR))?,
        })
    }
}

/// Reads a vector as JSON has it.
pub(super) fn vector(value: Option<&Value>) -> Option<Vec<f32>> {
    let numbers = value?.as_array()?.iter();
    numbers
        .map(|number| Some(narrow(number.as_f64()?)))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "models make numbers of this width; what is too large becomes infinite and is refused"
)]
const fn narrow(number: f64) -> f32 {
    number as f32
}

pub(super) const NO_VECTOR: &str = "a vector is an array of numbers";

const BATCH_LEN: usize = 256;
