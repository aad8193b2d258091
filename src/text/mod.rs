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

mod analysis;
mod document;
mod options;
mod index;
mod query;
mod search;
mod handle;

mod error;

pub use analysis::language::Language;
pub use document::Document;
pub use error::Error;
pub use handle::Text;
pub use index::open::{OpenOutcome, TextLocation, remove};
pub use options::TextOptions;
pub use query::lowering::Query;
pub use search::highlight::{Highlighter, Snippet};
pub use search::hit::{Hit, Hits, RecalledHit, TOTAL_MAX};
pub use search::ranking::{Ranking, Recency};
