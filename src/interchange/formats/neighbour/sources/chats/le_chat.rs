//! Le Chat: the messages of a chat, one after the other.

use crate::codec::Value;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, objects, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message, role};

/// The messages of an export.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::LeChat,
    &[("chatId", None), ("content", None), ("role", None)],
    |head| {
        head.has_all(&["chatId", "content", "role"])
            .then_some(Format::LeChat)
    },
    &[""],
    || Box::new(LeChat::default()),
);

#[derive(Default)]
struct LeChat {
    chat: Conversation,
}

impl Reader for LeChat {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let (Some(chat), Some(role)) = (text(map, "chatId"), text(map, "role").and_then(role))
        else {
            return false;
        };
        self.chat.go_on("le-chat", chat);
        let mut content = Content::read(map.get("content").unwrap_or(&Value::Nil), builder);
        if content.is_empty() {
            // The answer of a newer version.
            objects(map, "contentChunks")
                .filter_map(|chunk| text(chunk, "text"))
                .for_each(|said| content.say(said));
        }
        let placed = [
            "id",
            "chatId",
            "content",
            "contentChunks",
            "role",
            "createdAt",
            "version",
        ];
        let message = Message {
            id: text(map, "id").map(str::to_owned),
            role,
            content,
            at: map.get("createdAt").and_then(moment),
            record: rest(map, &placed),
            ..Message::default()
        };
        self.chat.say(message, builder);
        true
    }
}
