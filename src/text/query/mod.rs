//! Queries: from the text of a query to a plan that segments can evaluate.
//!
//! Parsing, stop words, term expansion and planning. Matching and scoring are in `search/`.

pub(super) mod asked;
pub(super) mod ast;
pub(super) mod fuzzy;
pub(super) mod lowering;
pub(super) mod parse;
pub(super) mod plan;
pub(super) mod statistics;
pub(super) mod stop_words;
pub(super) mod term_expansion;
