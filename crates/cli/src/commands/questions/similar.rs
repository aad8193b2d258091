//! `grainstore similar`: nearest neighbours of a grain or of a given vector.
//!
//! Vectors come from `embed` or from the caller; the store computes none.

use grainstore::ErrorCode;
use std::io::Read;

use clap::Args;
use grainstore::{Page, Search};

use super::answer::{Scores, fields, show, show_rows};
use super::vector::{NO_VECTOR, vector};
use crate::args::As;
use crate::args::{Filters, Listing, address, open};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Find nearest neighbours of a grain, or of a vector
///
/// The search compares the vectors stored by `embed`. With --words, grains are ranked by words and
/// vectors together. With --json the result is the envelope of OMS 28.1. Exits with 1 if nothing is
/// found.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore similar --model my-model --vector question.json --words "green tea""#)]
pub(crate) struct Similar {
    /// Address of the grain, or its first digits, 4 or more
    #[arg(required_unless_present = "vector", conflicts_with = "vector")]
    address: Option<String>,
    /// Name of the embedding model
    #[arg(long, value_name = "NAME")]
    model: String,
    /// File with a JSON array of numbers, or - for stdin
    #[arg(long, value_name = "FILE")]
    vector: Option<String>,
    /// Rank by these words too, with the same weight as the vector
    #[arg(long, value_name = "TEXT", requires = "vector")]
    words: Option<String>,
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Include expired grains: those with a valid_to in the past, and goals past their deadline
    #[arg(long)]
    expired: bool,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Similar {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let mut filter = self.filters.filter(&store)?;
        if self.expired {
            filter = filter.with_expired();
        }
        let handle = self.as_whom.narrow(&store)?;
        let (model, limit) = (self.model.as_str(), self.limit);
        let envelope: Page = match (&self.address, &self.vector) {
            (_, Some(file)) => {
                let query_vector = read(file)?;
                let search = match &self.words {
                    Some(words) => Search::parse(words)?.vector(model, &query_vector),
                    None => Search::near(model, &query_vector),
                };
                handle.find(&search.filter(&filter).limit(limit))?
            }
            (Some(text), None) => {
                let address = address::resolve(&store, text)?;
                handle.find(&Search::like(model, address).filter(&filter).limit(limit))?
            }
            (None, None) => Page::default(),
        };
        let columns = fields(Scores::Shown);
        match self.listing.rows(&mut session.out, &columns) {
            Some(rows) => show_rows(&envelope, rows)?,
            None => show(&envelope, Scores::Shown, &mut session.out)?,
        }
        Ok(Exit::done_if(!envelope.results.is_empty()))
    }
}

fn read(file: &str) -> anyhow::Result<Vec<f32>> {
    let mut text = String::new();
    open(file)?.take(LEN_MAX).read_to_string(&mut text)?;
    let value = serde_json::from_str(&text).ok();
    let vector = vector(value.as_ref());
    Ok(vector.ok_or_else(|| CliError::new(ErrorCode::Embedding, NO_VECTOR).at(file))?)
}

/// Above the size of the longest vector that the store accepts, in bytes.
const LEN_MAX: u64 = 1 << 20;
