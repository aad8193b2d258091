//! Trees of Markdown notes: what people and agents keep as files.
//!
//! A note is a file: frontmatter, and a body of items. An item is a list item, the prose of a
//! section, or an entry between separators; it becomes a Belief about the title of its note, or an
//! Event where the note is a day or a conversation. The file itself becomes a State, an envelope:
//! its path and the bytes around its items, so that it can be written again to the byte. A file below
//! `memories/` is one of the memory tool, and one item whatever it holds. The
//! dialects (OKF, Obsidian, Basic Memory, Claude Code, Codex, OpenClaw, Hermes) differ in data alone
//! (`dialect`).
//!
//! | | |
//! | --- | --- |
//! | `dialect` | the table of dialects |
//! | `yaml`, `head` | the subset of YAML that is read, and the frontmatter of a note |
//! | `note`, `line` | a file and its items; an item and what it says |
//! | `name` | names of files that lead nowhere else |
//! | `reader`, `tree`, `build`, `continued` | a tree in: how it is recognised, its items, their grains, its earlier state |
//! | `write`, `plan`, `page` | a tree out |

mod build;
mod continued;
mod dialect;
mod head;
mod line;
mod name;
mod note;
mod page;
mod plan;
mod reader;
mod residual;
mod tree;
mod write;
mod yaml;

pub(crate) use super::tree_ids::Earlier;
pub use build::MEMORY_FILE;
pub(crate) use continued::{address_in, earlier, ended, tree_tag};
pub(crate) use name::{MANIFEST, Manifest, folded};
pub(crate) use plan::Standing;
pub(in crate::interchange) use reader::Markdown;
pub(crate) use residual::said_hash;
pub(in crate::interchange) use residual::{is_export_of, residual};
pub(crate) use write::write;
