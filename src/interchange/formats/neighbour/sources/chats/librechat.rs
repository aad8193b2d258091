//! LibreChat: an exported conversation, whose messages form a tree, as a list or with their answers inside.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message, role};
use super::super::conversation::{Node, in_order};

/// A conversation.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Librechat,
    &[
        ("conversationId", None),
        ("endpoint", None),
        ("messages", None),
        ("messagesTree", None),
    ],
    |head| {
        let is_export = head.has(&["messages", "messagesTree"]) && head.has(&["conversationId"]);
        is_export.then_some(Format::Librechat)
    },
    &[""],
    || Box::new(Librechat),
);

struct Librechat;

impl Reader for Librechat {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let Some(session) = text(map, "conversationId") else {
            return false;
        };
        let mut conversation = Conversation {
            agent: "librechat",
            session: session.to_owned(),
            title: text(map, "title").map(str::to_owned),
            created: map
                .get("createdAt")
                .or_else(|| map.get("exportAt"))
                .and_then(moment),
            ..Conversation::default()
        };
        let mut nodes = Vec::new();
        for name in ["messages", "messagesTree"] {
            collect(map, name, &mut nodes, builder);
        }
        let (ordered, left) = in_order(&nodes);
        for (id, parent, message) in ordered {
            let by_user = message.get("isCreatedByUser").and_then(Value::as_bool);
            let sender = text(message, "sender").and_then(role);
            let role = match by_user {
                Some(true) => "user",
                Some(false) => "assistant",
                None => sender.unwrap_or("assistant"),
            };
            let said = message.get("content").filter(|it| it.as_array().is_some());
            let content = match (text(message, "text"), said) {
                (Some(said), _) => Content::of_text(said),
                (None, Some(parts)) => Content::read(parts, builder),
                (None, None) => Content::default(),
            };
            let message = Message {
                id: Some(id.to_owned()),
                role,
                content,
                at: message.get("createdAt").and_then(moment),
                parent: Some(parent.map(str::to_owned)),
                model: text(message, "model")
                    .filter(|_| role == "assistant")
                    .map(str::to_owned),
                record: rest(message, PLACED),
            };
            conversation.say(message, builder);
        }
        (0..left).for_each(|_| builder.lose("message"));
        true
    }
}

/// Collects the messages of a list, and those inside them: an export is as deep as its conversation is long.
fn collect<'a>(
    map: &'a Map,
    name: &'static str,
    nodes: &mut Vec<Node<'a>>,
    builder: &mut Builder<'_>,
) {
    let mut pending = builder.objects(map, name, "message");
    pending.reverse();
    while let Some(message) = pending.pop() {
        match text(message, "messageId") {
            Some(id) => nodes.push((id, text(message, "parentMessageId"), message)),
            None => builder.lose("message"),
        }
        let mut below = builder.objects(message, "children", "message");
        below.reverse();
        pending.extend(below);
    }
}

const PLACED: &[&str] = &[
    "messageId",
    "parentMessageId",
    "conversationId",
    "isCreatedByUser",
    "sender",
    "text",
    "content",
    "createdAt",
    "model",
    "children",
];
