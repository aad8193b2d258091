//! Commands that find grains: by fields, by words, by vectors, and as context for a question.
//!
//! Commands that take an address are in `grains`.

pub(crate) mod answer;
mod cal;
mod editor;
mod embed;
mod model;
mod query;
mod recall;
mod search;
mod similar;
mod vector;

pub(crate) use cal::Cal;
pub(crate) use embed::Embed;
pub(crate) use model::ModelTool;
pub(crate) use query::Query;
pub(crate) use recall::Recall;
pub(crate) use search::Search;
pub(crate) use similar::Similar;
pub(crate) use vector::vector;
