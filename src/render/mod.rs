//! What was recalled, as text for a model or a person: Markdown, JSON or plain lines, each line
//! with where it comes from.
//!
//! One file per format. The room takes lines and returns text: it knows no store.

mod json;
mod lines;
mod recollection;

pub use recollection::{Format, Line, Passage, Recollection, tokens};
