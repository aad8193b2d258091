//! What is searched for: from typed text to a plan that segments can answer.

pub(super) mod ast;
pub(super) mod fuzzy;
pub(super) mod lowering;
pub(super) mod parse;
pub(super) mod plan;
pub(super) mod stop_words;
pub(super) mod term_expansion;
