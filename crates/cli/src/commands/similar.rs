use std::io::Read;

use clap::Args;
use grainstore::{Envelope, ErrorCode};

use super::embed::{NO_VECTOR, vector};
use super::query::{Scores, show};
use crate::address;
use crate::door::As;
use crate::exit::Exit;
use crate::filters::Filters;
use crate::lines::open;
use crate::problem::Problem;
use crate::session::Session;

/// Find the grains whose vectors are nearest to that of a grain, or to one of yours
///
/// The vectors are those that `embed` kept. With --words grains are ranked by words and vectors
/// together. With --json the answer is the envelope of OMS 28.1. Exit 1 if nothing is found. For
/// example:
///
///   grainstore similar --model my-model --vector question.json --words "green tea"
#[derive(Debug, Args)]
pub(crate) struct Similar {
    /// The grain, by its address, whole or its first 8 to 16 digits
    #[arg(required_unless_present = "vector", conflicts_with = "vector")]
    address: Option<String>,
    /// The name of the model
    #[arg(long, value_name = "NAME")]
    model: String,
    /// A file with a JSON array of numbers, or - for stdin
    #[arg(long, value_name = "FILE")]
    vector: Option<String>,
    /// Words that count as much as the vector
    #[arg(long, value_name = "TEXT", requires = "vector")]
    words: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Also what has expired: true until before now, and goals inactive since before now
    #[arg(long)]
    expired: bool,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Similar {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let mut filter = self.filters.filter(&store)?;
        if self.expired {
            filter = filter.with_expired();
        }
        let door = self.as_whom.door(&store)?;
        let (model, limit) = (self.model.as_str(), self.limit);
        let envelope: Envelope = match (&self.address, &self.vector) {
            (_, Some(file)) => {
                let asked = read(file)?;
                match &self.words {
                    Some(words) => door.search_hybrid(words, model, &asked, &filter, limit)?,
                    None => door.nearest(model, &asked, &filter, limit)?,
                }
            }
            (Some(text), None) => {
                let address = address::resolve(&store, text)?;
                door.similar(&address, model, &filter, limit)?
            }
            (None, None) => Envelope::default(),
        };
        show(&envelope, Scores::Shown, &mut session.out)?;
        Ok(Exit::done_if(!envelope.results.is_empty()))
    }
}

fn read(file: &str) -> anyhow::Result<Vec<f32>> {
    let mut text = String::new();
    open(file)?.take(LEN_MAX).read_to_string(&mut text)?;
    let value = serde_json::from_str(&text).ok();
    let vector = vector(value.as_ref());
    Ok(vector.ok_or_else(|| Problem::new(ErrorCode::Embedding, NO_VECTOR).at(file))?)
}

/// Longer than any vector the store takes, in bytes.
const LEN_MAX: u64 = 1 << 20;
