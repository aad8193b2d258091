//! Text analysis: from a text to the terms that it is indexed by.
//!
//! The same analysis runs over documents and over queries, so that both produce the same terms.
//! Nothing here knows the index or the query language.

pub(super) mod chunk;
pub(super) mod cues;
pub(super) mod family;
pub(super) mod fold;
pub(super) mod language;
pub(super) mod script;
pub(super) mod token;
mod word_cache;
