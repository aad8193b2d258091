//! Recalled passages as text for a model or a person: Markdown, JSON or plain lines, each line with
//! its source, or SML.
//!
//! One file per format. This module takes lines and returns text; it does not read a store.

mod escape;
mod json;
mod lines;
mod recollection;

pub use escape::escaped;
pub use recollection::{Format, LeftOut, Line, Passage, Recollection, Standing, tokens};
