//! The formats, a folder each, and how the items of a tree keep their ids.

pub mod aimem;
pub mod jsonl;
pub(crate) mod markdown;
pub mod mg;
pub mod omi;
pub mod pam;
pub mod provider;
pub(super) mod tree_ids;
