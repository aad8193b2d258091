//! Open WebUI: exported chats, whose messages form a tree by their ids.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::in_order;
use super::super::conversation::{Conversation, Message, role};

/// The chats of a user.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::OpenWebui,
    &[
        ("chat", None),
        ("folders", None),
        ("history", None),
        ("models", None),
        ("title", None),
    ],
    |head| {
        let is_export = head.has_all(&["chat", "title"]);
        let is_chat = head.has_all(&["history", "models"]) && !head.has(&["folders"]);
        ((is_export || is_chat) && head.is_certain()).then_some(Format::OpenWebui)
    },
    &[""],
    || Box::new(OpenWebui),
);

struct OpenWebui;

impl Reader for OpenWebui {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let chat = map.get("chat").and_then(Value::as_map).unwrap_or(map);
        let history = chat.get("history").and_then(Value::as_map);
        let messages = history.and_then(|history| history.get("messages")?.as_map());
        let Some(session) = text(map, "id").or_else(|| text(chat, "id")) else {
            return false;
        };
        let created = ["created_at", "timestamp"].into_iter();
        let mut created = created.filter_map(|name| map.get(name).or_else(|| chat.get(name)));
        let mut conversation = Conversation {
            agent: "open-webui",
            // The ids of accounts are no names.
            session: session.to_owned(),
            title: text(map, "title")
                .or_else(|| text(chat, "title"))
                .map(str::to_owned),
            created: created.next().and_then(moment),
            ..Conversation::default()
        };
        let Some(messages) = messages else {
            if chat.contains("history") {
                builder.lose("history");
            }
            // The oldest chats have a list alone.
            for it in builder.objects(chat, "messages", "message") {
                say(it, None, &mut conversation, builder);
            }
            return chat.contains("messages");
        };
        let nodes = messages.iter();
        let nodes = nodes.filter_map(|(id, node)| Some((id, node.as_map()?)));
        let nodes: Vec<_> = nodes
            .map(|(id, node)| (id, text(node, "parentId"), node))
            .collect();
        (nodes.len()..messages.len()).for_each(|_| builder.lose("message"));
        let (ordered, left) = in_order(&nodes);
        for (id, parent, message) in ordered {
            let answers = Some((id, parent));
            say(message, answers, &mut conversation, builder);
        }
        (0..left).for_each(|_| builder.lose("message"));
        true
    }
}

fn say(
    map: &Map,
    answers: Option<(&str, Option<&str>)>,
    conversation: &mut Conversation,
    builder: &mut Builder<'_>,
) {
    let Some(role) = text(map, "role").and_then(role) else {
        return builder.lose("message");
    };
    let id = answers.map(|(id, _)| id).or_else(|| text(map, "id"));
    let placed = [
        "id",
        "parentId",
        "childrenIds",
        "role",
        "content",
        "timestamp",
        "model",
        "models",
    ];
    let message = Message {
        id: id.map(str::to_owned),
        role,
        content: Content::read(map.get("content").unwrap_or(&Value::Nil), builder),
        at: map.get("timestamp").and_then(moment),
        parent: answers.map(|(_, parent)| parent.map(str::to_owned)),
        model: text(map, "model")
            .filter(|_| role == "assistant")
            .map(str::to_owned),
        record: rest(map, &placed),
    };
    conversation.say(message, builder);
}
