//! The full-text view of the ledger: ranked search over the words of rows, which are ledger
//! sequences (OMS 28.1).
//!
//! A row is searchable as soon as it is fed. A search reads the committed index (tantivy) and the
//! uncommitted documents, and scores both with one BM25 over the statistics of both. Partitions of
//! unlocked persons, in memory only, belong to the same collection. The room knows no grains and
//! opens nothing sealed: the caller decides which rows may be shown. The view is derived data: an
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
pub use error::Error;
pub(crate) use index::partitions::Partitions;
pub use options::TextOptions;
pub(crate) use query::asked::{QuestionWord, question_words};
pub(crate) use query::statistics::OwnRows;
pub(crate) use search::execute::Search;
pub use search::highlight::Snippet;
pub(crate) use search::hit::{KnownLine, ShapedHit};
pub(crate) use search::in_order::Order;
pub(crate) use search::ranking::Calendar;
pub use search::ranking::{Ranking, Recency, utc_offset};
pub(crate) use search::rerank::{Dated, Meaning};

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use self::{
    document::Document,
    handle::Text,
    index::open::OpenOutcome,
    query::lowering::Query,
    search::highlight::Highlighter,
    search::hit::{Hit, Hits, RecalledHit, TOTAL_MAX},
};
