//! Exports of the providers of assistants: ChatGPT, Claude, Gemini, Copilot, Grok, DeepSeek,
//! Cursor.
//!
//! Conversations become PAM conversation documents, and those become grains: an Event a message,
//! threaded by `parent_message_id`, and a State a conversation. Branches are kept; ids are the
//! provider's, or derived from the record; members without a place of their own are kept as raw
//! metadata; an absent time is never invented. The facts that an assistant knows become PAM
//! memories. An export is a file, a directory or a ZIP archive; what each of its files is, its
//! content says (`parts`).

mod beside;
mod code;
mod detect;
mod export;
mod fact;
mod graph;
mod item;
mod kinds;
mod parts;
mod reader;
mod validation_pass;
mod conversation;

pub use crate::interchange::format::Provider;
pub(in crate::interchange) use detect::JSON;
pub(in crate::interchange) use reader::Providers;
