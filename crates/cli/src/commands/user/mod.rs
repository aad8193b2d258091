//! Commands about a person's data: the report, the erasure, and the check of its receipt.
//!
//! The selector that they share is the library's.

mod erase;
mod receipt;
mod report;
mod user_tool;

pub(crate) use user_tool::UserTool;
