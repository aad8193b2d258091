//! Commands about a person's data: the report, the erasure, the check of its receipt, and the key of a
//! sealed person.
//!
//! The selector that they share is the library's.

mod alias;
mod erase;
mod keys;
mod receipt;
mod report;
mod unknown;
mod user_tool;

pub(crate) use unknown::{knows, note_nothing, unknown};
pub(crate) use user_tool::UserTool;
