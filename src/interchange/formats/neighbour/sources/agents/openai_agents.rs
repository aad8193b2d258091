//! The OpenAI Agents SDK: the rows of a `SQLiteSession`.

use crate::codec::Value;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, parsed, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::conversation::{Conversation, Message};
use super::response_item::{read, rest_of};

/// The rows of sessions.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::OpenaiAgents,
    &[],
    // It is no JSON.
    |_| None,
    &["agent_messages"],
    || Box::new(OpenaiAgents::default()),
);

#[derive(Default)]
struct OpenaiAgents {
    session: Conversation,
}

impl Reader for OpenaiAgents {
    fn element(&mut self, element: &Value, _table: &str, builder: &mut Builder<'_>) -> bool {
        let Some(row) = element.as_map() else {
            return false;
        };
        let item = row.get("message_data").map(parsed);
        let Some(item) = item.as_deref().and_then(Value::as_map) else {
            return false;
        };
        let session = text(row, "session_id").unwrap_or_default();
        self.session.go_on("openai-agents", session);
        let Some((role, content)) = read(item, builder) else {
            return true;
        };
        let message = Message {
            id: row.get("id").map(|id| format!("row:{}", id.to_json())),
            role,
            content,
            at: row.get("created_at").and_then(moment),
            record: rest_of(item),
            ..Message::default()
        };
        self.session.say(message, builder);
        true
    }
}
