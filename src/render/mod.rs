//! Recalled passages as text for a model or a person: Markdown, JSON or plain lines, each line with
//! its source, or SML.
//!
//! One file per format. This module takes lines and returns text; it does not read a store.

mod escape;
#[cfg(feature = "text")]
mod grain_line;
mod json;
mod lines;
mod recollection;

pub use escape::escaped;
#[cfg(feature = "text")]
pub(crate) use grain_line::{HASH_LEN, LineShape, has_identifiers, is_of_identifier, is_turn};
pub use recollection::{Format, LeftOut, Line, Passage, Recollection, Standing, tokens};
