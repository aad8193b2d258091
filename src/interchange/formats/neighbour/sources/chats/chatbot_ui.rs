//! Chatbot UI: its exported history, which has no times.

use crate::codec::Value;
use crate::interchange::Format;
use crate::interchange::formats::members::{rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message, role};

/// The conversations of an export.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::ChatbotUi,
    &[("folders", None), ("history", None), ("prompts", None)],
    |head| {
        let is_export = head.has_all(&["folders", "history", "prompts"]) && !head.is_array;
        is_export.then_some(Format::ChatbotUi)
    },
    &["history"],
    || Box::new(ChatbotUi),
);

struct ChatbotUi;

impl Reader for ChatbotUi {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let Some(session) = text(map, "id") else {
            return false;
        };
        let model = map.get("model").map(|model| match model.as_map() {
            Some(model) => text(model, "id"),
            None => model.as_text(),
        });
        let mut conversation = Conversation {
            agent: "chatbot-ui",
            session: session.to_owned(),
            title: text(map, "name").map(str::to_owned),
            model: model.flatten().map(str::to_owned),
            ..Conversation::default()
        };
        let messages = builder.objects(map, "messages", "message").into_iter();
        for (number, message) in messages.enumerate() {
            let Some(role) = text(message, "role").and_then(role) else {
                builder.lose("message");
                continue;
            };
            let said = message.get("content").unwrap_or(&Value::Nil);
            let message = Message {
                id: Some(format!("{session}/{number}")),
                role,
                content: Content::read(said, builder),
                record: rest(message, &["role", "content"]),
                ..Message::default()
            };
            conversation.say(message, builder);
        }
        true
    }
}
