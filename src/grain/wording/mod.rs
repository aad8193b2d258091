//! The words of a grain: those that are searched, and the sentence that a reader sees.

mod searchable_text;
mod sentence;

pub use searchable_text::SEARCHABLE_FIELDS;
