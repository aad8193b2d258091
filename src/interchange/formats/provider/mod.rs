//! Exports of the providers of assistants: ChatGPT, Claude, Gemini, Copilot, Grok.
//!
//! Conversations become PAM conversation documents, and those become grains: an Event a message,
//! threaded by `parent_message_id`, and a State a conversation. Branches are kept; ids are the
//! provider's, or derived from the record; members without a place of their own are kept as raw
//! metadata; an absent time is never invented. The facts that an assistant knows become PAM
//! memories. An export is a file, a directory or a ZIP archive.

mod chatgpt;
mod claude;
mod code;
mod claude_memory;
mod copilot;
mod detect;
mod export;
mod fact;
mod gemini;
mod grok;
mod item;
mod reader;
mod validation_pass;
mod conversation;

use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::Input;
use crate::interchange::{Error, ReadOptions};

pub use crate::interchange::format::Provider;
pub(in crate::interchange) use detect::JSON;
use detect::is_part;
use export::{Export, Validation};
pub(in crate::interchange) use reader::Providers;

/// Validates the export of a provider; its records are built when they are asked for.
fn open(
    export: Input<'_>,
    provider: Provider,
    options: &ReadOptions,
) -> Result<(Export, Validation), Vec<Error>> {
    let files = FileSet::list(export, is_part).map_err(|error| vec![error])?;
    Export::open(files, provider, options)
}
