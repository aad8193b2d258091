//! The names by which stores and the files beside them are known, and recognised.

use crate::interchange::Format;
use crate::interchange::json_head::{JsonFormat, JsonHead};

pub(super) const SCHEMA: &str = "portable-ai-memory";
pub(super) const CONVERSATION: &str = "portable-ai-memory-conversation";
pub(super) const EMBEDDINGS_SCHEMA: &str = "portable-ai-memory-embeddings";

/// The format of the ids of exports.
pub(super) const EXPORT: &str = "pam:export";

/// The arrays of a store whose elements are grains of their own.
pub(super) const ARRAYS: [&str; 3] = ["memories", "relations", "conversations_index"];
pub(super) const MEMORIES: usize = 0;
pub(super) const RELATIONS: usize = 1;
pub(super) const ENTRIES: usize = 2;

/// The loss that an unread conversation is counted under.
pub(super) const CONVERSATION_LOSS: &str = "conversations_index.storage";
/// And a message of a foreign export that fits no grain.
pub(super) const MESSAGE_LOSS: &str = "message";

/// The name of the store in its directory.
pub const STORE: &str = "memory-store.json";

/// The serializations, in the order of their schemas.
pub(super) const SERIALIZATIONS: [Format; 3] =
    [Format::Pam, Format::PamConversation, Format::PamEmbeddings];

/// How stores, and files without their store, are recognised.
pub(in crate::interchange) static JSON: JsonFormat = JsonFormat {
    markers: &[
        ("schema", Some(SCHEMA)),
        ("schema", Some(CONVERSATION)),
        ("schema", Some(EMBEDDINGS_SCHEMA)),
    ],
    inner: &[],
    detect,
};

fn detect(head: &JsonHead) -> Option<Format> {
    let schemas = [SCHEMA, CONVERSATION, EMBEDDINGS_SCHEMA];
    let formats = schemas.into_iter().zip(SERIALIZATIONS);
    let mut found = formats.filter(|(schema, _)| head.says("schema", &[schema]));
    found.next().map(|(_, format)| format)
}
