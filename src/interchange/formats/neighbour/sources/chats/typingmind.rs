//! TypingMind: exported chats.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message, role};

/// The chats of an export.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Typingmind,
    &[("data", None)],
    |head| {
        let is_export = head.has(&["data"]) && head.inner.contains(&"chats");
        is_export.then_some(Format::Typingmind)
    },
    &["data/chats"],
    || Box::new(Typingmind),
)
.with_inner(&["chats"]);

struct Typingmind;

impl Reader for Typingmind {
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map().filter(|_| !array.is_empty()) else {
            return false;
        };
        chat(map, builder);
        true
    }
}

fn chat(map: &Map, builder: &mut Builder<'_>) {
    let Some(session) = text(map, "chatID").or_else(|| text(map, "id")) else {
        return builder.lose("chat");
    };
    let mut conversation = Conversation {
        agent: "typingmind",
        session: session.to_owned(),
        title: text(map, "chatTitle").map(str::to_owned),
        created: map.get("createdAt").and_then(moment),
        model: text(map, "model").map(str::to_owned),
        ..Conversation::default()
    };
    let messages = builder.objects(map, "messages", "message").into_iter();
    for (number, message) in messages.enumerate() {
        let Some(role) = text(message, "role").and_then(role) else {
            builder.lose("message");
            continue;
        };
        let id = text(message, "uuid")
            .or_else(|| text(message, "id"))
            .map(str::to_owned);
        let message = Message {
            id: Some(id.unwrap_or_else(|| format!("{session}/{number}"))),
            role,
            content: Content::read(message.get("content").unwrap_or(&Value::Nil), builder),
            at: message.get("createdAt").and_then(moment),
            model: text(message, "model").map(str::to_owned),
            record: rest(
                message,
                &["uuid", "id", "role", "content", "createdAt", "model"],
            ),
            ..Message::default()
        };
        conversation.say(message, builder);
    }
}
