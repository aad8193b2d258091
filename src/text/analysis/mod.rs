//! Texts into words, and words into the terms they are indexed by.

pub(super) mod chunk;
pub(super) mod fold;
pub(super) mod language;
pub(super) mod script;
pub(super) mod token;
