//! The full-text view of the ledger: ranked search over the words of rows (OMS 28.1).
//!
//! A row is a ledger sequence. The store feeds rows in order, and a row is searchable at once. A
//! search reads the committed index (tantivy) and the uncommitted documents, and scores both with
//! one implementation of BM25 over the statistics of both, so that a commit changes neither matches
//! nor ranking.
//!
//! The room knows no grains, namespaces or users: the caller decides which rows may be shown. It is
//! derived data: an index that cannot be trusted is deleted and fed again from [`Text::watermark`].

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
