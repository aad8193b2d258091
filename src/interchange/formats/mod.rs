//! The formats, a folder each; how the items of a tree keep their ids, how readers of other tools' JSON take
//! its members, the form of a schema, and the words of later revisions of OMS.

pub mod aimem;
pub mod jsonl;
pub(crate) mod markdown;
pub(super) mod format_writer;
pub(super) mod members;
pub mod mg;
pub(super) mod neighbour;
pub mod omi;
pub mod pam;
pub mod provider;
pub(super) mod revision;
pub(super) mod shape;
pub(super) mod tree_ids;
