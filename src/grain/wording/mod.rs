//! The words of a grain: those that are searched, and the sentence that a reader sees.

mod searchable_text;
mod sentence;

pub use searchable_text::SEARCHABLE_FIELDS;
pub(crate) use searchable_text::is_printable;
pub(super) use searchable_text::{searchable_text, summary};
#[cfg(any(feature = "interchange", feature = "text"))]
pub(super) use sentence::is_record;
pub(super) use sentence::{message_text, sentence};
