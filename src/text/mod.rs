//! The full-text view of the ledger: which rows say these words, best first (OMS 28.1).
//!
//! A row is a ledger sequence. The room is fed rows and their texts in order, remembers how far it
//! was fed, and finds a row from the moment it was fed: a search reads the committed index and the
//! tail that is not yet in it, and scores both by BM25 over the statistics of both together, so
//! that a commit changes neither what is found nor how it ranks. The index library keeps the lists;
//! what a query means, matches and scores is evaluated here, on disk and in memory alike.
//!
//! It never sees a grain, a namespace or a user: the caller says which rows may be shown. It is
//! derived data: a stored index that cannot be trusted is deleted and fed again, and a crash loses
//! only what the caller feeds again from [`Text::watermark`].

mod language;
mod fold;
mod analysis;
mod document;
mod parse;
mod query;
mod stop;
mod memory;
mod expand;
mod segment;
mod wanted;
mod plan;
mod counts;
mod matching;
mod stretch;
mod occurring;
mod score;
mod hit;
mod ranking;
mod conversation;
mod highlight;
mod tail;
mod open;
mod view;
mod search;
mod care;
mod erase;
mod feeder;

mod error;

pub use document::Document;
pub use error::Error;
pub use feeder::Text;
pub use highlight::{Highlighter, Snippet};
pub use hit::{Around, Hit, Hits, TOTAL_MAX};
pub use language::Language;
pub use open::{Opened, Place, remove};
pub use query::Query;
pub use ranking::{Ranking, Recency};
pub use view::Options;
