//! The full-text view of the ledger: ranked search over the words of rows, which are ledger
//! sequences (OMS 28.1).
//!
//! A row is searchable as soon as it is fed. A search reads the committed index (tantivy) and the
//! uncommitted documents, and scores both with one BM25 over the statistics of both. The room knows
//! no grains or users: the caller decides which rows may be shown. The view is derived data: an
//! index in doubt is deleted and fed again.

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
pub use index::open::OpenOutcome;
pub use options::TextOptions;
pub use query::lowering::Query;
pub use search::highlight::{Highlighter, Snippet};
pub use search::hit::{Hit, Hits, RecalledHit, TOTAL_MAX};
pub use search::ranking::{Ranking, Recency};
